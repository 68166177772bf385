"""Names in a text, the people that were spoken of, and whom "he" or "she" means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.domain.personal_names import possessive
from memory.domain.text.stop_words import word_set as listed

from ..lexicon import word_set
from ..tokens import Token
from .grammar import CLOSED, GREETINGS, VERBS, has_verb, is_finite, tokens_of

_WOMEN = word_set("talk/women")
_MEN = word_set("talk/men")
_PEOPLE = (_WOMEN | _MEN | word_set("talk/people") | word_set("talk/roles")) - {"head"}
_TONGUES = word_set("talk/tongues")
_CALENDAR = listed(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
    thursdays fridays saturdays sundays january february march april may june july august
    september october november december jan feb mar apr jun jul aug sep sept oct nov dec easter
    christmas
    """
)
_TITLES = {"mr": "he", "mrs": "she", "ms": "she", "miss": "she", "dr": "", "prof": ""}
_PLACES_BEFORE = frozenset(["in", "at", "near", "via", "into", "to", "from", "of", "on"])
_GROUPS = frozenset(["parents", "kids", "twins", "children", "team", "colleagues", "friends"])
_PRONOUNS = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}
# A pronoun before a slash ("she/her", "his/her") refers to nobody in particular.
_OPENING = re.compile(
    r"(?P<lead>(?:and|also|then|now|so|but)\s)?(?P<pronoun>he|she|his|her)\b(?!/)"
    r"(?P<short>'s|'ve|'ll|'d)?",
    re.IGNORECASE,
)
_INNER = re.compile(r"(?<=\s)(?P<pronoun>him|her|she|he)\b(?!/)", re.IGNORECASE)
_OWNS = re.compile(r"\s[a-z]+")
_NO_NOUN_BEHIND = re.compile(
    r"\s(?:in|on|at|by|to|about|for|with|and|or|but|from|before|after|that|if|when|is|was|there|here|a|the|not)\b"
)
_LEANS = re.compile(
    r"(?:(?:and|but|so|also|then)\s)?(?:it|they|that|this|these|those|its|their|he|she|his|her|"
    r"both|neither|the\s(?:other|first|second|last|latter|former|rest|same))\b",
    re.IGNORECASE,
)
_REACH_TURNS = 6
_MOST_PEOPLE = 30


@dataclass(slots=True)
class Person:
    """Somebody spoken of: what to call them, "he", "she" or "", their last and first turn."""

    label: str
    gender: str
    is_certain: bool
    turn: int
    since: int


@dataclass(frozen=True, slots=True)
class Named:
    """A sentence with a person named in it, and the turn that the name is from (-1 for none)."""

    text: str
    turn: int = -1


def names_in(text: str) -> list[tuple[int, str]]:
    """The names in a text with their places: runs of capitalised words that are no common ones."""
    tokens = tokens_of(text)
    found: list[tuple[int, str]] = []
    place = 0
    while place < len(tokens):
        end = _end_of_name(tokens, place)
        if end > place:
            found.append((tokens[place].start, text[tokens[place].start : tokens[end - 1].end]))
        place = max(end, place + 1)
    return found


def _end_of_name(tokens: Sequence[Token], place: int) -> int:
    end = place
    while end < len(tokens) and _is_name(tokens, end, opens=end == place):
        end += 1
        if end < len(tokens) and tokens[end].lower in {"de", "van", "von", "da", "&", "of"}:
            after = tokens[end + 1] if end + 1 < len(tokens) else None
            if after is not None and after.is_capital and tokens[end].lower != "of":
                end += 1
    return end


def _is_name(tokens: Sequence[Token], place: int, *, opens: bool) -> bool:
    token = tokens[place]
    if not token.is_word or not (token.is_capital or token.is_name):
        return False
    word = token.lower
    common = word in CLOSED or word in GREETINGS or word in _CALENDAR or word in _TONGUES
    if common or word in {"i", "pm", "am", "ok", "euro", "euros"}:
        return False
    if not token.is_first or not opens:
        return True
    if word in VERBS or word in _PEOPLE or word.endswith(("ing", "ly", "ed")):
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None:
        return False
    if after.lower in {"'s", ",", "and"} or token.is_name:
        return len(word) > 2
    return (is_finite(after.lower, "x") and not word.endswith("s")) or after.is_capital


def _like_a_person(name: str) -> bool:
    return name.replace(" ", "").isalpha() and name[1:2].islower()


def leans(text: str) -> bool:
    """Whether a sentence opens with a word that points at the one before."""
    return _LEANS.match(text) is not None


