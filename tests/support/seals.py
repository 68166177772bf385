"""A sealed log, and hands that change it behind the triggers' back."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connections, transaction
from django.utils import timezone

from audit.models import MemoryLog
from audit.services.seals import closed_up_to, seal_team
from audit.services.verification import Verified
from memory.models import Memory
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast

Sealed = tuple[Cast, list[Memory], list[int]]


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


def memories(town: Cast, *contents: str) -> list[Memory]:
    """New memories of the team, each in a transaction of its own."""
    made = []
    for content in contents:
        with team_scope(team_ids=[town.team.id], actor="test", reason="said so"):
            made.append(
                factories.MemoryFactory.create(
                    team=town.team, end_user=town.sarah, content=content, subject="sarah"
                )
            )
    return made


def seal(town: Cast) -> int:
    """Seal what is closed of the team's log; returns how many rows."""
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None
    return seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now())


def seqs(town: Cast) -> list[int]:
    """The numbers of the team's log rows."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return list(MemoryLog.objects.order_by("seq").values_list("seq", flat=True))


def by_owner(*statements: str) -> None:
    """Run statements as the tables' owner with every trigger of the tables switched off."""
    tables = (
        "audit_memorylog",
        "audit_logcommit",
        "audit_commitclock",
        "audit_seal",
        "memory_memory",
    )
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for statement in statements:
            cursor.execute(statement)
            assert cursor.rowcount
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def kinds(found: Verified) -> list[tuple[str, str]]:
    """Returns the kind and the place of each finding."""
    return [(finding.kind, finding.where) for finding in found.findings]


@pytest.fixture
def sealed(town: Cast) -> Sealed:
    """Four memories whose log is sealed in two seals, and one that is not sealed yet."""
    made = memories(town, "One.", "Two.")
    seal(town)
    made += memories(town, "Three.", "Four.")
    seal(town)
    made += memories(town, "Five.")
    return town, made, seqs(town)
