"""What is written as JSON comes back as it was, and nothing else comes back at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.plain_json import as_plain, from_plain, shape_of
from memory.domain.scoring import Signals


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Row:
    """An object of a class that JSON does not know."""

    def __init__(self, key: int) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, slots=True)
class Part:
    """A dataclass inside another one."""

    colour: Colour
    row: Row
    signals: Signals


@dataclass(frozen=True, slots=True)
class Whole:
    """A dataclass with all that an answer may hold."""

    name: str
    share: float
    number: int
    flag: bool
    at: datetime
    id: UUID | None
    parts: tuple[Part, ...]
    counts: Mapping[str, int]
    by_colour: dict[Colour, float]
    lines: Sequence[str]


shares = st.floats(0, 1)
parts = st.builds(
    Part,
    colour=st.sampled_from(Colour),
    row=st.integers(0, 9).map(Row),
    signals=st.builds(Signals, semantic=shares, recency=shares),
)
wholes = st.builds(
    Whole,
    name=st.text(),
    share=st.floats(allow_nan=False, allow_infinity=False),
    number=st.integers(),
    flag=st.booleans(),
    at=st.datetimes(timezones=st.just(UTC)),
    id=st.none() | st.uuids(),
    parts=st.lists(parts, max_size=4).map(tuple),
    counts=st.dictionaries(st.text(), st.integers(), max_size=4),
    by_colour=st.dictionaries(st.sampled_from(Colour), shares, max_size=2),
    lines=st.lists(st.text(), max_size=3),
)


def written(value: object) -> Any:
    """As JSON has it after the way through Redis."""
    return json.loads(json.dumps(as_plain(value, {Row: lambda row: row.key})))


@given(wholes)
def test_it_comes_back_as_it_was(whole: Whole) -> None:
    assert from_plain(Whole, written(whole), {Row: Row}) == whole


@given(st.lists(wholes, max_size=2))
def test_so_do_lists_of_it(many: list[Whole]) -> None:
    assert from_plain(list[Whole], written(many), {Row: Row}) == many


def test_a_kind_is_told_from_one_with_other_fields() -> None:
    @dataclass(frozen=True, slots=True)
    class Renamed:
        colour: Colour
        line: Row
        signals: Signals

    assert shape_of(tuple[Part, ...]) == shape_of(tuple[Part, ...])
    assert shape_of(Part).removeprefix("Part") != shape_of(Renamed).removeprefix("Renamed")
    assert shape_of(list[Signals]) != shape_of(list[Part])
    assert "semantic float" in shape_of(Whole)


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="Decimal"):
        as_plain({"amount": Decimal(1)}, {})


@pytest.mark.parametrize(
    "data",
    [
        {"semantic": 1.0},
        {**written(Signals()), "semantic": "1"},
        {**written(Signals()), "other": 1.0},
        list(written(Signals()).values()),
        [],
        None,
    ],
)
def test_another_shape_is_refused(data: object) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        from_plain(Signals, data, {})


@given(st.lists(st.integers(), max_size=4))
def test_a_sequence_is_read_when_it_is_looked_at(numbers: list[int]) -> None:
    read: list[int] = []

    def look(data: int) -> Row:
        read.append(data)
        return Row(data)

    rows = from_plain(Sequence[Row], numbers, {Row: look})
    size, before = len(rows), list(read)

    assert (size, before) == (len(numbers), [])
    assert rows == [Row(each) for each in numbers]
    assert list(rows) == list(rows)
    assert read == numbers


def test_what_is_no_list_is_no_sequence() -> None:
    with pytest.raises(TypeError):
        from_plain(Sequence[int], {"a": 1}, {})
