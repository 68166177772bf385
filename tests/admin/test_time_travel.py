"""Time travel in the admin: the memory of a moment, what changed since, and one memory's life."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from audit.selectors import instant_at
from memory.models import Memory
from memory.satellites.time_travel.time_travel import timeline_of
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import join
from tests.support.cast import Cast, make_cast

PAGE = reverse("time_travel")


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team: only what is committed has a place in time."""
    return make_cast(f"town-{uuid4().hex[:12]}")


@pytest.fixture
def client(town: Cast) -> Client:
    """Vera, who may only look."""
    return signed_in(town.team)


def signed_in(*teams: Team) -> Client:
    """A new viewer of these teams."""
    user = StaffUserFactory.create(username=f"vera-{uuid4().hex[:12]}")
    for team in teams:
        join(user, team, "viewer")
    client = Client()
    client.force_login(user)
    return client


def stored(team: Team, content: str, **values: Any) -> Memory:
    """A committed memory."""
    with team_scope(team_ids=[team.id], actor="test"):
        return MemoryFactory.create(team=team, content=content, **values)


def changed(memory: Memory, **values: Any) -> None:
    """Change the memory in a transaction of its own."""
    with team_scope(team_ids=[memory.team_id], actor="staff:rob", reason="asked for"):
        for name, value in values.items():
            setattr(memory, name, value)
        memory.save(update_fields=list(values))


def moment(team: Team) -> str:
    """Now, and nothing that follows is of it."""
    with team_scope(team_ids=[team.id], actor="test"):
        at = instant_at(team_id=team.id, at=None).at
    # The page's moments are whole seconds.
    whole = at.replace(microsecond=0) + timedelta(seconds=1)
    time.sleep((whole - datetime.now(UTC)).total_seconds() + 0.01)
    return whole.replace(tzinfo=None).isoformat()


def shown(client: Client, **params: str) -> list[str]:
    """The texts of the page of a moment."""
    page = client.get(PAGE, params)
    return [memory.content for memory, _ in page.context["page"].memories]


def since(client: Client, **params: str) -> dict[str, list[str]]:
    """Returns the text and the differences that the page shows of each memory that changed."""
    lines = client.get(PAGE, {"view": "changes", **params}).context["page"].lines
    return {f"{line.kind} {line.memory.content}": line.differences for line in lines}


def test_the_page_shows_the_memory_as_it_was(town: Cast, client: Client) -> None:
    cat = stored(town.team, "The cat is Miso.", memory_type="semantic", end_user=town.sarah)
    stored(town.team, "Deploy on Mondays.", memory_type="procedural", agent=town.kyra)
    before = moment(town.team)
    stored(town.team, "The dog is Rex.")
    changed(cat, status="soft_deleted")

    assert shown(client, at=before) == ["Deploy on Mondays.", "The cat is Miso."]
    assert shown(client) == ["The dog is Rex.", "Deploy on Mondays."]
    assert shown(client, at=before, user="sarah") == ["The cat is Miso."]
    assert shown(client, at=before, agent="kyra") == ["Deploy on Mondays."]
    assert shown(client, at=before, memory_type="procedural") == ["Deploy on Mondays."]
    assert shown(client, at=before, text="MISO") == ["The cat is Miso."]
    assert shown(client, status="soft_deleted") == ["The cat is Miso."]
    assert shown(client, at=before, status="soft_deleted") == []


def test_the_page_says_what_changed_since(town: Cast, client: Client) -> None:
    cat = stored(town.team, "The cat is Miso.", end_user=town.sarah)
    gone = stored(town.team, "Lunch is at noon.")
    before = moment(town.team)
    stored(town.team, "The dog is Rex.")
    changed(gone, status="soft_deleted")
    changed(cat, importance=9, is_pinned=True)

    page = client.get(PAGE, {"view": "changes", "at": before})

    assert since(client, at=before) == {
        "added The dog is Rex.": [],
        "removed Lunch is at noon.": [
            "status active to deleted",
        ],
        "changed The cat is Miso.": ["importance 5 to 9", "pinned"],
    }
    assert page.context["page"].counts == [
        ("added", 1),
        ("restored", 0),
        ("changed", 1),
        ("removed", 1),
    ]
    assert since(client, at=before, user="sarah").keys() == {"changed The cat is Miso."}


