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

from memory.domain.forms import ArtifactQuery, Form, importance_of
from memory.domain.types import MemoryType, Role

Value = str | bool | int | float | datetime | UUID | ArtifactQuery | None


class Operator(StrEnum):
    """The comparison of a field with a value."""

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
    """The fields of a memory that a filter can use."""

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
    """A whole number from 0 to 11, so that "gt 0" and "lt 11" can be said, or a share of 10."""
    if isinstance(value, float) and 0 < value < 1:
        value = importance_of(value)
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


MAX_DEPTH = 8
MAX_PARTS = 200
MAX_VALUES = 100


class FilterError(ValueError):
    """An invalid filter: `path` names the entry, as in `filters.or[1].importance`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def parse_filters(
    data: object, *, path: str = "filters", reader: type[FilterReader] | None = None
) -> Expression:
    """The tree of a filter; None and an empty object hold for everything.

    Raises FilterError that names the place: for an unknown field or operator, a value of another
    type, more than 8 levels, 200 parts (conditions and filters), or 100 values in a list. A
    `reader` of its own reads another spelling.
    """
    return All() if data is None else (reader or FilterReader)().filter(data, path=path, depth=1)


class FilterReader:
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
            self.entry(str(name), value, path=f"{path}.{name}", depth=depth)
            for name, value in data.items()
        ]
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def entry(self, name: str, value: object, *, path: str, depth: int) -> Expression:
        """Parses one entry of a filter."""
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
            return All() if value is None else self.condition(field, operator, value, path=path)
        return self._field(self.field_named(name, path=path), value, path=path)

    def field_named(self, name: str, *, path: str) -> Field:
        """The field; FilterError for an unknown one."""
        if name in SYNONYMS:
            return SYNONYMS[name]
        try:
            return Field(name)
        except ValueError:
            known = ", ".join([*Field, *BOUNDS, "and", "or", "not"])
            raise FilterError(path, f"There is no such field; known are: {known}.") from None

    def _field(self, field: Field, value: object, *, path: str) -> Expression:
        if isinstance(value, list):
            return self.condition(field, Operator.IN, value, path=path)
        if not isinstance(value, dict):
            return self.condition(field, Operator.EQ, value, path=path)
        if not value:
            raise FilterError(path, 'Must have an operator, as in {"eq": …}.')
        parts = tuple(
            self.condition(
                field,
                _operator_named(str(name), field=field, path=f"{path}.{name}"),
                operand,
                path=f"{path}.{name}",
            )
            for name, operand in value.items()
        )
        return parts[0] if len(parts) == 1 else All(parts)

    def condition(self, field: Field, operator: Operator, value: object, *, path: str) -> Condition:
        """One comparison, its value checked."""
        self._count(path)
        reader, allowed = FIELDS[field]
        if operator not in allowed:
            raise FilterError(path, f"'{field}' takes {', '.join(allowed)}.")
        lists = operator is Operator.IN or (
            operator is Operator.CONTAINS and field is Field.TAGS and isinstance(value, list)
        )
        if lists:
            return Condition(field, operator, _read_list(value, reader, path=path))
        read = _read(value, reader, path=path)
        if operator in (Operator.CONTAINS, Operator.ICONTAINS) and read == "":
            raise FilterError(path, "Must not be empty.")
        return Condition(field, operator, read)

    def _count(self, path: str) -> None:
        self.count += 1
        if self.count > MAX_PARTS:
            raise FilterError(path, f"Filters may have at most {MAX_PARTS} parts.")


def _operator_named(name: str, *, field: Field, path: str) -> Operator:
    try:
        # Seed 003 writes them with a dollar sign.
        return Operator(name.removeprefix("$"))
    except ValueError:
        known = ", ".join(FIELDS[field][1])
        raise FilterError(path, f"There is no such operator; '{field}' takes {known}.") from None


def _read_list(value: object, reader: Reader, *, path: str) -> tuple[Value, ...]:
    if not isinstance(value, list) or not value:
        raise FilterError(path, "Must be a list of one or more values.")
    if len(value) > MAX_VALUES:
        raise FilterError(path, f"Must hold at most {MAX_VALUES} values.")
    values = (_read(each, reader, path=f"{path}[{index}]") for index, each in enumerate(value))
    return tuple(dict.fromkeys(values))


def _read(value: object, reader: Reader, *, path: str) -> Value:
    try:
        return reader(value)
    except BadValueError as error:
        raise FilterError(path, str(error)) from None
