"""What a conversation is about: its topic, and who or what a pronoun means."""

from __future__ import annotations

import re
from uuid import UUID

from ..language.names import is_person
from ..language.nouns import noun_told_of
from ..language.pronouns import PRONOUN_SUBJECT, named_subject
from ..language.words import ORG_SUFFIXES, words_of
from .antecedents import meant_by_it, meant_by_they, names_meant
from .around_names import BESIDE, OF_THINGS, PLACE_PREPOSITIONS, is_handed_to
from .company import Company, one_by_trade, relative_in
from .echoes import Echoes, takes_up
from .headings import heading_of, met_with
from .inquiries import name_asked, thing_asked, whole_question
from .mentions import Mention
from .object_pronouns import with_object_named
from .people import People
from .somebody import may_be_somebody
from .topic_words import introduced_topic

# Somebody who surely fits is meant from further back, where nobody else was named since.
_FAR = 10


class Focus:
    """The running topic and antecedents of one conversation; lives for one extraction only."""

    def __init__(self) -> None:
        self.topic: Mention | None = None
        self._said = 0
        self._people = People()
        self._person: Mention | None = None
        self._maybe_person: Mention | None = None
        self._thing: Mention | None = None
        self._group: Mention | None = None
        self._noun: Mention | None = None
        self._company = Company()
        self._named: Mention | None = None
        self._named_place = False
        self._asked: Mention | None = None
        self._whole: Mention | None = None
        self._echoes = Echoes()

    def strip_heading(self, *, text: str, source: UUID, turn: int) -> tuple[str, bool]:
        """Take "Call notes from X:" off a sentence and make X the topic."""
        met = met_with(text=text)
        if met:
            self._said += 1
            self._person = Mention(met[0], source, turn, self._said)
            self._people.add(self._person)
            body = Mention(met[1], source, turn, self._said, is_heading=True)
            self.topic = self._thing = self._group = body
            return "", True
        heading = heading_of(text=text)
        if heading is None:
            return text, False
        name, rest, is_named = heading
        self.topic = self._thing = Mention(name, source, turn, self._said, is_heading=True)
        if is_named:
            self._group = self.topic
        return rest, True

    def observe(
        self,
        *,
        text: str,
        source: UUID,
        turn: int,
        speakers: frozenset[str],
        place: int | None = None,
    ) -> None:
        """Learn the topic and antecedents that a clause (already in the third person) names.

        `place` is the place of its sentence in the message, where a sentence comes in clauses.
        """
        self._said += 1
        found = introduced_topic(text=text, speakers=speakers)
        if found is not None:
            self._thing = Mention(found.name, source, turn, self._said)
            is_topic = found.is_topic and not self._people.knows(found.name)
            self.topic = self._thing if is_topic else self.topic
            self._noun = self._thing if found.is_asked else self._noun
        relative = relative_in(text=text, speakers=speakers)
        where = None if place is None else (turn, place)
        self._people.hear(text=text, order=self._said, place=where)
        for name in () if found and found.is_asked else names_meant(text=text, speakers=speakers):
            mention = Mention(name, source, turn, self._said)
            at = text.find(name)
            placed = words_of(text[max(0, at - 12) : at])[-1:]
            if self._named is None or self._named.when != mention.when:
                self._named = mention
                self._named_place = bool(placed) and placed[0] in PLACE_PREPOSITIONS
            is_body = name.split()[-1].lower() in ORG_SUFFIXES
            # Of whom a sentence tells something comes before where they are or whom they are with.
            is_beside = bool(placed) and placed[0] in BESIDE and self._is_new_one()
            self._people.see(mention, text=text, is_aside=bool(relative))
            if is_handed_to(before=text[:at]):
                self._people.see(mention, text=text, is_aside=bool(relative), is_bare=True)
            if is_person(name, text=text) and not is_beside:
                self._person = mention
            else:
                if placed and placed[0] in PLACE_PREPOSITIONS and self._thing is not None:
                    continue
                self._thing = mention
                if (
                    (not placed or placed[0] not in PLACE_PREPOSITIONS | OF_THINGS)
                    and name.isalpha()
                    and not is_beside
                    and not is_body
                    and not name.isupper()
                    and not self._is_topic(name)
                ):
                    self._maybe_person = mention
                    self._people.see(mention, text=text, is_aside=bool(relative), is_bare=True)
                if is_body:
                    self._group = mention
        noun = noun_told_of(text=text)
        if noun and noun not in speakers and not noun.startswith("the agent"):
            self._noun = Mention(noun, source, turn, self._said)
        if relative:
            self._person = Mention(relative, source, turn, self._said)
            self._people.add(self._person)
        self._company.learn(text=text, at=Mention("", source, turn, self._said))

    def heard(self, *, text: str, source: UUID, turn: int, owner: str = "User") -> None:
        """Learn whom or what of the `owner`'s the other side speaks of."""
        self._echoes.heard(text=text, source=source, turn=turn, owner=owner)
        self._company.learn(text=text, at=Mention("", source, turn, self._said))
        self._people.hear(text=text, order=self._said, place=(turn, 0))
        trade = one_by_trade(text=text) if text.endswith("?") else ""
        self._asked = Mention(trade, source, turn, self._said) if trade else None

    def asked_about(self, *, question: str, source: UUID, turn: int, owner: str = "User") -> None:
        """Learn whom or what a question is about ("Is Ken leaving?")."""

        self._said += 1

        def mention(name: str) -> Mention:
            return Mention(name, source, turn, self._said)

        asked = thing_asked(question=question, owner=owner)
        self._noun = mention(asked) if asked else self._noun
        self._echoes.asked(question=question, source=source, turn=turn, owner=owner)
        whole = whole_question(question=question)
        if whole:
            self._noun = self._thing = self._whole = mention(whole)
            # "And the invoices?" "She keeps the books.": who that is was said before.
            is_one = not whole.endswith("s") and may_be_somebody(name=whole)
            self._asked = mention(whole) if is_one or one_by_trade(text=question) else None
        self._people.hear(text="", order=self._said, place=(turn, 0))
        self._people.asked_about(question=question, at=mention(""))
        one = name_asked(question=question)
        if one and not self._is_topic(one):
            self._person = self._maybe_person = mention(one)
            self._people.add(self._person)

    def answered(self, *, name: str, source: UUID, turn: int) -> None:
        """Learn the thing that an answer names, which an "it" means from then on."""
        self._said += 1
        # "Zoe needs a new battery" begins with a name, and "the Zoe needs" would be another one.
        name = re.sub(r"^the\s(?=[A-ZÀ-Þ])", "", name)
        self._noun = self._thing = Mention(name, source, turn, self._said)
        self._people.is_thing(name=name)

    def answered_who(self, *, name: str, source: UUID, turn: int) -> None:
        """Learn the body that answers a question for who does something: "they" are it."""
        self._said += 1
        self._group = Mention(name, source, turn, self._said)

    def answered_by(self, *, name: str, source: UUID, turn: int) -> None:
        """Learn who answers a question for who does something: "she" or "he" is that one."""
        self._said += 1
        self._people.hear(text="", order=self._said, place=None)
        self._people.add(Mention(name, source, turn, self._said))

    def somebody(self, *, turn: int, reach: int = 2) -> Mention | None:
        """The people or the body of people who were spoken of last, for who is paid or hired."""
        last = self._company.last(named=self._group)
        return last if last and turn - last.turn <= reach else None

    def resolve(self, *, text: str, turn: int, reach: int) -> tuple[str, list[UUID]]:
        """The sentence with subject pronouns replaced by what they mean, and the sources used.

        Only pronouns at the head of the sentence or of a subordinate clause are replaced, each by
        a mention at most `reach` turns back; a pronoun whose antecedent stands in the same
        sentence stays.
        """
        sources: list[UUID] = []
        text, echoed = self._echoes.resolve(text=text, turn=turn)
        sources += echoed
        text, meant = with_object_named(
            text=text, turn=turn, reach=reach, others=self._group or self.topic,
            thing=self._noun or self.topic, asked=self._whole, people=self._people,
            role=self._role,
        )  # fmt: skip
        sources += [meant.source] if meant else []
        match = PRONOUN_SUBJECT.match(text)
        if match is None or takes_up(text=text):
            return text, sources
        pronoun = match.group("pro").lower()
        mention = self._antecedent(pronoun, text[match.end("pro") :])
        if mention and self._people.surely_fits(name=mention.name, pronoun=pronoun):
            reach = max(reach, _FAR)
        if mention is None or turn - mention.turn > reach:
            return text, sources
        sources.append(mention.source)
        several = mention in (self._noun, self._company.several) and pronoun == "they"
        return named_subject(match=match, name=mention.name, several=several), sources

    def lent(self, *, turn: int, reach: int = 3, of_people: bool = False) -> Mention | None:
        """What was named last, for an answer that names nothing itself; no place for people."""
        named = None if of_people and self._named_place else self._named
        if named is None or turn - named.turn > reach or self._is_one(named.name):
            return None
        return named

    def _is_one(self, name: str) -> bool:
        """Whether a name was taken for a person's: what follows is hardly about them."""
        ones = (self._person, self._maybe_person)
        return self._people.knows(name) or any(one and one.name == name for one in ones)

    def thing(self, *, turn: int, reach: int = 4) -> str:
        """The thing spoken of last, by its noun where it has one, or ""."""
        spoken = [each for each in (self._noun, self.topic) if each and turn - each.turn <= reach]
        return spoken[0].name if spoken else ""

    def _is_new_one(self) -> bool:
        """Whether the sentence that is being read has named somebody already."""
        return any(one and one.order == self._said for one in (self._person, self._maybe_person))

    def _is_topic(self, name: str) -> bool:
        return self.topic is not None and name.lower() in self.topic.name.lower()

    @property
    def _role(self) -> Mention | None:
        """Who was spoken of by what they are, and not by a name."""
        return self._asked or self._company.one

    def _antecedent(self, pronoun: str, rest: str) -> Mention | None:
        if pronoun in {"she", "he", "her", "his"}:
            return self._people.meant(pronoun=pronoun, rest=rest, role=self._role)
        if pronoun in {"they", "their"}:
            return meant_by_they(
                rest=rest, noun=self._noun, named=self._group, company=self._company,
                topic=self.topic, person=self._person,
            )  # fmt: skip
        return meant_by_it(
            pronoun=pronoun, rest=rest, noun=self._noun, thing=self._thing, topic=self.topic,
            person=self._person, maybe_person=self._maybe_person,
        )  # fmt: skip
