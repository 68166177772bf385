"""What a conversation is about: its topic, and who or what a pronoun means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from .date_expressions import DATE_EXPRESSION
from .names import NOT_NAMES, is_person, names_in
from .nouns import first_noun_phrase
from .syntax import has_verb
from .verbs import agree
from .words import COMMON_OPENERS, KIN, ORG_SUFFIXES, PEOPLE_NOUNS, STOPWORDS, word_set, words_of

_HEADING = re.compile(
    r"^(?:(?:a\s)?(?:quick\s|short\s|small\s|brief\s|little\s)?(?:update|news|notes?|call\snotes|"
    r"meeting\snotes|minutes|summary|recap|details|status|report|feedback|some\s\w+|facts|info)\s"
    r"(?:on|from|about|for|of|re)\s(?:the\s(?:call|meeting|chat|visit)\swith\s)?|"
    r"(?:(?:call|meeting|visit)\s)?(?:notes|minutes|summary|recap|update)\s(?=(?-i:[A-Z]))|"
    r"(?:about|regarding|re|on|for|as\sfor|concerning)\s|(?=(?:the|our)\s(?:[\w-]+\s){0,4}[\w-]+:\s))"
    r"(?P<topic>[^:,.;?!]{2,50}?)\s?(?::|,|\s[–—-]\s)\s*",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\s(?:before\si\sforget|again|real(?:ly)?\squick\w*|if\sI\smay)$", re.IGNORECASE
)
_TOPIC_DATE = re.compile(
    r"\s(?P<when>(?:on|next|this|in|coming|tomorrow|from)\b.*)$", re.IGNORECASE
)
_PLAIN_HEADING = re.compile(
    r"^(?:for|about|re|regarding|as\sfor|on)\s(?:the|our|my)\s(?!record\b|handbook\b|wiki\b|"
    r"notes\b|minutes\b|file\b|docs\b|future\b)"
    r"(?P<topic>(?:[a-z-]+\s){0,2}[a-z-]+):\s",
    re.IGNORECASE,
)
_ASKED_FOR = re.compile(
    r"^(?:what|who|where|when)(?:['’]s|\sis|\sare|\swas)\s(?P<np>(?:the|[A-Z][\w-]+['’]s|"
    r"the\steam['’]s)\s[\w\s-]{3,40}?)(?:\sagain|\snow)?\??$",
    re.IGNORECASE,
)
_THE_NAMED = re.compile(
    r"\b(?:the|our|my)\s(?P<np>(?:new\s|old\s|next\s|"
    r"big\s)?(?:[A-Z][\w-]+\s){1,2}(?P<noun>[a-z]{3,14}))\b"
)
_IS_THE = re.compile(
    r"^(?P<name>[A-Z][\w-]+(?:\s[A-Z][\w-]+){0,2})\sis\s(?:the|our|a|an|my)\s(?P<noun>.{3,60})"
)
_PRONOUN_SUBJECT = re.compile(
    r"(?P<lead>^(?:and\s|but\s|so\s|also\s|(?:on|in|at|by|since|until)\s[^,]{2,40},\s)?|"
    r"(?:\s(?:when|because|that|since|if|while|and|but|so|before|after|until)\s))"
    r"(?P<pro>she|he|they|it|its|his|her|their)(?P<clitic>['’](?:s|re|ve|ll|d))?\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"^\s?(?:(?:is|was|['’]s|will\sbe)\s(?:not\s|really\s|so\s|very\s|too\s|"
    r"always\s)?(?:important|worth|time|"
    r"hard|easy|nice|good|great|better|best|fine|ok|raining|true|possible|clear|about|like|all|"
    r"been|"
    r"fun|amazing|awesome|late|early|cold|hot|warm|wonderful|lovely|because|what|just)\b|seems|"
    r"takes|"
    r"turns\sout|looks|makes|helps|feels|depends|would|might|could)",
    re.IGNORECASE,
)
_PLACE_PREPOSITIONS = word_set(
    "in at outside on to near into via of inside within across through over under around"
)
_ASKED_ABOUT = re.compile(
    r"\b(?:[Ii]s|[Dd]oes|[Dd]id|[Ww]ill|[Hh]as|[Ww]as|[Cc]an|[Ss]hould|[Ww]ould)\s"
    r"(?P<name>[A-ZÀ-Þ][a-zà-ÿ]+)\s[a-z]+"
)
_TITLES = frozenset({"Dr", "Prof", "Mr", "Mrs", "Ms", "Sir", "Miss"})
_NO_ANTECEDENTS = word_set(
    "utc gmt cet cest pst pdt est edt cst mst bst ist jst aest eet wet english german french dutch "
    "spanish italian portuguese swedish norwegian danish finnish polish pm am"
)
_GROUP_NOUNS = word_set(
    "group club team board committee project room site page plan tour trip school shop office "
    "class course centre center house hall street association circle crew choir festival"
)
_NAMED_BY_APPOSITION = re.compile(
    r"\b(?:keep\s(?:track|notes)\sof|working\son|keep\san\seye\son|planning|organi[sz]ing|"
    r"preparing|about)\s(?:an?|our|my|the|[A-Z]\w+['’]s)\s(?:[\w-]+\s){1,3}?(?:for\s[\w\s]{2,12}|"
    r"called|named)?,?\s(?:called\s|named\s)?(?P<name>[A-ZÀ-Þ][\w-]+)(?=[.,;]|$)"
)
_MEETING_WITH = re.compile(
    r"(?:(?:the|our|my)\s)?(?:next\s|follow-?up\s|second\s|first\s|final\s)?(?:call|meeting|visit|"
    r"appointment|session|demo|review|workshop|chat)\s(?:[\w-]+\s)?(?:with|at)\s(?=them\b)",
    re.IGNORECASE,
)
_MEETING_REACH = 12
_PLURAL_KIN = word_set("family kids children parents siblings twins grandchildren")


_SINGLE_KIN = "|".join(sorted(KIN - _PLURAL_KIN, key=len, reverse=True))
_ONES_KIN = re.compile(rf"\b([A-Z]\w+['’]s\s(?:[\w-]+\s)?(?:{_SINGLE_KIN}))\b(?!\s[A-Z])")


@dataclass(frozen=True, slots=True)
class Mention:
    """Something named in the conversation, and the message that named it."""

    name: str
    source: UUID
    turn: int


class Focus:
    """The running topic and antecedents of one conversation; lives for one extraction only."""

    def __init__(self) -> None:
        self.topic: Mention | None = None
        self._person: Mention | None = None
        self._maybe_person: Mention | None = None
        self._thing: Mention | None = None
        self._group: Mention | None = None
        self._noun: Mention | None = None

    def strip_heading(self, *, text: str, source: UUID, turn: int) -> tuple[str, bool]:
        """Take "Call notes from X:" off a sentence and make X the topic."""
        match = _HEADING.match(text)
        plain = _PLAIN_HEADING.match(text)
        if plain and (match is None or not names_in("of " + match.group("topic"))):
            self.topic = self._thing = Mention("the " + plain.group("topic").lower(), source, turn)
            return text[plain.end() :], True
        if match is None:
            return text, False
        topic = _ASIDE.sub("", match.group("topic").strip())
        if not match.start("topic") and has_verb(text=topic):
            return text, False
        separator = match.group()[len(match.group().rstrip(": ,–—-")) :]
        named = names_in("of " + topic)
        if not named or (
            ":" not in separator and not re.match(r"(?:about|as\sfor|regarding)", text, re.I)
        ):
            return text, False
        called = re.match(
            r"(?:the\s)?(?P<name>(?:[A-Z][\w-]+\s){1,3})(?:call|meeting|visit|chat|workshop|"
            r"kickoff|kick-off|review|sync)$",
            topic,
        )
        topic = called.group("name").strip() if called else topic
        topic = "the " + topic[4:] if topic.startswith("The ") else topic
        rest = text[match.end() :]
        when = _TOPIC_DATE.search(topic)
        if when and DATE_EXPRESSION.search(when.group("when")):
            topic = topic[: when.start()]
            rest = f"{rest.rstrip('. ')}, {when.group('when')}"
        self.topic = self._thing = self._group = Mention(topic, source, turn)
        return rest, True

    def observe(self, *, text: str, source: UUID, turn: int, speakers: frozenset[str]) -> None:
        """Learn the topic and antecedents that a sentence (already in the third person) names."""
        asked = self._observe_topic(text, source, turn, speakers)
        for name in () if asked else names_in(text):
            if name in speakers or name.lower() in _NO_ANTECEDENTS or name in _TITLES:
                continue
            mention = Mention(name, source, turn)
            if is_person(name, text=text):
                self._person = mention
            else:
                at = text.find(name)
                placed = words_of(text[max(0, at - 12) : at])[-1:]
                if placed and placed[0] in _PLACE_PREPOSITIONS and self._thing is not None:
                    continue
                self._thing = mention
                if (
                    (not placed or placed[0] not in _PLACE_PREPOSITIONS)
                    and name.isalpha()
                    and not name.isupper()
                    and not self._is_topic(name)
                ):
                    self._maybe_person = mention
                if name.split()[-1].lower() in ORG_SUFFIXES:
                    self._group = mention
        noun = first_noun_phrase(text)
        if noun and noun not in speakers:
            self._noun = Mention(noun, source, turn)
        kin = _ONES_KIN.search(text)
        if kin:
            self._person = Mention(kin.group(1), source, turn)

    def _observe_topic(self, text: str, source: UUID, turn: int, speakers: frozenset[str]) -> bool:
        """Learn what a sentence is about; True for a question that asks for just that."""
        asked = _ASKED_FOR.match(text)
        if asked:
            self._thing = self._noun = Mention(asked.group("np"), source, turn)
            return True
        defined = _IS_THE.match(text)
        if (
            defined
            and defined.group("name") not in speakers
            and not is_person(defined.group("name"), text=text)
        ):
            words = words_of(defined.group("noun"))
            if (
                defined.group("name").lower() not in COMMON_OPENERS
                and words
                and not PEOPLE_NOUNS & set(words[:4])
            ):
                self.topic = self._thing = Mention(defined.group("name"), source, turn)
                return False
        for match in _THE_NAMED.finditer(text):
            if (
                match.group("noun") not in STOPWORDS
                and words_of(match.group("np"))[0] not in NOT_NAMES
            ):
                following = words_of(text[match.end() : match.end() + 16])[:1]
                grown = following and following[0] in _GROUP_NOUNS
                name = "the " + match.group("np") + (" " + following[0] if grown else "")
                self._thing = Mention(name, source, turn)
                # "the USB cable" is a thing, "the Osprey kiln" may be what it is all about.
                if not match.group("np").split()[-2].isupper():
                    self.topic = self._thing
                return False
        named = _NAMED_BY_APPOSITION.search(text)
        if (
            named
            and named.group("name") not in speakers
            and named.group("name").lower() not in COMMON_OPENERS | NOT_NAMES
            and not is_person(named.group("name"), text=text)
        ):
            self.topic = self._thing = Mention(named.group("name"), source, turn)
            return False
        begun = re.search(
            r"\b(?:set\sup|kick\soff|project|client|customer|prospect|supplier)\s([A-Z][\w-]+)",
            text,
        )
        if begun and begun.group(1).lower() not in COMMON_OPENERS:
            self.topic = self._thing = Mention(begun.group(1), source, turn)
        return False

    def asked_about(self, *, question: str, source: UUID, turn: int) -> None:
        """Learn whom a question is about ("Is Ken leaving?")."""
        match = _ASKED_ABOUT.search(question)
        if match and match.group("name").lower() not in COMMON_OPENERS:
            mention = Mention(match.group("name"), source, turn)
            if not self._is_topic(mention.name) and mention.name.isalpha():
                self._person = self._maybe_person = mention

    def resolve(self, *, text: str, turn: int, reach: int) -> tuple[str, list[UUID]]:
        """The sentence with subject pronouns replaced by what they mean, and the sources used.

        Only pronouns at the head of the sentence or of a subordinate clause are replaced, each by
        a mention at most `reach` turns back; a pronoun whose antecedent stands in the same
        sentence stays.
        """
        sources: list[UUID] = []
        text = self._object(text, turn, reach, sources)
        match = _PRONOUN_SUBJECT.match(text)
        if match is None:
            return text, sources
        pronoun = match.group("pro").lower()
        mention = self._antecedent(pronoun, text[match.end("pro") :])
        if mention is None or turn - mention.turn > reach:
            return text, sources
        sources.append(mention.source)
        clitic = (match.group("clitic") or "").replace("’", "'")
        owned = pronoun in {"its", "his", "their"} or (pronoun == "her" and not clitic)
        name = mention.name + ("'s" if owned else "")
        several = mention is self._noun and pronoun == "they"
        verb = {
            "'s": " is",
            "'re": " are" if several else " is",
            "'ve": " have" if several else " has",
            "'ll": " will",
            "'d": " had",
        }.get(clitic, "")
        if clitic == "'s" and re.match(
            r"\s(?:been|got|had|gone|done|moved|left|started)\b(?!-)", text[match.end() :]
        ):
            verb = " has"
        rest = text[match.end() :]
        if pronoun == "they" and not clitic and mention is not self._noun:
            rest = _agree_first(rest)
        return f"{match.group('lead')}{name}{verb}{rest}", sources

    def _object(self, text: str, turn: int, reach: int, sources: list[UUID]) -> str:
        """Replace "him" or "her" at the end of a sentence, and whom a meeting is with."""
        meeting = _MEETING_WITH.match(text)
        others = self._group or self.topic
        if meeting and others and turn - others.turn <= _MEETING_REACH:
            sources.append(others.source)
            return text[: meeting.end()] + others.name + text[meeting.end() + len("them") :]
        match = re.search(r"\b(?:him|her)(?=\W*$)", text)
        human = self._human()
        if match is None or human is None or human.name in text or turn - human.turn > reach:
            return text
        sources.append(human.source)
        return text[: match.start()] + human.name + text[match.end() :]

    def _is_topic(self, name: str) -> bool:
        return self.topic is not None and name.lower() in self.topic.name.lower()

    def _human(self) -> Mention | None:
        """The last person named, or the last bare name where that came much later."""
        person, maybe = self._person, self._maybe_person
        if person is None or (maybe is not None and maybe.turn > person.turn + 1):
            return maybe
        return person

    def _antecedent(self, pronoun: str, rest: str) -> Mention | None:
        if pronoun in {"she", "he", "her", "his"}:
            return self._human()
        if pronoun in {"they", "their"}:
            noun, group = self._noun, self._group or self.topic
            if noun and noun.name.endswith("s") and (group is None or noun.turn > group.turn):
                return noun
            return group
        if pronoun == "it" and _EXPLETIVE.match(rest):
            return None
        if pronoun == "it" and self._thing and self._person and self._thing == self._person:
            return self._noun or self.topic
        if self._thing and self.topic and self._thing.turn < self.topic.turn:
            return self.topic
        named = self._thing or self.topic
        if (
            self._noun
            and pronoun == "it"
            and (named is None or self._noun.turn > named.turn or named == self._maybe_person)
        ):
            return self._noun
        return named


def _agree_first(rest: str) -> str:
    match = re.match(
        r"(\s(?:(?:always|never|also|only|still|already|just|really)\s)?)([\w’']+)", rest
    )
    if match is None:
        return rest
    return match.group(1) + agree(word=match.group(2)) + rest[match.end() :]
