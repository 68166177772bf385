"""Reading request bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.utils import json


class BoundedJSONParser(JSONParser):
    """Parses JSON; refuses too deep nesting and objects that name a field twice."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # Any: whatever the body holds
        """The body's value; raises ParseError."""
        encoding = (parser_context or {}).get("encoding", settings.DEFAULT_CHARSET)
        try:
            text = stream.read().decode(encoding)
            return json.loads(text, object_pairs_hook=_fields_named_once)
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from None
        except RecursionError:
            raise ParseError("JSON parse error - it is nested too deeply") from None


def _fields_named_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:  # Any: as above
    """The object; raises ValueError for a repeated name, whose last value would silently win."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in fields if names.count(name) > 1)
        raise ValueError(f"{twice!r} is named twice in one object")
    return fields
