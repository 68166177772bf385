"""A search entry's copy of its memory, after every kind of change, whoever makes it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Status, Tier
from memory.models import Memory, SearchEntry
from memory.models.search import Place
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory, pin_memory
from memory.writing.drafts import Outcome
from teams.models import Conversation
from tests import factories
from tests.support.cast import Cast
from tests.support.embedders import random_tools
from tests.support.writing import NOON, draft, store, write


@pytest.fixture
def random(tools: Tools) -> Tools:
    """Tools with random vectors."""
    return random_tools(tools)


@pytest.fixture
def talk(acme: Cast) -> Conversation:
    """A conversation of Kyra with Sarah."""
    return factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )


def place(memory: Memory) -> int:
    return SearchEntry.objects.get(memory=memory).place


def is_a_true_copy(memory: Memory) -> bool:
    """Returns whether the entry agrees with the present state of the memory."""
    row, entry = Memory.objects.get(pk=memory.pk), SearchEntry.objects.get(memory=memory)
    names = ("team_id", "memory_type", "agent_id", "end_user_id", "project_id", "conversation_id")
    owners = all(getattr(row, name) == getattr(entry, name) for name in names)
    times = (row.created_at, row.valid_from, row.valid_to)
    if row.is_live:
        expected = Place.COLD if row.tier == Tier.COLD else Place.FOUND
    else:
        expected = Place.GONE if row.status == Status.SOFT_DELETED else Place.PAST
    return (
        owners
        and times == (entry.said_at, entry.held_from, entry.held_until)
        and entry.place == expected
    )


def update(memory: Memory, assignment: str, *values: Any) -> None:
    """A change in SQL, past every service."""  # Any: a value of any column
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE memory_memory SET {assignment} WHERE id = %s",
            [*values, memory.pk],
        )


# -- where it stands -------------------------------------------------------------------------


def test_a_new_memory_is_found(acme: Cast, random: Tools) -> None:
    (memory,) = store(acme, random, "The tea is green.")

    assert place(memory) == Place.FOUND
    assert is_a_true_copy(memory)


def test_pinning_leaves_it_where_it_is(acme: Cast, viewer: Viewer, random: Tools) -> None:
    (memory,) = store(acme, random, "The tea is green.")

    for pinned in (True, False):
        pin_memory(viewer=viewer, memory_id=memory.pk, pinned=pinned)
        assert place(memory) == Place.FOUND


def test_a_deleted_memory_is_gone(acme: Cast, viewer: Viewer, random: Tools) -> None:
    (memory,) = store(acme, random, "The tea is green.")

    delete_memory(viewer=viewer, memory_id=memory.pk)

    assert place(memory) == Place.GONE
    assert is_a_true_copy(memory)


def test_a_superseded_memory_is_past_and_its_successor_is_found(acme: Cast, random: Tools) -> None:
    (old,) = store(acme, random, "The tea is green.")

    (new,) = write(acme, random, draft(acme, "The tea is black.", replaces=(old.pk,)))

    assert (place(old), place(new.memory)) == (Place.PAST, Place.FOUND)


def test_both_sides_of_a_dispute_are_found(acme: Cast, tools: Tools) -> None:
    (one,) = write(acme, tools, draft(acme, "The deploy day is Tuesday."))
    (other,) = write(acme, tools, draft(acme, "The deploy day is Thursday."))

    assert other.outcome == Outcome.DISPUTED
    assert (place(one.memory), place(other.memory)) == (Place.FOUND, Place.FOUND)


def test_an_older_statement_that_comes_later_is_past_at_once(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, "Sarah moved from Lisbon to Porto."))

    (late,) = write(
        acme, tools, draft(acme, "Sarah lives in Lisbon.", created_at=NOON - timedelta(days=9))
    )

    assert Memory.objects.get(pk=late.memory.pk).status == Status.SUPERSEDED.value
    assert place(late.memory) == Place.PAST


def test_a_correction_moves_both(acme: Cast, viewer: Viewer, tools: Tools) -> None:
    (memory,) = store(acme, tools, "The tea is green.")

    correct_memory(
        viewer=viewer,
        memory_id=memory.pk,
        corrected_content="The tea is white.",
        reason="",
        tools=tools,
        now=NOON,
    )

    assert place(memory) == Place.PAST
    assert all(is_a_true_copy(row) for row in Memory.objects.all())


@pytest.mark.parametrize(
    ("status", "tier", "expected"),
    [
        ("active", "hot", Place.FOUND),
        ("active", "warm", Place.FOUND),
        ("active", "cold", Place.COLD),
        ("disputed", "warm", Place.FOUND),
        ("disputed", "cold", Place.COLD),
        ("superseded", "warm", Place.PAST),
        ("superseded", "cold", Place.PAST),
        ("archived", "cold", Place.PAST),
        ("soft_deleted", "warm", Place.GONE),
    ],
)
def test_a_state_set_in_sql_is_followed(
    acme: Cast, random: Tools, status: str, tier: str, expected: Place
) -> None:
    (memory,) = store(acme, random, "The tea is green.")

    update(memory, "status = %s, tier = %s", status, tier)
    assert place(memory) == expected
    assert is_a_true_copy(memory)

    update(memory, "status = 'active', tier = 'warm'")
    assert place(memory) == Place.FOUND


def test_whose_it_is_and_when_it_held_is_followed(acme: Cast, random: Tools) -> None:
    (memory,) = store(acme, random, "The tea is green.")
    project = factories.ProjectFactory.create(team=acme.team)

    for assignment, value in {
        "memory_type": "agent_private",
        "end_user_id": acme.sarah.pk,
        "project_id": project.pk,
        "valid_from": NOON,
        "valid_to": NOON + timedelta(days=1),
    }.items():
        update(memory, f"agent_id = %s, {assignment} = %s", acme.luke.pk, value)
        assert is_a_true_copy(memory), assignment


def test_a_change_of_nothing_that_is_copied_writes_no_entry(acme: Cast, random: Tools) -> None:
    (memory,) = store(acme, random, "The tea is green.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid FROM memory_searchentry WHERE memory_id = %s", [memory.pk])
        before = cursor.fetchone()

        update(memory, "importance = 9, tier = 'hot', is_pinned = true, status = 'disputed'")

        cursor.execute("SELECT ctid FROM memory_searchentry WHERE memory_id = %s", [memory.pk])
        assert cursor.fetchone() == before


# -- its insertion ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state", [{}, {"tier": "cold"}, {"status": "superseded"}, {"status": "soft_deleted"}]
)
def test_an_entry_of_the_orm_is_a_true_copy(acme: Cast, state: dict[str, Any]) -> None:
    memory = factories.MemoryFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah, valid_from=NOON, **state
    )

    SearchEntry.objects.create(
        memory=memory,
        team=acme.team,
        embedding=np.zeros(3),
        embedding_model="test",
        lexemes="tea",
        # What a caller says of the copies does not count.
        memory_type=MemoryType.SHARED,
        said_at=NOON - timedelta(days=99),
        place=Place.GONE,
    )

    assert is_a_true_copy(memory)


# -- its position ----------------------------------------------------------------------------


def positions(conversation: Conversation) -> dict[str, int | None]:
    rows = SearchEntry.objects.filter(conversation=conversation)
    return dict(rows.values_list("memory__content", "position"))


def test_a_memory_stands_at_its_first_message(
    acme: Cast, random: Tools, talk: Conversation
) -> None:
    messages = [
        factories.MessageFactory.create(team=acme.team, conversation=talk, position=number)
        for number in (1, 2, 3)
    ]

    store(acme, random, "First.", conversation_id=talk.pk, message_ids=(messages[0].pk,))
    store(
        acme,
        random,
        "Later ones.",
        conversation_id=talk.pk,
        message_ids=(messages[2].pk, messages[1].pk),
    )

    assert positions(talk) == {"First.": 1, "Later ones.": 2}


def test_memories_without_messages_follow_each_other_in_a_batch_and_alone(
    acme: Cast, random: Tools, talk: Conversation
) -> None:
    store(acme, random, "One.", "Two.", conversation_id=talk.pk)
    store(acme, random, "Three.", conversation_id=talk.pk)

    assert positions(talk) == {"One.": 1, "Two.": 2, "Three.": 3}


def test_a_message_of_another_conversation_gives_no_position(
    acme: Cast, random: Tools, talk: Conversation
) -> None:
    other = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    elsewhere = factories.MessageFactory.create(team=acme.team, conversation=other, position=7)

    store(acme, random, "Here.", conversation_id=talk.pk, message_ids=(elsewhere.pk,))

    assert positions(talk) == {"Here.": 1}


def test_a_memory_of_no_conversation_has_no_position(acme: Cast, random: Tools) -> None:
    (memory,) = store(acme, random, "Nowhere.")

    assert SearchEntry.objects.get(memory=memory).position is None
