"""The plain values of answers are what the serializers, and with them the schema, say."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from rest_framework.renderers import JSONRenderer
from rest_framework.test import APIClient

from memory.api.output import PackedMemorySerializer
from memory.api.plain_output import plain_packed_memory, plain_packed_message
from memory.api.said_output import PackedMessageSerializer
from memory.api.written_output import packed_memories
from memory.domain.scoring import Parts, Signals
from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryUsage
from memory.selectors.showing.loading import rows_by_id
from memory.services.reading.recall import ScoredMemory
from memory.services.reading.scored_messages import ScoredMessage
from teams.models import Project
from tests.conftest import Cast

PARTS = Parts(0.2, 0.1, 0.05, 0.1, 0.03, 0.02)
SIGNALS = Signals(0.5, 0.25, 0.7, 0.0, 0.1, 0.4, 0.6, PARTS)
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
    """What a client reads."""
    return json.loads(JSONRenderer().render(value))


def test_memories_are_told_as_the_serializer_tells_them(api: APIClient, acme: Cast) -> None:
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
    rows = rows_by_id(viewer=viewer, ids=ids)

    assert len(rows) == 2
    for row in rows.values():
        memory = row.memory
        found = ScoredMemory(row, 0.9, SIGNALS, tokens=12)
        plain = plain_packed_memory(found)
        shown = {"level": found.level, "score": 0.9, "signals": SIGNALS, "tokens": 12}
        for name, value in shown.items():
            setattr(memory, name, value)
        assert as_sent(plain) == as_sent(PackedMemorySerializer(memory).data)
        # The second time with what was written of the row the first time.
        for _ in range(2):
            assert json.loads(packed_memories([found])) == [as_sent(plain)]
    told = as_sent(plain_packed_memory(ScoredMemory(rows[full.pk], 0.9, SIGNALS)))
    assert (told["user"], told["project"]) == ("sarah", "atlas")
    assert told["usage"]["retrieved"] == 3


def test_messages_are_told_as_the_serializer_tells_them() -> None:
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
    )

    plain = as_sent(plain_packed_message(message))

    assert plain.pop("level") == "raw"
    assert plain == {
        name: value for name, value in as_sent(_with_level(message)).items() if name != "level"
    }


def _with_level(message: ScoredMessage) -> object:
    class Shown:
        level = "raw"

        def __getattr__(self, name: str) -> Any:
            return getattr(message, name)

    return PackedMessageSerializer(Shown()).data
