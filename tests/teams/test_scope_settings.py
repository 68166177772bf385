"""Settings that a scope may give its transaction besides the rows it sees."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection, connections

from teams.errors import ConflictError
from teams.models import Project
from teams.tenancy import before_commit, team_scope, wait_for_disk
from tests.support.cast import Cast, make_cast

LOCK = 20_261_121


@pytest.fixture
def cast(committed_db: None) -> Cast:
    """A team whose rows others see."""
    return make_cast(f"scope-{uuid4().hex[:8]}")


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


def is_free(lock: int) -> bool:
    """Returns whether another connection could take the lock exclusively."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock])
        return bool(cursor.fetchone()[0])


def test_a_commit_that_nobody_relies_on_yet_does_not_wait_for_the_disk(cast: Cast) -> None:
    usual = setting("synchronous_commit")

    with team_scope(team_ids=[cast.team.pk], actor="test", is_flushed=False):
        inside = setting("synchronous_commit")

    assert inside == "off"
    assert setting("synchronous_commit") == usual != "off"


def test_inside_another_scope_the_commit_waits_as_that_one_wants(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        usual = setting("synchronous_commit")
        with team_scope(team_ids=[cast.team.pk], actor="test", is_flushed=False):
            inside = setting("synchronous_commit")

    assert inside == usual != "off"


def test_a_shared_lock_lasts_as_long_as_the_scope(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.pk], actor="test", shared_lock=LOCK):
        was_free = is_free(LOCK)

    assert not was_free
    assert is_free(LOCK)


def test_plans_for_all_parameters_end_with_the_scope(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.pk], actor="test", is_planned_once=True):
        inside = setting("plan_cache_mode"), setting("enable_seqscan")

    assert inside == ("force_generic_plan", "off")
    assert (setting("plan_cache_mode"), setting("enable_seqscan")) == ("auto", "on")


def test_what_stands_by_itself_commits_though_the_request_may_not(cast: Cast) -> None:
    def refuse() -> None:
        raise ConflictError("The claim is lost.")

    with before_commit(refuse):
        with before_commit(None), team_scope(team_ids=[cast.team.pk], actor="test"):
            Project.objects.create(team=cast.team, slug="apart")
        with pytest.raises(ConflictError), team_scope(team_ids=[cast.team.pk], actor="test"):
            Project.objects.create(team=cast.team, slug="along")

    with team_scope(team_ids=[cast.team.pk], actor="test"):
        kept = set(Project.objects.filter(team=cast.team).values_list("slug", flat=True))
    assert "apart" in kept
    assert "along" not in kept


def test_a_transaction_may_wait_for_the_disk_after_all(cast: Cast) -> None:
    usual = setting("synchronous_commit")

    with team_scope(team_ids=[cast.team.pk], actor="test", is_flushed=False):
        wait_for_disk()
        inside = setting("synchronous_commit")

    assert inside == usual != "off"


def test_inside_another_scope_plans_are_made_as_that_one_wants(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        with team_scope(team_ids=[cast.team.pk], actor="test", is_planned_once=True):
            pass
        after = setting("plan_cache_mode"), setting("enable_seqscan")

    assert after == ("auto", "on")
