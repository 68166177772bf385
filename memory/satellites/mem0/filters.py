"""mem0's filter language, read into the trees of our own."""

from __future__ import annotations

from collections.abc import Mapping

from memory.domain.filter_parsing import FilterError, FilterReader, parse_filters
from memory.domain.filters import All, Condition, Expression, Field, Not, Operator
from memory.satellites.mem0.metadata import tag_of
from teams.errors import InvalidError

WILDCARD = "*"
ENTITIES: Mapping[str, Field] = {
    "user_id": Field.USER,
    "agent_id": Field.AGENT,
    "app_id": Field.PROJECT,
    "run_id": Field.THREAD,
}
_FIELDS: Mapping[str, Field] = {
    **ENTITIES,
    "created_at": Field.CREATED,
    "timestamp": Field.CREATED,
    "updated_at": Field.UPDATED,
    "categories": Field.CATEGORY,
    "keywords": Field.TEXT,
    "memory_ids": Field.ID,
}
_HAS_NONE = (*ENTITIES.values(), Field.CATEGORY)
_OF_METADATA = {each.value: each for each in (Operator.EQ, Operator.NE, Operator.IN)}


def parse_mem0(data: object) -> Expression:
    """What a filter holds for; None and an empty object hold for everything.

    `NOT` of a list holds where none of its filters does, and `*` for what has any value. Raises
    InvalidError that names the place, with the bounds of `parse_filters`.
    """
    try:
        return parse_filters(data, reader=_Mem0Reader)
    except FilterError as error:
        raise InvalidError(error.message, field=error.path) from None


class _Mem0Reader(FilterReader):
    def entry(self, name: str, value: object, *, path: str, depth: int) -> Expression:
        if name == "metadata":
            return self._metadata(value, path=path)
        if name.lower() == "not" and isinstance(value, list):
            return Not(super().entry("or", value, path=path, depth=depth))
        if name == "keywords" and isinstance(value, str):
            value = {"contains": value}
        return super().entry(name, value, path=path, depth=depth)

    def field_named(self, name: str, *, path: str) -> Field:
        if name not in _FIELDS:
            known = ", ".join([*_FIELDS, "metadata", "AND", "OR", "NOT"])
            raise FilterError(path, f"There is no such field; known are: {known}.")
        return _FIELDS[name]

    def condition(self, field: Field, operator: Operator, value: object, *, path: str) -> Condition:
        opposite = {
            Operator.EQ: Operator.NE,
            Operator.IN: Operator.NE,
            Operator.NE: Operator.EQ,
        }
        if _is_any(operator, value) and field in _HAS_NONE and operator in opposite:
            operator, value = opposite[operator], None
        return super().condition(field, operator, value, path=path)

    def _metadata(self, value: object, *, path: str) -> Expression:
        """Keys with their values or operators; or one operator with such keys."""
        if not isinstance(value, dict) or not value:
            raise FilterError(path, 'Must be an object, such as {"topic": "food"}.')
        for operator in ("eq", "ne", "contains"):
            if list(value) == [operator] and isinstance(value[operator], dict):
                found = self._metadata(value[operator], path=f"{path}.{operator}")
                return Not(found) if operator == "ne" else found
        return All(tuple(self._key(*each, path=f"{path}.{each[0]}") for each in value.items()))

    def _key(self, key: str, value: object, *, path: str) -> Expression:
        given = value if isinstance(value, dict) and set(value) <= set(Operator) else {"eq": value}
        is_any = any(_is_any(*each) for each in given.items())
        if set(given) - set(_OF_METADATA) or not given or is_any:
            taken = ", ".join(_OF_METADATA)
            raise FilterError(path, f"Metadata is compared as a whole: it takes {taken}.")
        conditions = []
        for name, operand in given.items():
            tags = [tag_of(key, each) for each in operand] if isinstance(operand, list) else None
            is_list = name == "in" and tags is not None
            tag = tags if is_list else tag_of(key, operand)
            conditions.append(self.condition(Field.TAGS, _OF_METADATA[name], tag, path=path))
        return All(tuple(conditions))


def _is_any(operator: str, value: object) -> bool:
    """Whether what is compared with is the wildcard, or for `in` a list in which it stands."""
    is_list = operator == Operator.IN and isinstance(value, list)
    return WILDCARD in value if is_list else value == WILDCARD  # type: ignore[operator]
