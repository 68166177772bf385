"""A write's lookups by ids or keys stay lookups, however few rows a plan expects of a team.

A kept plan is made for the usual team. Among many small ones it would take the rows of the large
one, read one by one, for the cheapest way to find a few of them.
"""

from __future__ import annotations

from itertools import pairwise
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.selectors.neighbours import live_facts, live_memories, locked_memories
from memory.understanding.tools import Tools
from memory.writing.indexing.vector_graphs import renew_statistics
from memory.writing.rows import save_marks
from memory.writing.stating import StatedMemory, remember
from teams.services.people import create_team
from teams.tenancy import team_scope
from tests.support.embedders import random_tools

SMALL_TEAMS = 40
LARGE = 300
ASKED = 3


def many_teams(tools: Tools) -> Viewer:
    """Many teams of few memories and one of many, which is returned; the planner knows of them."""
    random = random_tools(tools)
    for count in [2] * SMALL_TEAMS + [LARGE]:
        name = f"team-{uuid4().hex}"
        viewer = Viewer(team_id=create_team(slug=name, name=name, actor="test").pk, actor="test")
        lamps = [StatedMemory(content=f"Lamp {n} is lit.") for n in range(count)]
        remember(viewer=viewer, stated=lamps, tools=random, now=timezone.now())
    renew_statistics()
    connection.close()  # with the plans of before
    return viewer


def memories_read() -> int:
    """Returns the number of rows of memories that this transaction has read so far."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables"
            " WHERE relname = 'memory_memory'"
        )
        (count,) = cursor.fetchone()
    return int(count)


def test_what_a_write_meets_is_read_without_the_rest_of_its_team(
    committed_db: None, tools: Tools
) -> None:
    large = many_teams(tools)
    with team_scope(team_ids=[large.team_id], actor="test"):
        rows = Memory.objects.order_by("pk").values_list("pk", "dedupe_key")[:ASKED]
        keys = {pk: bytes(key or b"") for pk, key in rows}
        read = [memories_read()]

        found = live_memories(team_id=large.team_id, ids=keys)
        read.append(memories_read())
        facts = live_facts(team_id=large.team_id, keys=keys.values())
        read.append(memories_read())
        locked = locked_memories(team_id=large.team_id, ids=keys)
        read.append(memories_read())
        save_marks(locked.values())
        read.append(memories_read())

    assert set(found) == {row.pk for row in facts} == set(locked) == set(keys)
    assert [after - before for before, after in pairwise(read)] == [ASKED] * 4
