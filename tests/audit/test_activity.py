"""When a team's memory changed, counted by its commits."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from audit.models import LogCommit
from audit.selectors import changes_between_bounds, first_change_of
from teams.tenancy import team_scope
from tests.factories import MemoryFactory
from tests.support.cast import Cast, make_cast


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team: only what is committed has a place in time."""
    return make_cast(f"town-{uuid4().hex}")


def test_commits_are_counted_between_bounds(town: Cast) -> None:
    other = make_cast(f"town-{uuid4().hex}")
    for team in (town.team, other.team, town.team, town.team):
        with team_scope(team_ids=[team.id], actor="test"):
            MemoryFactory.create(team=team)
            MemoryFactory.create(team=team)
    with team_scope(team_ids=[town.team.id], actor="test"):
        commits = LogCommit.objects.order_by("position").values_list("at", flat=True)
        first, second, third = [at for at in commits if at is not None]
        day = timedelta(days=1)

        bounds = [first - day, first, second, third, third + day]

        assert first_change_of(team_id=town.team.id) == first
        assert changes_between_bounds(team_id=town.team.id, bounds=bounds) == [1, 1, 1, 0]
        assert changes_between_bounds(team_id=town.team.id, bounds=[first - day, third]) == [3]


def test_a_team_without_memories_has_no_first_change(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert first_change_of(team_id=town.team.id) is None
