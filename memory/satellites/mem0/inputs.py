"""The input of the mem0 client."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    QuestionField,
    StatementField,
    StrictBooleanField,
    StrictFloatField,
)
from memory.api.schemas import PER_REQUEST, StrictSerializer, check_total_length
from memory.domain.filters import (
    All,
    BadValueError,
    Condition,
    Expression,
    Field,
    FilterError,
    FilterReader,
    Not,
    Operator,
    parse_filters,
    read_time,
)
from memory.domain.types import is_to_come
from memory.satellites.mem0.protocol import FIELDS, NotOfferedError, tag_of, tags_of
from teams.errors import InvalidError
from teams.models.conversations import ROLES

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
    """Returns the expression of a filter; None and an empty object hold for everything.

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
    """Returns whether the value is the wildcard, or for `in` a list that contains it."""
    is_list = operator == Operator.IN and isinstance(value, list)
    return WILDCARD in value if is_list else value == WILDCARD  # type: ignore[operator]


MAX_RESULTS = 1_000
MAX_PAGE = 1_000_000
# What was said, or is asked as of: wide enough for any archive and any plan.
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_WORDS = "extraction has one set of instructions for the whole server (EXTRACTION_MODEL)"
_IN_DOCUMENT = "categories are the team's own, in the admin"


class Mem0Serializer(StrictSerializer):
    """Refuses unknown fields (400), and those of mem0 that are not offered (501).

    `no_effect` are fields that change nothing here: `None` for any value, else the one taken.
    """

    not_offered: ClassVar[Mapping[str, str]] = {}
    no_effect: ClassVar[Mapping[str, object]] = {"org_id": None, "project_id": None}

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        if not isinstance(data, dict):
            return super().to_internal_value(data)
        for name, reason in self.not_offered.items():
            if data.get(name) not in (None, False):
                raise NotOfferedError(f"{name}: {reason}.")
        for name, taken in self.no_effect.items():
            if name in data and taken is not None and data[name] not in (taken, None):
                raise NotOfferedError(f"{name}: only {taken!r} is offered.")
        passed = (*self.not_offered, *self.no_effect)
        return super().to_internal_value(
            {name: value for name, value in data.items() if name not in passed}
        )


class MetadataField(serializers.DictField):
    """An object whose keys and values tags can hold."""

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        tags_of(super().to_internal_value(data))
        return data


class ExpirationField(serializers.DateField):
    """The last day, in UTC, on which a memory holds; read as the first moment after it."""

    def to_internal_value(self, value: Any) -> Any:  # Any: whatever the body holds
        try:
            day = super().to_internal_value(value) + timedelta(days=1)
        except OverflowError:
            raise serializers.ValidationError("Must be a day before 9999-12-31.") from None
        return datetime.combine(day, time.min, tzinfo=UTC)


class MomentField(serializers.Field[Any, Any, Any, Any]):
    """Seconds since 1970, or an ISO 8601 time or date."""

    def to_internal_value(self, data: Any) -> datetime:  # Any: whatever the body holds
        try:
            is_number = isinstance(data, int | float) and not isinstance(data, bool)
            return datetime.fromtimestamp(data, tz=UTC) if is_number else read_time(data)
        except (BadValueError, ValueError, OverflowError, OSError):
            raise serializers.ValidationError(
                "Must be the seconds since 1970, or a time as in 2026-02-09T09:04:00Z."
            ) from None


class BoundedMomentField(MomentField):
    """A moment from 1900 to 2199."""

    def to_internal_value(self, data: Any) -> datetime:  # Any: whatever the body holds
        moment = super().to_internal_value(data)
        if not EARLIEST <= moment < LATEST:
            raise serializers.ValidationError("Must lie in the years 1900 to 2199.")
        return moment


class NamesSerializer(Mem0Serializer):
    """To whom memories belong, by names of one's own."""

    user_id = NameField(required=False, allow_null=True, max_length=200)
    agent_id = NameField(required=False, allow_null=True)
    app_id = NameField(required=False, allow_null=True)
    run_id = NameField(required=False, allow_null=True, max_length=200)


class EntitiesSerializer(NamesSerializer):
    """The names, beside the rest or in `filters`."""

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        """The names, also where they stand in `filters`, as the client's typed options have it."""
        if isinstance(data, dict) and data.get("filters") is not None:
            named = _named_in(data["filters"])
            if set(named) & set(data):
                raise serializers.ValidationError({"filters": ["Name each entity once."]})
            data = {name: value for name, value in data.items() if name != "filters"} | named
        return super().to_internal_value(data)


def _named_in(given: object) -> dict[str, Any]:  # Any: names yet to be checked
    """The entities of an object; in an address it stands as Python or JSON writes it."""
    if isinstance(given, str):
        try:
            given = json.loads(given) if '"' in given else ast.literal_eval(given)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            given = None
    if not isinstance(given, dict) or set(given) - set(ENTITIES):
        known = ", ".join(ENTITIES)
        raise serializers.ValidationError({"filters": [f"May name {known} here and no more."]})
    return given


def _several(one: StrictSerializer) -> serializers.ListField:
    return serializers.ListField(child=one, min_length=1, max_length=PER_REQUEST)


