"""Answers as JSON, written by orjson: an encoder in Python takes longer than the database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import Serializer
from rest_framework.utils.encoders import JSONEncoder

Json = dict[str, Any]  # Any: what JSON holds
MEDIA_TYPE = "application/json"
_default = JSONEncoder().default
# Times are written by Django REST framework, whose spelling clients know.
_AS_THE_BASE = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


class FastJSONRenderer(JSONRenderer):
    """As its base class writes them, but for the spelling of unusual numbers and signs."""

    def render(
        self,
        data: Any,  # Any: whatever a view answers
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:  # Any: Django REST framework's own signature
        """The bytes; what orjson does not write (integers of more than 64 bits) the base does."""
        if data is not None:
            with suppress(orjson.JSONEncodeError):
                return orjson.dumps(data, default=_default, option=_AS_THE_BASE)
        return super().render(data, accepted_media_type, renderer_context)


def json_response(body: Json) -> HttpResponse:
    """Returns a response of the JSON object."""
    return HttpResponse(orjson.dumps(body), content_type=MEDIA_TYPE)


@cache
def answer_form(serializer: type[Serializer[Any]]) -> str:
    """All fields of an answer, so that one kept by another release is not taken for it."""
    return repr(serializer())


def text_of(value: object) -> str | None:
    return None if value is None else str(value)


def time_of(at: datetime | None) -> str | None:
    """As Django REST framework writes times in UTC."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")
