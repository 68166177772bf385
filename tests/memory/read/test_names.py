"""Whom the names in a request mean: in a team's scope, and outside of any transaction."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from memory.selectors.names import Named, names_of
from memory.selectors.revisions import team_revision
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast


@pytest.fixture
def two(committed_db: None) -> tuple[Cast, Cast]:
    """Two teams with people and agents of the same names."""
    return make_cast(f"one-{uuid4().hex[:8]}"), make_cast(f"two-{uuid4().hex[:8]}")


@pytest.mark.parametrize(
    ("agent", "user", "project"),
    [
        ("kyra", "sarah", None),
        ("luke", None, None),
        (None, "dmitri", "apollo"),
        ("nobody", "nobody", "nothing"),
        (None, None, None),
    ],
)
def test_outside_of_a_scope_they_mean_the_same(
    two: tuple[Cast, Cast], agent: str | None, user: str | None, project: str | None
) -> None:
    for cast in two:
        with team_scope(team_ids=[cast.team.pk], actor="test"):
            revision = team_revision(team_id=cast.team.pk)
            inside = names_of(team_id=cast.team.pk, agent=agent, user=user, project=project)
        outside = names_of(team_id=cast.team.pk, agent=agent, user=user, project=project)

        assert inside.revision is None
        is_asked = any((agent, user, project))
        assert outside == replace(inside, revision=revision if is_asked else None)
        if agent == "kyra":
            assert outside == Named(cast.kyra, cast.sarah.pk, None, revision=revision)
            assert outside.agent is not None
            assert outside.agent.rules == cast.kyra.rules


def test_the_scope_of_one_question_is_gone_with_it(two: tuple[Cast, Cast]) -> None:
    mine, other = two
    names_of(team_id=mine.team.pk, agent="kyra")

    found = names_of(team_id=other.team.pk, agent="kyra")

    assert found.agent == other.kyra
