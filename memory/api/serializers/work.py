"""The signals of work in progress, as requests name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from memory.api.fields import ContentField, NameField, ZonedDateTimeField
from memory.api.serializers.base import StrictSerializer
from memory.api.serializers.forms import MAX_REF_CHARS
from memory.domain.work import Signals

MAX_FILES = 50
_SIGNALS = ("file_opened", "opened_files", "branch", "error", "time", "collaborator")


class WorkSerializer(StrictSerializer):
    """What is in front of an agent; at least one signal of it."""

    file_opened = NameField(required=False, max_length=MAX_REF_CHARS)
    opened_files = serializers.ListField(
        child=NameField(max_length=MAX_REF_CHARS),
        required=False,
        max_length=MAX_FILES,
        help_text="Paths that were opened before `file_opened`.",
    )
    branch = NameField(required=False, max_length=MAX_REF_CHARS)
    error = ContentField(required=False, max_length=2000)
    time = ZonedDateTimeField(required=False, help_text="The local time of the work.")
    collaborator = NameField(required=False, max_length=200)

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        """Refuses a request without any signal."""
        if not any(attrs.get(name) for name in _SIGNALS):
            raise serializers.ValidationError(
                {"file_opened": f"Give at least one signal: {', '.join(_SIGNALS)}."}
            )
        return attrs


def signals_of(given: Mapping[str, Any]) -> Signals:  # Any: a checked field
    """The signals of a checked request."""
    return Signals(
        current_file=given.get("file_opened", ""),
        opened_files=tuple(given.get("opened_files", ())),
        branch=given.get("branch", ""),
        recent_errors=tuple(filter(None, [given.get("error")])),
        collaborator=given.get("collaborator", ""),
        time=given.get("time"),
    )