def _several_of(names: Sequence[str]) -> serializers.ListField:
    return serializers.ListField(child=OneOfField(names), required=False, max_length=50)


class MessageSerializer(StrictSerializer):
    """One message of text."""

    role = OneOfField(choices=ROLES)
    content = ContentField()
    name = NameField(required=False, allow_blank=True, allow_null=True, max_length=200)


class AddSerializer(EntitiesSerializer):
    """Messages to extract memories from, or with `infer` false to keep as memories."""

    not_offered = {
        "custom_categories": _IN_DOCUMENT,
        "custom_instructions": _WORDS,
        "agent_custom_instructions": _WORDS,
        "includes": _WORDS,
        "excludes": _WORDS,
        "structured_data_schema": "memories have the forms of POST /v1/memories",
        "immutable": "a memory's text never changes here; an update is a new version",
        "enable_graph": "relations are made by themselves, see GET /v1/memories/{id}/related",
    }
    no_effect = {
        **Mem0Serializer.no_effect,
        "async_mode": True,
        "output_format": "v1.1",
        "version": "v2",
    }
    messages = _several(MessageSerializer())
    infer = StrictBooleanField(required=False, default=True)
    metadata = MetadataField(required=False)
    expiration_date = ExpirationField(required=False)
    timestamp = BoundedMomentField(required=False)

    def validate_messages(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        check_total_length(each["content"] for each in value)
        return value

    def validate_timestamp(self, value: datetime) -> datetime:
        """Rejects a time more than a day ahead: a message lies in the past, give or take a day."""
        if is_to_come(at=value, now=timezone.now()):
            raise serializers.ValidationError("Must not lie more than a day ahead.")
        return value


class ReadSerializer(Mem0Serializer):
    """The filters of a read, and the fields of a memory that it shows."""

    not_offered = {"enable_graph": AddSerializer.not_offered["enable_graph"]}
    no_effect = {
        **Mem0Serializer.no_effect,
        "latest_only": True,
        "output_format": "v1.1",
        "version": "v2",
    }
    filters = serializers.DictField(required=False)
    categories = serializers.ListField(child=NameField(), required=False, max_length=100)
    fields_ = _several_of(FIELDS)
    show_expired = StrictBooleanField(required=False, default=False)


class ListSerializer(ReadSerializer):
    """Filters of the list of memories."""

    start_date = MomentField(required=False)
    end_date = MomentField(required=False)


class SearchSerializer(ReadSerializer):
    """The search request; reranking and words are part of every search."""

    not_offered = {**ReadSerializer.not_offered, "metadata": "put it into filters"}
    no_effect = {**ReadSerializer.no_effect, "rerank": None, "keyword_search": None}
    query = QuestionField()
    fields_ = _several_of((*FIELDS, "score"))
    top_k = serializers.IntegerField(required=False, min_value=1, max_value=500, default=10)
    threshold = StrictFloatField(required=False, allow_null=True, min_value=0, max_value=1)
    reference_date = BoundedMomentField(required=False)


class PageSerializer(StrictSerializer):
    """The page of a list."""

    page = serializers.IntegerField(required=False, min_value=1, max_value=MAX_PAGE, default=1)
    page_size = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_RESULTS, default=100
    )


class UpdateSerializer(Mem0Serializer):
    """The changes of a memory."""

    not_offered = {"timestamp": "the time of a memory never changes"}
    text = StatementField(required=False)
    metadata = MetadataField(required=False)
    expiration_date = ExpirationField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """At least one of them."""
        if not set(attrs) & {"text", "metadata", "expiration_date"}:
            raise serializers.ValidationError("Send text, metadata or expiration_date.")
        return attrs


class MemoryUpdateSerializer(UpdateSerializer):
    """One memory among several and what changes of it."""

    memory_id = NameField()


class UpdatesSerializer(StrictSerializer):
    """Several changes."""

    memories = _several(MemoryUpdateSerializer())


class NamedMemorySerializer(StrictSerializer):
    """One memory among several."""

    memory_id = NameField()


class DeletionsSerializer(StrictSerializer):
    """Several memories."""

    memories = _several(NamedMemorySerializer())


class DeletionSerializer(Mem0Serializer):
    """The option to delete earlier versions too."""

    delete_linked = serializers.BooleanField(required=False, default=False)


class DeleteAllSerializer(EntitiesSerializer):
    """The owners of the memories to delete."""

    not_offered = {"metadata": "name whose memories to delete; search finds ids for batch_delete"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:  # Any: names
        """No null: where a name is missing by mistake, more would be deleted than was meant."""
        for name, value in attrs.items():
            if value is None:
                raise serializers.ValidationError({name: ["Give a name, or leave it out."]})
        return attrs


class ExportSerializer(NamesSerializer):
    """Filters of an export, and a JSON schema whose properties are fields of a memory."""

    not_offered = {"export_instructions": "an export tells what is stored, in no other words"}
    schema = serializers.JSONField()
    filters = serializers.DictField(required=False)


class ExportedSerializer(ExportSerializer):
    """An export that was asked for, by its id or by what it is of."""

    schema = None  # type: ignore[assignment]  # DRF's way to leave a field out
    memory_export_id = NameField(required=False, max_length=20_000)
