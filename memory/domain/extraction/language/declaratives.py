"""Questions turned into the statements that answer them."""

from __future__ import annotations

import re

from .syntax import names_only
from .verbs import BASES, GERUNDS, MODALS, PARTICIPLES, is_past_form, past_of, third_person
from .words import (
    ADVERBS,
    COMMON_OPENERS,
    DETERMINERS,
    MONTHS,
    NUMBER_WORDS,
    PREPOSITIONS,
    WEEKDAYS,
    is_number_word,
    word_set,
    words_of,
)

BE = word_set("is are was were am")
_CLOSING_ADVERBS = word_set(
    "before now today currently already previously then yet again usually normally"
)
_PREDICATES = word_set("due free available open closed ready back away over off out")
# "Away at Carrow", "Upstairs": says where by itself.
_WHEREABOUTS = word_set(
    "away home abroad outside inside upstairs downstairs outdoors indoors opposite next right just "
    "back down up over out here there somewhere nowhere everywhere online"
)
DO = word_set("do does did")
HAVE = word_set("has have had")
_DATE_LIKE = re.compile(
    r"^(?:the\s)?\d{1,2}(?:st|nd|rd|th)\b|^(?:the\s)?\d{1,2}(?:\sof)?\s(?:jan|feb|mar|apr|may|jun|jul|"
                        r"aug|sep|oct|nov|dec)[a-z]*\b|^(?:january|february|march|april|may|june|july|"
                        r"august|september|october|november|december)\s\d|^(?:mon|tues|wednes|"
                        r"thurs|fri|satur|sun)day",
                        re.IGNORECASE)  # fmt: skip
_TIME_LIKE = re.compile(
    r"^\d{1,2}(?:[:.]\d\d)?\s?(?:am|pm|a\.m|p\.m|o['’]clock|h)\b|^\d{1,2}:\d\d|^noon|^midnight|"
    r"^half\spast",
    re.I,
)


def form_of_be(noun: str) -> str:
    """The form of "to be" that agrees with a noun phrase, by its last word."""
    last = noun.rpartition(" ")[2].lower()
    return "are" if last.endswith("s") and not last.endswith(("ss", "us", "is")) else "is"


def decapitalised(text: str) -> str:
    first = words_of(text)[:1]
    lower = bool(first) and (
        first[0] in NUMBER_WORDS
        or is_number_word(first[0])
        or first[0] in COMMON_OPENERS - set(MONTHS) - set(WEEKDAYS)
        or (is_past_form(word=first[0]) and text[1:2].islower())
    )
    lower = lower and text[:2] != "I " and not names_only(text=text)
    return text[:1].lower() + text[1:] if lower else text


def declarative(words: list[str], answer: str) -> str:
    """ "will she work from" as "she will work from", with the answer at the end."""
    aux = words[0].lower()
    subject_end = _subject_end(words)
    if not answer and aux in BE and subject_end == len(words):
        subject_end = _before_quality(words)
    subject = " ".join(words[1:subject_end])
    rest = words[subject_end:]
    if not subject:
        return ""
    if aux in BE | MODALS | HAVE:
        return " ".join([subject, words[0], *rest, answer]).strip()
    if aux in DO and rest:
        base = rest[0].lower()
        if base not in BASES and base != "have":
            return ""
        singular = aux == "does"
        verb = past_of(base=base) if aux == "did" else third_person(base=base) if singular else base
        tail = rest[-1:] if rest[1:] and rest[-1].lower() in _CLOSING_ADVERBS else []
        middle = rest[1:-1] if tail else rest[1:]
        return " ".join(part for part in [subject, verb, *middle, answer, *tail] if part)
    return ""


def _subject_end(words: list[str]) -> int:
    """Where the subject ends behind the auxiliary at index 0."""
    lows = [word.lower() for word in words]
    if len(lows) < 2:
        return len(lows)
    if lows[1] in {"i", "you", "he", "she", "it", "we", "they", "this", "that", "there"}:
        return 2
    for index in range(2, len(lows)):
        word = lows[index]
        if lows[index - 1] in DETERMINERS:
            continue
        if lows[0] in BE:
            stop = (
                word in PARTICIPLES | _PREDICATES
                or word in GERUNDS
                or word in PREPOSITIONS - {"of"}
            )
        else:
            stop = (
                word in BASES or word in {"be", "have"} or (lows[0] in HAVE and word in PARTICIPLES)
            )
        if stop:
            return index
    return len(lows)


def _before_quality(words: list[str]) -> int:
    """Where the subject ends of a yes-no question that closes with a quality: "is my son ill"."""
    lows = [word.lower() for word in words]
    if len(lows) < 4 or lows[1] not in DETERMINERS:
        return len(lows)
    end = next((at for at in range(3, len(lows)) if lows[at] in DETERMINERS), len(lows) - 1)
    while end > 3 and lows[end - 1] in ADVERBS:
        end -= 1
    return end


def with_noun(noun: str, given: str) -> str:
    if noun in {"time", "day", "date"} or set(words_of(given)) & set(words_of(noun)):
        return given
    return f"{noun} {given}" if given[:1].isdigit() else given


def placed(wh: str, noun: str, rest: list[str], given: str) -> str:
    """The answer with the preposition or noun that its question word asks for."""
    ends_in_preposition = rest[-1].lower() in PREPOSITIONS
    first = words_of(given)[:1]
    if ends_in_preposition or (first and first[0] in PREPOSITIONS):
        return with_noun(noun, given)
    if wh == "where" and given[:1].isupper() and any(char.isdigit() for char in given):
        return f"at {given}"
    if wh == "where" and first and first[0] in _WHEREABOUTS:
        return f"{given[:1].lower()}{given[1:]}"
    if wh == "where":
        return f"in {given}" if given[:1].isupper() else given
    if "time" in wh or _TIME_LIKE.match(given):
        return f"at {given}" if _TIME_LIKE.match(given) else given
    if wh == "when" or _DATE_LIKE.match(given):
        dated = _DATE_LIKE.match(given) or re.match(r"\d{1,2}$", given)
        return f"on {given}" if dated else given
    if wh.startswith(("how many", "how much")):
        counted = wh.split(None, 2)[2] if len(wh.split()) > 2 else ""
        return (
            given if not counted or counted.split()[-1] in given.lower() else f"{given} {counted}"
        )
    return with_noun(noun, given)