@dataclass(slots=True)
class Company:
    """The people that a conversation spoke of; `present` are those who talk themselves."""

    present: frozenset[str]
    people: dict[str, Person] = field(default_factory=dict)

    def hear(self, text: str, turn: int) -> None:
        """Note the people of a sentence in the third person."""
        tokens = tokens_of(text)
        taken: set[int] = set()
        for place, token in enumerate(tokens):
            if token.lower in _PEOPLE and place and not token.is_first:
                taken |= self._relation(text, tokens, place, turn)
        for start, name in names_in(text):
            if start in taken or any(each in self.present for each in name.split()):
                continue
            before = [each.lower for each in tokens if each.end <= start][-2:]
            title = next((each for each in before if each in _TITLES), None)
            if title is not None:
                label = f"{title.title()} {name}"
                self._see(label, _TITLES[title], is_certain=True, turn=turn)
            elif (not before or before[-1] not in _PLACES_BEFORE) and _like_a_person(name):
                self._see(name, "", is_certain=False, turn=turn)

    def _relation(self, text: str, tokens: Sequence[Token], place: int, turn: int) -> set[int]:
        """ "Sarah's sister Adela", "our designer Milo": the name, or else the words themselves."""
        word = tokens[place].lower
        gender = "she" if word in _WOMEN else "he" if word in _MEN else ""
        if word in _GROUPS or (word.endswith("s") and word[:-1] in _PEOPLE):
            return set()
        behind = place + 1
        if behind < len(tokens) and tokens[behind].lower == ",":
            behind += 1
        end = _end_of_name(tokens, behind) if behind < len(tokens) else behind
        if end > behind:
            label = text[tokens[behind].start : tokens[end - 1].end]
            self._see(label, gender, is_certain=True, turn=turn)
            return {tokens[behind].start}
        before = tokens[place - 1]
        if before.lower == "'s" and place > 1:
            self._see(
                text[tokens[place - 2].start : tokens[place].end],
                gender,
                is_certain=True,
                turn=turn,
            )
        elif before.lower in {"the", "his", "her", "their"} and gender:
            self._see(f"the {word}", gender, is_certain=True, turn=turn)
        return set()

    def _see(self, label: str, gender: str, *, is_certain: bool, turn: int) -> None:
        known = self.people.pop(label, None)
        since = known.since if known is not None else turn
        if known is not None:
            gender, is_certain = gender or known.gender, is_certain or known.is_certain
        self.people[label] = Person(label, gender, is_certain, turn, since)
        if len(self.people) > _MOST_PEOPLE:
            del self.people[next(iter(self.people))]

    def who(self, pronoun: str, turn: int) -> str:
        """Whom the pronoun means: the one person of late that it fits, or "" where several do."""
        kind = _PRONOUNS[pronoun.lower()]
        near = [
            each
            for each in self.people.values()
            if turn - each.turn <= _REACH_TURNS and each.gender in {"", kind}
        ]
        for fits in ([each for each in near if each.gender == kind or each.is_certain], near):
            if len(fits) == 1:
                fits[0].gender = kind
                return fits[0].label
            if fits:
                latest = max(each.turn for each in fits)
                last = [each for each in fits if each.turn == latest]
                return last[0].label if len(last) == 1 else ""
        return ""

    def named(self, text: str, turn: int) -> Named:
        """The sentence with "he" and "she" named where one person fits."""
        opening = _OPENING.match(text)
        if opening is not None:
            name = self.who(opening["pronoun"], turn)
            if not name:
                return Named(text)
            source = self.people[name].since
            rest = text[opening.end() :]
            if opening["pronoun"].lower() in {"his", "her"}:
                return Named(f"{possessive(name)}{rest}", source)
            return Named(name + _verb_of(opening["short"], rest) + rest, source)
        inner = _INNER.search(text)
        if inner is None or any(start < inner.start() for start, _ in names_in(text)):
            return Named(text)
        name = self.who(inner["pronoun"], turn)
        if not name or name.lower() in text.lower():
            return Named(text)
        source = self.people[name].since
        rest = text[inner.end() :]
        owns = inner["pronoun"].lower() == "her" and _OWNS.match(rest)
        if owns and not _NO_NOUN_BEHIND.match(rest):
            name += "'s"
        return Named(text[: inner.start()] + name + rest, source)


def _verb_of(short: str | None, rest: str) -> str:
    if short is None:
        return ""
    if short == "'s":
        words = rest.split()[:1]
        done = bool(words) and (words[0] in {"been", "got", "had"} or words[0].endswith("ed"))
        return " has" if done and not has_verb(rest) else " is"
    return {"'ve": " has", "'ll": " will", "'d": " would"}[short]
