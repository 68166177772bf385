"""Whom "she" and "he" mean: of those who were spoken of, the one that fits, or nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from ..language.genders import Gender, gender_of, is_given_name
from ..language.names import is_person, names_in
from ..language.tense import is_past
from ..language.verbs import GERUNDS, THIRD, is_finite
from ..language.words import ADVERBS, ORG_SUFFIXES, WEEKDAYS, words_of
from .around_names import HIRING, is_handed_to, is_met, is_origin, is_placed
from .mentions import Mention
from .rivals import Rival, asks_who_told, is_passed_by, rivals_in, speaks

_KEPT = 16
# In how many sentences who told something is asked about.
_NEAR = 3
# A bare name that may be anything gives way to a person who was named up to a turn before.
_MAYBE_LEAD = 1
# "Choir is on Fridays", "Pilates starts at six": what is at a time is nobody.
_AT_TIME = re.compile(
    r"\s(?:is|was|are|starts|begins|ends|runs)\s(?:always\s|usually\s|only\s|now\s)?"
    r"(?:(?:on|from|every|each)\s(?:the\s)?(?:\w+\s)?(?:\d|"
    rf"{'|'.join(WEEKDAYS)})|at\s(?:\d|half|noon|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b))",
    re.IGNORECASE,
)
_PRONOUNS = {
    "she": Gender.SHE, "her": Gender.SHE, "he": Gender.HE, "him": Gender.HE, "his": Gender.HE,
}  # fmt: skip


def names_no_person(*, name: str, after: str) -> bool:
    """Whether a bare name is that of an activity: "Swimming", or what is on at a time."""
    return name.lower() in GERUNDS or bool(_AT_TIME.match(after))


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody a sentence names.

    `is_sure` says that it is a person and no mere name, `is_beside` that the sentence describes
    somebody else, whom this one is only with; `is_subject`, that a verb follows, which hires people
    where `is_hiring`; `is_joined`, that an "and" or "or" stands before, `is_met`, that somebody
    else has to do with this one. `sentence` counts sentences, whose clauses are told one by one.
    """

    mention: Mention
    is_sure: bool = True
    is_beside: bool = False
    is_subject: bool = False
    is_joined: bool = False
    is_hiring: bool = False
    is_met: bool = False
    sentence: int = 0


