"""Answers as JSON, written by orjson: an encoder in Python takes longer than the database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson
from rest_framework.renderers import JSONRenderer
from rest_framework.utils.encoders import JSONEncoder

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
        indent = self.get_indent(accepted_media_type or "", renderer_context or {})
        if data is not None and indent is None:
            with suppress(orjson.JSONEncodeError):
                return orjson.dumps(data, default=_default, option=_AS_THE_BASE)
        return super().render(data, accepted_media_type, renderer_context)
