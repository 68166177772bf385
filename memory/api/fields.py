"""Input fields that refuse what the database could not keep as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from dataclasses import fields as dataclass_fields
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.utils import timezone
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import Direction, extend_schema_field
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from memory.domain.scoring import Weights
from memory.domain.text.words import NO_WORDS, has_words, is_blank
from memory.domain.types import is_to_come
from memory.reading.ranking import MAX_QUERY_CHARS

MAX_WEIGHT = 1000
# A sign that `str.isprintable` finds printable, but for the space; as the schema writes it.
_VISIBLE = r"[\p{L}\p{M}\p{N}\p{P}\p{S}]"
# Words of such signs on one line, as a schema writes them.
LINE = f"{_VISIBLE}(?: *{_VISIBLE})*"


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
    """What the schema says of a text: that it is not blank, and its pattern."""

    target_class = TextField
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        """As a plain text, with what else is asked of it."""
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


class ContentField(TextField):
    """The words of a message or memory: 1 to 32,000 characters, not only white space."""

    defaults = {"trim_whitespace": False, "max_length": settings.MAX_CONTENT_CHARS}
    pattern = f"^[^\\u0000]*{_VISIBLE}[^\\u0000]*$"

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if is_blank(value):
            self.fail("blank")
        return value


class QuestionField(ContentField):
    """What a reader asks: 1 to 8,000 characters, not only white space."""

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

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        # As it is sent, with its spaces: so the schema says it.
        if isinstance(data, str) and self.max_length and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
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

    default_error_messages = {
        "no_zone": "Give the time with its zone, as in 2026-02-09T09:04:00Z.",
    }

    def enforce_timezone(self, value: datetime) -> datetime:
        """The time as it is; refused is one without a zone."""
        if timezone.is_naive(value):
            self.fail("no_zone")
        return super().enforce_timezone(value)


class PastDateTimeField(ZonedDateTimeField):
    """When something was said: a time that has come, give or take a day for clocks and zones."""

    default_error_messages = {
        "future": "Must not lie more than a day ahead. For what is to come, use valid_from.",
    }

    def to_internal_value(self, value: Any) -> datetime:  # Any: whatever the body holds
        moment = super().to_internal_value(value)
        if is_to_come(at=moment, now=timezone.now()):
            self.fail("future")
        return moment


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
        "type": "object",
        "properties": {
            each.name: {"type": "number", "minimum": 0, "maximum": MAX_WEIGHT}
            for each in dataclass_fields(Weights)
        },
        "additionalProperties": False,
        "example": {"semantic": 0.6, "recency": 0.1, "importance": 0.15},
    }
)
class WeightsField(serializers.Field[Weights, Any, Any, Any]):
    """{"semantic", "recency", "importance", "continuity", "relation"}: numbers from 0 to 1000.

    A missing one keeps its default; they need not sum to one, but not all may be zero.
    """

    default_error_messages = {
        "object": 'Give an object such as {{"semantic": 0.6, "recency": 0.1}}.',
        "weights": "{reason}.",
        "large": f"A retrieval weight must be at most {MAX_WEIGHT}.",
    }

    def to_internal_value(self, data: Any) -> Weights:  # Any: whatever the body holds
        """The weights; refused are unknown names, negative numbers and nothing but zeros."""
        if not isinstance(data, dict):
            self.fail("object")
        try:
            weights = Weights.from_config(data)
        except ValueError as error:
            reason = str(error)
            self.fail("weights", reason=reason[:1].upper() + reason[1:])
        if max(astuple(weights)) > MAX_WEIGHT:
            self.fail("large")
        return weights

    def to_representation(self, value: Weights) -> Any:  # Any: DRF's own signature
        """As they came in."""
        return value
