"""Payloads of memories: one schema for each form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import Direction, PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    StatementField,
    StrictIntegerField,
    TextField,
)
from memory.api.schemas import StrictSerializer
from memory.domain.forms import (
    MAX_SIGNATURE_CHARS,
    ArtifactKind,
    ArtifactQuery,
    Form,
    Payload,
    rendered,
    texts_of,
)
from memory.domain.levels import INDEX_CHARS
from teams.domain.documents import LINE

FORMS = [(each.value, each.value) for each in Form]
ARTIFACT_KINDS = [(each.value, each.value) for each in ArtifactKind]
MAX_NAME_CHARS = 200
MAX_REF_CHARS = 500
MAX_PARTS = 200
MAX_LINES = 1_000_000
MAX_CHARS: int = settings.MAX_CONTENT_CHARS
_TOO_LONG = f"Its texts may have at most {MAX_CHARS} characters in all."


class ArtifactSerializer(StrictSerializer):
    """Something outside of the memory that it tells of."""

    kind = OneOfField(choices=ARTIFACT_KINDS)
    ref = NameField(max_length=MAX_REF_CHARS, help_text="A hash, a number, a name or a path.")
    added = StrictIntegerField(
        required=False, min_value=0, max_value=MAX_LINES, help_text="Lines added to a file."
    )
    removed = StrictIntegerField(
        required=False, min_value=0, max_value=MAX_LINES, help_text="Lines removed from it."
    )


class TextsField(serializers.DictField):
    """Texts by their names, both of at least a character."""

    child = ContentField()

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if not value or len(value) > MAX_PARTS:
            raise serializers.ValidationError(f"Must have 1 to {MAX_PARTS} entries.")
        names = NameField(max_length=MAX_NAME_CHARS)
        return {names.run_validation(name): text for name, text in value.items()}


class TextsInSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes a `TextsField` in the schema: how many texts there may be."""

    target_class = TextsField

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        found = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        return {**found, "minProperties": 1, "maxProperties": MAX_PARTS}


@extend_schema_field(
    {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]}
)
class TemplateField(serializers.Field[Any, Any, Any, Any]):
    """A text with places to fill in, or several by their names."""

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        field = TextsField() if isinstance(data, dict) else StatementField()
        return field.run_validation(data)

    def to_representation(self, value: Any) -> Any:  # Any: DRF's own signature
        return value


class FactPayloadSerializer(StrictSerializer):
    """An atomic fact as key and value."""

    key = NameField(max_length=MAX_NAME_CHARS)
    value = StatementField()
    scope = NameField(required=False, help_text="Where it holds, such as `typescript`.")


