"""Memories that a process has read are not read again, and never shown as they were."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.known_rows import KnownRow, KnownRows
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import search
from tests.conftest import Cast, make_cast
from tests.memory.given_vectors import store


@pytest.fixture
def town(committed_db: None, settings: Settings) -> Cast:
    """A team of this test's own, committed, whose answers Redis does not keep."""
    settings.HOT_ANSWER_SECONDS = 0
    return make_cast(f"town-{uuid4().hex}")


def ask(cast: Cast, tools: Tools) -> tuple[list[Memory], bool]:
    """What is found of ferries, and whether memories were read for it by their ids."""
    with CaptureQueriesContext(connection) as queries:
        found = search(
            viewer=Viewer(team_id=cast.team.id, actor="test", agent_id=cast.kyra.pk),
            question=Question("When does the ferry leave?"),
            limit=5,
            tools=tools,
            now=timezone.now(),
        )
    is_read = any("AS wanted (id)" in each["sql"] for each in queries)
    return [each.memory for each in found], is_read


def by_hand(cast: Cast, change: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"UPDATE memory_memory SET {change} WHERE team_id = %s", [cast.team.id])


def test_what_did_not_change_is_read_once(town: Cast, tools: Tools) -> None:
    store(town, tools, "The ferry leaves at nine.", "The ferry is blue.", agent_id=town.kyra.pk)
    (first, is_read), (again, is_read_again) = ask(town, tools), ask(town, tools)

    assert (is_read, is_read_again) == (True, False)
    assert len(first) == 2
    for one, other in zip(first, again, strict=True):
        assert one is not other
        columns = [field.attname for field in Memory._meta.concrete_fields]
        assert [getattr(one, name) for name in columns] == [
            getattr(other, name) for name in columns
        ]
        assert one.agent is not None
        assert one.agent.slug == "kyra"


@pytest.mark.parametrize("change", ["importance = 9", "tags = '{sea}'", "is_pinned = true"])
def test_what_changed_is_read_anew(town: Cast, tools: Tools, change: str) -> None:
    store(town, tools, "The ferry leaves at nine.", importance=4)
    ((before,), _) = ask(town, tools)
    by_hand(town, change)
    ((after,), is_read) = ask(town, tools)

    assert is_read
    assert (before.importance, before.tags, before.is_pinned) != (
        after.importance,
        after.tags,
        after.is_pinned,
    )


def test_an_answer_may_be_changed_by_who_has_it(town: Cast, tools: Tools) -> None:
    store(town, tools, "The ferry leaves at nine.")
    by_hand(town, "tags = '{sea}'")
    for _ in range(3):
        ((memory,), _) = ask(town, tools)
        assert memory.tags == ["sea"]
        memory.tags.append("mine")
        memory.source_message_ids.append(uuid4())


def test_a_memory_that_is_hidden_is_not_shown_from_what_is_known(town: Cast, tools: Tools) -> None:
    store(town, tools, "The ferry leaves at nine.")
    ask(town, tools)
    by_hand(town, "status = 'soft_deleted', tier = 'cold'")

    assert ask(town, tools)[0] == []


def known(rows: KnownRows, team: UUID, ids: Sequence[UUID], version: bytes) -> set[UUID]:
    wanted = dict.fromkeys(ids, (version, version, None, None))
    return set(rows.latest(team_id=team, versions=wanted))


def test_the_rows_read_last_are_kept_each_in_one_version_and_team() -> None:
    rows, team = KnownRows(most=3), uuid4()
    ids = [uuid4() for _ in range(4)]
    for each in ids[:3]:
        rows.learn(team_id=team, memory_id=each, row=KnownRow((b"1", b"1", None, None), ()))
    assert known(rows, team, ids, b"2") == set()
    assert known(rows, uuid4(), ids, b"1") == set()
    assert known(rows, team, ids[:1], b"1") == {ids[0]}
    rows.learn(team_id=team, memory_id=ids[3], row=KnownRow((b"1", b"1", None, None), ()))

    assert known(rows, team, ids, b"1") == {ids[0], ids[2], ids[3]}
