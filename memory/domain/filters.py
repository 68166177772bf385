"""Filters as a caller writes them in JSON, read into a tree that cannot hold anything else.

A filter is an object whose entries must all hold: a field with a value (`"pinned": true`), with a
list (one of them) or with operators (`"importance": {"gte": 5}`), or `and`, `or`, `not` with more
filters. Fields, operators and the short names (`user_id`, `importance_min`, …) are those of
seed 004 (§6) and of what other memory servers call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from memory.domain.forms import ArtifactQuery, Form
from memory.domain.types import MemoryType, Role

Value = str | bool | int | float | datetime | UUID | ArtifactQuery | None


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
    ICONTAINS = "icontains"


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
    FORM = "form"
    ARTIFACT = "artifact"
    THREAD = "thread"
    TEXT = "text"
    ID = "id"


MAX_TEXT_CHARS = 200
MAX_ARTIFACT_CHARS = 510


class BadValueError(ValueError):
    """A sentence that says what the value must be."""


def read_text(value: object, *, most: int = MAX_TEXT_CHARS) -> str:
    """A printable text of at most so many characters."""
    if not isinstance(value, str):
        raise BadValueError("Must be a text.")
    if len(value) > most:
        raise BadValueError(f"Must have at most {most} characters.")
    if not value.isprintable():
        # Half surrogates and NUL are not printable either; the database could not take them.
        raise BadValueError("Must not hold control characters.")
    return value


def read_text_or_none(value: object) -> str:
    """A text; "" for null, as what has none is stored."""
    if not isinstance(value, str | None):
        raise BadValueError("Must be a text, or null for what has none.")
    return read_text(value or "")


def read_name(value: object) -> str:
    text = read_text(value).strip()
    if not text:
        raise BadValueError("Must not be empty.")
    return text


def read_name_or_none(value: object) -> str | None:
    if not isinstance(value, str | None):
        raise BadValueError("Must be a name, or null for what belongs to none.")
    return None if value is None else read_name(value)


def read_id_or_none(value: object) -> UUID | None:
    if value is None:
        return None
    try:
        return UUID(value if isinstance(value, str) else "")
    except ValueError:
        raise BadValueError("Must be an id, or null for what belongs to none.") from None


def read_id(value: object) -> UUID:
    found = read_id_or_none(value)
    if found is None:
        raise BadValueError("Must be an id.")
    return found


def read_form_or_none(value: object) -> str:
    """A form; "" for null, as what has none is stored."""
    return "" if value is None else str(reader_of(Form)(value))


def read_artifact(value: object) -> ArtifactQuery:
    """`kind` or `kind:ref`."""
    try:
        return ArtifactQuery.parse(read_text(value, most=MAX_ARTIFACT_CHARS))
    except ValueError as error:
        raise BadValueError(str(error)) from None


def reader_of(choices: type[MemoryType] | type[Role] | type[Form]) -> Callable[[object], str]:
    known = ", ".join(choices)

    def read(value: object) -> str:
        if isinstance(value, str) and value in list(choices):
            return str(value)
        raise BadValueError(f"Must be one of: {known}.")

    return read


def read_boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValueError("Must be true or false.")
    return value


def read_importance(value: object) -> int:
    """A whole number from 0 to 11, so that "gt 0" and "lt 11" can be said."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(12):
        raise BadValueError("Must be a whole number; importance runs from 1 to 10.")
    return int(value)


def read_share(value: object) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadValueError("Must be a number from 0 to 1.")
    return float(value)


def read_time(value: object) -> datetime:
    """An aware UTC time; a date alone is its first moment in UTC."""
    sentence = "Must be a time with its zone, as in 2026-02-09T09:04:00Z, or a date."
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
        raise BadValueError(sentence)
    try:
        read = datetime.fromisoformat(value)
        is_date = len(value) == len("2026-02-09")
        if read.tzinfo is None and not is_date:
            raise BadValueError(sentence)
        return read.replace(tzinfo=UTC) if is_date else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValueError(sentence) from None


_SAME = (Operator.EQ, Operator.NE, Operator.IN)
_TEXT = (*_SAME, Operator.CONTAINS)
_ORDER = (*_SAME, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)

Reader = Callable[[object], Value]
"""Reads a value strictly; raises BadValueError for one of another type."""

FIELDS: Mapping[Field, tuple[Reader, tuple[Operator, ...]]] = {
    Field.USER: (read_name_or_none, _SAME),
    Field.AGENT: (read_name_or_none, _SAME),
    Field.PROJECT: (read_name_or_none, _SAME),
    Field.CONVERSATION: (read_id_or_none, _SAME),
    Field.CATEGORY: (read_text_or_none, (*_TEXT, Operator.ICONTAINS)),
    Field.MEMORY_TYPE: (reader_of(MemoryType), _SAME),
    Field.SUBJECT: (read_text_or_none, _TEXT),
    Field.TAGS: (read_name, _TEXT),
    Field.PINNED: (read_boolean, (Operator.EQ, Operator.NE)),
    Field.IMPORTANCE: (read_importance, _ORDER),
    Field.CONFIDENCE: (read_share, _ORDER),
    Field.CREATED: (read_time, _ORDER),
    Field.UPDATED: (read_time, _ORDER),
    Field.ACTOR: (read_text, _TEXT),
    Field.ROLE: (reader_of(Role), _SAME),
    Field.FORM: (read_form_or_none, _SAME),
    Field.ARTIFACT: (read_artifact, _SAME),
    Field.THREAD: (read_name_or_none, _SAME),
    Field.TEXT: (read_text, (Operator.CONTAINS, Operator.ICONTAINS)),
    Field.ID: (read_id, _SAME),
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
