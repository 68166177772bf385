"""Frozen dataclasses as JSON and back, by their annotations: an object of their fields."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload
from uuid import UUID

import numpy as np

# Any: what JSON holds, and what the annotations say.
Foreign = Mapping[type, Callable[[Any], Any]]
_Reader = Callable[[Any, Foreign], Any]
_T = TypeVar("_T")

_PLAIN = (str, int, float, bool, types.NoneType)


def as_plain(value: Any, foreign: Foreign) -> Any:
    """The value as what JSON holds; `foreign` says what to write for objects of other classes.

    Raises TypeError for what it does not know.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    write = foreign.get(kind)
    if write is not None:
        return write(value)
    names = _names_of(kind)
    if names is not None:
        return {name: as_plain(getattr(value, name), foreign) for name in names}
    match value:
        case Enum():
            return value.value
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat()
        case np.generic():
            return value.item()
        case Mapping():
            return {
                str(as_plain(key, foreign)): as_plain(item, foreign) for key, item in value.items()
            }
        case list() | tuple():
            return [as_plain(item, foreign) for item in value]
    raise TypeError(f"{kind.__name__} cannot be written as JSON")


@cache
def _names_of(kind: Any) -> tuple[str, ...] | None:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache
def shape_of(kind: Any) -> str:
    """The names of all fields in it: data of a kind with another shape must not be read as it."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        inner = (f"{field.name} {shape_of(hints[field.name])}" for field in fields(kind))
        return f"{kind.__name__}({', '.join(inner)})"
    arguments = [each for each in get_args(kind) if each is not Ellipsis]
    return (
        f"[{', '.join(map(shape_of, arguments))}]" if arguments else getattr(kind, "__name__", "")
    )


class Later(Sequence[_T]):
    """A list that is made when an item of it is first looked at."""

    def __init__(self, size: int, make: Callable[[], list[_T]]) -> None:
        self._size, self._make = size, make
        self._items: list[_T] | None = None

    def _made(self) -> list[_T]:
        if self._items is None:
            self._items = self._make()
        return self._items

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> list[_T]: ...
    def __getitem__(self, index: int | slice) -> _T | list[_T]:
        return self._made()[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._made())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._made())


def from_plain(kind: Any, data: Any, foreign: Foreign) -> Any:
    """The value of type `kind` that `as_plain` made `data` of; `foreign` reads other classes.

    The items of a Sequence are read when they are first looked at, those of a list or tuple at
    once. Raises LookupError, TypeError or ValueError for data of another shape.
    """
    return _reader(kind)(data, foreign)


@cache
def _reader(kind: Any) -> _Reader:
    if kind in _PLAIN:
        return _checked(kind)
    if kind in (UUID, datetime):
        return _parsed(UUID if kind is UUID else datetime.fromisoformat)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _parsed(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _optional(arguments)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return _row(arguments[0], tuple)
    if origin is list:
        return _row(arguments[0], list)
    if origin is Sequence:
        return _later(arguments[0])
    if origin in (dict, Mapping):
        return _mapping(*arguments)
    if isinstance(kind, type):
        return lambda data, foreign: foreign[kind](data)
    raise TypeError(f"{kind} cannot be read from JSON")


def _checked(kind: type) -> _Reader:
    def read(data: Any, _: Foreign) -> Any:
        if kind is float and type(data) is int:
            return float(data)
        if type(data) is not kind:
            raise TypeError(f"{kind.__name__} was expected")
        return data

    return read


def _parsed(parse: Callable[[Any], Any]) -> _Reader:
    return lambda data, _: parse(data)


def _dataclass(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    readers = [(field.name, _reader(hints[field.name])) for field in fields(kind)]

    def read(data: Any, foreign: Foreign) -> Any:
        if type(data) is not dict or len(data) != len(readers):
            raise TypeError(f"the fields of {kind.__name__} were expected")
        return kind(*[inner(data[name], foreign) for name, inner in readers])

    return read


def _optional(members: Sequence[Any]) -> _Reader:
    others = [member for member in members if member is not types.NoneType]
    if len(others) != 1:
        raise TypeError(f"a choice of {members} cannot be read from JSON")
    inner = _reader(others[0])
    return lambda data, foreign: None if data is None else inner(data, foreign)


def _row(of: Any, build: Callable[[Any], Any]) -> _Reader:
    inner = _reader(of)
    return lambda data, foreign: build(inner(item, foreign) for item in data)


def _later(of: Any) -> _Reader:
    inner = _reader(of)

    def read(data: Any, foreign: Foreign) -> Any:
        if type(data) is not list:
            raise TypeError("a list was expected")
        return Later(len(data), lambda: [inner(item, foreign) for item in data])

    return read


def _mapping(key: Any, of: Any) -> _Reader:
    name, inner = _reader(key), _reader(of)
    return lambda data, foreign: {
        name(each, foreign): inner(item, foreign) for each, item in data.items()
    }