def test_a_long_list_has_more_pages(town: Cast, client: Client) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        for number in range(25):
            MemoryFactory.create(team=town.team, content=f"Number {number}.")

    first = client.get(PAGE)
    second = client.get(first.context["next_url"])

    texts = [m.content for page in (first, second) for m, _ in page.context["page"].memories]
    assert texts == [f"Number {number}." for number in reversed(range(25))]
    assert second.context["next_url"] is None


def test_nothing_of_another_team_is_shown(town: Cast, client: Client) -> None:
    other = make_cast(f"town-{uuid4().hex[:12]}")
    stored(other.team, "Globex buys Initech.")
    stored(town.team, "The cat is Miso.")

    page = client.get(PAGE, {"team": other.team.slug})
    both = signed_in(town.team, other.team)

    assert page.context["team"].pk == town.team.pk
    assert "Globex" not in page.content.decode()
    assert shown(both, team=other.team.slug) == ["Globex buys Initech."]
    assert shown(both, team=town.team.slug) == ["The cat is Miso."]


def test_only_members_of_a_team_come_in(town: Cast) -> None:
    assert signed_in().get(PAGE).status_code == 403
    assert Client().get(PAGE).status_code == 302


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("yesterday", "Enter a valid date/time."),
        ("2999-01-01T00:00", "That is in the future"),
        ("9999-12-31T23:59:59", "That is in the future"),
        ("0001-01-01T00:00:00", "had no memories yet"),
    ],
)
def test_a_moment_that_is_none_is_refused(town: Cast, client: Client, at: str, told: str) -> None:
    stored(town.team, "The cat is Miso.")

    page = client.get(PAGE, {"at": at})

    assert page.status_code == 200
    assert told in page.content.decode()


def test_commits_are_not_counted_as_changes(town: Cast, client: Client) -> None:
    stored(town.team, "The cat is Miso.")

    page = client.get(PAGE).content.decode()

    assert "Last change before then" in page


@pytest.mark.parametrize(
    "bad", [{"after": "x"}, {"agent": "nobody"}, {"text": "x" * 300}, {"user": "\0"}]
)
def test_a_bad_address_is_no_error_of_the_server(
    town: Cast, client: Client, bad: dict[str, str]
) -> None:
    stored(town.team, "The cat is Miso.")

    assert client.get(PAGE, bad).status_code == 200


def test_a_team_without_memories_says_so(town: Cast, client: Client) -> None:
    assert "has no memories yet" in client.get(PAGE).content.decode()


def test_the_line_of_time_has_a_bar_for_each_hour_or_for_some_days(town: Cast) -> None:
    stored(town.team, "The cat is Miso.")
    now = datetime.now(UTC)

    def bars(began_at: datetime) -> list[Any]:
        with team_scope(team_ids=[town.team.id], actor="test"):
            line = timeline_of(team_id=town.team.id, began_at=began_at, at=now, now=now, zone=UTC)
        return list(line.bars)

    hours, days = bars(now - timedelta(hours=1)), bars(now - timedelta(days=365))

    assert len(hours) == 2
    assert [bar.changes for bar in hours] == [0, 1]
    assert len(days) <= 60
    assert [bar.changes for bar in days if bar.changes] == [1]
    assert days[-1].title.endswith(": 1 change")
    for bar in [*hours, *days]:
        assert bar.x >= 0
        assert bar.x + bar.width <= 1000 or bar is hours[-1] or bar is days[-1]
        assert bar.ends_at <= now
