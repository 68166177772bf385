"""The schema of texts agrees with what their fields accept, and answers are JSON as before."""

from __future__ import annotations

import json
import sys
import unicodedata
from datetime import UTC, datetime
from uuid import UUID

import pytest
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from memory.api.fields import NameField, StatementField
from memory.api.rendering import FastJSONRenderer
from memory.api.schemas import StrictSerializer

SIGNS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


def test_names_take_what_their_pattern_calls_visible() -> None:
    visible = {sign for sign in SIGNS if unicodedata.category(sign)[0] in "LMNPS"} | {" "}

    assert {sign for sign in SIGNS if sign.isprintable()} == visible
    assert "[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]" in NameField.pattern


def test_statements_take_what_their_pattern_calls_a_letter_or_figure() -> None:
    lettered = {sign for sign in SIGNS if unicodedata.category(sign)[0] in "LN"}

    assert {sign for sign in SIGNS if sign.isalnum()} == lettered
    assert "[\\p{L}\\p{N}]" in StatementField.pattern


class Order(StrictSerializer):
    """A request with a field of each kind."""

    thing = NameField()
    count = serializers.IntegerField(default=1)
    note = serializers.CharField(required=False)

    def validate_thing(self, value: str) -> str:
        """In small letters."""
        if value == "none":
            raise serializers.ValidationError("Name one.")
        return value.lower()


def test_what_is_left_out_is_a_default_or_missing() -> None:
    assert Order().run_validation({"thing": "Tea"}) == {"thing": "tea", "count": 1}
    with pytest.raises(serializers.ValidationError) as refused:
        Order().run_validation({"count": "x", "note": "a"})
    assert set(refused.value.detail) == {"thing", "count"}


def test_a_check_of_ones_own_refuses_its_field() -> None:
    with pytest.raises(serializers.ValidationError) as refused:
        Order().run_validation({"thing": "none"})
    assert refused.value.detail == {"thing": ["Name one."]}


def test_answers_are_written_as_django_rest_framework_writes_them() -> None:
    answer = {
        "id": UUID(int=7),
        "at": datetime(2026, 2, 9, 9, 4, tzinfo=UTC),
        "text": 'Ünï "quoted" 我',
        "many": [1, 2.5, None, True, {"a": []}],
        "large": 2**70,
    }

    for shown in (answer, {**answer, "large": 2**60}):
        written = json.loads(FastJSONRenderer().render(shown))
        assert written == json.loads(JSONRenderer().render(shown))
