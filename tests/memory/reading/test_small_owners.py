"""Where all memories of an owner are candidates, they are told of as a search tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from pytest_django import Settings

from memory.clients.tools import Tools
from memory.domain.types import MemoryType, Tier
from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryRelation
from memory.selectors.revisions import team_revision
from memory.selectors.searching.signal_rows import Found, SignalRow, Sought
from memory.selectors.searching.signals import find_candidates
from memory.selectors.searching.vectors import forget_graphs
from teams.tenancy import team_scope
from tests.conftest import Cast
from tests.memory.given_vectors import UNREADABLE, random_tools, store

TEXTS = [f"The ferry to pier {n % 3} carries crate {n} and the lamps of Sarah." for n in range(6)]
QUESTIONS = [
    ("When does the ferry leave?", ["ferry", "leave"]),
    ("Crate 4 or crate 5?", ["crate", "4", "5"]),
    ("The lamps at pier 2", ["the", "lamps", "pier", "2", "sarah's"]),
    ("Nothing of all this", ["zebra"]),
    ("What?", []),
    (UNREADABLE, ["lamp", "7.00", "it's"]),
]


@pytest.fixture
def random(tools: Tools) -> Tools:
    """Tools with random vectors."""
    forget_graphs()
    return random_tools(tools)


def asked(
    cast: Cast, tools: Tools, question: str, terms: Sequence[str], *, viewer: Viewer
) -> Found:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return find_candidates(
            viewer=viewer,
            sought=Sought(terms, tools.embedder.embed([question])[0], tools.embedder.name),
            revision=team_revision(team_id=cast.team.id),
        )


def told(found: Found) -> tuple[Found, dict[UUID, SignalRow], dict[UUID, float | None]]:
    """All that is told, the cosines apart."""
    rows = {row.memory_id: row._replace(cosine=None) for row in found.rows}
    return replace(found, rows=[]), rows, {row.memory_id: row.cosine for row in found.rows}


def viewers(cast: Cast) -> list[Viewer]:
    nobody = Viewer(team_id=cast.team.id, actor="test")
    kyra = replace(nobody, agent_id=cast.kyra.pk)
    return [
        nobody,
        kyra,
        replace(kyra, end_user_id=cast.sarah.pk),
        replace(kyra, end_user_id=cast.dmitri.pk),
        replace(nobody, agent_id=cast.luke.pk, end_user_id=cast.sarah.pk),
        replace(kyra, allowed_categories=("tasks",)),
    ]


def test_all_that_a_search_tells_of_a_memory_is_told(
    acme: Cast, random: Tools, settings: Settings
) -> None:
    sarahs = store(acme, random, *TEXTS, end_user_id=acme.sarah.pk)
    store(acme, random, "Sarah likes lamps.", end_user_id=acme.sarah.pk, tags=["light"])
    teams = store(acme, random, *(text.replace("ferry", "tram") for text in TEXTS), importance=8)
    store(acme, random, "The lamp is hidden.", category="secret")
    store(acme, random, "The ferry is late.", category="tasks", is_pinned=True)
    own = {"memory_type": MemoryType.AGENT_PRIVATE, "agent_id": acme.kyra.pk}
    store(acme, random, "Kyra notes the ferry.", **own)
    cold, deleted = store(acme, random, "The old ferry sank.", "The ferry has a funnel.")
    Memory.objects.filter(pk=cold.pk).update(tier=Tier.COLD.value)
    Memory.objects.filter(pk=deleted.pk).update(status="soft_deleted")
    for one, other, strength in [(sarahs[0], teams[3], 0.7), (teams[2], sarahs[1], 0.6)]:
        MemoryRelation.objects.create(
            team=acme.team,
            from_memory=one,
            to_memory=other,
            relation_type="related_to",
            strength=strength,
        )

    for viewer in viewers(acme):
        for question, terms in QUESTIONS:
            settings.READ_WHOLE_UP_TO = 200
            found = told(asked(acme, random, question, terms, viewer=viewer))
            settings.READ_WHOLE_UP_TO = 0
            usual = told(asked(acme, random, question, terms, viewer=viewer))

            assert found[1], (viewer, question)
            assert found[:2] == usual[:2]
            assert found[2] == pytest.approx(usual[2])


def test_who_has_more_by_now_is_searched(acme: Cast, random: Tools, settings: Settings) -> None:
    viewer = Viewer(team_id=acme.team.id, actor="test", end_user_id=acme.sarah.pk)
    settings.READ_WHOLE_UP_TO = 3
    store(acme, random, *TEXTS[:3], end_user_id=acme.sarah.pk)
    before = asked(acme, random, "The ferry?", ["ferry"], viewer=viewer)
    store(acme, random, *TEXTS[3:], end_user_id=acme.sarah.pk)

    after = asked(acme, random, "The ferry?", ["ferry"], viewer=viewer)

    assert (len(before.rows), len(after.rows)) == (3, 6)
    assert after.holding == (6,)
