"""Filters in JSON, read into their trees (seed 004, §6)."""

from __future__ import annotations

from memory.domain.filters import BadValueError

from .filters import (
    BOUNDS,
    FIELDS,
    SYNONYMS,
    All,
    AnyOf,
    Condition,
    Expression,
    Field,
    Not,
    Operator,
    Reader,
    Value,
)

MAX_DEPTH = 8
MAX_PARTS = 200
MAX_VALUES = 100


class FilterError(ValueError):
    """What is wrong with a filter, and where: `path` is as in `filters.or[1].importance`."""

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
        """What one entry of a filter says."""
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
