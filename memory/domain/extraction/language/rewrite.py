"""First and second person into the third, with names, so that a sentence stands alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .verbs import AMBIGUOUS, BASES, PARTICIPLES, UNMARKED, agree, is_finite, third_person
from .words import ADVERBS, DETERMINERS, KIN, PEOPLE_NOUNS, PREPOSITIONS, word_set, words_of


@dataclass(frozen=True, slots=True)
class Voice:
    """Who says a sentence: what "I", "we" and "you" stand for in it."""

    name: str
    group: str
    addressee: str


_TOKEN = re.compile(r"[A-Za-zÀ-ɏ]+(?:['’][A-Za-z]+)?|[^A-Za-zÀ-ɏ]+")
_QUOTE = re.compile(r"(\"[^\"]*\"|“[^”]*”|`[^`]*`)")
_COUNTED_US = re.compile(
    r"\b(?P<n>\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|all|both|none|some|"
    r"most|"
    r"one|each|neither|half|many)\sof\sus\b",
    re.IGNORECASE,
)
_BEFORE_TWO = word_set(
    "and but or so that because since when while if as before after until with for to by between "
    "of from than like without"
)
# "My wife and I", "me and my partner", "Anna and I"
_WITH_ME = re.compile(
    r"\b(?:(?P<other>[Mm]y\s(?:(?!and\b)[\w-]+\s){0,2}(?!and\b)[\w-]+|(?!(?:And|But|So|You|He|She|They|We)\b)[A-ZÀ-Þ][\w-]+)\sand\s(?:I|me)|"
    r"(?:[Mm]e|I)\sand\s(?P<whom>my\s[\w-]+(?:\s[A-ZÀ-Þ][\w-]+)?|[A-ZÀ-Þ][\w-]+))(?P<clitic>['’](?:ve|ll|d|re))?(?![\w'’])"
)
# "We both work from home" told of one of the two; "our team" is the team.
_WE_BOTH = re.compile(r"\b(we(?:['’](?:re|ve|ll))?)\s(?:both|all)\b", re.IGNORECASE)
_WE = re.compile(r"\bwe(?P<clitic>['’](?:ve|ll|d|re))?(?![\w'’])", re.IGNORECASE)
_OUR_TEAM = re.compile(r"\bour\steam\b", re.IGNORECASE)
_CONTRACTED = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will"}
_AFTER_VERB = DETERMINERS | PREPOSITIONS | ADVERBS | {"me", "us", "them", "it", "him", "out", "up"}
_AUXILIARY_BEFORE = word_set(
    """
    can could may might must shall should will would do does did can't couldn't mustn't
    shouldn't won't wouldn't don't doesn't didn't to cannot let lets make makes helps help
    """
)
_SUBORDINATORS = word_set(
    "when if that because while before after since until whether where so and but as what how "
    "which who"
)


def possessive(name: str) -> str:
    """A name in the genitive."""
    return name + "'s"


def third_person_text(*, text: str, voice: Voice, past: bool = False) -> str:
    """The sentence with first and second person replaced and the verbs made to agree.

    Text in quotation marks or backticks stays as it was said; `past` leaves forms like "put" alone.
    """
    return _third_person(text, voice, past)


@lru_cache(maxsize=512)
def _third_person(text: str, voice: Voice, past: bool) -> str:
    text = _COUNTED_US.sub(lambda match: _counted(match, voice), text)
    parts = _QUOTE.split(text)
    told = [part if index % 2 else _with_others(part, voice) for index, part in enumerate(parts)]
    coupled = told != parts and f"{voice.name} and " in "".join(told)
    writer = _Writer(voice, past, named={voice.name} if coupled else set())
    return "".join(part if index % 2 else writer.write(part) for index, part in enumerate(told))


def _with_others(text: str, voice: Voice) -> str:
    """The text with those named who are with the speaker: "my wife and I", "we", "our team"."""
    text = _WITH_ME.sub(lambda match: _together(match, voice), text)
    if voice.group.startswith(f"{voice.name} and "):
        return _WE.sub(lambda match: f"{voice.group}{_plural(match.group('clitic'))}", text)
    if voice.group == voice.name:
        return _WE_BOTH.sub(r"\1", text)
    return _OUR_TEAM.sub("the team", text) if voice.group == "the team" else text


def _counted(match: re.Match[str], voice: Voice) -> str:
    number = match.group("n")
    if number.lower() in {
        "all",
        "both",
        "none",
        "some",
        "most",
        "one",
        "each",
        "neither",
        "half",
        "many",
    }:
        return f"{number} of {voice.group}"
    return f"{number} people in {voice.group}"


def _together(match: re.Match[str], voice: Voice) -> str:
    """ "My wife and I've" as "Dana and their wife have": two, so that the verb stays as it is."""
    other = match.group("other") or match.group("whom")
    before = words_of(match.string[max(0, match.start() - 16) : match.start()])[-1:]
    is_subject = not before or before[0] in _BEFORE_TWO or match.string[match.start() - 2] in ",;:"
    if not is_subject or any(is_finite(word=word) for word in words_of(other)[1:]):
        # "We sold the Fiat and I bought a Kia", "My wife left and I stay": two clauses.
        return match.group()
    owned = re.sub(r"(?i)^my\b", "their", other)
    return f"{voice.name} and {owned}{_plural(match.group('clitic'))}"


def _plural(clitic: str | None) -> str:
    """The verb that a contraction holds, after two: "'ve" is "have"."""
    verbs = {"'ve": " have", "'ll": " will", "'d": " had", "'re": " are"}
    return verbs.get((clitic or "").replace("’", "'").lower(), "")


class _Writer:
    """One pass over the tokens of a sentence, remembering which subject waits for its verb."""

    def __init__(self, voice: Voice, past: bool, named: set[str]) -> None:
        self._voice = voice
        self._past = past
        self._named = named
        self._owners: set[str] = set()
        self._pending = False
        self._chained = False

    def write(self, text: str) -> str:
        tokens = _TOKEN.findall(text)
        lows = [token.lower().replace("’", "'") for token in tokens]
        out: list[str] = []
        for index, token in enumerate(tokens):
            if not token[0].isalpha():
                if any(mark in token for mark in ".;:!?"):
                    self._chained = False
                    self._pending = self._pending and not token.strip()
                out.append(token)
                continue
            out.append(self._word(index, tokens, lows))
        return "".join(out)

    def _word(self, index: int, tokens: list[str], lows: list[str]) -> str:
        low = lows[index]
        before = _previous(lows, index)
        after = _next(lows, index)
        subject = self._subject(low, before, after, tokens[index])
        if subject:
            return subject
        if self._pending:
            if (low == "no" and after in {"longer", "more"}) or (
                before == "no" and low in {"longer", "more"}
            ):
                return tokens[index]
            if (low in {"kind", "sort"} and after == "of") or (
                low == "of" and before in {"kind", "sort"}
            ):
                return tokens[index]
            if low in ADVERBS or (low.endswith("ly") and low not in BASES):
                return tokens[index]
            self._pending = False
            if self._past and low in UNMARKED:
                return tokens[index]
            agreed = agree(word=tokens[index])
            self._chained = agreed != tokens[index] and low in BASES
            return agreed
        chained = self._chained and before in {"and", "or", "but", "then"} and low in BASES
        if chained and (low not in AMBIGUOUS or after in _AFTER_VERB):
            return third_person(base=low)
        return tokens[index]

    def _subject(self, low: str, before: str, after: str, token: str) -> str:
        voice = self._voice
        head, mark, tail = low.partition("'")
        if head in {"i", "we"} and (token[0] == "I" or head == "we" or mark):
            return self._nominative(
                voice.name if head == "i" else voice.group, mark + tail, before, after
            )
        if head in {"you", "u", "ya"}:
            if not mark and (before in PREPOSITIONS or _is_object(before)):
                return voice.addressee
            return self._nominative(voice.addressee, mark + tail, before, after)
        if low in {"im", "ive"}:
            return self._nominative(voice.name, "'m" if low == "im" else "'ve", before, after)
        if low in {"me", "us"}:
            return voice.name if low == "me" else voice.group
        ours = voice.name if voice.group.startswith(f"{voice.name}'s ") else voice.group
        owner = {"my": voice.name, "our": ours, "your": voice.addressee}.get(low)
        if owner:
            beside = before in {"and", "or", "nor"} and after in KIN | PEOPLE_NOUNS
            again = beside and owner in self._owners
            if owner in self._named or (
                low == "our" and owner.startswith(voice.name) and voice.name in self._named
            ):
                # "Dana's parents and their aunt" would be the aunt of the parents.
                return possessive(owner) if again else "their"
            self._named.add(owner)
            self._owners.add(owner)
            return possessive(owner)
        if low in {"mine", "ours", "yours"}:
            return possessive({"mine": voice.name, "ours": voice.group}.get(low, voice.addressee))
        if low in {"myself", "yourself"}:
            return "themself"
        return "themselves" if low in {"ourselves", "yourselves"} else ""

    def _nominative(self, name: str, clitic: str, before: str, after: str) -> str:
        self._named.add(name)
        if not clitic:
            # After "do", "can", "let" the verb that follows is bare.
            self._pending = before not in _AUXILIARY_BEFORE
            return name
        if clitic == "'d":
            perfect = after in PARTICIPLES | {"better", "been"} and after not in BASES
            return f"{name} {'had' if perfect else 'would'}"
        return f"{name} {_CONTRACTED.get(clitic, 'is')}"


def _is_object(before: str) -> bool:
    return before in BASES and before not in _SUBORDINATORS and before not in {"do", "have"}


def _previous(lows: list[str], index: int) -> str:
    for position in range(index - 1, max(-1, index - 3), -1):
        if lows[position][0].isalpha():
            return lows[position]
        if lows[position].strip():
            return ""
    return ""


def _next(lows: list[str], index: int) -> str:
    for position in range(index + 1, min(len(lows), index + 5)):
        word = lows[position]
        if word[0].isalpha() and word not in ADVERBS:
            return word
    return ""
