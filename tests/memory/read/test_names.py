"""Whom the names in a request mean: in a team's scope, and outside of any transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from memory.selectors.names import Named, names_of
from memory.selectors.revisions import known_primary, states_found_once, team_revision
from teams.models import ApiKey
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast, switch


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
        with states_found_once():
            outside = names_of(team_id=cast.team.pk, agent=agent, user=user, project=project)
            known = known_primary(team_id=cast.team.pk)

        assert outside == inside
        assert (known.revision if known else None) == (revision if agent or user else None)
        if agent == "kyra":
            assert outside == Named(cast.kyra, cast.sarah.pk, None)
            assert outside.agent is not None
            assert outside.agent.rules == cast.kyra.rules


def test_the_scope_of_one_question_is_gone_with_it(two: tuple[Cast, Cast]) -> None:
    mine, other = two
    names_of(team_id=mine.team.pk, agent="kyra")

    found = names_of(team_id=other.team.pk, agent="kyra")

    assert found.agent == other.kyra


def test_a_known_key_is_looked_up_with_the_names(
    two: tuple[Cast, Cast], client_of: Callable[..., APIClient]
) -> None:
    cast, _ = two
    api = client_of(cast)

    def retrieve(**body: object) -> int:
        return api.post("/v1/retrieve", {"query": "ferry", **body}, format="json").status_code

    kept = {"Idempotency-Key": "kept"}
    body = {"query": "ferry", "agent": "kyra"}
    assert retrieve(agent="kyra") == 200
    assert api.post("/v1/retrieve", body, format="json", headers=kept).status_code == 200
    with CaptureQueriesContext(connection) as asked:
        assert retrieve(agent="luke") == 200
    assert len([each for each in asked if "palimpsest_api_key" in each["sql"]]) == 1

    with team_scope(team_ids=[cast.team.pk], actor="test"):
        switch(cast, memory=False)
    assert retrieve(agent="luke") == 403
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        switch(cast, memory=True)
        ApiKey.objects.update(expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert retrieve(agent="luke") == 401
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        ApiKey.objects.update(expires_at=None)
    assert retrieve(agent="luke") == 200
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        ApiKey.objects.update(revoked_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert api.post("/v1/retrieve", body, format="json", headers=kept).status_code == 401
    # Whatever else the request would be refused for.
    assert [retrieve(agent="luke"), retrieve(agent="nobody"), retrieve(agent=7)] == [401] * 3
