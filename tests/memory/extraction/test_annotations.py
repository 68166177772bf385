"""A job gives every memory that it makes the tags and the end that came with its messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.types import Candidate, Participants, SourceMessage
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.jobs import Annotations, taken
from memory.writing.pipeline import run_job
from memory.writing.posting import open_conversation, post_messages
from teams.models import Conversation
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests.support.cast import Cast, switch
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extraction import CountingExtractor, set_job, talk
from tests.support.extractors import ListedFacts

END = datetime(2031, 1, 1, tzinfo=UTC)
EARLIER, LATER = datetime(2030, 5, 1, tzinfo=UTC), datetime(2032, 5, 1, tzinfo=UTC)
GIVEN = Annotations(tags=("mem0:level=3",), valid_to=END)


def begun(viewer: Viewer) -> Conversation:
    """A conversation in which nothing was said yet."""
    with team_scope(team_ids=[viewer.team_id], actor="test"):
        return open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")[0]


def add(viewer: Viewer, conversation: Conversation, *texts: str) -> None:
    """Messages of the person whose memories are annotated."""
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage("user", text) for text in texts],
        now=timezone.now(),
        annotations=GIVEN,
    )


def run_all(viewer: Viewer, tools: Tools, *, now: datetime | None = None) -> None:
    for job in Job.objects.order_by("id"):
        run_job(
            team_id=viewer.team_id,
            job_id=job.pk,
            tools=tools,
            clock=lambda: now or timezone.now(),
        )


def noted() -> dict[str, tuple[list[str], datetime | None]]:
    """Tags and end of each memory by its text."""
    rows = Memory.objects.values_list("content", "tags", "valid_to")
    return {text: (tags, end) for text, tags, end in rows}


def test_the_memories_of_the_messages_are_given_them_and_no_others(
    viewer: Viewer, tools: Tools
) -> None:
    conversation = talk(viewer, "Sarah keeps bees.")
    add(viewer, conversation, *(f"Sarah visited place number {number}." for number in range(60)))
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage("user", "Sarah sails.")],
        now=timezone.now(),
        annotations=Annotations(),
    )

    run_all(viewer, replace(tools, embedder=OrthogonalEmbedder(), extractor=CountingExtractor()))

    ranges = Job.objects.order_by("id").values_list("from_position", "to_position", "state")
    assert list(ranges) == [(1, 1, "done"), (2, 61, "done"), (62, 62, "done")]
    found = noted()
    assert found.pop("Sarah keeps bees.") == ([], None)
    assert found.pop("Sarah sails.") == ([], None)
    assert len(found) == 60
    assert set(map(str, found.values())) == {str((["mem0:level=3"], END))}


class DatedFacts(ListedFacts):
    """Facts of which one ends by itself earlier, one later, and one begins only after the end."""

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        found = super().extract(messages=messages, context=context, participants=participants)
        times = [(None, EARLIER), (None, LATER), (LATER, None)]
        return [
            replace(each, tags=("own",), valid_from=start, valid_to=end)
            for each, (start, end) in zip(found, times, strict=True)
        ]


def test_what_ends_earlier_by_itself_does_and_nothing_ends_later(
    viewer: Viewer, tools: Tools
) -> None:
    facts = DatedFacts(("Bo skis.", 5), ("Cai skis.", 5), ("Dag skis.", 5))
    conversation = begun(viewer)
    add(viewer, conversation, "Bo skis, Cai skis and Dag skis.")

    run_all(viewer, replace(tools, embedder=OrthogonalEmbedder(), extractor=facts))

    tags = ["own", "mem0:level=3"]
    stored = {text: each for text, each in noted().items() if each[0]}
    assert stored == {
        "Bo skis.": (tags, EARLIER),
        "Cai skis.": (tags, END),
        "Dag skis.": (tags, END),
    }
    assert Memory.objects.get(content="Dag skis.").valid_from == END


def test_what_the_caps_kept_out_is_given_them_by_the_next_run(viewer: Viewer, tools: Tools) -> None:
    names = ("Ane", "Bo", "Cai", "Dag", "Eli", "Fay", "Gro")
    facts = ListedFacts(*((f"{name} keeps bees.", 5) for name in names))
    conversation = begun(viewer)
    add(viewer, conversation, f"{' and '.join(names)} keep bees.")
    chosen = replace(tools, embedder=OrthogonalEmbedder(), extractor=facts)

    run_all(viewer, chosen)
    (job,) = Job.objects.filter(left_out__gt=0)
    assert 0 < Memory.objects.filter(tags=["mem0:level=3"]).count() < len(names)
    while job.waiting:
        assert run_job(team_id=viewer.team_id, job_id=job.pk, tools=chosen)
        job.refresh_from_db()

    assert Memory.objects.filter(tags=["mem0:level=3"], valid_to=END).count() == len(names)


def test_the_parts_of_a_job_that_is_cut_keep_them(viewer: Viewer) -> None:
    conversation = talk(viewer, "Hello.")
    add(viewer, conversation, "One.", "Two.", "Three.")
    first, job = Job.objects.order_by("id")
    set_job(first, state="done")
    set_job(
        job,
        done_position=job.from_position,
        one_by_one_to=job.from_position + 1,
        attempts=settings.JOB_MAX_ATTEMPTS,
    )

    with pytest.raises(ValueError, match="broken"), taken(job=job):
        raise ValueError("broken")

    parts = Job.objects.filter(from_position__gte=job.from_position)
    assert parts.count() == 3
    assert {(*each.tags, each.valid_to) for each in parts} == {("mem0:level=3", END)}


def test_what_is_said_while_memory_is_off_keeps_them_until_it_is_on(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    conversation = talk(viewer, "Hello.")
    switch(acme, memory=False)
    add(viewer, conversation, "Sarah keeps bees.")
    counting = replace(tools, embedder=OrthogonalEmbedder(), extractor=CountingExtractor())
    run_all(viewer, counting)
    assert noted() == {}

    switch(acme, memory=True)
    run_all(viewer, counting)

    assert noted()["Sarah keeps bees."] == (["mem0:level=3"], END)
