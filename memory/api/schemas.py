"""Base serializers, and what the OpenAPI document says of every operation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextvars import ContextVar
from functools import cache, cached_property
from typing import Any, ClassVar, cast

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.utils import Direction, extend_schema_serializer
from rest_framework import serializers
from rest_framework.utils.serializer_helpers import BindingDict

from memory.api.fields import NameField, TextField, ZonedDateTimeField
from memory.api.headers import IDEMPOTENCY_KEY
from memory.api.rendering import Json
from teams.domain.agent_document import MOST_TOKEN_BUDGET

PER_REQUEST: int = settings.MAX_ITEMS_PER_REQUEST
CHARS_PER_REQUEST: int = settings.MAX_CHARS_PER_REQUEST
MAX_TOKEN_BUDGET = MOST_TOKEN_BUDGET
# Values of one parameter of an address that takes several.
MAX_PARAMETER_VALUES = 20


def check_total_length(texts: Iterable[str], *, most: int = CHARS_PER_REQUEST) -> None:
    """Raises ValidationError where the texts of a request together have more characters."""
    if sum(map(len, texts)) > most:
        raise serializers.ValidationError(
            f"The texts may have at most {most:,} characters in all. Send fewer at a time."
        )


class ApiSerializer(serializers.Serializer[Any]):
    """A JSON object with explicit fields, which are made once for each class.

    Only with a context of its own has a serializer fields of its own that know it. A field whose
    name Python or Django REST framework uses itself is declared with an underscore after it:
    `from_` stands for `from`. A class may give an `example` of its own for the schema.
    """

    example: ClassVar[Mapping[str, Any]] = {}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {name.rstrip("_"): field for name, field in super().get_fields().items()}

    @cached_property
    def fields(self) -> BindingDict:
        """The fields by name. To copy them takes longer than to read or write most objects."""
        return super().fields if self._context else _fields_of(type(self))


@cache
def _fields_of(kind: type[ApiSerializer]) -> BindingDict:
    owner = kind()
    fields = BindingDict(owner)
    for name, field in owner.get_fields().items():
        fields[name] = field
    return fields


# The names in the object that is being validated. Serializers are shared by threads.
_sent_fields: ContextVar[Collection[str] | None] = ContextVar("sent_fields", default=None)


@cache
def _needed_of(kind: type[ApiSerializer]) -> frozenset[str]:
    """The names of fields that say something even where they are left out."""
    return frozenset(
        name
        for name, field in kind().fields.items()
        if not field.read_only and (field.required or field.default is not serializers.empty)
    )


class StrictSerializer(ApiSerializer):
    """Refuses fields it does not know, so that a misspelt one is not silently ignored.

    `aliases` are other names that are accepted for fields; a refusal uses the one that was sent.
    """

    aliases: ClassVar[Mapping[str, str]] = {}

    @property
    def _writable_fields(self) -> list[serializers.Field[Any, Any, Any, Any]]:
        """The fields to validate, without those that may be left out and were.

        To find that out field by field takes most of the validation of a bulk write.
        """
        fields, needed, sent = self.fields, _needed_of(type(self)), _sent_fields.get()
        names = fields if sent is None else needed.union(sent)
        return [field for name, field in fields.items() if name in names and not field.read_only]

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        sent: dict[str, str] = {}
        if isinstance(data, dict):
            sent = {name: alias for alias, name in self.aliases.items() if alias in data}
            if twice := [name for name in sent if name in data]:
                raise serializers.ValidationError(
                    {sent[name]: [f"It is another name of {name}: give one."] for name in twice}
                )
            data = {self.aliases.get(name, name): value for name, value in data.items()}
            unknown = sorted(set(map(str, data)) - set(self.fields))
            # One is enough to mend the request; of hundreds the answer would be larger than it.
            for name in unknown[:1]:
                known = f"known are: {', '.join(self.fields)}" if self.fields else "none is known"
                raise serializers.ValidationError({name: [f"There is no such field; {known}."]})
            self._refuse_long_lists(data, sent)
        token = _sent_fields.set(data if isinstance(data, dict) else None)
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError(
                {sent.get(name, name): said for name, said in cast(Json, error.detail).items()}
            ) from None
        finally:
            _sent_fields.reset(token)

    def _refuse_long_lists(self, data: Mapping[str, Any], sent: Mapping[str, str]) -> None:
        """Raise ValidationError before any item is looked at; a list field checks them first."""
        for name, value in data.items():
            field = self.fields[name]
            if isinstance(value, list) and isinstance(field, serializers.ListField):
                most = getattr(field, "max_length", None) or PER_REQUEST
                if len(value) > most:
                    problem = f"Send at most {most}, not {len(value)}."
                    raise serializers.ValidationError({sent.get(name, name): [problem]})


class ExampleInSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Describes an object in the schema, with the example that its class has."""

    target_class = ApiSerializer
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        found = dict(auto_schema._map_serializer(self.target, direction, bypass_extensions=True))
        kind = self.target if isinstance(self.target, type) else type(self.target)
        example = vars(kind).get("example")
        return found | {"example": example} if example else found


