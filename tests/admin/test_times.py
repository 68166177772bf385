"""The admin shows times in a zone that its pages name."""

from __future__ import annotations

from datetime import UTC, datetime

from django.test import Client
from django.urls import reverse

from memory.understanding.tools import Tools
from teams.models import StaffUser, Team
from teams.services.keys import issue_key
from tests.factories import MemoryFactory
from tests.support.admin import SignIn
from tests.support.cast import Cast
from tests.support.writing import draft, write

LIST = "admin:memory_memory_changelist"
LATE = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)


def tokyo(cast: Cast) -> str:
    """A memory of 22:30 in UTC in a team of Tokyo, by the address of its page."""
    Team.objects.filter(pk=cast.team.pk).update(time_zone="Asia/Tokyo")
    memory = MemoryFactory.create(team=cast.team, created_at=LATE)
    return reverse("admin:memory_memory_change", args=[memory.pk])


def test_who_sees_one_team_reads_its_times(inside: Cast, viewer_client: Client) -> None:
    page = tokyo(inside)

    for url in (reverse(LIST), page):
        text = viewer_client.get(url).content.decode()
        assert "Times in Asia/Tokyo" in text
        assert "2026-03-02 07:30" in text
        assert "2026-03-01 22:30" not in text


def test_results_of_the_search_have_the_day_of_the_zone(
    inside: Cast, tools: Tools, viewer_client: Client
) -> None:
    tokyo(inside)
    write(inside, tools, draft(inside, "Miso the cat eats tuna.", created_at=LATE))

    (hit,) = viewer_client.get(reverse("admin:search"), {"s": "tuna"}).context["hits"]

    assert "2026-03-02" in hit.note


def test_who_sees_several_reads_utc_and_is_told(
    inside: Cast, others: Cast, root_client: Client
) -> None:
    page = tokyo(inside)

    text = root_client.get(page).content.decode()

    assert "Times in UTC" in text
    assert "2026-03-01 22:30" in text


def test_a_filter_of_days_counts_them_in_the_zone_of_the_page(
    inside: Cast, others: Cast, sign_in: SignIn
) -> None:
    tokyo(inside)
    one = sign_in((inside.team, "viewer"), name="one")
    both = sign_in((inside.team, "viewer"), (others.team, "viewer"), name="both")

    days = {"created_at_from": "2026-03-02", "created_at_to": "2026-03-02"}
    counts = [client.get(reverse(LIST), days).context["cl"].result_count for client in (one, both)]

    assert counts == [1, 0]


def test_a_filter_takes_the_last_day_of_the_calendar(inside: Cast, viewer_client: Client) -> None:
    Team.objects.filter(pk=inside.team.pk).update(time_zone="America/New_York")
    MemoryFactory.create(team=inside.team)

    listed = viewer_client.get(reverse(LIST), {"created_at_to": "9999-12-31"}).context["cl"]

    assert listed.result_count == 1


def test_a_logins_times_read_like_all_others(cast: Cast, root_client: Client) -> None:
    user = StaffUser.objects.get(username="root")
    StaffUser.objects.filter(pk=user.pk).update(date_joined=LATE)

    page = root_client.get(reverse("admin:teams_staffuser_change", args=[user.pk]))

    assert ">2026-03-01 22:30<" in page.content.decode()


def test_fields_without_a_column_of_their_own_have_the_same_form(
    inside: Cast, admin_client: Client
) -> None:
    key = issue_key(team_id=inside.team.id, expires_at=LATE).key

    page = admin_client.get(reverse("admin:teams_apikey_change", args=[key.pk])).content.decode()

    assert "2026-03-01 22:30" in page
    assert "March 1, 2026" not in page
