"""The revision of a team moves with every commit that changes what its answers are made of."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from memory.models import Memory, MemoryLevels, MemoryRelation, MemoryUsage
from memory.selectors.revisions import Revision, team_revision
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.clean_database import conninfo_of


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed."""
    return make_cast(f"town-{uuid4().hex}")


def revision(cast: Cast) -> Revision:
    """As a new transaction sees it."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        found = team_revision(team_id=cast.team.id)
    assert found is not None
    return found


def told(cast: Cast) -> Memory:
    """One more memory."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return factories.MemoryFactory.create(team=cast.team)


def test_a_transaction_moves_it_once_however_much_it_changes(town: Cast) -> None:
    before = revision(town).memories
    with team_scope(team_ids=[town.team.id], actor="test"):
        for _ in range(20):
            factories.MemoryFactory.create(team=town.team)
        Memory.objects.filter(team=town.team).update(importance=7)

    assert revision(town).memories == before + 1


def test_other_teams_keep_theirs(town: Cast) -> None:
    other = make_cast(f"other-{uuid4().hex}")
    before = revision(other)
    told(town)

    assert revision(other) == before


def test_what_is_rolled_back_moves_nothing(town: Cast) -> None:
    before = revision(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        factories.MemoryFactory.create(team=town.team)
        transaction.set_rollback(True)

    assert revision(town) == before


def test_a_change_after_one_that_was_taken_back_moves_it(town: Cast) -> None:
    before = revision(town).memories
    with team_scope(team_ids=[town.team.id], actor="test"):
        taken_back = transaction.savepoint()
        factories.MemoryFactory.create(team=town.team)
        transaction.savepoint_rollback(taken_back)
        factories.MemoryFactory.create(team=town.team)

    assert revision(town).memories == before + 1


def test_every_change_of_what_an_answer_is_made_of_moves_it(town: Cast) -> None:
    one, other = told(town), told(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        relation = MemoryRelation.objects.create(
            team=town.team, from_memory=one, to_memory=other, strength=0.5
        )
        long = factories.MemoryFactory.create(team=town.team, content="It rained all week. " * 9)
    changes = [
        lambda: Memory.objects.filter(pk=one.pk).update(is_pinned=True),
        lambda: MemoryRelation.objects.filter(pk=relation.pk).update(strength=0.9),
        lambda: MemoryUsage.objects.create(team=town.team, memory=one, succeeded=1),
        lambda: MemoryUsage.objects.filter(memory=one).update(failed=2),
        lambda: MemoryLevels.objects.filter(memory=long).update(told_at_most="summary"),
    ]
    seen = [revision(town).memories]
    for change in changes:
        with team_scope(team_ids=[town.team.id], actor="test"):
            change()
        seen.append(revision(town).memories)

    assert seen == list(range(seen[0], seen[0] + len(changes) + 1))


def test_reads_that_are_counted_do_not_move_it(town: Cast) -> None:
    memory = told(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        usage = MemoryUsage.objects.create(team=town.team, memory=memory, retrieved=1)
    before = revision(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        MemoryUsage.objects.filter(pk=usage.pk).update(retrieved=2, last_accessed_at=timezone.now())

    assert revision(town) == before


def test_messages_have_one_of_their_own(town: Cast) -> None:
    before = revision(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        conversation = factories.ConversationFactory.create(
            team=town.team, agent=town.kyra, end_user=town.sarah
        )
        factories.MessageFactory.create(team=town.team, conversation=conversation)

    assert revision(town) == Revision(before.memories, before.messages + 1)


def test_the_owners_own_sql_moves_it_too(town: Cast) -> None:
    memory = told(town)
    before = revision(town).memories
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE memory_memory SET importance = 9 WHERE id = %s", [memory.pk])

    assert revision(town).memories == before + 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_teamrevision SET memories = 0",
        "DELETE FROM audit_teamrevision",
        "INSERT INTO audit_teamrevision (id, team_id, memories, messages)"
        " SELECT gen_random_uuid(), team_id, 1, 1 FROM audit_teamrevision",
        "SELECT palimpsest_move_revision()",
    ],
)
def test_the_application_cannot_write_it(town: Cast, statement: str) -> None:
    told(town)
    with (
        pytest.raises(DatabaseError),
        team_scope(team_ids=[town.team.id], actor="test"),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_a_transaction_that_wrote_is_told_none(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        factories.MemoryFactory.create(team=town.team)
        seen = team_revision(team_id=town.team.id)

    assert seen is None


@pytest.fixture
def two_writers(town: Cast) -> Iterator[list[psycopg.Connection]]:
    """Two connections of the owner's, which give up rather than wait for each other."""
    writers = [
        psycopg.connect(conninfo_of("owner"), options="-c lock_timeout=3000") for _ in range(2)
    ]
    yield writers
    for writer in writers:
        writer.close()


def test_commits_of_the_same_teams_do_not_wait_for_each_other(
    town: Cast, two_writers: list[psycopg.Connection]
) -> None:
    """The first has moved the revisions and not committed when the second moves them."""
    other = make_cast(f"other-{uuid4().hex}")
    rows = [[told(cast) for cast in order] for order in ((town, other), (other, town))]
    before = [revision(cast).memories for cast in (town, other)]
    for writer, memories in zip(two_writers, rows, strict=True):
        for memory in memories:
            writer.execute("UPDATE memory_memory SET importance = 9 WHERE id = %s", [memory.pk])
        writer.execute("SET CONSTRAINTS move_revision IMMEDIATE")
    two_writers[1].commit()
    between = [revision(cast).memories for cast in (town, other)]
    two_writers[0].commit()

    assert between == [each + 1 for each in before]
    assert [revision(cast).memories for cast in (town, other)] == [each + 2 for each in before]