class StrictInSchema(ExampleInSchema):  # type: ignore[no-untyped-call]
    """Describes an input in the schema: no other fields, and the aliases of its own."""

    target_class = StrictSerializer
    priority = 1

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        found = super().map_serializer(auto_schema, direction)
        fields = found.get("properties", {})
        if isinstance(self.target, QuerySerializer):
            for field in fields.values():
                if field.get("type") == "array":
                    field.setdefault("maxItems", MAX_PARAMETER_VALUES)
        other = {
            alias: {"allOf": [fields[name]], "deprecated": True}
            for alias, name in self.target.aliases.items()
            if name in fields
        }
        found["additionalProperties"] = False
        if other:
            both = [{"required": [alias, self.target.aliases[alias]]} for alias in other]
            found |= {"properties": fields | other, "not": {"anyOf": both}}
        return found


class QuerySerializer(StrictSerializer):
    """The query parameters of a read; a list may be repeated or separated by commas."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: DRF's own options
        data = kwargs.get("data")
        if data is not None and hasattr(data, "lists"):
            kwargs["data"] = {name: self._values(name, values) for name, values in data.lists()}
        super().__init__(*args, **kwargs)

    def _values(self, name: str, values: list[str]) -> list[str] | str:
        field = self._declared_fields.get(self.aliases.get(name, name))
        if not isinstance(field, serializers.ListField):
            given = values
        else:
            given = [part for value in values for part in value.split(",") if part]
        if len(given) > MAX_PARAMETER_VALUES:
            problem = f"Send at most {MAX_PARAMETER_VALUES}, not {len(given)}."
            raise serializers.ValidationError({name: [problem]})
        return given if isinstance(field, serializers.ListField) else values[-1]


class PageQuerySerializer(QuerySerializer):
    """The page of a list."""

    limit = serializers.IntegerField(required=False, min_value=1, max_value=PER_REQUEST)
    cursor = TextField(required=False)


class DatedPageQuerySerializer(PageQuerySerializer):
    """The page of a list with limits on the time of creation."""

    created_after = ZonedDateTimeField(required=False)
    created_before = ZonedDateTimeField(required=False)


class LongPageQuerySerializer(PageQuerySerializer):
    """The page of a list that grows with every change."""

    limit = serializers.IntegerField(required=False, min_value=1, max_value=500, default=50)


def page_schema(name: str, item: type[serializers.Serializer[Any]]) -> Any:
    """The schema of one page of `item`."""
    page = type(
        name,
        (ApiSerializer,),
        {
            "__doc__": "One page.",
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": item(many=True),
        },
    )
    # A page is one object, though it answers a list action.
    return extend_schema_serializer(many=False)(page)


class ProblemSerializer(ApiSerializer):
    """A refusal, as application/problem+json."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    request_id = serializers.CharField(required=False, help_text="Of faults of the server.")
    moved_to = serializers.URLField(
        required=False, help_text="The deployment that has the team, in an answer of 421."
    )
    errors_ = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), required=False
    )


REFUSALS = {
    401: "The key is missing, wrong, expired or revoked.",
    403: "The key may not do that, as a read-only one may not write, or the team has this part"
    " switched off.",
    404: "There is no such thing for this key.",
    409: "It conflicts with what is stored or under way.",
    412: "What is stored is at another version than the request asks; nothing was stored.",
    413: "It is larger than what is kept of its kind; nothing was stored.",
    422: "A field is wrong; nothing was stored.",
    429: "The key or its team asks too often; try again after Retry-After seconds.",
    503: "A service is away, or the team is being moved to another deployment and takes no changes;"
    " try again after Retry-After seconds.",
}
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_OF_ALL = {
    400: "It is not written as HTTP, UTF-8 or JSON want it.",
    421: "The team has moved to another deployment: `moved_to` is its address.",
    429: "Too many requests; try again after Retry-After seconds.",
}
_OF_NAMES = {404: "Nothing answers at the address."}
_OF_BODIES = {
    413: "The body is larger than one may be; nothing was stored.",
    415: "The body is no JSON, or does not say so.",
}
# The web server's own, without a body.
_LONG_ADDRESS = {"description": "The address is too long; POST takes long questions."}


def document_all_operations(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:  # Any: an OpenAPI document
    """Adds to every operation the refusals before any view, and to a POST its Idempotency-Key.

    It also says what a name in an address looks like, and how long a list in place of one object
    may be. It is a hook of drf-spectacular.
    """
    del generator, request, public
    for schema in result["components"]["schemas"].values():
        for each in schema.get("oneOf", ()):
            if each.get("type") == "array":
                each |= {"minItems": 1, "maxItems": PER_REQUEST}
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            refusals = _OF_ALL | (_OF_BODIES if "requestBody" in operation else {})
            refusals |= _OF_NAMES if "{" in path else {}
            if method == "post":
                operation.setdefault("parameters", []).append(IDEMPOTENCY_KEY)
                refusals |= {code: REFUSALS[code] for code in (409, 422)}
            for each in operation.get("parameters", ()):
                if each["in"] == "path" and each["schema"] == {"type": "string"}:
                    each["schema"] |= {"minLength": 1, "pattern": NameField.pattern}
            for code, words in refusals.items():
                answer = {"content": _PROBLEM, "description": words}
                operation["responses"].setdefault(str(code), answer)
            operation["responses"]["414"] = _LONG_ADDRESS
    return result
