"""Reading request bodies."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.utils import json

# How deep lists and objects may stand in each other, how many fields one object may have, and how
# many values a body may hold in all: several times what the largest request of any endpoint needs.
MAX_DEPTH = 100
MAX_FIELDS = 10_000
MAX_VALUES = 100_000
# Those of texts; others (punycode) take time that grows with the square of the length.
_ENCODINGS = frozenset({"utf-8", "utf-8-sig", "utf-16", "utf-32", "ascii", "iso8859-1"})
# Possessive, and an unfinished one ends with the text: linear in any text.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]++")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class BoundedJSONParser(JSONParser):
    """Parses JSON; refuses too many values, fields or levels, and repeated names, at once."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # Any: whatever the body holds
        """The body's value; raises ParseError."""
        encoding = (parser_context or {}).get("encoding", settings.DEFAULT_CHARSET)
        if codecs.lookup(encoding).name not in _ENCODINGS:
            raise ParseError("Send the body as UTF-8.")
        try:
            text = stream.read().decode(encoding)
            _refuse_too_much(text)
            return json.loads(text, object_pairs_hook=_fields_named_once)
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from None
        except RecursionError:  # of a caller whose own stack is deep
            raise ParseError("JSON parse error - it is nested too deeply") from None


def _refuse_too_much(text: str) -> None:
    """Raise ValueError for too many values or too deep nesting, by the signs outside of strings."""
    signs = _STRING.sub("", text)
    brackets = signs.count("[") + signs.count("{")
    if brackets + signs.count(",") >= MAX_VALUES:
        raise ValueError(f"a body may hold {MAX_VALUES:,} values; send less at a time")
    if brackets > MAX_DEPTH:
        steps = map(_STEPS.__getitem__, _NO_BRACKET.sub("", signs))
        if max(accumulate(steps)) > MAX_DEPTH:
            raise ValueError(f"it is nested too deeply; {MAX_DEPTH} levels are read")


def _fields_named_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:  # Any: as above
    """The object; raises ValueError for a repeated name, whose last value would silently win."""
    if len(pairs) > MAX_FIELDS:
        raise ValueError(f"an object may have {MAX_FIELDS:,} fields")
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(
            name for name, count in Counter(name for name, _ in pairs).items() if count > 1
        )
        raise ValueError(f"{twice!r} is named twice in one object")
    return fields
