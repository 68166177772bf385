"""Loads the word tables and finds their phrases in tokenized text.

A table is a text file in `tables/`: rows are parted by line ends or `;`, the poles of a row by
`|`, the phrases of a pole by `,`. Lines that begin with `#` are comments. Phrases match by the
stems of their words, or as they are written where the first line is `match: form`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .tokens import Token, tokenize

_FOLDER = Path(__file__).parent / "tables"
_BY_FORM = "match: form"

Poles = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one file; each row has one or more poles, each pole its phrases."""

    name: str
    by_form: bool
    rows: tuple[Poles, ...]


class Mark(NamedTuple):
    """A phrase of a table found in a text: which row and pole, and the tokens start to end."""

    table: str
    row: int
    pole: int
    start: int
    end: int


class _Entry(NamedTuple):
    key: tuple[str, ...]
    row: int
    pole: int


@cache
def table(name: str) -> Table:
    """The table of `tables/<name>.txt`. Raises FileNotFoundError."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    by_form = bool(lines) and lines[0] == _BY_FORM
    rows = tuple(
        tuple(_listed(pole) for pole in row.split("|"))
        for line in lines[by_form:]
        if not line.startswith("#")
        for row in line.split(";")
        if row.strip()
    )
    return Table(name=name, by_form=by_form, rows=rows)


@cache
def word_set(name: str) -> frozenset[str]:
    """All phrases of a table, lower-case, as one set."""
    return frozenset(phrase for row in table(name).rows for pole in row for phrase in pole)


def marks(tokens: Sequence[Token], *, names: Sequence[str]) -> Iterator[Mark]:
    """The phrases of the named tables in `tokens`, the longest at each place of each table.

    Rows of one table may share a phrase, and then each of them is found.
    """
    forms = [token.lower for token in tokens]
    stems = [token.stem for token in tokens]
    for name in names:
        found = table(name)
        yield from _marks_of(found, forms if found.by_form else stems)


def _marks_of(found: Table, words: Sequence[str]) -> Iterator[Mark]:
    index = _index(found.name)
    place = 0
    while place < len(words):
        length = 0
        for key, row, pole in index.get(words[place], ()):
            if len(key) < length:
                break
            if tuple(words[place : place + len(key)]) == key:
                length = len(key)
                yield Mark(found.name, row, pole, place, place + length)
        place += length or 1


@cache
def _index(name: str) -> dict[str, tuple[_Entry, ...]]:
    """The entries of a table by their first word, the longest first."""
    found = table(name)
    entries: dict[str, set[_Entry]] = {}
    for row, poles in enumerate(found.rows):
        for pole, phrases in enumerate(poles):
            for phrase in phrases:
                tokens = tokenize(phrase)
                key = tuple(token.lower if found.by_form else token.stem for token in tokens)
                entries.setdefault(key[0], set()).add(_Entry(key, row, pole))
    return {
        first: tuple(sorted(rows, key=lambda entry: (-len(entry.key), entry)))
        for first, rows in entries.items()
    }


def _listed(pole: str) -> tuple[str, ...]:
    return tuple(phrase for part in pole.split(",") if (phrase := part.strip().lower()))
