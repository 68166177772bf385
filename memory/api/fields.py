"""Input fields that refuse values which the database could not store unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.utils import timezone
from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction, extend_schema_field
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from memory.domain.filters import BOUNDS, SYNONYMS, Expression, Field, FilterError, parse_filters
from memory.domain.forms import importance_of
from memory.domain.text.words import NO_WORDS, has_words, is_blank
from memory.domain.types import EARLIEST_YEAR, is_to_come, is_too_early
from memory.reading.questions import MAX_QUERY_CHARS
from teams.domain.documents import LINE, VISIBLE, DocumentError, Part

MAX_TTL = timedelta(days=36_500)
_DURATION = TypeAdapter(timedelta)


class TextField(serializers.CharField):
    """Text kept verbatim: no NUL, no half surrogates, nothing trimmed."""

    default_error_messages = {"surrogate": "Must be valid Unicode text."}
    # The options of a field that names no others.
    defaults: ClassVar[Mapping[str, Any]] = {"trim_whitespace": False}
    # What the schema says of a text that is not blank.
    pattern: ClassVar[str] = "^[^\\u0000]*$"

    def __init__(self, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(**{**self.defaults, **kwargs})
        # Half a pair is found sooner by encoding the text than sign by sign.
        self.validators = [
            each
            for each in self.validators
            if not isinstance(each, ProhibitSurrogateCharactersValidator)
        ]

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        if not isinstance(data, str):
            self.fail("invalid")
        value = super().to_internal_value(data)
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail("surrogate")
        return value


class TextInSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes a text in the schema: that it is not blank, and its pattern."""

    target_class = TextField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        field: TextField = self.target
        found = auto_schema._map_serializer_field(field, direction, bypass_extensions=True)
        if direction != "request":
            return dict(found)
        # Beside it drf-spectacular names the empty text where that is allowed.
        return {**found, "pattern": field.pattern, "minLength": 1}


class OneOfField(serializers.ChoiceField):
    """One of a few words; a refusal names them."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(choices, **kwargs)
        known = ", ".join(map(str, self.choices))
        self.error_messages["invalid_choice"] = f'"{{input}}" is none of {known}.'


class AnyOfField(serializers.ListField):
    """Any of a few words."""

    def __init__(self, choices: Any, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(child=OneOfField(choices=choices), **kwargs)


class IdsField(serializers.ListField):
    child = serializers.UUIDField()


class NoteField(TextField):
    """A reason; empty where it is left out or null."""

    defaults = {
        "trim_whitespace": False,
        "max_length": 2000,
        "default": str,
        "allow_blank": True,
        "allow_null": True,
    }

    def run_validation(self, data: Any = empty) -> str:  # Any: whatever the body holds
        return super().run_validation(data) or ""


class ContentField(TextField):
    """The words of a message or memory: 1 to 32,000 characters, not only white space."""

    defaults = {"trim_whitespace": False, "max_length": settings.MAX_CONTENT_CHARS}
    pattern = f"^[^\\u0000]*{VISIBLE}[^\\u0000]*$"

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if is_blank(value):
            self.fail("blank")
        return value


class QuestionField(ContentField):
    """A reader's question: 1 to 8,000 characters, not only white space."""

    defaults = {"trim_whitespace": False, "max_length": MAX_QUERY_CHARS}


class StatementField(ContentField):
    """The words of a memory: at least a letter or a figure is among them."""

    default_error_messages = {"says_nothing": NO_WORDS}
    pattern = "^[^\\u0000]*[\\p{L}\\p{N}][^\\u0000]*$"

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if not has_words(value):
            self.fail("says_nothing")
        return value


class NameField(TextField):
    """A slug or external id: 1 to `max_length` printable characters, spaces around it dropped."""

    default_error_messages = {"unprintable": "Must not hold control characters."}
    defaults = {"max_length": 100}
    pattern = f"^\\s*{LINE}\\s*$"

    def run_validation(self, data: Any = empty) -> Any:  # Any: whatever the body holds
        # As it is sent, with its spaces: so the schema says it.
        if isinstance(data, str) and self.max_length and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if not value.isprintable():
            self.fail("unprintable")
        return value


