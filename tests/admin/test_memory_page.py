"""A memory's page: its chain of versions, the talk it came from, its neighbours and its use."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memory.admin.memory_page import Neighbour, related_to, use_by_day
from memory.domain.forms import Form
from memory.models import Memory, MemoryRelation, MemoryUsage
from memory.selectors.memories import current_version, versions_of
from teams.models import Message
from tests.factories import ConversationFactory, MemoryFactory
from tests.support.admin import decide, two
from tests.support.cast import Cast
from tests.support.forms import EXAMPLES


def page_of(memory: Memory) -> str:
    """The address of its page."""
    return reverse("admin:memory_memory_change", args=[memory.pk])


def chain_of(count: int, cast: Cast) -> list[Memory]:
    """Versions of one statement, the oldest first."""
    rows = [
        MemoryFactory.create(team=cast.team, content=f"Takes {n} sugars.") for n in range(count)
    ]
    for old, new in itertools.pairwise(rows):
        Memory.objects.filter(pk=old.pk).update(status="superseded", superseded_by=new)
    return [Memory.objects.get(pk=row.pk) for row in rows]


def talk(cast: Cast, count: int) -> list[Message]:
    """A conversation of so many messages."""
    conversation = ConversationFactory.create(
        team=cast.team, agent=cast.kyra, end_user=cast.sarah, last_position=count
    )
    return [
        Message.objects.create(
            team=cast.team,
            conversation=conversation,
            position=number,
            role="user",
            content=f"Message number {number}.",
            created_at=timezone.now(),
        )
        for number in range(1, count + 1)
    ]


def test_a_payload_is_told_in_words(inside: Cast, viewer_client: Client) -> None:
    memory = MemoryFactory.create(
        team=inside.team, form="episode", payload=EXAMPLES[Form.EPISODE], content="A refactor."
    )

    page = viewer_client.get(page_of(memory)).content.decode()

    assert "<dt>Form</dt><dd>episode</dd>" in page
    assert "<dt>Title</dt><dd>Auth refactor</dd>" in page
    told = "commit 4f2a9c0, adr ADR-012, file src/auth/login.ts"
    assert f"<dt>Artifacts</dt><dd>{told}</dd>" in page


def test_after_a_settlement_every_version_has_its_own_number(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    decide(reviewer_client, pair, "b")

    page = reviewer_client.get(page_of(pair.memory_a))

    shown = page.context["memory_page"]["versions"]
    assert [(each.number, each.memory.pk) for each in shown] == [
        (1, pair.memory_a.pk),
        (2, pair.memory_b.pk),  # type: ignore[union-attr]
    ]
    assert [each.is_current for each in shown] == [False, True]
    text = page.content.decode()
    assert "This is an older version." in text
    assert "<del>Oslo</del><ins>Bergen</ins>" in text


def test_a_long_chain_keeps_its_numbers_and_costs_two_queries(inside: Cast) -> None:
    rows = chain_of(30, inside)

    with CaptureQueriesContext(connection) as queries:
        shown = versions_of(rows[25], most=10)

    assert [each.number for each in shown] == list(range(21, 31))
    assert len(queries) == 2
    assert [each.number for each in versions_of(rows[4], most=2)] == [5, 29, 30]
    assert current_version(rows[3]).pk == rows[-1].pk
    assert current_version(rows[-1]).pk == rows[-1].pk


def test_both_sides_of_a_merge_stand_before_it(inside: Cast) -> None:
    a, b, merged = MemoryFactory.create_batch(3, team=inside.team)
    Memory.objects.filter(pk__in=[a.pk, b.pk]).update(status="superseded", superseded_by=merged)

    shown = versions_of(Memory.objects.get(pk=a.pk))

    assert [each.number for each in shown] == [1, 2, 3]
    assert shown[-1].memory.pk == merged.pk


def test_a_chain_that_leads_in_a_circle_ends(inside: Cast) -> None:
    a, b = MemoryFactory.create_batch(2, team=inside.team)
    Memory.objects.filter(pk=a.pk).update(superseded_by=b)
    Memory.objects.filter(pk=b.pk).update(superseded_by=a)

    assert {each.memory.pk for each in versions_of(Memory.objects.get(pk=a.pk))} == {a.pk, b.pk}


def test_a_source_is_quoted_between_its_neighbours(inside: Cast, viewer_client: Client) -> None:
    said = talk(inside, 9)
    memory = MemoryFactory.create(team=inside.team, source_message_ids=[said[2].pk, said[7].pk])

    passages = viewer_client.get(page_of(memory)).context["memory_page"]["passages"]

    assert [[line.message.position for line in passage] for passage in passages] == [
        [2, 3, 4],
        [7, 8, 9],
    ]
    assert [line.is_source for line in passages[0]] == [False, True, False]
    assert passages[0][1].url.endswith("#message-3")


def test_neighbouring_sources_are_one_passage(inside: Cast, viewer_client: Client) -> None:
    said = talk(inside, 6)
    memory = MemoryFactory.create(team=inside.team, source_message_ids=[said[1].pk, said[3].pk])

    (passage,) = viewer_client.get(page_of(memory)).context["memory_page"]["passages"]

    assert [line.message.position for line in passage] == [1, 2, 3, 4, 5]


def test_neighbours_are_links_to_their_pages(inside: Cast, viewer_client: Client) -> None:
    memory, linked, derived = MemoryFactory.create_batch(3, team=inside.team)
    for other, kind in ((linked, "related_to"), (derived, "derived_from")):
        MemoryRelation.objects.create(
            team=inside.team, from_memory=memory, to_memory=other, relation_type=kind, strength=0.5
        )

    answer = viewer_client.get(page_of(memory))

    related = answer.context["memory_page"]["related"]
    assert [(each.kind, each.memory.pk) for each in related["later"]] == [("related to", linked.pk)]
    assert [each.memory.pk for each in related["earlier"]] == [derived.pk]
    assert f'href="{page_of(linked)}"' in answer.content.decode()


def test_each_neighbour_is_shown_once_up_to_a_limit(inside: Cast) -> None:
    memory, *others = MemoryFactory.build_batch(20, team=inside.team)
    neighbours = [Neighbour(each, "related to") for each in [*others, *others]]

    related = related_to(memory, neighbours)

    assert related is not None
    assert [each.memory for each in related["later"]] == others[:12]
    assert related["left_out"] == 7
    assert related_to(memory, [Neighbour(memory, "related to")]) is None


def test_use_is_drawn_by_day(inside: Cast, viewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team)
    today = datetime.now(UTC).date()
    MemoryUsage.objects.create(
        team=inside.team,
        memory=memory,
        retrieved=5,
        daily={today.isoformat(): 4, (today - timedelta(days=3)).isoformat(): 1},
    )

    page = viewer_client.get(page_of(memory))

    use = page.context["memory_page"]["use"]
    assert (use["total"], use["most"], use["chart"].days[-1]) == (5, 4, str(today))
    assert "retrieved 5 times, at most 4 times a day" in page.content.decode()


def test_a_chart_covers_thirty_days_and_needs_one_use() -> None:
    today = date(2026, 5, 30)

    use = use_by_day({"2026-05-30": 8, "2026-05-29": 2, "2026-01-01": 99}, today=today)

    assert use is not None
    (line,) = use["chart"].lines
    assert [*line.values[-3:], len(line.values)] == [0, 2, 8, 30]
    assert use_by_day({"2026-01-01": 99}, today=today) is None


@pytest.mark.parametrize("path", ["pin", "archive"])
def test_one_click_with_a_note_does_it(path: str, inside: Cast, reviewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team)
    url = page_of(memory).replace("change/", f"{path}/")

    page = reviewer_client.get(page_of(memory)).content.decode()
    done = reviewer_client.post(url, {"confirmed": "yes", "reason": "as agreed"})
    after = " ".join(reviewer_client.get(page_of(memory)).content.decode().split())

    assert f'formaction="{url}"' in page
    assert done["Location"] == page_of(memory)
    title = {"pin": "Pinned", "archive": "Archived"}[path]
    assert f"{title}</a> by rob (staff): as agreed" in after


def test_the_page_asks_as_much_for_a_long_story_as_for_a_short_one(
    inside: Cast, viewer_client: Client
) -> None:
    def asked(memory: Memory) -> int:
        viewer_client.get(page_of(memory))
        with CaptureQueriesContext(connection) as queries:
            viewer_client.get(page_of(memory))
        return len(queries)

    def story(length: int) -> Memory:
        memory = chain_of(length, inside)[-1]
        said = talk(inside, length + 1)
        for number, other in enumerate(MemoryFactory.create_batch(length, team=inside.team)):
            MemoryRelation.objects.create(
                team=inside.team, from_memory=memory, to_memory=other, strength=0.5
            )
            memory.importance = number % 9 + 1
            memory.source_message_ids = [each.pk for each in said[: number + 1]]
            memory.save(update_fields=["importance", "source_message_ids"])
        return memory

    short, long = asked(story(3)), asked(story(12))

    assert long == short
    assert short <= 25