class _WithArtifacts(StrictSerializer):
    """A payload that may name artifacts."""

    artifacts = serializers.ListField(
        child=ArtifactSerializer(), required=False, max_length=MAX_PARTS
    )

    def validate_artifacts(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        once = {(each["kind"], each["ref"]): dict(each) for each in value}
        return list(once.values())


class EpisodePayloadSerializer(_WithArtifacts):
    """Something that happened, told as a whole."""

    title = StatementField(max_length=MAX_REF_CHARS)
    narrative = ContentField(required=False)
    summary = StatementField(
        required=False, max_length=MAX_REF_CHARS, help_text="A sentence or two, for a small budget."
    )
    compressed = StatementField(
        required=False, max_length=200, help_text="A few words, for a smaller one."
    )
    index = NameField(required=False, max_length=INDEX_CHARS, help_text="Its entry in an index.")


class PatternPayloadSerializer(_WithArtifacts):
    """A way to build something here: when it applies, and its template."""

    trigger = NameField(max_length=MAX_NAME_CHARS)
    template = TemplateField()
    hint = StatementField(
        required=False, max_length=MAX_REF_CHARS, help_text="The template in a line."
    )
    language = NameField(required=False)
    shape = NameField(required=False, max_length=300, help_text="Identifies a learned pattern.")


class WorkflowPayloadSerializer(StrictSerializer):
    """Steps in order."""

    trigger = NameField(max_length=MAX_NAME_CHARS)
    steps = serializers.ListField(
        child=NameField(max_length=MAX_NAME_CHARS), min_length=1, max_length=MAX_PARTS
    )
    details = TextsField(required=False, help_text="What to do, by the name of the step.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(attrs.get("details", ())) - set(attrs["steps"]))
        if unknown:
            raise serializers.ValidationError(
                {"details": {name: ["There is no such step."] for name in unknown}}
            )
        return attrs


class DecisionPayloadSerializer(_WithArtifacts):
    """A decision of a project."""

    decision = StatementField()


class ConventionPayloadSerializer(_WithArtifacts):
    """A convention that everybody in a project follows."""

    convention = StatementField()
    scope = NameField(required=False, help_text="Where it holds, such as `tests`.")


class FailurePayloadSerializer(_WithArtifacts):
    """A failure in a project, and the lesson learned."""

    signature = StatementField(
        required=False,
        max_length=MAX_SIGNATURE_CHARS,
        help_text="By what it is recognised: an error class and message.",
    )
    lesson = StatementField()


PAYLOADS: Mapping[Form, type[StrictSerializer]] = {
    Form.FACT: FactPayloadSerializer,
    Form.EPISODE: EpisodePayloadSerializer,
    Form.PATTERN: PatternPayloadSerializer,
    Form.WORKFLOW: WorkflowPayloadSerializer,
    Form.DECISION: DecisionPayloadSerializer,
    Form.CONVENTION: ConventionPayloadSerializer,
    Form.FAILURE: FailurePayloadSerializer,
}


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="Payload",
        serializers=list(PAYLOADS.values()),
        resource_type_field_name=None,
        many=False,
    )
)
class PayloadField(serializers.DictField):
    """The payload of a memory with a form; its schema is that of `form`."""


class FormedSerializer(StrictSerializer):
    """A text, a payload of a form, or both."""

    text_field = ""

    form = OneOfField(
        choices=list(Form),
        required=False,
        allow_null=True,
        help_text="Which schema the payload has.",
    )
    payload = PayloadField(
        required=False,
        allow_null=True,
        help_text="What the memory holds beside its text. Without a text, the text is made of its"
        " words.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        form, payload = attrs.get("form"), attrs.get("payload")
        if form is None:
            if payload is not None:
                raise _refused("form", "Name the form of the payload.")
            if self.text_field not in attrs:
                raise _refused(self.text_field, "Send a text, or a form with its payload.")
            return attrs
        if payload is None:
            raise _refused("payload", f"A memory of the form {form} needs its payload.")
        attrs["payload"] = checked_payload(form, payload, gives_text=self.text_field not in attrs)
        return attrs


def checked_payload(form: Form, payload: Any, *, gives_text: bool) -> dict[str, Any]:
    """The payload by the schema of its form; raises ValidationError."""
    serializer = PAYLOADS[form](data=payload)
    if not serializer.is_valid():
        raise serializers.ValidationError({"payload": serializer.errors})
    checked = dict(serializer.validated_data)
    check_length(form, checked, gives_text=gives_text, field="payload")
    return checked


def check_length(form: Form, payload: Payload, *, gives_text: bool, field: str) -> None:
    """Raise ValidationError, under `field`, for texts that are longer than a memory may be."""
    chars = sum(map(len, texts_of(payload)))
    if chars > MAX_CHARS or (gives_text and len(rendered(form, payload)) > MAX_CHARS):
        raise _refused(field, _TOO_LONG)


def _refused(field: str, message: str) -> serializers.ValidationError:
    return serializers.ValidationError({field: [message]})


class ArtifactQueryField(TextField):
    """`kind` or `kind:ref`: memories that name such an artifact."""

    pattern = rf"^\s*(?:{'|'.join(ArtifactKind)})(?:: *{LINE})?\s*$"

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the query holds
        try:
            return ArtifactQuery.parse(
                NameField(max_length=MAX_REF_CHARS + 10).run_validation(data)
            )
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None
