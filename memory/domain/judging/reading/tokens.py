"""Words of a statement: splitting, folding and light stemming, in time linear in the text."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from .tables import table_lines
from .units import UNITS

MAX_TOKENS = 240
"""Memories are a sentence or two; the judge reads this many tokens and ignores the rest."""

MAX_CHARS = 4_000
MAX_CHUNK = 48

IRREGULAR: dict[str, str] = {}
for _line in table_lines("irregular"):
    _base, *_forms = _line.split()
    IRREGULAR.setdefault(_base, _base)
    for _form in _forms:
        IRREGULAR.setdefault(_form, _base)
# "lives" is far oftener the verb, "left" both a side and a leaving.
IRREGULAR["lives"] = "liv"

_CONTRACTIONS = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
}
_OPEN = "([{\"'“”‘«<*_`"
_CLOSE = ")]}\"'“”’»>*_`"
_STOPS = ",;:.!?…"
_NUMERIC = re.compile(r"[$€£¥#+-]?\d")
_NUMBERING = frozenset({"no.", "nr.", "num."})
_VOWEL = re.compile(r"[aeiouy]")


class Token(NamedTuple):
    """One word, number or separator; `lower` is folded, `stem` reduced, `capital` as written."""

    text: str
    lower: str
    stem: str
    capital: bool
    separator: bool


def fold(text: str) -> str:
    """The text with typographic quotes, dashes and spaces made plain."""
    return (
        text.replace("’", "'")
        .replace("‘", "'")
        .replace("–", "-")
        .replace("—", " - ")
        .replace("\u00a0", " ")
        .replace("\u202f", " ")
        .replace("‑", "-")
    )


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A lower-case word without its common inflections; the result need not be a word.

    A light form of Porter's first step (Porter 1980) with a table of irregular forms.
    """
    known = IRREGULAR.get(word)
    if known is not None and known != word:
        return stem(known)
    if len(word) <= 3 or not word.isalpha() or known is not None:
        return word[:-1] if known is not None and len(word) > 3 and word.endswith("e") else word
    return _finish(_strip_verb(_strip_plural(word)))


def _strip_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _strip_verb(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and not word.endswith("eed"):
            base = word[: -len(suffix)]
            if not _VOWEL.search(base):
                return word
            if len(base) < 3:
                return base + "e"
            if base[-1] == base[-2] and (base[-1] not in "lsz" or len(base) > 5):
                return base[:-1]
            return base
    return word


def _finish(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 3 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def tokenize(text: str) -> list[Token]:
    """The first `MAX_TOKENS` tokens of a text, separators included."""
    tokens: list[Token] = []
    chunks = fold(text[:MAX_CHARS]).split()
    for chunk, following in pairwise((*chunks, "")):
        if chunk.lower() in _NUMBERING and following[:1].isdigit():
            # "Container no. 44-18".
            tokens.append(_word("number"))
            continue
        tokens.extend(_tokens_of(chunk[:MAX_CHUNK]))
        if len(tokens) >= MAX_TOKENS:
            break
    return tokens[:MAX_TOKENS]


@lru_cache(maxsize=16_384)
def _tokens_of(chunk: str) -> tuple[Token, ...]:
    """The tokens of what stands between two spaces; most are met again and again."""
    out: list[Token] = []
    start, end = 0, len(chunk)
    while start < end and chunk[start] in _OPEN:
        if chunk[start] == "(":
            out.append(_separator("("))
        start += 1
    tail: list[str] = []
    while end > start and (chunk[end - 1] in _CLOSE or chunk[end - 1] in _STOPS):
        if chunk[end - 1] in _STOPS or chunk[end - 1] == ")":
            tail.append(chunk[end - 1])
        end -= 1
    core = chunk[start:end]
    if core in {"-", "--", "->", "=>", "/"}:
        out.append(_separator(":" if ">" in core else "-"))
    elif core:
        _split_word(core, out)
    out.extend(_separator(mark) for mark in reversed(tail))
    return tuple(out)


def _split_word(word: str, out: list[Token]) -> None:
    lower = word.lower()
    if lower in _CONTRACTIONS:
        out.extend(_word(part) for part in _CONTRACTIONS[lower])
        return
    if lower.endswith("n't"):
        out.extend((_word(word[:-3]), _word("not")))
        return
    for suffix in ("'s", "'re", "'ve", "'ll", "'d", "'m"):
        if lower.endswith(suffix) and len(lower) > len(suffix):
            _split_word(word[: -len(suffix)], out)
            out.append(_word(suffix))
            return
    if lower.endswith("s'"):
        word = word[:-1]
    plain = "/" in word and not _NUMERIC.match(word) and "." not in word and "//" not in word
    if plain and lower.split("/")[0] not in UNITS:
        out.extend(_word(part) for part in word.split("/") if part)
        return
    out.append(_word(word))


def _word(text: str) -> Token:
    lower = text.lower()
    return Token(text, lower, stem(lower), text[:1].isupper(), False)


def _separator(mark: str) -> Token:
    return Token(mark, mark, mark, False, True)