class People:
    """The people of one conversation, the latest last."""

    def __init__(self) -> None:
        self._named: list[Person] = []
        self._genders: dict[str, Gender] = {}
        self._guessed: set[str] = set()
        self._rivals: list[tuple[int, Rival]] = []
        self._called: dict[str, str] = {}
        self._place: tuple[int, int] | None = None
        self._said_at: dict[int, int] = {}
        self._goes_on_of = ""
        self._centres: dict[str, int] = {}
        self._things: frozenset[str] = frozenset()
        self._sentence = 0

    def hear(self, *, text: str, order: int, place: tuple[int, int] | None) -> None:
        """Learn whom the clause numbered `order` names by what they are.

        `place` is its turn and its sentence, where that is known.
        """
        self._sentence += place is None or place != self._place
        self._place = place
        self._said_at[order] = self._sentence
        goes_on = self._goes_on_of if self._goes_on_of in text else ""
        self._goes_on_of = ""
        if goes_on:
            self._centres[goes_on] = self._sentence
        for rival in rivals_in(text=text):
            if rival.called:
                self._called[rival.noun] = rival.called
            elif not goes_on:
                self._rivals = [*self._rivals[-_KEPT:], (self._sentence, rival)]

    def go_on(self, *, name: str) -> None:
        """Learn that the clause heard next goes on of somebody ("The doctor told him to walk")."""
        self._goes_on_of = name

    def is_thing(self, *, name: str) -> None:
        """Learn that a name that may have been taken for a person's is a thing's."""
        self._things |= {name}
        self._named = [each for each in self._named if each.mention.name not in self._things]

    def add(
        self, mention: Mention, *, text: str = "", is_sure: bool = True, is_beside: bool = False
    ) -> None:
        """Learn of somebody whom `text` names."""
        gender = gender_of(name=mention.name, text=text)
        if gender:
            self._genders[mention.name] = gender
        head, _, after = text.partition(mention.name)
        verb = next((word for word in words_of(after[:30]) if word not in ADVERBS), "")
        acts = is_finite(word=verb) or verb in THIRD
        joined = words_of(head)[-1:] in (["and"], ["or"])
        met = is_met(before=head) or (is_handed_to(before=head) and is_past(text=text))
        person = Person(
            mention, is_sure, is_beside, acts, joined, verb in HIRING, met, self._sentence
        )
        self._named = [*self._named[-_KEPT:], person]

    def see(
        self, mention: Mention, *, text: str, is_aside: bool = False, is_bare: bool = False
    ) -> None:
        """Learn of a name in `text`, where it is a person's, or with `is_bare` in any case.

        `is_aside` says that the sentence is known to be about somebody else.
        """
        name, at = mention.name, text.find(mention.name)
        if name in self._things or is_origin(before=text[max(0, at - 40) : at]):
            return
        before = text[max(0, at - 40) : at]
        is_body = name.split()[-1].lower() in ORG_SUFFIXES
        known = is_given_name(name=name) and not is_placed(before=before) and not is_body
        is_sure = is_person(name, text=text) or known
        if not is_sure and names_no_person(name=name, after=text[at + len(name) :]):
            return
        if is_sure is is_bare:
            return
        owns = text[at + len(name) : at + len(name) + 2] in {"'s", "’s"}
        others = is_aside or any(each.sentence == self._sentence for each in self._named)
        passed = others and is_passed_by(before=before, text=text)
        self.add(mention, text=text, is_sure=is_sure, is_beside=owns or passed)

    def knows(self, name: str) -> bool:
        """Whether a name is surely a person's."""
        return any(each.is_sure and each.mention.name == name for each in self._named)

    def asked_about(self, *, question: str, at: Mention) -> None:
        """Learn whom of those with a name a question names; `at` says where it stands."""
        said = names_in(question)
        known = {each.mention.name: each for each in self._named if each.mention.name in said}
        for name, one in known.items():
            one = Person(replace(at, name=name), one.is_sure, sentence=self._sentence)
            self._named = [*self._named[-_KEPT:], one]
        if asks_who_told(question=question):
            self._rivals += [
                (self._sentence, replace(rival, tells_of="", deals_with="", tells=Gender.UNKNOWN))
                for order, rival in self._rivals[-1:]
                if self._sentence - order <= _NEAR
            ]

    def meant(self, *, pronoun: str, rest: str = "", role: Mention | None = None) -> Mention | None:
        """Whom a pronoun means; None where nobody fits, or two do.

        `rest` is what follows the pronoun; `role`, somebody spoken of by their trade, who is meant
        where no name came later.
        """
        wanted = _PRONOUNS.get(pronoun, Gender.UNKNOWN)
        fitting = [person for person in self._named if self._fits(person.mention, wanted)]
        named_since = any(person.mention.turn >= role.turn for person in fitting) if role else True
        is_named = role is not None and words_of(role.name)[-1] in self._called
        if role and self._fits(role, wanted) and not (named_since or is_named):
            return None if self._is_rivalled(role, wanted, rest) else role
        sure = [person for person in fitting if person.is_sure]
        maybe = [person for person in fitting if not person.is_sure]
        later = maybe and sure and maybe[-1].mention.turn > sure[-1].mention.turn + _MAYBE_LEAD
        found = self._salient(maybe if later or not sure else sure)
        if found and self._is_rivalled(found, wanted, rest):
            return None
        if found and wanted and found.name not in self._genders:
            self._genders[found.name] = wanted
            self._guessed.add(found.name)
        return found

    def surely_fits(self, *, name: str, pronoun: str) -> bool:
        """Whether a name is a person's who is a "she" or "he" by more than a pronoun."""
        wanted = _PRONOUNS.get(pronoun)
        known = self._genders.get(name) if name not in self._guessed else gender_of(name=name)
        return bool(wanted) and known is wanted and self.knows(name)

    def _is_rivalled(self, one: Mention, wanted: Gender, rest: str) -> bool:
        """Whether somebody else whom the same sentence or a later one speaks of fits as well."""
        words = words_of(one.name)
        since = max((each.sentence for each in self._named if each.mention == one), default=None)
        since = self._said_at.get(one.order, 0) if since is None else since
        for order, rival in self._rivals:
            names = one.name.split()
            is_same = rival.noun in words or self._called.get(rival.noun) in names
            fits = not (rival.gender and wanted) or rival.gender is wanted
            is_told_of = rival.tells_of in names or (bool(wanted) and rival.tells is wanted)
            is_told_of |= rival.deals_with in names and order < self._sentence
            is_aside = rival.is_beside or (is_told_of and not speaks(rest=rest))
            if order >= since and fits and not (is_same or is_aside):
                return True
        for name, sentence in self._centres.items():
            centre = replace(one, name=name)
            if name != one.name and sentence >= since and self._fits(centre, wanted):
                return True
        return any(
            each.sentence >= since
            and each.is_met
            and each.mention.name != one.name
            and self._fits(each.mention, wanted)
            for each in self._named
            if not each.is_sure
        )

    def _fits(self, mention: Mention, wanted: Gender) -> bool:
        known = self._genders.get(mention.name, Gender.UNKNOWN) or gender_of(name=mention.name)
        return not known or not wanted or known is wanted

    def _salient(self, people: Sequence[Person]) -> Mention | None:
        """The one whom the last sentence that names any of them is about.

        Of two who fit, its subject, where that is more than the order of words.
        """
        if not people:
            return None
        sentence = people[-1].sentence
        last = [each for each in people if each.sentence == sentence]
        if len({each.mention.name for each in last}) > 1:
            last = [each for each in last if not (each.is_beside or self._is_told(each, last))]
        if len({each.mention.name for each in last}) > 1:
            if not last[0].is_sure:
                # What a bare name does may be done by a firm ("Zenith hired Okoro").
                return last[-1].mention if last[0].is_hiring and not last[-1].is_joined else None
            before = {each.mention.name for each in people if each.sentence < sentence}
            last = [
                each for each in last if each.is_subject and self._stands_out(each, last, before)
            ]
        return last[0].mention if len({each.mention.name for each in last}) == 1 else None

    def _is_told(self, one: Person, last: Sequence[Person]) -> bool:
        """Whether a name is that of another who was spoken of ("Dana's wife is called Greta")."""
        called = (self._called.get(word) for each in last for word in words_of(each.mention.name))
        return any(name == one.mention.name for name in called)

    def _stands_out(self, one: Person, last: Sequence[Person], before: AbstractSet[str]) -> bool:
        """Whether a subject alone is spoken of already, or alone is known to fit."""
        names = {each.mention.name for each in last} - {one.mention.name}
        if one.mention.name in before:
            return not names & before
        known = self._genders.keys()
        return one.mention.name in known and not names & (known | before)
