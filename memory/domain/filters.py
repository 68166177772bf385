"""Filters as a caller writes them in JSON, read into a tree that cannot hold anything else.

A filter is an object whose entries must all hold: a field with a value (`"pinned": true`), with a
list (one of them) or with operators (`"importance": {"gte": 5}`), or `and`, `or`, `not` with more
filters. Fields, operators and the short names (`user_id`, `importance_min`, …) are those of
seed 004 (§6) and of what other memory servers call them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from .filter_values import BadValueError, Kind, read_value

MAX_DEPTH = 8
MAX_PARTS = 200
MAX_VALUES = 100

Value = str | bool | int | float | datetime | UUID | None


class Operator(StrEnum):
    """How a field is compared with a value."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    CONTAINS = "contains"


class Field(StrEnum):
    """What of a memory can be filtered by."""

    USER = "user"
    AGENT = "agent"
    PROJECT = "project"
    CONVERSATION = "conversation"
    CATEGORY = "category"
    MEMORY_TYPE = "memory_type"
    SUBJECT = "subject"
    TAGS = "tags"
    PINNED = "pinned"
    IMPORTANCE = "importance"
    CONFIDENCE = "confidence"
    CREATED = "created"
    UPDATED = "updated"
    ACTOR = "actor"
    ROLE = "role"


_SAME = (Operator.EQ, Operator.NE, Operator.IN)
_TEXT = (*_SAME, Operator.CONTAINS)
_ORDER = (*_SAME, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)

FIELDS: Mapping[Field, tuple[Kind, tuple[Operator, ...]]] = {
    Field.USER: (Kind.NAME_OR_NONE, _SAME),
    Field.AGENT: (Kind.NAME_OR_NONE, _SAME),
    Field.PROJECT: (Kind.NAME_OR_NONE, _SAME),
    Field.CONVERSATION: (Kind.ID_OR_NONE, _SAME),
    Field.CATEGORY: (Kind.TEXT, _TEXT),
    Field.MEMORY_TYPE: (Kind.MEMORY_TYPE, _SAME),
    Field.SUBJECT: (Kind.TEXT, _TEXT),
    Field.TAGS: (Kind.NAME, _TEXT),
    Field.PINNED: (Kind.BOOLEAN, (Operator.EQ, Operator.NE)),
    Field.IMPORTANCE: (Kind.IMPORTANCE, _ORDER),
    Field.CONFIDENCE: (Kind.SHARE, _ORDER),
    Field.CREATED: (Kind.TIME, _ORDER),
    Field.UPDATED: (Kind.TIME, _ORDER),
    Field.ACTOR: (Kind.TEXT, _TEXT),
    Field.ROLE: (Kind.ROLE, _SAME),
}

SYNONYMS: Mapping[str, Field] = {
    "user_id": Field.USER,
    "agent_id": Field.AGENT,
    "project_id": Field.PROJECT,
    "conversation_id": Field.CONVERSATION,
    "run_id": Field.CONVERSATION,
    "actor_id": Field.ACTOR,
    "is_pinned": Field.PINNED,
}

# A bound in the name; null means that there is none.
BOUNDS: Mapping[str, tuple[Field, Operator]] = {
    "importance_min": (Field.IMPORTANCE, Operator.GTE),
    "importance_max": (Field.IMPORTANCE, Operator.LTE),
    "updated_after": (Field.UPDATED, Operator.GTE),
    "updated_before": (Field.UPDATED, Operator.LT),
    "created_after": (Field.CREATED, Operator.GTE),
    "created_before": (Field.CREATED, Operator.LT),
}


class FilterError(ValueError):
    """What is wrong with a filter, and where: `path` is as in `filters.or[1].importance`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@dataclass(frozen=True, slots=True)
class Condition:
    """One field compared with a value; `value` is a tuple for `in`, and for `contains` of tags."""

    field: Field
    operator: Operator
    value: Value | tuple[Value, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        """All values that it names."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; without parts it holds for everything."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of its parts holds; it has one or more."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Its part does not hold."""

    part: Expression


Expression = Condition | All | AnyOf | Not


def parse_filters(data: object, *, path: str = "filters") -> Expression:
    """The tree of a filter; None and an empty object hold for everything.

    Raises FilterError that names the place: for an unknown field or operator, a value of another
    type, more than 8 levels, 200 parts (conditions and filters), or 100 values in a list.
    """
    return All() if data is None else _Reader().filter(data, path=path, depth=1)


