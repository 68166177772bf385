"""Contradictions that only a reader of both sides can see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory.clients.tools import Tools
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.services.drafts import MemoryDraft
from memory.services.ranking import Question
from memory.services.retrieval import Retrieval, retrieve
from memory.services.write_path import write_memories
from tests.conftest import Cast

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def tell(acme: Cast, tools: Tools, text: str, *, own: bool, day: int) -> Memory:
    """Kyra learns it for herself, or Luke lets all agents know."""
    draft = MemoryDraft(
        team_id=acme.team.id,
        content=text,
        memory_type=MemoryType.SEMANTIC,
        importance=8,
        extractor="test",
        created_at=NOON + timedelta(days=day),
        subject="infra.staging.port",
        agent_id=acme.kyra.pk if own else None,
        author_id=acme.kyra.pk if own else acme.luke.pk,
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=[draft], tools=tools)[0].memory


def ask(acme: Cast, tools: Tools, agent_id: object) -> Retrieval:
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


def test_a_clash_seen_on_the_way_out_writes_nothing(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True, day=0)
    tell(acme, tools, "The staging database listens on port 5432.", own=False, day=1)

    ask(acme, tools, acme.kyra.pk)

    assert not Contradiction.objects.exists()
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}
