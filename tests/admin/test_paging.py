"""Lists of several teams, page by page."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.models import MemoryLog
from memory.models import Memory
from teams.admin.base import TeamPaginator
from teams.tenancy import team_scope
from tests.factories import MemoryFactory
from tests.support.cast import Cast


@pytest.fixture
def memories(cast: Cast, others: Cast) -> list[Cast]:
    """Sixty memories of one team and thirty of another one, of which every two share a time."""
    now = timezone.now()
    for town, count in ((cast, 60), (others, 30)):
        with team_scope(team_ids=[town.team.id], actor="test"):
            for number in range(count):
                at = now - timedelta(minutes=number // 2)
                MemoryFactory.create(team=town.team, content=f"{number}.", created_at=at)
    return [cast, others]


def pages(client: Client, name: str, **query: str) -> list[list[object]]:
    """The keys of the rows of every page."""
    found: list[list[object]] = []
    while True:
        answer = client.get(reverse(name), {**query, "p": str(len(found) + 1)})
        assert answer.status_code == 200
        listed = answer.context["cl"]
        found.append([row.pk for row in listed.result_list])
        if len(found) >= listed.paginator.num_pages:
            return found


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ({}, ["-created_at", "-pk"]),
        ({"o": "1"}, ["content", "-pk"]),
        ({"o": "-1"}, ["-content", "-pk"]),
    ],
)
def test_memories_of_all_teams_stand_in_one_order(
    memories: list[Cast], root_client: Client, query: dict[str, str], order: list[str]
) -> None:
    found = pages(root_client, "admin:memory_memory_changelist", **query)

    assert [len(page) for page in found] == [50, 40]
    with team_scope(team_ids=[each.team.id for each in memories], actor="test"):
        assert list(chain.from_iterable(found)) == list(
            Memory.objects.order_by(*order).values_list("pk", flat=True)
        )


def test_the_log_of_all_teams_stands_newest_first(
    memories: list[Cast], root_client: Client
) -> None:
    found = pages(root_client, "admin:audit_memorylog_changelist", event="created")

    assert [len(page) for page in found] == [50, 40]
    numbers = list(chain.from_iterable(found))
    with team_scope(team_ids=[each.team.id for each in memories], actor="test"):
        rows = MemoryLog.objects.filter(event="created").order_by("-seq")
        assert numbers == list(rows.values_list("seq", flat=True))


def test_a_login_of_one_team_pages_through_its_own(
    memories: list[Cast], viewer_client: Client
) -> None:
    found = pages(viewer_client, "admin:memory_memory_changelist")

    assert [len(page) for page in found] == [50, 10]
    with team_scope(team_ids=[memories[0].team.id], actor="test"):
        assert set(chain.from_iterable(found)) == set(Memory.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("number", ["0", "99", "x"])
def test_a_page_that_is_none_is_no_error(
    memories: list[Cast], root_client: Client, number: str
) -> None:
    answer = root_client.get(reverse("admin:memory_memory_changelist"), {"p": number})

    assert answer.status_code in (200, 302)


def test_a_list_of_one_page_looks_for_its_rows_once(
    memories: list[Cast], root_client: Client, viewer_client: Client
) -> None:
    def searches(client: Client, **query: str) -> list[str]:
        with CaptureQueriesContext(connection) as asked:
            client.get(reverse("admin:memory_memory_changelist"), query)
            texts = [each["sql"] for each in asked.captured_queries]
        # What names the rows by their keys looks for nothing.
        about = [text for text in texts if '"content"' in text.partition(" WHERE ")[2]]
        return [text for text in about if '"memory_memory"."id" IN' not in text]

    word = {"q": "59.", "status__exact": "soft_deleted"}
    for client in (viewer_client, root_client):
        client.get(reverse("admin:memory_memory_changelist"))
        assert len(searches(client, **word)) == 1

    listed = root_client.get(reverse("admin:memory_memory_changelist"), {"age": "day"})
    assert listed.context["cl"].result_count == 90
    none = viewer_client.get(reverse("admin:memory_memory_changelist"), {"tag": "none"})
    assert (none.context["cl"].result_count, list(none.context["cl"].result_list)) == (0, [])


def test_a_number_that_no_row_can_have_finds_none(
    memories: list[Cast], root_client: Client, viewer_client: Client
) -> None:
    for client in (viewer_client, root_client):
        found = pages(client, "admin:memory_memory_changelist", importance_from="40000")
        assert found == [[]]


def test_pages_far_behind_stand_in_the_same_order(memories: list[Cast]) -> None:
    with team_scope(team_ids=[each.team.id for each in memories], actor="test"):
        rows = Memory.objects.order_by("-created_at", "-pk").select_related("team")
        # So large that the first rows of each team would be too many to be read.
        page = TeamPaginator(rows, 10_001).page(1)

        assert [row.pk for row in page.object_list] == [row.pk for row in rows]
