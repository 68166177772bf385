"""Model costs can be read, call by call and in sums, and not changed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from routing.models import SpendEntry
from teams.ids import new_id
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast

ENTRIES = "admin:routing_spendentry_changelist"
TOTALS = "admin:routing_spendtotal_changelist"


def spend(cast: Cast, cost: str, *, day: int, **whose: Any) -> SpendEntry:
    """A settled call on a day of May."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return SpendEntry.objects.create(
            team=cast.team,
            reservation_id=new_id(),
            model="test-model",
            tier="fast",
            input_tokens=10,
            output_tokens=5,
            cost_usd=Decimal(cost),
            day=date(2026, 5, day),
            at=datetime(2026, 5, day, 12, tzinfo=UTC),
            **whose,
        )


@pytest.fixture
def spent(cast: Cast, others: Cast) -> Cast:
    """Three calls of Acme on two days, and one of somebody else."""
    spend(cast, "1", day=13, agent=cast.kyra, end_user=cast.sarah)
    spend(cast, "0.5", day=14, agent=cast.kyra, end_user=cast.sarah)
    spend(cast, "0.25", day=14, agent=cast.luke)
    spend(others, "9", day=14, agent=others.kyra)
    return cast


def rows(client: Client, address: str, **query: str) -> list[Any]:
    """Returns the rows of the list."""
    answer = client.get(reverse(address), query)
    assert answer.status_code == 200
    return list(answer.context["cl"].result_list)


def test_every_call_of_the_team_is_shown_and_no_other(spent: Cast, viewer_client: Client) -> None:
    assert [row.cost_usd for row in rows(viewer_client, ENTRIES)] == [
        Decimal("0.25"),
        Decimal("0.5"),
        Decimal(1),
    ]


@pytest.mark.parametrize(
    ("query", "costs"),
    [
        ({"q": "sarah"}, {"0.5", "1"}),
        ({"at_from": "2026-05-14"}, {"0.5", "0.25"}),
        ({"q": "nobody"}, set()),
    ],
)
def test_calls_are_found_by_person_and_day(
    query: dict[str, str], costs: set[str], spent: Cast, viewer_client: Client
) -> None:
    found = rows(viewer_client, ENTRIES, **query)

    assert {row.cost_usd for row in found} == {Decimal(cost) for cost in costs}


def test_the_sums_stand_by_day_agent_and_person(spent: Cast, viewer_client: Client) -> None:
    found = {
        (row.begins_on.day, row.kind, str(row.agent or row.end_user or "")): str(row.spent_usd)
        for row in rows(viewer_client, TOTALS)
    }

    assert found == {
        (13, "agent_day", "kyra"): "1.000000",
        (13, "team_day", ""): "1.000000",
        (13, "user_day", "sarah"): "1.000000",
        (14, "agent_day", "kyra"): "0.500000",
        (14, "agent_day", "luke"): "0.250000",
        (14, "team_day", ""): "0.750000",
        (14, "user_day", "sarah"): "0.500000",
        (1, "agent_month", "kyra"): "1.500000",
        (1, "agent_month", "luke"): "0.250000",
        (1, "team_month", ""): "1.750000",
    }


def test_the_sums_are_narrowed_by_kind(spent: Cast, viewer_client: Client) -> None:
    found = rows(viewer_client, TOTALS, kind__exact="team_day")

    assert [row.spent_usd for row in found] == [Decimal("0.75"), Decimal(1)]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_sums_of_a_day_are_found_in_every_zone(
    spent: Cast, viewer_client: Client, zone: str
) -> None:
    with team_scope(team_ids=[spent.team.id], actor="test"):
        Team.objects.filter(pk=spent.team.pk).update(time_zone=zone)

    days = {"begins_on_from": "2026-05-14", "begins_on_to": "2026-05-14"}
    found = rows(viewer_client, TOTALS, kind__exact="team_day", **days)

    assert [row.begins_on for row in found] == [date(2026, 5, 14)]


def test_a_page_shows_the_call_and_offers_no_change(spent: Cast, admin_client: Client) -> None:
    (newest, *_) = rows(admin_client, ENTRIES)
    address = reverse("admin:routing_spendentry_change", args=[newest.pk])
    page = admin_client.get(address)
    changed = admin_client.post(address, {"cost_usd": "0"})
    removed = admin_client.post(reverse("admin:routing_spendentry_delete", args=[newest.pk]))

    assert page.status_code == 200
    assert "0.25" in page.content.decode()
    assert (changed.status_code, removed.status_code) == (403, 403)
    assert rows(admin_client, ENTRIES)[0].cost_usd == Decimal("0.25")
