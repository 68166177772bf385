"""Default order, filters and search of the lists."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import MemoryLog
from tests import factories
from tests.factories import ConversationFactory, MemoryFactory, ProjectFactory
from tests.support.cast import Cast

MEMORIES = "admin:memory_memory_changelist"


def found(client: Client, **query: str) -> set[str]:
    """The texts of the memories that the list shows."""
    answer = client.get(reverse(MEMORIES), query)
    assert answer.status_code == 200
    return {row.content for row in answer.context["cl"].result_list}


@pytest.fixture
def memories(inside: Cast) -> Cast:
    """Three memories that every filter tells apart."""
    project = ProjectFactory.create(team=inside.team, slug="firmware")
    MemoryFactory.create(
        team=inside.team,
        content="One about Lisbon.",
        subject="user.city",
        memory_type="user_profile",
        end_user=inside.sarah,
        tags=["home"],
        importance=9,
        tier="hot",
        is_pinned=True,
        created_at=datetime(2026, 3, 1, 23, 59, tzinfo=UTC),
    )
    MemoryFactory.create(
        team=inside.team,
        content="Two about flashing.",
        subject="project.flash",
        memory_type="procedural",
        agent=inside.luke,
        project=project,
        tags=["home-made"],
        importance=5,
        created_at=datetime(2026, 3, 2, 0, 0, tzinfo=UTC),
    )
    MemoryFactory.create(
        team=inside.team,
        content="Three is gone.",
        status="soft_deleted",
        tier="cold",
        importance=2,
        created_at=datetime(2026, 3, 9, tzinfo=UTC),
    )
    return inside


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "lisbon"}, "One about Lisbon."),
        ({"q": "project.flash"}, "Two about flashing."),
        ({"status__exact": "soft_deleted"}, "Three is gone."),
        ({"memory_type__exact": "procedural"}, "Two about flashing."),
        ({"tier__exact": "hot"}, "One about Lisbon."),
        ({"is_pinned__exact": "1"}, "One about Lisbon."),
        ({"tag": "home"}, "One about Lisbon."),
        ({"importance_from": "4", "importance_to": "6"}, "Two about flashing."),
        ({"created_at_from": "2026-03-01", "created_at_to": "2026-03-01"}, "One about Lisbon."),
        ({"created_at_from": "2026-03-03"}, "Three is gone."),
    ],
)
def test_a_filter_finds_its_memory(
    query: dict[str, str], expected: str, memories: Cast, viewer_client: Client
) -> None:
    assert found(viewer_client, **query) == {expected}


def test_memories_are_found_by_whom_they_concern(memories: Cast, viewer_client: Client) -> None:
    project = ProjectFactory._meta.model.objects.get(slug="firmware")

    assert found(viewer_client, agent__id__exact=str(memories.luke.pk)) == {"Two about flashing."}
    assert found(viewer_client, end_user__id__exact=str(memories.sarah.pk)) == {"One about Lisbon."}
    assert found(viewer_client, project__id__exact=str(project.pk)) == {"Two about flashing."}


def test_a_memory_is_found_by_its_id(memories: Cast, viewer_client: Client) -> None:
    wanted = MemoryFactory._meta.model.objects.get(content="Three is gone.")

    assert found(viewer_client, q=str(wanted.pk)) == {"Three is gone."}


@pytest.mark.parametrize(
    "query",
    [
        {"importance_from": "x"},
        {"created_at_from": "yesterday"},
        {"tag": "' OR 1=1"},
        {"q": "%' --"},
        {"agent__id__exact": "no-uuid"},
    ],
)
def test_nonsense_in_the_address_is_no_error(
    query: dict[str, str], memories: Cast, viewer_client: Client
) -> None:
    assert viewer_client.get(reverse(MEMORIES), query).status_code in {200, 302}


def test_contradictions_open_on_those_that_are_settled(inside: Cast, viewer_client: Client) -> None:
    first, second, third = (
        MemoryFactory.create(team=inside.team, content=f"Side {number}.") for number in "abc"
    )
    shared = {"team": inside.team, "strategy": "same_subject", "judge": "rules"}
    waiting = factories.ContradictionFactory.create(
        memory_a=first, memory_b=second, verdict="dispute", **shared
    )
    settled = factories.ContradictionFactory.create(
        memory_a=first,
        memory_b=third,
        verdict="supersede",
        resolution="b_wins",
        resolved_at=timezone.now(),
        **shared,
    )
    url = reverse("admin:memory_contradiction_changelist")

    opened = viewer_client.get(url, {"state": "open"}).context["cl"].result_list
    resolved = viewer_client.get(url).context["cl"].result_list
    everything = viewer_client.get(url, {"state": "all"}).context["cl"].result_list
    page = viewer_client.get(
        reverse("admin:memory_contradiction_change", args=[waiting.pk]), follow=True
    )

    assert [row.pk for row in opened] == [waiting.pk]
    assert [row.pk for row in resolved] == [settled.pk]
    assert len(everything) == 2
    assert "Side <mark>a</mark>." in page.content.decode()
    assert "Side <mark>b</mark>." in page.content.decode()


def test_a_memory_said_to_be_wrong_has_a_page_without_another_side(
    inside: Cast, viewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team, content="Wrong, they say.")
    pair = factories.ContradictionFactory.create(
        team=inside.team, memory_a=memory, strategy="same_subject", judge="x", verdict="dispute"
    )

    listed = viewer_client.get(reverse("inbox"))
    page = viewer_client.get(
        reverse("admin:memory_contradiction_change", args=[pair.pk]), follow=True
    )
    own = viewer_client.get(reverse("admin:memory_memory_change", args=[memory.pk]))

    assert "reported as wrong" in listed.content.decode()
    assert [side.title for side in page.context["sides"]] == ["Reported as wrong"]
    assert "This memory was reported as wrong." in own.content.decode()


def test_jobs_open_on_those_that_are_not_done(inside: Cast, viewer_client: Client) -> None:
    conversation = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah
    )
    for position, state in enumerate(["done", "failed", "queued"], start=1):
        factories.JobFactory.create(
            team=inside.team,
            conversation=conversation,
            from_position=position,
            to_position=position,
            state=state,
        )
    url = reverse("admin:memory_job_changelist")

    opened = viewer_client.get(url).context["cl"].result_list
    done = viewer_client.get(url, {"state": "done"}).context["cl"].result_list

    assert {row.state for row in opened} == {"failed", "queued"}
    assert {row.state for row in done} == {"done"}


def test_the_log_is_searched_by_memory_and_filtered_by_event(
    inside: Cast, viewer_client: Client
) -> None:
    memory, other = MemoryFactory.create_batch(2, team=inside.team)
    memory.is_pinned = True
    memory.save(update_fields=["is_pinned"])
    url = reverse("admin:audit_memorylog_changelist")

    of_one = viewer_client.get(url, {"q": str(memory.pk)}).context["cl"].result_list
    pinned = viewer_client.get(url, {"event": "pinned"}).context["cl"].result_list
    nothing = viewer_client.get(url, {"q": "half an id"}).context["cl"].result_list
    shown = f"…{str(memory.pk)[-8:]}"
    by_its_end = viewer_client.get(url, {"q": shown}).context["cl"].result_list
    by_actor = viewer_client.get(url, {"q": "TES"}).context["cl"].result_list
    entry = MemoryLog.objects.filter(memory_id=other.pk).get()
    page = viewer_client.get(reverse("admin:audit_memorylog_change", args=[entry.pk]))

    assert [row.event for row in of_one] == ["pinned", "created"]
    assert [row.memory_id for row in pinned] == [memory.pk]
    assert list(nothing) == []
    assert [row.event for row in by_its_end] == ["pinned", "created"]
    assert len(by_actor) == 3
    assert "&quot;importance&quot;: 5" in page.content.decode()


def test_the_log_names_a_memory_by_its_words(inside: Cast, viewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team, content="Tomasz eats no meat.", subject="")
    page = reverse("admin:memory_memory_change", args=[memory.pk])

    text = viewer_client.get(reverse("admin:audit_memorylog_changelist")).content.decode()

    assert re.search(
        rf'<a [^>]*href="{page}"[^>]*>Tomasz eats no meat.</a>', " ".join(text.split())
    )


def test_the_homes_counts_lead_to_the_lists_they_count(
    memories: Cast, viewer_client: Client
) -> None:
    figures = viewer_client.get(reverse("admin:index")).context["figures"]

    for figure in figures:
        assert viewer_client.get(figure.url).context["cl"].result_count == figure.count
    (live,) = [figure for figure in figures if figure.title == "Active memories"]
    assert live.count == 2
    assert found(viewer_client, standing="gone") == {"Three is gone."}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("memory_memory", "No memories yet."),
        ("memory_contradiction", "Nothing has been settled yet."),
        ("memory_job", "No jobs are waiting, running or failed."),
        ("teams_conversation", "Nothing has been added yet."),
    ],
)
def test_an_empty_list_says_why(name: str, words: str, cast: Cast, viewer_client: Client) -> None:
    url = reverse(f"admin:{name}_changelist")

    plain = viewer_client.get(url).content.decode()
    searched = viewer_client.get(url, {"q": "elephant"}).content.decode()

    assert words in plain
    assert "Reset filters" not in plain
    assert "No results match your search and filters." in searched
    assert "Reset filters" in searched
