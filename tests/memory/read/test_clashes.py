"""Contradictions that only a reader of both sides can see."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.audience import Viewer
from memory.domain.forms import Form
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory
from memory.reading.answers import Prompt
from memory.reading.questions import Question
from memory.understanding.tools import Tools
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.drafts import MemoryDraft
from memory.writing.write_path import write_memories
from tests.support.cast import Cast
from tests.support.judges import NumbersJudge
from tests.support.reading import retrieve

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def tools(tools: Tools) -> Tools:
    """With a judge that finds what these tests state."""
    return replace(tools, judge=NumbersJudge())


def tell(
    acme: Cast,
    tools: Tools,
    text: str,
    *,
    own: bool,
    day: int,
    subject: str = "infra.staging.port",
    tags: tuple[str, ...] = (),
    form: Form | None = None,
) -> Memory:
    """Kyra learns it for herself, or Luke lets all agents know."""
    draft = MemoryDraft(
        team_id=acme.team.id,
        content=text,
        memory_type=MemoryType.SEMANTIC if own or subject else MemoryType.SHARED,
        importance=8,
        extractor="test",
        created_at=NOON + timedelta(days=day),
        subject=subject,
        tags=tags,
        form=form,
        payload={"title": text} if form else {},
        agent_id=acme.kyra.pk if own else None if subject else acme.luke.pk,
        author_id=acme.kyra.pk if own else acme.luke.pk,
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=[draft], tools=tools)[0].memory


def ask(acme: Cast, tools: Tools, agent_id: object) -> Prompt:
    return retrieve(
        viewer=Viewer(team_id=acme.team.id, actor="test", agent_id=agent_id),  # type: ignore[arg-type]
        question=Question("Which port does staging use?"),
        weights=Weights(),
        token_budget=2000,
        limit=None,
        include_cold=False,
        tools=tools,
        now=NOON + timedelta(days=9),
    )


def test_what_one_agent_knows_against_all_is_marked_for_it_alone(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=0)
    tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1)

    kyras, lukes = ask(acme, tools, acme.kyra.pk), ask(acme, tools, acme.luke.pk)

    assert "DISPUTED" in kyras.formatted_prompt
    assert [each.id for each in kyras.contradictions] == [None]
    assert "DISPUTED" not in lukes.formatted_prompt
    assert lukes.contradictions == []


@pytest.mark.parametrize("subject", ["infra.staging.port", ""])
def test_events_of_two_agents_do_not_contradict_each_other(
    acme: Cast, tools: Tools, subject: str
) -> None:
    for day, port in enumerate((5433, 5432)):
        text = f"The staging database listens on port {port}."
        tell(acme, tools, text, own=not day, day=day, subject=subject, form=Form.EPISODE)

    kyras = ask(acme, tools, acme.kyra.pk)

    assert len(kyras.memories) == 2
    assert "DISPUTED" not in kyras.formatted_prompt
    assert kyras.contradictions == []


def test_a_clash_seen_on_the_way_out_writes_nothing(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=0)
    tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1)

    ask(acme, tools, acme.kyra.pk)

    assert not Contradiction.objects.exists()
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}


def test_what_another_agent_shares_against_ones_own_needs_no_subject(
    acme: Cast, tools: Tools
) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=0, subject="")
    tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1, subject="")

    kyras, lukes = ask(acme, tools, acme.kyra.pk), ask(acme, tools, acme.luke.pk)

    assert "DISPUTED" in kyras.formatted_prompt
    assert [each.strategy for each in kyras.contradictions] == ["semantic_opposition"]
    assert "DISPUTED" not in lukes.formatted_prompt
    assert lukes.contradictions == []
    assert not Contradiction.objects.exists()


def test_what_is_disputed_for_one_reader_is_marked_on_both_sides_for_that_reader(
    acme: Cast, tools: Tools
) -> None:
    shared = tell(acme, tools, "The staging database listens on port 5432.", own=False, day=0)
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=1)

    kyras, lukes = ask(acme, tools, acme.kyra.pk), ask(acme, tools, acme.luke.pk)

    shared.refresh_from_db()
    assert (shared.status, shared.contradicts) == ("active", [])
    lines = [line for line in kyras.formatted_prompt.splitlines() if "staging" in line]
    assert [line.count("DISPUTED") for line in lines] == [1, 1]
    assert [line.count("port 543") for line in lines] == [2, 2]
    assert len(kyras.contradictions) == 1
    assert "DISPUTED" not in lukes.formatted_prompt
    assert "5433" not in lukes.formatted_prompt


def test_asked_again_the_same_pair_clashes_again(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=0, subject="")
    tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1, subject="")
    ask(acme, tools, acme.kyra.pk)
    tell(acme, tools, "Lunch is served at noon.", own=True, day=2, subject="")

    assert len(ask(acme, tools, acme.kyra.pk).contradictions) == 1


def test_what_is_shared_about_another_matter_is_no_clash(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=0, subject="")
    tell(acme, tools, "The staging database runs in Rotterdam.", own=False, day=1, subject="")
    tell(acme, tools, "The production database listens on port 5432.", own=False, day=1, subject="")

    assert ask(acme, tools, acme.kyra.pk).contradictions == []


def test_what_people_have_settled_is_no_clash_again(
    acme: Cast, tools: Tools, viewer: Viewer
) -> None:
    first = tell(acme, tools, "The staging database listens on port 5433.", own=False, day=0)
    second = tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1)
    open_one = Contradiction.objects.get()
    assert {open_one.memory_a_id, open_one.memory_b_id} == {first.pk, second.pk}

    resolve_contradiction(
        viewer=viewer,
        contradiction_id=open_one.pk,
        resolution="both_valid",
        tools=tools,
        now=NOON + timedelta(days=3),
    )

    answer = ask(acme, tools, acme.kyra.pk)
    assert answer.contradictions == []
    assert "DISPUTED" not in answer.formatted_prompt


def test_a_summary_is_held_against_nothing(acme: Cast, tools: Tools) -> None:
    told = "The staging database listens on port 5433."
    tell(acme, tools, told, own=True, day=0, subject="", tags=("summary",))
    tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1, subject="")

    assert ask(acme, tools, acme.kyra.pk).contradictions == []
