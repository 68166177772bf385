"""One team never sees, changes or points at another team's rows: PostgreSQL itself refuses."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, models, transaction

from memory.models import (
    Memory,
)
from teams.ids import new_id
from teams.models import (
    Agent,
    EndUser,
    Membership,
    Project,
    Team,
)
from teams.services.people import all_team_ids, team_id_of_slug
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.tenants import ask, each_known_model, neighbours, settle

__all__ = ["neighbours"]


# -- what a scope sees -----------------------------------------------------------------------


@each_known_model
def test_a_scope_sees_its_own_rows_and_no_others(
    neighbours: tuple[Cast, Cast], model: type[models.Model]
) -> None:
    here, there = neighbours
    rows = model._default_manager
    table = model._meta.db_table

    with team_scope(team_ids=[here.team.id], actor="test"):
        seen_by_orm = set(rows.values_list("team_id", flat=True))
        asked_for_theirs = rows.filter(team_id=there.team.id).exists()
        seen_by_sql = ask(f"SELECT DISTINCT team_id FROM {table}")
        theirs_by_sql = ask(f"SELECT * FROM {table} WHERE team_id = %s", [there.team.id])
    with team_scope(team_ids=[there.team.id], actor="test"):
        theirs_exist = rows.filter(team_id=there.team.id).exists()

    assert seen_by_orm == {here.team.id}
    assert seen_by_sql == [(here.team.id,)]
    assert theirs_exist
    assert not asked_for_theirs
    assert theirs_by_sql == []


@each_known_model
def test_without_a_scope_nothing_is_seen(
    neighbours: tuple[Cast, Cast], model: type[models.Model]
) -> None:
    assert not model._default_manager.exists()
    assert ask(f"SELECT count(*) FROM {model._meta.db_table}") == [(0,)]


def test_without_a_scope_no_team_is_seen(neighbours: tuple[Cast, Cast]) -> None:
    assert not Team.objects.exists()


def test_a_scope_of_no_team_sees_nothing(neighbours: tuple[Cast, Cast]) -> None:
    with team_scope(team_ids=[], actor="test"):
        assert not Team.objects.exists()
        assert not Memory.objects.exists()


def test_a_scope_of_two_teams_sees_both(neighbours: tuple[Cast, Cast]) -> None:
    both = {cast.team.id for cast in neighbours}

    with team_scope(team_ids=both, actor="test"):
        assert set(Memory.objects.values_list("team_id", flat=True)) == both


def test_joins_and_subqueries_see_no_other_team(neighbours: tuple[Cast, Cast]) -> None:
    here, there = neighbours
    with team_scope(team_ids=[here.team.id], actor="test"):
        crossed = ask(
            "SELECT m.id FROM teams_team t FULL JOIN memory_memory m ON true"
            " WHERE m.team_id = %s OR t.id = %s",
            [there.team.id, there.team.id],
        )
        hinted = ask("SELECT EXISTS (SELECT FROM teams_agent WHERE id = %s)", [there.kyra.id])

    assert crossed == []
    assert hinted == [(False,)]


def test_what_is_asked_before_a_team_is_known_says_no_more_than_needed(
    neighbours: tuple[Cast, Cast],
) -> None:
    here, there = neighbours

    assert team_id_of_slug(there.team.slug) == there.team.id
    assert team_id_of_slug("nobody") is None
    assert set(all_team_ids()) >= {here.team.id, there.team.id}
    assert ask("SELECT * FROM palimpsest_api_key(%s)", [b"\0" * 32]) == []


# -- what a scope may write ------------------------------------------------------------------


@pytest.fixture
def inside(neighbours: tuple[Cast, Cast]) -> Iterator[tuple[Cast, Cast]]:
    """The two teams, with the first one's scope open."""
    with team_scope(team_ids=[neighbours[0].team.id], actor="test"):
        yield neighbours


def test_a_row_for_another_team_is_refused(inside: tuple[Cast, Cast]) -> None:
    _, there = inside

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Project.objects.create(team_id=there.team.id, slug="spy", name="Spy")


def test_a_row_for_another_team_is_refused_in_raw_sql(inside: tuple[Cast, Cast]) -> None:
    _, there = inside

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        ask(
            "INSERT INTO teams_project (id, team_id, slug, name, created_at)"
            " VALUES (%s, %s, 'spy', 'Spy', now()) RETURNING id",
            [uuid4(), there.team.id],
        )


def test_a_row_without_a_scope_is_refused(neighbours: tuple[Cast, Cast]) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Project.objects.create(team_id=neighbours[0].team.id, slug="lost", name="Lost")


def test_a_new_team_needs_a_scope_of_its_own(inside: tuple[Cast, Cast]) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Team.objects.create(slug="hooli", name="Hooli")


def test_a_row_cannot_be_given_to_another_team(inside: tuple[Cast, Cast]) -> None:
    here, there = inside

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        EndUser.objects.filter(id=here.dmitri.id).update(team_id=there.team.id)


def test_changes_do_not_reach_another_teams_rows(inside: tuple[Cast, Cast]) -> None:
    _, there = inside

    by_orm = Agent.objects.filter(id=there.kyra.id).update(name="Spy")
    by_sql = ask(
        "UPDATE teams_agent SET name = 'Spy' WHERE team_id = %s RETURNING id", [there.team.id]
    )
    deleted, _ = Membership.objects.filter(team_id=there.team.id).delete()

    assert (by_orm, by_sql, deleted) == (0, [], 0)
    with team_scope(team_ids=[there.team.id], actor="test"):
        assert Agent.objects.get(id=there.kyra.id).name == "Kyra"
        assert Membership.objects.count() == 1