def conditions_of(expression: Expression) -> Iterator[Condition]:
    """Every condition in the tree, whatever stands above it."""
    match expression:
        case Condition():
            yield expression
        case Not(part=part):
            yield from conditions_of(part)
        case All(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from conditions_of(part)


class _Reader:
    """Reads one filter and counts its parts."""

    def __init__(self) -> None:
        self.count = 0

    def filter(self, data: object, *, path: str, depth: int) -> Expression:
        if not isinstance(data, dict):
            raise FilterError(path, 'Must be an object, such as {"pinned": true}.')
        self._count(path)
        if depth > MAX_DEPTH:
            raise FilterError(path, f"Filters may be at most {MAX_DEPTH} levels deep.")
        parts = [
            self._entry(str(name), value, path=f"{path}.{name}", depth=depth)
            for name, value in data.items()
        ]
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _entry(self, name: str, value: object, *, path: str, depth: int) -> Expression:
        match name.lower():
            case "and" | "or" as word:
                if not isinstance(value, list) or not value:
                    raise FilterError(path, "Must be a list of one or more filters.")
                parts = tuple(
                    self.filter(each, path=f"{path}[{index}]", depth=depth + 1)
                    for index, each in enumerate(value)
                )
                return All(parts) if word == "and" else AnyOf(parts)
            case "not":
                return Not(self.filter(value, path=path, depth=depth + 1))
        if name in BOUNDS:
            field, operator = BOUNDS[name]
            return All() if value is None else self._condition(field, operator, value, path=path)
        return self._field(_field_named(name, path=path), value, path=path)

    def _field(self, field: Field, value: object, *, path: str) -> Expression:
        if isinstance(value, list):
            return self._condition(field, Operator.IN, value, path=path)
        if not isinstance(value, dict):
            return self._condition(field, Operator.EQ, value, path=path)
        if not value:
            raise FilterError(path, 'Must have an operator, as in {"eq": …}.')
        parts = tuple(
            self._condition(
                field,
                _operator_named(str(name), field=field, path=f"{path}.{name}"),
                operand,
                path=f"{path}.{name}",
            )
            for name, operand in value.items()
        )
        return parts[0] if len(parts) == 1 else All(parts)

    def _condition(
        self, field: Field, operator: Operator, value: object, *, path: str
    ) -> Condition:
        self._count(path)
        kind, allowed = FIELDS[field]
        if operator not in allowed:
            raise FilterError(path, f"'{field}' takes {', '.join(allowed)}.")
        lists = operator is Operator.IN or (
            operator is Operator.CONTAINS and field is Field.TAGS and isinstance(value, list)
        )
        if lists:
            return Condition(field, operator, _read_list(value, kind, path=path))
        read = _read(value, kind, path=path)
        if operator is Operator.CONTAINS and read == "":
            raise FilterError(path, "Must not be empty.")
        return Condition(field, operator, read)

    def _count(self, path: str) -> None:
        self.count += 1
        if self.count > MAX_PARTS:
            raise FilterError(path, f"Filters may have at most {MAX_PARTS} parts.")


def _field_named(name: str, *, path: str) -> Field:
    if name in SYNONYMS:
        return SYNONYMS[name]
    try:
        return Field(name)
    except ValueError:
        known = ", ".join([*Field, *BOUNDS, "and", "or", "not"])
        raise FilterError(path, f"There is no such field; known are: {known}.") from None


def _operator_named(name: str, *, field: Field, path: str) -> Operator:
    try:
        return Operator(name)
    except ValueError:
        known = ", ".join(FIELDS[field][1])
        raise FilterError(path, f"There is no such operator; '{field}' takes {known}.") from None


def _read_list(value: object, kind: Kind, *, path: str) -> tuple[Value, ...]:
    if not isinstance(value, list) or not value:
        raise FilterError(path, "Must be a list of one or more values.")
    if len(value) > MAX_VALUES:
        raise FilterError(path, f"Must hold at most {MAX_VALUES} values.")
    return tuple(
        dict.fromkeys(
            _read(each, kind, path=f"{path}[{index}]") for index, each in enumerate(value)
        )
    )


def _read(value: object, kind: Kind, *, path: str) -> Value:
    try:
        return read_value(value, kind)
    except BadValueError as error:
        raise FilterError(path, str(error)) from None
