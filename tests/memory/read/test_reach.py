"""Conflicts between what one agent knows and what all agents see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Status
from memory.models import Contradiction, Memory
from memory.selectors.contradictions import contradictions_visible_to
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.drafts import MemoryDraft, Outcome, WriteResult
from memory.writing.write_path import write_memories
from teams.models import Agent
from tests.support.cast import Cast
from tests.support.disputes import object_to

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def tell(
    acme: Cast, tools: Tools, text: str, *, own: bool, day: int, by: Agent | None = None
) -> WriteResult:
    """Kyra, or whoever `by` says, learns it about Sarah: for herself, or as what all agents see."""
    learner = by or acme.kyra
    return write(acme, tools, text, own=own, day=day, learner=learner)


def write(
    acme: Cast, tools: Tools, text: str, *, own: bool, day: int, learner: Agent | None
) -> WriteResult:
    """Store it as learned by an agent, or by nobody in particular."""
    author_id = learner.pk if learner else None
    draft = MemoryDraft(
        team_id=acme.team.id,
        content=text,
        memory_type=MemoryType.SEMANTIC if own else MemoryType.USER_PROFILE,
        importance=8,
        extractor="test",
        created_at=NOON + timedelta(days=day),
        agent_id=author_id if own else None,
        author_id=author_id,
        end_user_id=acme.sarah.pk,
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=[draft], tools=tools)[0]


def seen_by(acme: Cast, agent_id: object) -> int:
    """Returns the number of conflicts that the agent sees on behalf of Sarah."""
    viewer = Viewer(
        team_id=acme.team.id,
        actor="test",
        agent_id=agent_id,  # type: ignore[arg-type]
        end_user_id=acme.sarah.pk,
    )
    return contradictions_visible_to(viewer).count()


def test_an_agents_objection_marks_its_own_memory_and_nothing_of_the_others(
    acme: Cast, tools: Tools
) -> None:
    profile = tell(acme, tools, "The deploy day is Tuesday.", own=False, day=0).memory

    objection = tell(acme, tools, "The deploy day is Thursday.", own=True, day=1)

    assert objection.outcome == Outcome.DISPUTED
    assert objection.memory.contradicts == [profile.pk]
    profile.refresh_from_db()
    assert (profile.status, profile.contradicts) == (Status.ACTIVE.value, [])
    assert seen_by(acme, acme.kyra.pk) == 1
    assert seen_by(acme, acme.luke.pk) == 0


def test_what_all_see_marks_what_its_agent_knows_and_does_not_name_it(
    acme: Cast, tools: Tools
) -> None:
    own = tell(acme, tools, "The deploy day is Thursday.", own=True, day=0).memory

    profile = tell(acme, tools, "The deploy day is Tuesday.", own=False, day=1).memory

    own.refresh_from_db()
    profile.refresh_from_db()
    assert own.status != Status.ACTIVE.value
    assert (profile.status, profile.contradicts, profile.supersedes_id) == (
        Status.ACTIVE.value,
        [],
        None,
    )


def test_a_change_that_all_see_supersedes_what_its_agent_knew(acme: Cast, tools: Tools) -> None:
    own = tell(acme, tools, "Sarah lives in Lisbon.", own=True, day=0).memory

    profile = tell(acme, tools, "Sarah moved from Lisbon to Porto.", own=False, day=9).memory

    own.refresh_from_db()
    assert (own.status, own.superseded_by_id) == (Status.SUPERSEDED.value, profile.pk)
    assert (profile.version, profile.supersedes_id) == (1, None)


def test_what_one_agent_knows_never_retires_what_all_see(acme: Cast, tools: Tools) -> None:
    profile = tell(acme, tools, "Sarah lives in Lisbon.", own=False, day=0).memory

    change = tell(acme, tools, "Sarah moved from Lisbon to Porto.", own=True, day=9)

    profile.refresh_from_db()
    assert profile.status == Status.ACTIVE.value
    assert change.outcome == Outcome.DISPUTED


def test_the_same_words_for_other_readers_are_a_memory_of_their_own(
    acme: Cast, tools: Tools
) -> None:
    tell(acme, tools, "The deploy day is Tuesday.", own=False, day=0)

    again = tell(acme, tools, "The deploy day is Tuesday.", own=True, day=1)

    assert again.outcome == Outcome.CREATED
    assert Memory.objects.get(pk=again.memory.pk).status == Status.ACTIVE.value


def test_an_objection_ends_when_what_it_objects_to_is_deleted(acme: Cast, tools: Tools) -> None:
    profile = tell(acme, tools, "The deploy day is Tuesday.", own=False, day=0).memory
    objection = tell(acme, tools, "The deploy day is Thursday.", own=True, day=1).memory

    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=profile.pk)

    objection.refresh_from_db()
    assert (objection.status, objection.contradicts) == (Status.ACTIVE.value, [])
    assert not Contradiction.objects.filter(resolved_at=None).exists()


def test_what_nobody_in_particular_learned_meets_what_any_agent_knows(
    acme: Cast, tools: Tools
) -> None:
    own = tell(acme, tools, "Sarah lives in Lisbon.", own=True, day=0).memory

    moved = "Sarah moved from Lisbon to Porto."
    stated = write(acme, tools, moved, own=False, day=1, learner=None).memory

    own.refresh_from_db()
    assert (own.status, own.superseded_by_id) == (Status.SUPERSEDED.value, stated.pk)


def test_what_one_agent_lets_all_know_leaves_another_agents_memory_alone(
    acme: Cast, tools: Tools
) -> None:
    own = tell(acme, tools, "Sarah lives in Lisbon.", own=True, day=0).memory

    moved = "Sarah moved from Lisbon to Porto."
    result = tell(acme, tools, moved, own=False, day=1, by=acme.luke)

    own.refresh_from_db()
    assert (own.status, result.retired, result.conflicts) == (Status.ACTIVE.value, (), 0)


@pytest.mark.parametrize("is_merge", [False, True])
def test_what_one_agent_corrects_or_merges_leaves_another_agents_memory_alone(
    acme: Cast, tools: Tools, is_merge: bool
) -> None:
    own = tell(acme, tools, "Sarah lives in Lisbon.", own=True, day=0, by=acme.luke).memory
    shared = write(acme, tools, "Sarah plays chess.", own=False, day=1, learner=None).memory
    kyra = Viewer(
        team_id=acme.team.id, actor="kyra", agent_id=acme.kyra.pk, end_user_id=acme.sarah.pk
    )
    moved, now = "Sarah moved from Lisbon to Porto.", NOON + timedelta(days=9)

    result: WriteResult | None
    if is_merge:
        result = resolve_contradiction(
            viewer=kyra,
            contradiction_id=object_to(acme, shared).pk,
            resolution="merged",
            merged_content=moved,
            tools=tools,
            now=now,
        ).merged
    else:
        result = correct_memory(
            viewer=kyra,
            memory_id=shared.pk,
            corrected_content=moved,
            reason="",
            tools=tools,
            now=now,
        )

    own.refresh_from_db()
    assert result is not None
    assert (own.status, result.retired) == (Status.ACTIVE.value, (shared.pk,))
