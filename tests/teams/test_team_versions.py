"""Every change of a team's settings leaves a version, whoever makes it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import ProgrammingError, transaction

from teams.models import Team, TeamVersion
from teams.services.people import create_team
from teams.tenancy import team_scope
from tests.support.cast import Cast


def versions(team: Team) -> list[TeamVersion]:
    with team_scope(team_ids=[team.pk], actor="test"):
        return list(TeamVersion.objects.filter(team=team))


def test_a_team_begins_with_its_first_version(db: None) -> None:
    team = create_team(slug="initech", name="Initech", actor="staff:ann")

    (first,) = versions(team)

    assert (first.number, first.actor) == (1, "staff:ann")
    assert first.document == {
        "name": "Initech",
        "time_zone": "UTC",
        "person_role": "guest",
        "feature_flags": {},
        "sensitive_fields": ["preferred_name", "name", "pronouns", "city", "language"],
        "context_settings": {},
        "lifecycle_settings": {},
        "episode_rest_hours": None,
        "extraction_instructions": "",
        "monthly_budget_usd": None,
        "daily_user_budget_usd": None,
    }


def test_budgets_flags_and_time_zone_leave_versions_with_who_and_why(acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.pk], actor="staff:ann", reason="a quiet month"):
        Team.objects.filter(pk=acme.team.pk).update(monthly_budget_usd=Decimal("12.5"))
    Team.objects.filter(pk=acme.team.pk).update(
        feature_flags={"memory": False}, time_zone="Europe/Oslo"
    )

    last, before, *_ = versions(acme.team)
    assert [each.number for each in (before, last)] == [2, 3]
    assert (before.actor, before.reason) == ("staff:ann", "a quiet month")
    assert before.document["monthly_budget_usd"] == 12.5
    assert before.document["time_zone"] == "UTC"
    assert last.document["feature_flags"] == {"memory": False}
    assert last.document["time_zone"] == "Europe/Oslo"


def test_what_says_the_same_leaves_none(acme: Cast) -> None:
    Team.objects.filter(pk=acme.team.pk).update(name=acme.team.name, time_zone="UTC")

    assert len(versions(acme.team)) == 1


def test_versions_are_written_by_the_database_alone(acme: Cast) -> None:
    for act in (
        lambda: TeamVersion.objects.create(team=acme.team, number=9, document={}, actor="me"),
        lambda: TeamVersion.objects.update(actor="me"),
        lambda: TeamVersion.objects.all().delete(),
    ):
        with pytest.raises(ProgrammingError), transaction.atomic():
            act()


def test_a_team_sees_no_versions_of_another(acme: Cast, globex: Cast) -> None:
    with team_scope(team_ids=[globex.team.pk], actor="test"):
        seen = set(TeamVersion.objects.values_list("team_id", flat=True))

    assert seen == {globex.team.pk}
