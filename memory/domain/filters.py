"""Filters as a caller writes them in JSON, read into a tree that cannot hold anything else.

A filter is an object whose entries must all hold: a field with a value (`"pinned": true`), with a
list (one of them) or with operators (`"importance": {"gte": 5}`), or `and`, `or`, `not` with more
filters. Fields, operators and the short names (`user_id`, `importance_min`, …) are those of
seed 004 (§6) and of what other memory servers call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from . import filter_values as values
from .types import MemoryType, Role

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

Reader = Callable[[object], Value]
"""Reads a value strictly; raises BadValueError for one of another type."""

FIELDS: Mapping[Field, tuple[Reader, tuple[Operator, ...]]] = {
    Field.USER: (values.read_name_or_none, _SAME),
    Field.AGENT: (values.read_name_or_none, _SAME),
    Field.PROJECT: (values.read_name_or_none, _SAME),
    Field.CONVERSATION: (values.read_id_or_none, _SAME),
    Field.CATEGORY: (values.read_text_or_none, _TEXT),
    Field.MEMORY_TYPE: (values.reader_of(MemoryType), _SAME),
    Field.SUBJECT: (values.read_text_or_none, _TEXT),
    Field.TAGS: (values.read_name, _TEXT),
    Field.PINNED: (values.read_boolean, (Operator.EQ, Operator.NE)),
    Field.IMPORTANCE: (values.read_importance, _ORDER),
    Field.CONFIDENCE: (values.read_share, _ORDER),
    Field.CREATED: (values.read_time, _ORDER),
    Field.UPDATED: (values.read_time, _ORDER),
    Field.ACTOR: (values.read_text, _TEXT),
    Field.ROLE: (values.reader_of(Role), _SAME),
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
