"""Memories beyond the caps of talk wait, and the next runs write them, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import pytest
from django.test import override_settings
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.types import Candidate, MemoryType
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.compaction import compact_conversation
from memory.writing.jobs import due_jobs
from memory.writing.pipeline import run_job
from memory.writing.posting import post_messages
from memory.writing.rules import CANDIDATES
from memory.writing.waiting import extract_now
from routing.clients.protocol import EmbeddingError, FailureKind
from teams.models import Conversation
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extraction import talk
from tests.support.extractors import ListedFacts

NAMES = ("Ane", "Bo", "Cai", "Dag", "Eli", "Fay", "Gro")


@pytest.fixture
def introduced(tools: Tools) -> Tools:
    """Tools that find a fact about each name, the later the more important."""
    facts = [(f"{name} keeps bees.", importance) for importance, name in enumerate(NAMES, start=2)]
    listed = ListedFacts(*facts, name="introduction")
    return replace(tools, embedder=OrthogonalEmbedder(), extractor=listed)


def stored() -> set[str]:
    rows = Memory.objects.exclude(tags__contains=["summary"])
    return {text.split()[0] for text in rows.values_list("content", flat=True)}


def ask_for_silence(viewer: Viewer, conversation: Conversation) -> None:
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content="Please keep that between us.")],
        now=timezone.now(),
    )


def run_due(acme: Cast, tools: Tools, *, now: datetime | None = None) -> int:
    """Run what the sweep finds; how many jobs those were."""
    now = now or timezone.now()
    due = due_jobs(team_id=acme.team.id, now=now)
    for job in due:
        run_job(team_id=acme.team.id, job_id=job.pk, tools=tools, clock=lambda: now)
    return len(due)


def test_what_a_turn_had_no_room_for_is_written_by_the_next_run(
    acme: Cast, viewer: Viewer, introduced: Tools
) -> None:
    conversation = talk(viewer, f"{' and '.join(NAMES)} keep bees.")
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=introduced)
    at_once = stored()
    waited = Job.objects.get()

    found = [run_due(acme, introduced) for _ in range(2)]

    assert at_once == set(NAMES[-3:])
    assert (waited.state, waited.left_out, waited.result["left_out"]) == ("done", 4, 4)
    assert found == [1, 0]
    assert stored() == set(NAMES)
    job = Job.objects.get()
    assert (job.state, job.left_out, job.waiting) == ("done", 0, [])
    assert (job.result["created"], job.result["left_out"]) == (7, 0)
    assert job.result["extractor"] == "introduction"
    assert cast(ListedFacts, introduced.extractor).calls == 1
    assert set(Memory.objects.values_list("extractor", flat=True)) == {"introduction"}
    assert {len(row.source_message_ids) for row in Memory.objects.all()} == {1}


def test_a_job_has_not_finished_while_its_rest_is_written(
    acme: Cast, viewer: Viewer, introduced: Tools
) -> None:
    seen: list[tuple[str, bool]] = []

    class Watching(OrthogonalEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            seen.extend((job.state, job.finished_at is None) for job in Job.objects.all())
            return super().embed(texts)

    conversation = talk(viewer, f"{' and '.join(NAMES)} keep bees.")
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=introduced)

    run_due(acme, replace(introduced, embedder=Watching()))

    assert set(seen) == {("running", True)}
    assert Job.objects.get().finished_at is not None


def test_what_waits_is_the_agents_alone_once_silence_is_asked_for(
    acme: Cast, viewer: Viewer, introduced: Tools
) -> None:
    conversation = talk(viewer, f"{' and '.join(NAMES)} keep bees.")
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=introduced)
    ask_for_silence(viewer, conversation)

    silent = replace(introduced, extractor=ListedFacts())
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=silent)
    run_due(acme, introduced)

    assert stored() == set(NAMES)
    assert set(Memory.objects.filter(status="active").values_list("memory_type", flat=True)) == {
        "agent_private"
    }


def test_a_confidence_is_withdrawn_by_the_next_run_where_one_failed(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    class Away(OrthogonalEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            if texts:
                raise EmbeddingError("away", kind=FailureKind.UNAVAILABLE)
            return super().embed(texts)

    found = replace(tools, extractor=ListedFacts(("Ane earns 6,300 euros.", 5)))
    conversation = talk(viewer, "I am Ane and I earn 6,300 euros.")
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=found)
    ask_for_silence(viewer, conversation)
    silent = replace(tools, extractor=ListedFacts())
    with pytest.raises(EmbeddingError):
        extract_now(
            viewer=viewer,
            conversation_id=conversation.pk,
            tools=replace(silent, embedder=Away()),
        )

    run_due(acme, silent, now=timezone.now() + timedelta(hours=2))

    assert Memory.objects.get().memory_type == "agent_private"


@override_settings(MAX_MEMORIES_PER_USER_DAY=4)
def test_what_a_day_has_no_room_for_is_written_on_the_next_best_first(
    acme: Cast, viewer: Viewer, introduced: Tools
) -> None:
    conversation = talk(viewer, f"{' and '.join(NAMES)} keep bees.")
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=introduced)
    now = timezone.now()
    runs = [run_due(acme, introduced) for _ in range(2)]
    on_the_day = stored()

    runs.append(run_due(acme, introduced, now=now + timedelta(days=1)))

    assert runs == [1, 0, 1]
    assert on_the_day == set(NAMES[-4:])
    assert stored() == set(NAMES)


def test_a_compaction_writes_what_waits_without_reading_again(
    acme: Cast, viewer: Viewer, introduced: Tools
) -> None:
    conversation = talk(viewer, f"{' and '.join(NAMES)} keep bees.")
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=introduced)

    compact_conversation(
        viewer=viewer, conversation_id=conversation.pk, keep_last=0, tools=introduced
    )

    assert stored() == set(NAMES)
    assert cast(ListedFacts, introduced.extractor).calls == 1


def test_what_waits_is_kept_to_the_letter() -> None:
    moment = datetime(2026, 5, 1, 23, 59, 59, 999_999, tzinfo=UTC)
    candidate = Candidate(
        content="Ane keeps bees.",
        memory_type=MemoryType.EPISODIC,
        importance=4,
        confidence=0.7,
        message_ids=(uuid4(), uuid4()),
        subject="ane.bees",
        is_pinned=True,
        extraction_pass=2,
        valid_to=moment,
        tags=("bees",),
        extractor="rules",
        audience="team",
    )

    assert CANDIDATES.validate_json(CANDIDATES.dump_json([candidate])) == [candidate]
