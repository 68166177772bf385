"""A trigger of any table may log a decision about a memory: an event by a name of its own."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import connections, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from audit.services.seals import closed_up_to, seal_team
from audit.services.verification import verify_team
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.selectors.history.states import state_at
from memory.selectors.memories import MemoryFilters
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, Clients
from tests.support.erasure import ERASED, erase

# As the trigger of a table of requests would: the memory itself does not change.
DECIDE = """
SELECT palimpsest_write_log('consent_granted', state, state, false,
    jsonb_build_object('request', %s::uuid), NULL, NULL, clock_timestamp())
FROM (
    SELECT palimpsest_memory_state(to_jsonb(m)) AS state FROM memory_memory m WHERE m.id = %s
) AS decided
"""


@pytest.fixture
def decided(town: Cast) -> tuple[Memory, UUID]:
    """A memory of Sarah's and the request about it, which was granted."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
    request = uuid4()
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for name, value in (
            ("team_ids", str(town.team.id)),
            ("actor", "staff:ann"),
            ("reason", "she agreed"),
        ):
            cursor.execute("SELECT set_config(%s, %s, true)", [f"palimpsest.{name}", value])
        cursor.execute(DECIDE, [request, memory.pk])
    return memory, request


def steps(api: APIClient, memory: Memory) -> list[tuple[str, str, str, object]]:
    """The memory's history: what happened, by whom, why, and what else is known of it."""
    found = api.get(f"/v1/memories/{memory.pk}/history").json()["results"]
    entries = [each["entry"] for each in found]
    return [(each["event"], each["actor"], each["reason"], each["detail"]) for each in entries]


def test_it_is_told_sealed_and_leaves_the_past_as_it_was(
    town: Cast, decided: tuple[Memory, UUID], client_of: Clients
) -> None:
    memory, request = decided

    assert steps(client_of(town), memory) == [
        ("consent_granted", "staff:ann", "she agreed", {"request": str(request)}),
        ("created", "test", "", None),
    ]
    with team_scope(team_ids=[town.team.id], actor="test"):
        viewer = Viewer(team_id=town.team.id, actor="test")
        past = state_at(viewer=viewer, at=None, filters=MemoryFilters()).memories
        assert [(each.pk, each.content) for each in past] == [(memory.pk, memory.content)]
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None
    assert seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now()) == 2
    assert verify_team(team_id=town.team.id).findings == []


def test_it_outlives_the_person_without_its_reason(
    town: Cast, decided: tuple[Memory, UUID], client_of: Clients
) -> None:
    memory, request = decided

    erase(town, "sarah")

    told = steps(client_of(town), memory)
    assert ("consent_granted", "staff:ann", "", {"request": str(request)}) in told
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
    assert memory.content == ERASED
    assert verify_team(team_id=town.team.id).findings == []
