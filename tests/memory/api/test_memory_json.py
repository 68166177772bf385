"""Memories and messages are written as the serializers, and with them the schema, describe."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson
import pytest
from rest_framework import serializers
from rest_framework.test import APIClient

from memory.api.found import (
    BriefMemorySerializer,
    BriefMessageSerializer,
    PackedMemorySerializer,
    PackedMessageSerializer,
    brief_memory_json,
    brief_message_json,
    packed_memory_json,
    packed_message_json,
)
from memory.api.memories import MemorySerializer, NewMemorySerializer
from memory.domain.audience import Viewer
from memory.domain.scoring import Parts, Signals
from memory.models import Memory, MemoryUsage
from memory.reading.answers import ScoredMemory
from memory.reading.messages import ScoredMessage
from memory.satellites.tasks.api import ItemSerializer
from memory.selectors.memories import memories_by_id
from teams.models import Project
from tests.support.cast import Cast

PARTS = Parts(0.2, 0.1, 0.05, 0.1, 0.05)
SIGNALS = Signals(0.5, 0.25, 0.7, 0.0, 0.1, 0.4, 0.6, -0.2, 0.8, PARTS)
FULL = {
    "content": "Sarah lives in Berlin.",
    "user": "sarah",
    "agent": "kyra",
    "project": "atlas",
    "tags": ["home", "city"],
    "category": "places",
    "subject": "user.home",
    "importance": 7,
    "confidence": 0.75,
    "is_pinned": True,
    "external_id": "crm-1",
    "valid_from": "2026-01-01T00:00:00Z",
    "created_at": "2026-02-09T09:04:00.123456Z",
}
BARE = {"content": "The team meets on Mondays.", "memory_type": "shared", "agent": "kyra"}


def as_sent(value: object) -> Any:
    """Returns the value as a client reads it."""
    return json.loads(orjson.dumps(value))


def check_described(written: Any, described: serializers.Serializer[Any]) -> None:
    """Every field that the serializer declares is there, no other, and each of its type."""
    assert list(written) == list(described.fields)
    for name, shared in described.fields.items():
        if isinstance(shared, serializers.Serializer):
            check_described(written[name], shared)
        else:
            field = deepcopy(shared)
            field.allow_null = field.allow_null or field.default is None
            field.read_only = False
            if isinstance(field, serializers.CharField):
                field.allow_blank = True
            field.run_validation(written[name])


def test_memories_are_written_as_described(api: APIClient, acme: Cast) -> None:
    Project.objects.get_or_create(team=acme.team, slug="atlas")
    sent = api.post("/v1/memories", [FULL, BARE], format="json")
    assert sent.status_code == 201, sent.content
    full = Memory.objects.get(team=acme.team, external_id="crm-1")
    MemoryUsage.objects.update_or_create(
        team=acme.team,
        memory=full,
        defaults={"retrieved": 3, "last_accessed_at": datetime(2026, 3, 1, tzinfo=UTC)},
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")

    ids = list(Memory.objects.values_list("id", flat=True))
    rows = memories_by_id(viewer=viewer, ids=ids)

    assert len(rows) == 2
    for row in rows.values():
        found = ScoredMemory(row, 0.9, SIGNALS, tokens=12)
        written = as_sent(packed_memory_json(found))
        check_described(written, PackedMemorySerializer())
        check_described(as_sent(brief_memory_json(found)), BriefMemorySerializer())
    shown = as_sent(packed_memory_json(ScoredMemory(rows[full.pk], 0.9, SIGNALS)))
    assert {name: shown[name] for name in FULL} == FULL
    assert shown["usage"]["retrieved"] == 3
    assert shown["usage"]["last_accessed_at"] == "2026-03-01T00:00:00Z"
    assert shown["signals"]["parts"]["words"] == PARTS.words


def test_messages_are_written_as_described() -> None:
    message = ScoredMessage(
        id=uuid4(),
        conversation_id=uuid4(),
        position=4,
        role="user",
        speaker="Sarah",
        external_id=None,
        said_at=datetime(2026, 2, 9, 9, 4, tzinfo=UTC),
        text="I moved to Berlin.",
        score=0.8,
        signals=SIGNALS,
        tokens=9,
        quote="I moved …",
    )

    written = as_sent(packed_message_json(message))

    check_described(written, PackedMessageSerializer())
    check_described(as_sent(brief_message_json(message)), BriefMessageSerializer())
    assert written["content"] == "I moved to Berlin."
    assert written["said_at"] == "2026-02-09T09:04:00Z"
    assert (written["level"], written["tokens"]) == ("raw", 9)


@pytest.mark.parametrize("kind", [MemorySerializer, NewMemorySerializer])
def test_the_fields_of_a_serializer_are_made_once(
    kind: type[serializers.Serializer[Any]],
) -> None:
    assert kind().fields is kind().fields
    assert kind(many=True).child.fields is kind().fields  # type: ignore[attr-defined]


def test_a_subclass_and_a_context_have_fields_of_their_own() -> None:
    known = ItemSerializer(context={"task": "t"})

    assert PackedMemorySerializer().fields is not MemorySerializer().fields
    assert known.fields is not ItemSerializer().fields
    assert known.fields["source"].context == {"task": "t"}


def test_what_one_request_sent_is_not_in_the_next() -> None:
    first = NewMemorySerializer(data={"content": "One.", "tags": ["a"], "user": "sarah"})
    second = NewMemorySerializer(data={"content": "Two."})
    wrong = NewMemorySerializer(data={"content": ""})

    assert first.is_valid()
    assert not wrong.is_valid()
    assert second.is_valid()
    assert second.validated_data["content"] == "Two."
    assert not {"tags", "user"} & set(second.validated_data)
    assert first.validated_data["tags"] == ["a"]
    assert second.errors == {}
