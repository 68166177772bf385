"""Contradictions settled in the inbox one after the other, and how that is undone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit.models import MemoryLog
from memory.models import Contradiction, Memory, MemoryUsage
from memory.selectors.contradictions import judge_records
from tests import factories
from tests.factories import ConversationFactory, MemoryFactory, MessageFactory
from tests.support.admin import decide, dispute, page_of, press, states, told, two, undo
from tests.support.cast import Cast

LIST = reverse("inbox")
HISTORY = reverse("admin:memory_contradiction_changelist")


def aged(pair: Contradiction, *, days: int, used: int = 0) -> Contradiction:
    """The contradiction, found so long ago, with one side retrieved so often."""
    found = timezone.now() - timedelta(days=days)
    Contradiction.objects.filter(pk=pair.pk).update(detected_at=found)
    MemoryUsage.objects.update_or_create(
        memory_id=pair.memory_a_id, defaults={"team_id": pair.team_id, "retrieved": used}
    )
    return pair


def listed(client: Client, query: str = "") -> list[str]:
    """Returns the text of memory A of each pair in the queue, in the queue's order."""
    items = client.get(f"{LIST}?{query}").context["items"]
    return [item.row.memory_a.content for item, *_ in items]


@pytest.mark.parametrize(
    ("choice", "resolution", "expected"),
    [
        ("a", "a_wins", ["active", "superseded"]),
        ("b", "b_wins", ["superseded", "active"]),
        ("both", "both_valid", ["active", "active"]),
    ],
)
def test_one_request_settles_with_a_note_and_another_takes_it_back(
    choice: str, resolution: str, expected: list[str], inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    decide(reviewer_client, pair, choice, note="asked the office")

    assert states(pair) == expected
    assert (pair.resolution, pair.resolution_note) == (resolution, "asked the office")
    newest = MemoryLog.objects.filter(memory_id=pair.memory_a_id).latest("seq")
    assert (newest.actor, "asked the office" in newest.reason) == ("staff:rob", True)

    page = reviewer_client.get(page_of(pair)).content.decode()
    undone = undo(reviewer_client, pair)

    assert "asked the office" in page.partition("Decisions")[2]
    assert undone["Location"] == page_of(pair)
    assert "is open again." in told(undone)[-1]
    assert states(pair) == ["disputed", "disputed"]
    assert pair.resolved_at is None
    assert "undone by rob (staff)" in reviewer_client.get(page_of(pair)).content.decode()


@pytest.mark.parametrize(
    ("choice", "status", "resolution"),
    [("correct", "active", "a_wins"), ("wrong", "soft_deleted", "b_wins")],
)
def test_what_was_reported_as_wrong_is_kept_or_deleted_and_comes_back(
    choice: str, status: str, resolution: str, inside: Cast, reviewer_client: Client
) -> None:
    pair = dispute(inside.team)

    decide(reviewer_client, pair, choice)

    assert (states(pair), pair.resolution) == ([status], resolution)
    undo(reviewer_client, pair)
    assert states(pair) == ["disputed"]


def test_the_queue_is_in_the_order_of_age_and_use(inside: Cast, reviewer_client: Client) -> None:
    aged(dispute(inside.team, "New.", "x"), days=1)
    aged(dispute(inside.team, "Old.", "x"), days=9)
    aged(dispute(inside.team, "Used.", "x"), days=2, used=20)

    assert listed(reviewer_client) == ["Used.", "Old.", "New."]


def test_those_about_one_memory_stand_together(inside: Cast, reviewer_client: Client) -> None:
    hub = aged(dispute(inside.team, "Hub.", "x"), days=2, used=3)
    other = MemoryFactory.create(team=inside.team, content="y")
    second = factories.ContradictionFactory.create(
        team=inside.team, memory_a=hub.memory_a, memory_b=other
    )
    Contradiction.objects.filter(pk=second.pk).update(detected_at=timezone.now())
    aged(dispute(inside.team, "Old.", "x"), days=7)

    assert listed(reviewer_client) == ["Hub.", "Hub.", "Old."]


def test_after_one_comes_the_next_of_the_same_search(inside: Cast, reviewer_client: Client) -> None:
    oslo = [aged(dispute(inside.team, f"Oslo {n}.", "x"), days=9 - n) for n in range(3)]
    aged(dispute(inside.team, "Bergen.", "x"), days=30)

    page = reviewer_client.get(f"{page_of(oslo[0])}?q=Oslo")
    first = press(reviewer_client, f"{page_of(oslo[0])}?q=Oslo", "a")
    skipped = reviewer_client.get(f"{page_of(oslo[1])}?q=Oslo").context["next_url"]
    second = press(reviewer_client, f"{page_of(oslo[2])}?q=Oslo", "b")
    third = press(reviewer_client, f"{page_of(oslo[1])}?q=Oslo", "both")

    assert (page.context["place"], len(page.context["queue"].ids)) == (1, 3)
    assert first["Location"] == f"{page_of(oslo[1])}?q=Oslo"
    assert skipped == f"{page_of(oslo[2])}?q=Oslo"
    assert second["Location"] == f"{page_of(oslo[1])}?q=Oslo"
    assert third["Location"] == f"{LIST}?q=Oslo"
    end = reviewer_client.get(third["Location"]).content.decode()
    assert "Undo “Both are valid”" in end
    assert 'data-key="u"' in end


@pytest.mark.parametrize(("choice", "days"), [("day", 1), ("week", 7)])
def test_a_snoozed_one_comes_back_when_its_time_is_over(
    choice: str, days: int, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    decide(reviewer_client, pair, choice)

    pair.refresh_from_db()
    assert pair.snoozed_until is not None
    assert abs(pair.snoozed_until - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)
    assert listed(reviewer_client) == []
    assert "1 left for later" in reviewer_client.get(LIST).content.decode()
    assert listed(reviewer_client, "later=1") == ["Office is in Oslo."]
    pair.snoozed_until = timezone.now() - timedelta(seconds=1)
    pair.save(update_fields=["snoozed_until"])
    assert listed(reviewer_client) == ["Office is in Oslo."]


def test_the_second_reviewer_is_told_and_nothing_changes_twice(
    inside: Cast, reviewer_client: Client, admin_client: Client
) -> None:
    pair = two(inside.team)
    decide(reviewer_client, pair, "b", note="two sites")
    log = MemoryLog.objects.count()

    late = decide(admin_client, pair, "a", note="seen on site")
    merge = decide(admin_client, pair, "merge", content="Long thought over.")

    page, text = late.content.decode(), merge.content.decode()
    assert (
        "Nothing was changed: “Office is in Oslo.” against “Office is in Bergen.”"
        " It is already settled, decided on 20"
    ) in page
    assert "by rob (staff): the later one was kept (two sites)." in page
    assert 'value="seen on site"' in page
    assert "Long thought over." in text
    assert 'name="choice"' not in page + text
    assert states(pair) == ["superseded", "active"]
    assert MemoryLog.objects.count() == log


def test_a_merge_is_a_new_memory_of_both_and_can_be_taken_back(
    inside: Cast, reviewer_client: Client
) -> None:
    conversation = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah
    )
    sources = [
        MessageFactory.create(team=inside.team, conversation=conversation, content=f"Said {n}.")
        for n in range(2)
    ]
    pair = two(inside.team)
    assert pair.memory_b is not None
    for side, message in zip((pair.memory_a, pair.memory_b), sources, strict=True):
        Memory.objects.filter(pk=side.pk).update(source_message_ids=[message.pk])

    begun = [
        reviewer_client.get(page_of(pair) + f"?start={start}").context["form"]["content"].value()
        for start in ("a", "b", "both")
    ]
    text = "The office moved from Oslo to Bergen.\r\nThe lease is signed."
    decide(reviewer_client, pair, "merge", content=text, note="both knew half")

    assert begun == [
        "Office is in Oslo.",
        "Office is in Bergen.",
        "Office is in Oslo.\nOffice is in Bergen.",
    ]
    assert states(pair) == ["superseded", "superseded"]
    merged = pair.memory_a.superseded_by
    assert merged is not None
    assert merged.content == "The office moved from Oslo to Bergen.\nThe lease is signed."
    assert (merged.status, merged.importance, merged.actor) == ("active", 7, "staff:rob")
    assert set(merged.source_message_ids) == {each.pk for each in sources}
    assert "Replacement of both" in reviewer_client.get(page_of(pair)).content.decode()

    undo(reviewer_client, pair)

    merged.refresh_from_db()
    assert merged.status == "soft_deleted"
    assert states(pair) == ["disputed", "disputed"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Enter the new text."),
        (" \n ", "Enter the new text."),
        ("\N{PARTY POPPER}!", "Say something in words"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "never stored"),
    ],
)
def test_a_merge_that_says_nothing_is_refused_in_words(
    content: str, words: str, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    answer = decide(reviewer_client, pair, "merge", content=content, note="kept note")

    page = answer.content.decode()
    assert answer.status_code == 200
    assert words in page
    assert 'value="kept note"' in page
    assert states(pair) == ["disputed", "disputed"]


def test_a_secret_in_a_merged_text_is_masked_and_told(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

    done = decide(reviewer_client, pair, "merge", content=f"Bergen opens with {token} in May.")

    assert any("masked" in message for message in told(done))
    assert token not in Memory.objects.live().get().content


def test_an_undo_is_refused_with_what_changed_since(inside: Cast, reviewer_client: Client) -> None:
    pair = two(inside.team)
    decide(reviewer_client, pair, "a")
    Memory.objects.filter(pk=pair.memory_a_id).update(status="archived")

    refused = undo(reviewer_client, pair)

    assert told(refused)[-1] == (
        "Not undone: “Office is in Oslo.” against “Office is in Bergen.”, because memories have"
        " changed since: “Office is in Oslo.” is archived now."
    )
    assert states(pair) == ["archived", "superseded"]


def test_the_evidence_is_the_messages_it_came_from_and_their_neighbours(
    inside: Cast, reviewer_client: Client
) -> None:
    conversation = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah
    )
    talk = [
        MessageFactory.create(
            team=inside.team, conversation=conversation, content=f"Line {n}.", position=n
        )
        for n in range(1, 8)
    ]
    pair = two(inside.team)
    pair.memory_a.source_message_ids = [talk[3].pk]
    pair.memory_a.save(update_fields=["source_message_ids"])
    MemoryUsage.objects.create(memory=pair.memory_a, team=inside.team, retrieved=12, cited=3)

    answer = reviewer_client.get(page_of(pair))
    page = answer.content.decode()

    (stretch,) = answer.context["sides"][0].talks
    shown = [(line.message.content, line.is_source) for line in stretch]
    assert shown == [("Line 3.", False), ("Line 4.", True), ("Line 5.", False)]
    assert page.index("Line 4.") < page.index("Retrieved 12 times")
    assert "Office is in <mark>Oslo</mark>." in page
    assert answer.context["shown"].reason == "Both are about the same subject. Judged by rules."


def test_reasons_that_were_no_contradiction_are_counted(
    inside: Cast, reviewer_client: Client
) -> None:
    for number, choice in enumerate(("both", "both", "a")):
        pair = dispute(inside.team, f"It is {number}.", "It is none.")
        pair.reason = f'other values ("{number}" / "none")'
        pair.save(update_fields=["reason"])
        decide(reviewer_client, pair, choice)
    undone = two(inside.team)
    decide(reviewer_client, undone, "both")
    undo(reviewer_client, undone)

    (record,) = judge_records()

    assert (record.reason, record.both_valid, record.settled) == ("other values (“…” / “…”)", 2, 3)
    assert "2 of 3 (67 %)" in reviewer_client.get(HISTORY).content.decode()


def test_pages_ask_the_same_number_of_questions_however_much_waits(
    inside: Cast, reviewer_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pairs = [dispute(inside.team, f"It is {n}.", "It is none.") for n in range(30)]

    with django_assert_max_num_queries(24):
        reviewer_client.get(LIST)
    with django_assert_max_num_queries(30):
        reviewer_client.get(page_of(pairs[0]))