@extend_schema_field({"type": "object", "additionalProperties": {}})
class ObjectField(serializers.JSONField):
    """A JSON object, of any content."""

    default_error_messages = {"no_object": "Must be a JSON object."}

    def to_internal_value(self, data: Any) -> dict[str, object]:  # Any: whatever the body holds
        if not isinstance(data, dict):
            self.fail("no_object")
        return data


def name_in_address(value: str, *, field: str, max_length: int = 100) -> str:
    """A name as it stands in the address; ValidationError of that field for one that is none."""
    try:
        return str(NameField(max_length=max_length).run_validation(value))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({field: error.detail}) from None


class ZonedDateTimeField(serializers.DateTimeField):
    """A time with its zone, as in 2026-02-09T09:04:00Z."""

    default_error_messages = {"no_zone": "Give the time with its zone, as in 2026-02-09T09:04:00Z."}

    def enforce_timezone(self, value: datetime) -> datetime:
        if timezone.is_naive(value):
            self.fail("no_zone")
        return super().enforce_timezone(value)


class PastDateTimeField(ZonedDateTimeField):
    """The time of a statement: since 1900 and not in the future, give or take a day."""

    default_error_messages = {
        "early": f"Must not lie before {EARLIEST_YEAR}. Leave it out where it is not known.",
        "future": "Must not lie more than a day ahead. For what is to come, use valid_from.",
    }

    def to_internal_value(self, value: Any) -> datetime:  # Any: whatever the body holds
        moment = super().to_internal_value(value)
        if is_to_come(at=moment, now=timezone.now()):
            self.fail("future")
        if is_too_early(moment):
            self.fail("early")
        return moment


@extend_schema_field(
    {
        "oneOf": [
            {"type": "integer", "minimum": 1, "maximum": int(MAX_TTL.total_seconds())},
            {"type": "string", "format": "duration", "pattern": "^P"},
        ]
    }
)
class TtlField(serializers.Field[timedelta, Any, Any, Any]):
    """A time to live: whole seconds, or an ISO 8601 duration such as P30D or PT12H."""

    default_error_messages = {
        "invalid": "Send whole seconds such as 3600, or a duration of ISO 8601 such as P30D or"
        " PT12H, from a second up to a hundred years."
    }

    def to_internal_value(self, data: Any) -> timedelta:  # Any: whatever the body holds
        is_number = isinstance(data, int) and not isinstance(data, bool)
        if not is_number and not (isinstance(data, str) and data.startswith("P")):
            self.fail("invalid")
        try:
            value = _DURATION.validate_python(data)
        except ValueError:
            self.fail("invalid")
        if not timedelta(seconds=1) <= value <= MAX_TTL:
            self.fail("invalid")
        return value


