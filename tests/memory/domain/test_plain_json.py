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

from memory.domain.plain_json import as_plain, from_plain
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


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="Decimal"):
        as_plain({"amount": Decimal(1)}, {})


@pytest.mark.parametrize(
    "data",
    [
        {"semantic": 1.0},
        {**written(Signals()), "semantic": "1"},
        {**written(Signals()), "more": 1.0},
        {"other": 1.0, **dict.fromkeys(list(written(Signals()))[1:], 0.0)},
        [],
        None,
    ],
)
def test_another_shape_is_refused(data: object) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        from_plain(Signals, data, {})
