"""A team's settings in the admin: time zone, budgets and flags, checked when saved."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import DataError, IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from teams.models import Team
from teams.services.team_settings import flags_of
from teams.tenancy import team_scope
from tests.support.cast import Cast


def page(cast: Cast) -> str:
    """The team's page."""
    return reverse("admin:teams_team_change", args=[cast.team.pk])


def stored(cast: Cast) -> Team:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return Team.objects.get(pk=cast.team.pk)


def form(**changes: object) -> dict[str, object]:
    return {"name": "Acme", "time_zone": "UTC", **changes}


def test_an_admin_sets_time_zone_budgets_and_flags(cast: Cast, admin_client: Client) -> None:
    answer = admin_client.post(
        page(cast),
        form(
            time_zone="Europe/Oslo",
            monthly_budget_usd="250.50",
            daily_user_budget_usd="0",
            feature_flags__memory="off",
            feature_flags__model_routing="on",
        ),
    )

    team = stored(cast)
    assert answer.status_code == 302
    assert (team.time_zone, str(team.zone)) == ("Europe/Oslo", "Europe/Oslo")
    assert team.monthly_budget_usd == Decimal("250.5")
    assert team.daily_user_budget_usd == Decimal(0)
    assert team.feature_flags == {"memory": False, "model_routing": True}
    assert not flags_of(team=team).memory
    shown = admin_client.get(page(cast)).context["adminform"].form
    assert (
        shown["feature_flags__memory"].value(),
        shown["feature_flags__model_routing"].value(),
    ) == ("off", "on")
    assert not shown["feature_flags__compaction_shield"].value()


def test_a_flag_follows_the_installation_again(
    cast: Cast, admin_client: Client, settings: Any
) -> None:
    admin_client.post(page(cast), form(feature_flags__memory="off", monthly_budget_usd="1"))
    admin_client.post(page(cast), form(feature_flags__memory="", monthly_budget_usd=""))

    team = stored(cast)
    assert (team.feature_flags, team.monthly_budget_usd) == ({}, None)
    settings.ENABLE_MEMORY = False
    assert "Server default (off)" in admin_client.get(page(cast)).content.decode()


def test_an_empty_budget_says_what_holds_instead(
    cast: Cast, admin_client: Client, settings: Any
) -> None:
    settings.MONTHLY_TEAM_BUDGET_USD = Decimal(730)

    fields = admin_client.get(page(cast)).context["adminform"].form.fields

    assert "Empty: the server's default, 730" in fields["monthly_budget_usd"].help_text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("time_zone", "Mars/Olympus", "name of a time zone"),
        ("time_zone", "../etc/passwd", "name of a time zone"),
        ("monthly_budget_usd", "-1", "greater than or equal to 0"),
        ("daily_user_budget_usd", "much", "Enter a number"),
        ("feature_flags__memory", "maybe", "Select a valid choice"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    field: str, value: str, said: str, cast: Cast, admin_client: Client
) -> None:
    answer = admin_client.post(page(cast), form(**{field: value}))

    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert stored(cast).feature_flags == {}


def test_members_see_the_settings_and_change_none(
    cast: Cast, admin_client: Client, viewer_client: Client, reviewer_client: Client
) -> None:
    admin_client.post(page(cast), form(feature_flags__memory="off", time_zone="Asia/Tokyo"))

    shown = viewer_client.get(page(cast)).content.decode()

    assert "Asia/Tokyo" in shown
    assert "Memory: off" in shown
    assert reviewer_client.post(page(cast), form(feature_flags__memory="on")).status_code == 403
    assert stored(cast).feature_flags == {"memory": False}


def test_a_budget_below_nothing_is_refused_by_the_database(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        for column in ("monthly_budget_usd", "daily_user_budget_usd"):
            with pytest.raises((IntegrityError, DataError)), transaction.atomic():
                Team.objects.filter(pk=cast.team.pk).update(**{column: Decimal(-1)})


def test_a_zone_that_this_machine_does_not_know_counts_as_utc(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Team.objects.filter(pk=cast.team.pk).update(time_zone="Mars/Olympus")

    assert str(stored(cast).zone) == "UTC"


def test_a_stale_page_overwrites_nothing_and_keeps_what_was_typed(
    cast: Cast, admin_client: Client
) -> None:
    loaded = admin_client.get(page(cast)).context["adminform"].form["loaded_version"].value()
    admin_client.post(page(cast), form(name="Acme Festival", loaded_version=loaded))

    stale = admin_client.post(page(cast), form(feature_flags__memory="off", loaded_version=loaded))
    fresh = admin_client.get(page(cast)).context["adminform"].form["loaded_version"].value()
    again = admin_client.post(
        page(cast), form(name="Acme Festival", feature_flags__memory="off", loaded_version=fresh)
    )

    said = " ".join(stale.content.decode().split())
    assert f"(version {loaded}; the latest is {fresh})" in said
    assert stale.context["adminform"].form["feature_flags__memory"].value() == "off"
    assert f'name="loaded_version" value="{loaded}"' in said
    assert again.status_code == 302
    assert (stored(cast).name, stored(cast).feature_flags) == ("Acme Festival", {"memory": False})
