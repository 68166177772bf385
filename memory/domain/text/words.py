"""Words, sentences and numbers of a text."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from memory.domain.audience import Owner

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
# Thai, Lao, Burmese, Khmer, kana and Chinese characters, which are written without spaces.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
# Those and Korean, which joins particles to words, are indexed by pairs of letters, as
# memory/sql/lexemes.sql does it.
PAIRED = UNSPACED + "\uac00-\ud7a3"
_RUN = re.compile(rf"[{PAIRED}]+|[^{PAIRED}]+")
_IS_PAIRED = re.compile(rf"[{PAIRED}]")
# At most three capitalised words: a longer beginning, or another one, is a sentence or a label.
_SPEAKER = re.compile(r"((?:[A-Z][\w'’.-]*)(?: [A-Z][\w'’.-]*){0,2}): \S")
_OPENING = "\"'([{“‘«¿¡"
_DASHES = ("-", "–", "—")
_CLOSING = ".,;:!?\"')]}…”’»"

NO_WORDS = "Say something in words: signs and emoji alone are no memory."


def normalise_text(text: str) -> str:
    """The text without case, spacing, accents' forms and the punctuation around its words.

    Signs that carry meaning stay: "C++" is not "C", and "-5" is not "5".
    """
    return " ".join(bare_words(unicodedata.normalize("NFKC", text).casefold()))


def bare_words(text: str) -> list[str]:
    """Its words without the punctuation around them, and without dashes between them."""
    words = (word.lstrip(_OPENING).rstrip(_CLOSING) or word for word in text.split())
    return [word for word in words if word not in _DASHES]


def dedupe_key(content: str, owner: Owner) -> bytes:
    """32 bytes that are equal for the same normalised text for the same owner."""
    whose = (owner.kind, owner.agent_id, owner.end_user_id, owner.project_id)
    parts = "|".join(str(part or "") for part in whose)
    return hashlib.sha256(f"{parts}|{normalise_text(content)}".encode()).digest()


def category_key(key: bytes, category: str) -> bytes:
    """The key of the same fact in that category, for where others' readers hold the first one."""
    return hashlib.sha256(key + f"|category:{category}".encode()).digest()


