"""The word tables as one index: which groups, axes, contrasts and signals start at a token."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from .tables import table_lines, words
from .tokens import Token, fold, tokenize


class Table(IntEnum):
    """Which table a mark comes from."""

    SYNONYM = 0
    AXIS = 1
    CONTRAST = 2
    ATTRIBUTE = 3
    FIELD = 4
    CORRECTION = 5
    NOW = 6
    CHANGE_VERB = 7
    ADDITIVE = 8
    UNREAL = 9
    PAST = 10
    TEMPORARY = 11
    STATE = 12
    EVENT = 13
    KIND = 14


class Mark(NamedTuple):
    """Words `start` to `end` of a statement that a table knows; `ids` are (row, member) pairs."""

    table: Table
    ids: tuple[tuple[int, int], ...]
    start: int
    end: int


_Entry = dict[Table, tuple[tuple[int, int], ...]]
_INDEX: dict[str, dict[tuple[str, ...], _Entry]] = {}
_WRITTEN: dict[str, dict[tuple[str, ...], _Entry]] = {}
_Entries = tuple[tuple[tuple[str, ...], tuple[tuple[Table, tuple[tuple[int, int], ...]], ...]], ...]
# By the first word of a phrase and then by its second, "" where it is all.
_Ordered = dict[str, dict[str, _Entries]]
_ORDERED: _Ordered = {}
_ORDERED_WRITTEN: _Ordered = {}


def phrase_key(phrase: str) -> tuple[str, ...]:
    """The stems of a phrase as the index keeps them."""
    return tuple(token.stem for token in tokenize(phrase) if not token.separator)


# These signals depend on the form ("had been" is not "has been"), so they match words as written.
_AS_WRITTEN = frozenset(
    {Table.CORRECTION, Table.NOW, Table.ADDITIVE, Table.UNREAL, Table.PAST, Table.TEMPORARY}
)


def _enter(table: Table, phrase: str, row: int, member: int) -> None:
    written = table in _AS_WRITTEN
    key = tuple(fold(phrase).lower().split()) if written else phrase_key(phrase)
    if not key:
        return
    index = _WRITTEN if written else _INDEX
    entry = index.setdefault(key[0], {}).setdefault(key, {})
    known = entry.get(table, ())
    if (row, member) not in known:
        entry[table] = (*known, (row, member))


def _words(text: str) -> list[str]:
    """The entries of a line; one of two words also as written together or with a hyphen."""
    found: dict[str, None] = {}
    for entry in text.split(","):
        word = entry.strip()
        if not word:
            continue
        found[word] = None
        first, _, second = word.partition(" ")
        if first in _COMPOUNDING and second and " " not in second:
            found[f"{first}-{second}"] = None
            found[first + second] = None
    return list(found)


# What stands before a noun oftener as one word with it.
_COMPOUNDING = words(
    "clear plain part full open closed home on off long short high low self third read write case "
    "round half life over under out in up down two one multi single pre post non sugar gluten "
    "lactose smoke dairy meat work data code check side web car bird"
)


ATTRIBUTE_NAMES: list[str] = []
AXIS_NAMES: list[str] = []
VALUE_ROWS: set[int] = set()
_SIGNALS = (
    Table.CORRECTION,
    Table.NOW,
    Table.ADDITIVE,
    Table.UNREAL,
    Table.PAST,
    Table.TEMPORARY,
)


def _load() -> None:
    for table, name in ((Table.SYNONYM, "synonyms"), (Table.FIELD, "fields")):
        for row, line in enumerate(table_lines(name)):
            for word in _words(line):
                _enter(table, word, row, 0)
    _load_poles()
    for row, line in enumerate(table_lines("attributes")):
        attribute, _, cues = line.partition(":")
        ATTRIBUTE_NAMES.append(attribute)
        for word in _words(cues):
            _enter(Table.ATTRIBUTE, word, row, 0)
    for table in _SIGNALS:
        for line in table_lines("signal_" + table.name.lower()):
            for word in _words(line):
                _enter(table, word, 0, 0)
    weak = {phrase_key(word) for line in table_lines("signal_weak") for word in _words(line)}
    for line in table_lines("signal_change"):
        for word in _words(line):
            _enter(Table.CHANGE_VERB, word, 0, int(phrase_key(word) in weak))
    for row, line in enumerate(table_lines("endings")):
        states, _, events = line.partition("|")
        for table, text in ((Table.STATE, states), (Table.EVENT, events)):
            for word in _words(text):
                _enter(table, word, row, 0)


def _load_poles() -> None:
    for table, name in (
        (Table.AXIS, "opposites"),
        (Table.CONTRAST, "contrasts"),
        (Table.KIND, "kinds"),
    ):
        for row, line in enumerate(table_lines(name)):
            if line.startswith("~"):
                VALUE_ROWS.add(row)
            poles = [_words(pole) for pole in line.lstrip("~").split("|")]
            if table is Table.AXIS:
                AXIS_NAMES.append(" / ".join(pole[0] for pole in poles[:2]))
            for member, pole in enumerate(poles):
                for word in pole:
                    _enter(table, word, row, member)


def _sort() -> None:
    for index, ordered in ((_INDEX, _ORDERED), (_WRITTEN, _ORDERED_WRITTEN)):
        for first, entries in index.items():
            longest_first = sorted(entries.items(), key=lambda entry: (-len(entry[0]), entry[0]))
            for key, tables in longest_first:
                by_second = ordered.setdefault(first, {})
                second = key[1] if len(key) > 1 else ""
                by_second[second] = (*by_second.get(second, ()), (key, tuple(tables.items())))


_load()
_sort()


def annotate(tokens: Sequence[Token]) -> list[Mark]:
    """All marks of a token list; within one table the longest phrase at a place wins."""
    marks: list[Mark] = []
    _scan([token.stem for token in tokens], _ORDERED, marks)
    _scan([token.lower for token in tokens], _ORDERED_WRITTEN, marks)
    _scan_parted(tokens, marks)
    return marks


_PARTICLES = words("down off up out away back over")
_PARTED = frozenset({Table.AXIS, Table.SYNONYM})
_PARTED_REACH = 5


def _scan_parted(tokens: Sequence[Token], marks: list[Mark]) -> None:
    """ "Turned the offer down" is known as "turned down"."""
    for i, token in enumerate(tokens):
        by_second = _ORDERED.get(token.stem)
        if by_second is None or _PARTICLES.isdisjoint(by_second):
            continue
        for place in range(i + 1, min(len(tokens), i + _PARTED_REACH)):
            second = tokens[place]
            if second.separator:
                break
            if second.lower not in _PARTICLES:
                continue
            for key, tables in by_second.get(second.lower, ()) if place > i + 1 else ():
                marks.extend(
                    Mark(table, ids, i, i + 1)
                    for table, ids in tables
                    if len(key) == 2 and table in _PARTED
                )
            break


def _scan(forms: list[str], ordered: _Ordered, marks: list[Mark]) -> None:
    busy = [0] * len(Table)
    last = len(forms) - 1
    for i, first in enumerate(forms):
        by_second = ordered.get(first)
        if by_second is None:
            continue
        phrases = by_second.get(forms[i + 1], ()) if i < last else ()
        for key, tables in (*phrases, *by_second.get("", ())):
            size = len(key)
            if size > 2 and tuple(forms[i : i + size]) != key:
                continue
            for table, ids in tables:
                if busy[table] <= i:
                    marks.append(Mark(table, ids, i, i + size))
                    busy[table] = i + size


def groups_of_stem(word_stem: str) -> tuple[tuple[int, int], ...]:
    """The (row, 0) of each line of synonyms that holds the single word."""
    return _INDEX.get(word_stem, {}).get((word_stem,), {}).get(Table.SYNONYM, ())


def kinds_of_words(known: str) -> frozenset[int]:
    """The lines of kinds in which the words stand."""
    entries = (_INDEX.get(key[0], {}).get(key, {}) for key in map(phrase_key, known.split()))
    return frozenset(row for entry in entries for row, _ in entry.get(Table.KIND, ()))


def knows(word_stem: str) -> bool:
    """Whether a single word stands in one of the tables, and so is no proper name."""
    return word_stem in _INDEX
