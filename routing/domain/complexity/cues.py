"""Finds the phrases of the word lists in a query, in one pass over its words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


_NUMBERS = words("one two three four five six seven eight nine ten eleven twelve fifteen twenty")
_MIN_STEM = 3


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase of list `name` that begins at token `at`."""

    name: str
    phrase: str
    at: int


class PhraseTable:
    """Named lists of phrases, looked up by their first word."""

    def __init__(self, lists: Iterable[tuple[str, str]]) -> None:
        self._exact: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        self._stems: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for name, phrase in lists:
            parts = tuple(phrase.split())
            if parts[0].endswith("*"):
                self._stems[parts[0][:-1]].append((name, parts))
            else:
                self._exact[parts[0]].append((name, parts))
        self._longest_stem = max((len(stem) for stem in self._stems), default=0)

    def hits(self, tokens: Sequence[str]) -> Iterator[Hit]:
        """Each list at most once a place, its longest phrase there."""
        for at, token in enumerate(tokens):
            found: dict[str, tuple[str, ...]] = {}
            for name, parts in self._candidates(token):
                longest = found.get(name, ())
                if len(parts) > len(longest) and _continues(parts, tokens, at):
                    found[name] = parts
            for name, parts in found.items():
                yield Hit(name, " ".join(tokens[at : at + len(parts)]), at)

    def _candidates(self, token: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from self._exact.get(token, ())
        for length in range(_MIN_STEM, min(len(token), self._longest_stem) + 1):
            yield from self._stems.get(token[:length], ())


def _continues(parts: tuple[str, ...], tokens: Sequence[str], at: int) -> bool:
    if at + len(parts) > len(tokens):
        return False
    return all(_fits(part, tokens[at + step]) for step, part in enumerate(parts) if step)


def _fits(part: str, token: str) -> bool:
    if part == "~":
        return True
    if part == "#":
        return token.isdigit() or token in _NUMBERS
    return token.startswith(part[:-1]) if part.endswith("*") else token == part


@cache
def cue_table() -> PhraseTable:
    """The cues of `wordlists/cues.txt`."""
    return PhraseTable(
        (name, phrase.strip()) for name, line in _named_lines("cues") for phrase in line.split("|")
    )


@cache
def term_table() -> PhraseTable:
    """The terms of `wordlists/terms.txt`, named `field`, `field+` and `field++` by their depth."""
    return PhraseTable(_terms())


def _terms() -> Iterator[tuple[str, str]]:
    for field, line in _named_lines("terms"):
        for depth, marked in enumerate(re.split(r" \+\+? ", line)):
            for term in marked.split():
                yield field + "+" * depth, term


def _named_lines(name: str) -> Iterator[tuple[str, str]]:
    for line in list_lines(name):
        head, _, rest = line.partition(": ")
        yield head, rest


def list_lines(name: str) -> list[str]:
    """The lines of word list `name`, without comments and blank lines."""
    text = files(__package__).joinpath("wordlists", name + ".txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def counted(hits: Iterable[Hit]) -> Counter[str]:
    """How many places each list was found at."""
    return Counter(hit.name for hit in hits)