class StrictBooleanField(serializers.BooleanField):
    """true or false, and nothing that merely looks like one."""

    def to_internal_value(self, data: Any) -> bool:  # Any: whatever the body holds
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class StrictFloatField(serializers.FloatField):
    """A number; true, false and texts are none."""

    def to_internal_value(self, data: Any) -> float:  # Any: whatever the body holds
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictIntegerField(serializers.IntegerField):
    """A whole number; true, false and texts are none."""

    def to_internal_value(self, data: Any) -> int:  # Any: whatever the body holds
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field(
    {
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 10},
            {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1},
        ]
    }
)
class ImportanceField(StrictIntegerField):
    """A whole number from 1 to 10, or a number with a point above 0.0 up to 1.0: 0.85 is 9."""

    def __init__(self, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(min_value=1, max_value=10, **kwargs)

    def to_internal_value(self, data: Any) -> int:  # Any: whatever the body holds
        return super().to_internal_value(importance_of(data))


class PartField(serializers.Field[Part, Any, Any, Any]):
    """An object that a pydantic model reads."""

    def __init__(self, model: type[Part], **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(**kwargs)
        self.model = model

    def to_internal_value(self, data: Any) -> Part:  # Any: whatever the body holds
        try:
            return self.model.read(data)
        except DocumentError as error:
            problems = {place or "non_field_errors": said for place, said in error.problems.items()}
            raise serializers.ValidationError(problems) from None


class PartFieldInSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """The schema of such a field: that of its model."""

    target_class = PartField

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> Any:
        # Any: drf-spectacular's own types
        return auto_schema.resolve_serializer(self.target.model, direction).ref


class _OpenApiSchema(GenerateJsonSchema):
    """JSON Schema as OpenAPI 3.0 has it; null means that a field is left out."""

    def default_schema(self, schema: Any) -> dict[str, Any]:  # Any: a schema of pydantic
        found = self.generate_inner(schema["schema"])
        given = schema.get("default")
        default = {"default": given} if isinstance(given, bool | int | float) else {}
        return {**({"allOf": [found]} if "$ref" in found else found), **default, "nullable": True}

    def nullable_schema(self, schema: Any) -> dict[str, Any]:  # Any: a schema of pydantic
        return {**self.generate_inner(schema["schema"]), "nullable": True}

    def field_title_should_be_set(self, schema: Any) -> bool:  # Any: a schema of pydantic
        """No titles: the admin's labels have no place in a schema."""
        return False


class PartInSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The schema of a document that a pydantic model reads, with a component for each part."""

    target_class = Part
    match_subclasses = True
    priority = 1  # before drf-spectacular's own for pydantic, which writes OpenAPI 3.1

    def get_name(self, auto_schema: Any, direction: Direction) -> str:
        # Any: drf-spectacular's own types
        set_override(self.target, "suppress_collision_warning", True)
        return str(self.target.model_config.get("title", self.target.__name__))

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        found: dict[str, Any] = self.target.model_json_schema(
            ref_template="#/components/schemas/{model}", schema_generator=_OpenApiSchema
        )
        for name, schema in found.pop("$defs", {}).items():
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                name, ResolvedComponent.SCHEMA, schema, name
            )
            auto_schema.registry.register_on_missing(component)
        return found


_PATH = "filters"
_MANY = ("and", "or", "AND", "OR")


@extend_schema_field(
    {
        "type": "object",
        "nullable": True,
        "properties": {str(name): {} for name in (*Field, *SYNONYMS, *BOUNDS)}
        | {name: {"type": "array", "items": {"type": "object"}, "minItems": 1} for name in _MANY}
        | {name: {"type": "object"} for name in ("not", "NOT")},
        "additionalProperties": False,
        "description": (
            "All entries must hold: a field with a value, a list (one of them) or operators (`eq`,"
            " `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `contains`, `icontains`; `$eq` is `eq`), or"
            " `and`, `or` (lists of filters), `not` (a filter). Fields: `user`, `agent`, `project`,"
            " `conversation`, `thread`, `id`, `text`, `category`,"
            " `memory_type`, `subject`, `tags`, `pinned`, `importance`, `confidence`, `created`,"
            " `updated`, `actor`, `role`; short forms: `importance_min`, `importance_max`,"
            " `updated_after`, `updated_before`, `created_after`, `created_before`."
        ),
        "example": {
            "user": "sarah",
            "importance": {"gte": 5},
            "or": [{"tags": ["release"]}, {"pinned": True}],
        },
    }
)
class FilterField(serializers.Field[Any, Any, Any, Any]):
    """A filter in JSON, read into its tree; a problem is named by its place in it."""

    def to_internal_value(self, data: Any) -> Expression:  # Any: whatever the body holds
        try:
            return parse_filters(data, path=_PATH)
        except FilterError as error:
            place = error.path.removeprefix(_PATH).removeprefix(".")
            raise serializers.ValidationError(
                {place: [error.message]} if place else error.message
            ) from None