REFERENCES = [
    ("teams_apikey", "agent_id", "agent"),
    ("teams_conversation", "agent_id", "agent"),
    ("teams_conversation", "end_user_id", "end_user"),
    ("teams_conversation", "project_id", "project"),
    ("memory_memory", "agent_id", "agent"),
    ("memory_memory", "end_user_id", "end_user"),
    ("memory_memory", "project_id", "project"),
    ("memory_memory", "conversation_id", "conversation"),
    ("memory_memory", "supersedes_id", "memory"),
    ("memory_memory", "superseded_by_id", "memory"),
    ("memory_memoryrelation", "to_memory_id", "memory"),
    ("memory_contradiction", "memory_b_id", "memory"),
    ("memory_job", "conversation_id", "conversation"),
]


@pytest.mark.parametrize(("table", "column", "into"), REFERENCES)
def test_a_reference_into_another_team_is_refused(
    globex: Cast, table: str, column: str, into: str
) -> None:
    here = make_cast("initech")
    settle(here)
    target = settle(globex)[into]

    with team_scope(team_ids=[here.team.id], actor="test"):
        ask("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="same_team"), transaction.atomic():
            ask(
                f"UPDATE {table} SET {column} = %s"
                f" WHERE ctid IN (SELECT ctid FROM {table} LIMIT 1)",
                [target.pk],
            )


def test_a_message_for_another_teams_conversation_is_refused(globex: Cast) -> None:
    here = make_cast("initech")
    theirs = settle(globex)["conversation"]

    with (
        team_scope(team_ids=[here.team.id], actor="test"),
        pytest.raises(IntegrityError, match="same_team"),
        transaction.atomic(),
    ):
        factories.MessageFactory(team=here.team, conversation_id=theirs.pk)


# -- where a scope ends ----------------------------------------------------------------------


def scope_settings() -> tuple[str, ...]:
    """The four settings as the transaction has them now."""
    names = ("team_ids", "actor", "reason", "conversation_id")
    row = ask(
        "SELECT "
        + ", ".join(f"coalesce(current_setting('palimpsest.{n}', true), '')" for n in names)
    )[0]
    return tuple(row)


def test_an_inner_scope_replaces_the_outer_one_until_it_ends(
    neighbours: tuple[Cast, Cast],
) -> None:
    here, there = neighbours
    conversation_id = new_id()
    with team_scope(team_ids=[here.team.id], actor="outer", reason="first"):
        with team_scope(team_ids=[there.team.id], actor="inner", conversation_id=conversation_id):
            inner = scope_settings()
            seen_inside = set(Agent.objects.values_list("team_id", flat=True))
        outer = scope_settings()
        seen_after = set(Agent.objects.values_list("team_id", flat=True))

    assert inner == (str(there.team.id), "inner", "", str(conversation_id))
    assert outer == (str(here.team.id), "outer", "first", "")
    assert (seen_inside, seen_after) == ({there.team.id}, {here.team.id})
    assert scope_settings() == ("", "", "", "")


def test_a_scope_that_fails_restores_the_outer_one(neighbours: tuple[Cast, Cast]) -> None:
    here, there = neighbours
    with team_scope(team_ids=[here.team.id], actor="outer"):
        with (
            pytest.raises(IntegrityError),
            team_scope(team_ids=[there.team.id], actor="inner"),
        ):
            Agent.objects.create(team_id=there.team.id, slug="kyra", name="Another Kyra")

        assert scope_settings() == (str(here.team.id), "outer", "", "")
        assert set(Agent.objects.values_list("team_id", flat=True)) == {here.team.id}


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team with a slug of its own."""
    return make_cast(f"town-{uuid4().hex}")


def backend() -> int:
    """The server process behind the connection."""
    pid: int = ask("SELECT pg_backend_pid()")[0][0]
    return pid


def test_a_scope_does_not_leak_to_the_next_use_of_the_connection(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        seen = Agent.objects.count()
        first = backend()

    assert seen == 2
    assert backend() == first
    assert scope_settings() == ("", "", "", "")
    assert Agent.objects.count() == 0


def test_a_scope_that_rolls_back_does_not_leak_either(town: Cast) -> None:
    first = backend()

    with (
        pytest.raises(IntegrityError),
        team_scope(team_ids=[town.team.id], actor="test"),
    ):
        Agent.objects.create(team=town.team, slug="kyra", name="Another Kyra")

    assert backend() == first
    assert scope_settings() == ("", "", "", "")
    assert Agent.objects.count() == 0


def test_a_failed_scope_leaves_nothing_behind(town: Cast) -> None:
    def interrupted() -> None:
        with team_scope(team_ids=[town.team.id], actor="test"):
            factories.ProjectFactory(team=town.team)
            raise KeyError("something outside the database goes wrong")

    with pytest.raises(KeyError):
        interrupted()

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not Project.objects.exists()


def test_the_application_cannot_become_the_tables_owner(town: Cast) -> None:
    owner = ask("SELECT tableowner::text FROM pg_tables WHERE tablename = 'memory_memory'")[0][0]

    may = ask("SELECT pg_has_role('palimpsest_app', %s, 'MEMBER')", [owner])

    assert owner != "palimpsest_app"
    assert may == [(False,)]