def payload_key(key: bytes, form: str, payload: Mapping[str, object]) -> bytes:
    """The key of the same words with that payload, for where another one holds the first."""
    told = json.dumps(payload, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(key + f"|{form}:{told}".encode()).digest()


def name_words(names: Iterable[str]) -> list[str]:
    """The distinct words of names, casefolded, in order: what a question may call somebody by."""
    words = (_WORD.findall(unicodedata.normalize("NFKC", name).casefold()) for name in names)
    return list(dict.fromkeys(word for each in words for word in each))


def search_terms(word: str) -> Iterator[str]:
    """Yields the terms by which the index has a word: itself, or overlapping pairs of letters.

    Scripts without spaces and Korean are paired; a run of one letter is a term.
    """
    for run in _RUN.findall(word):
        if _IS_PAIRED.match(run) and len(run) > 1:
            yield from (first + second for first, second in pairwise(run))
        else:
            yield run


def speaker_of(text: str) -> str:
    """The name before the colon in a line of a transcript ("Caroline: I did it."), or nothing."""
    match = _SPEAKER.match(text)
    return match[1] if match else ""


def has_words(text: str) -> bool:
    """Returns whether the text has a letter or a digit: signs and emoji are no memory."""
    return any(char.isalnum() for char in text)


def is_blank(text: str) -> bool:
    """Returns whether the text is empty, or only white space and control characters."""
    return not any(char.isprintable() and not char.isspace() for char in text)


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as plain text."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    """
    a about after all also am an and any are as at be been before being but by can could
    did do does doing done for from had has have having he her here hers him his how i
    if in into is it its just me more most my no nor not now of off on once only or
    other our ours out over own please same she should so some such tell than that the
    their theirs them then there these they this those through to too under until up us
    very was we were what when where which while who whom whose why will with would you
    your yours
    """
)


# Possessive quantifiers and look-behinds keep each pattern at one pass over the text.
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKER = re.compile(r"[ \t]{0,12}(?:[-*•–+]|\d{1,3}[.)])[ \t]+")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]{0,3}(?=\s|$)")
_EMOTICON = re.compile(r"\s[:;][-'’]?[()DPp|]{1,3}(?=\s|$)")
_LAST_WORD = re.compile(r"\S+$")
_LONGEST_WORD = 24
# Such a word goes on after its full stop.
_ABBREVIATIONS = word_set(
    """
    mr mrs ms dr prof st vs e.g i.e eg ie approx nr dept fig est ca cf al resp incl excl tel ext
    min max jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    """
)
# Such a word ends the sentence unless a lower-case word follows.
_SENTENCES_CLOSING = word_set("etc a.m p.m u.s u.k inc ltd co jr sr am pm")
_SUBJECTS = word_set("he she they we i you it my our his her the that this")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in order, without list markers; fenced code is left out.

    Every line ends a sentence. Abbreviations, decimals, versions and web addresses do not.
    """
    sentences: list[str] = []
    for line in _FENCE.sub(lambda code: "\n" if "\n" in code[0] else " ", text).split("\n"):
        marker = _MARKER.match(line)
        sentences += _split_line(line, marker.end() if marker else 0)
    return sentences


def _split_line(line: str, begin: int) -> list[str]:
    ends = [
        match.end()
        for match in _END.finditer(line, begin)
        if match.end() == len(line) or _ends_sentence(line, begin, match)
    ]
    ends += [match.end() for match in _EMOTICON.finditer(line, begin)]
    parts: list[str] = []
    for end in (*sorted(ends), len(line)):
        part = line[begin:end]
        if parts and not any(char.isalnum() for char in part):
            # A smiley or a stray mark belongs to the sentence before it.
            parts[-1] = f"{parts[-1]}{part.rstrip()}"
        elif part.strip():
            parts.append(part.strip())
        begin = end
    return parts


def _ends_sentence(line: str, begin: int, match: re.Match[str]) -> bool:
    """Returns whether the marks of a match end a sentence, by the words on both sides of them."""
    mark = match[0]
    after = line[match.end() : match.end() + _LONGEST_WORD].split(maxsplit=1)
    following = after[0] if after else ""
    is_lower = following[:1].islower()
    if mark[0] in "!?":
        # A quotation can end in such a mark inside a sentence.
        return not (is_lower and mark[-1] not in "!?")
    if mark[0] == "…" or mark.startswith(".."):
        return not is_lower
    found = _LAST_WORD.search(line[max(begin, match.start() - _LONGEST_WORD) : match.start()])
    word = found[0].lower().lstrip("(\"'“") if found else ""
    if word in _SENTENCES_CLOSING:
        return not is_lower
    if word == "no":
        return not following[:1].isdigit()
    is_subject = following.lower().rstrip("'’") in _SUBJECTS
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        # "on 3 Jan. She left", "in group B. The rest": such a word seldom follows an abbreviation.
        return is_subject and (len(word) == 1 or word[:3] in {"jan", "feb", "dec", "nov", "oct"})
    # "12. Stock" is a numbered heading.
    return not (word.isdigit() and len(word) <= 3 and match.start() - len(word) == begin)


_UP_TO_NINETEEN = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
_MOST_DIGITS = 9

ONES: dict[str, int] = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())}
TENS: dict[str, int] = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
ORDINALS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ORDINALS.split(), 1)},
    "thirtieth": 30,
}
QUANTIFIERS: dict[str, int] = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4, "dozen": 12}


def number_value(word: str) -> int | None:
    """The value of a whole number in digits or in one lower-case word ("7", "seven"), or None.

    Compounds with a hyphen count as one word ("twenty-three"); more than nine digits are no
    number.
    """
    if word.isdecimal():
        return int(word) if len(word) <= _MOST_DIGITS else None
    tens, hyphen, ones = word.partition("-")
    if hyphen:
        small = ONES.get(ones, 0)
        return TENS[tens] + small if tens in TENS and 0 < small < 10 else None
    return ONES.get(word, TENS.get(word))


def ordinal_value(word: str) -> int | None:
    """The value of an ordinal in one lower-case word ("third", "twenty-first"), or None."""
    tens, hyphen, ones = word.partition("-")
    if hyphen:
        small = ORDINALS.get(ones, 0)
        return TENS[tens] + small if tens in TENS and 0 < small < 10 else None
    return ORDINALS.get(word)
