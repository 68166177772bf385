"""Messages are numbered without gaps and stored once, however many post at the same moment."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.utils import timezone

from teams.errors import NotFoundError
from teams.ids import new_id
from teams.models import Conversation, Message
from teams.services.conversations import (
    NewMessage,
    append_messages,
    lock_conversation,
    mark_closed,
    start_conversation,
)
from teams.services.people import ensure_agent, ensure_end_user, ensure_project, ensure_team
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.waiting import race


def post(conversation: Conversation, *messages: NewMessage) -> list[Message]:
    """Post messages as a request does: one transaction, the conversation locked."""
    with team_scope(team_ids=[conversation.team_id], actor="test"):
        locked = lock_conversation(team_id=conversation.team_id, conversation_id=conversation.pk)
        return append_messages(conversation=locked, messages=messages, now=timezone.now())


def positions(conversation: Conversation) -> list[int]:
    """The numbers of its messages, in order."""
    with team_scope(team_ids=[conversation.team_id], actor="test"):
        rows = Message.objects.filter(conversation=conversation).order_by("position")
        return list(rows.values_list("position", flat=True))


@pytest.fixture
def conversation(acme: Cast) -> Conversation:
    """A conversation of Kyra with Sarah."""
    return factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )


@pytest.fixture
def busy(committed_db: None) -> Conversation:
    """A conversation that several connections may write to."""
    cast = make_cast(f"town-{uuid4().hex}")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )


# -- conversations ---------------------------------------------------------------------------


def test_a_thread_is_started_once(acme: Cast) -> None:
    first, is_new = start_conversation(
        team_id=acme.team.id, agent=acme.kyra, end_user=acme.sarah, thread_id="t-1"
    )
    second, is_new_again = start_conversation(
        team_id=acme.team.id, agent=acme.kyra, end_user=acme.sarah, thread_id="t-1"
    )

    assert (is_new, is_new_again) == (True, False)
    assert first.pk == second.pk


def test_a_thread_belongs_to_its_agent_and_user(acme: Cast) -> None:
    pairs = [(acme.kyra, acme.sarah), (acme.kyra, acme.dmitri), (acme.luke, acme.sarah)]

    rows = [
        start_conversation(team_id=acme.team.id, agent=agent, end_user=user, thread_id="t-1")[0]
        for agent, user in pairs
    ]

    assert len({row.pk for row in rows}) == 3


def test_without_a_thread_each_conversation_is_new(acme: Cast) -> None:
    rows = [
        start_conversation(team_id=acme.team.id, agent=acme.kyra, end_user=acme.sarah)
        for _ in range(2)
    ]

    assert [is_new for _, is_new in rows] == [True, True]
    assert all(row.thread_id == str(row.pk) for row, _ in rows)


def test_closing_again_keeps_the_first_time(conversation: Conversation) -> None:
    first, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)

    mark_closed(conversation=conversation, now=first)
    mark_closed(conversation=conversation, now=later)

    assert Conversation.objects.get(pk=conversation.pk).closed_at == first


def test_another_teams_conversation_cannot_be_locked(acme: Cast, globex: Cast) -> None:
    with team_scope(team_ids=[globex.team.id], actor="test"):
        theirs = factories.ConversationFactory.create(
            team=globex.team, agent=globex.kyra, end_user=globex.sarah
        )

    with pytest.raises(NotFoundError):
        lock_conversation(team_id=acme.team.id, conversation_id=theirs.pk)
    with pytest.raises(NotFoundError):
        lock_conversation(team_id=globex.team.id, conversation_id=theirs.pk)
    with pytest.raises(NotFoundError):
        lock_conversation(team_id=acme.team.id, conversation_id=new_id())


# -- messages, one after the other -----------------------------------------------------------


def test_messages_are_numbered_from_one_in_the_order_given(conversation: Conversation) -> None:
    first = post(conversation, NewMessage("user", "One."), NewMessage("assistant", "Two."))
    second = post(conversation, NewMessage("user", "Three."))

    assert [(row.position, row.content) for row in [*first, *second]] == [
        (1, "One."),
        (2, "Two."),
        (3, "Three."),
    ]
    assert Conversation.objects.get(pk=conversation.pk).last_position == 3


def test_a_known_external_id_changes_nothing_and_answers_with_the_stored_row(
    conversation: Conversation,
) -> None:
    said_at = datetime(2026, 1, 1, tzinfo=UTC)
    (stored,) = post(
        conversation, NewMessage("user", "Hello.", created_at=said_at, external_id="m-1")
    )

    (again,) = post(
        conversation, NewMessage("assistant", "Changed.", name="Eve", external_id="m-1")
    )

    assert again.pk == stored.pk
    assert (again.role, again.content, again.name) == ("user", "Hello.", "")
    assert Message.objects.get().created_at == said_at
    assert Conversation.objects.get(pk=conversation.pk).last_position == 1


def test_a_batch_sent_again_with_more_stores_only_what_is_new(conversation: Conversation) -> None:
    one, two, three = (
        NewMessage("user", text, external_id=text) for text in ("one", "two", "three")
    )
    post(conversation, one, two)

    rows = post(conversation, three, one, NewMessage("user", "four"), two)

    assert [(row.content, row.position) for row in rows] == [
        ("three", 3),
        ("one", 1),
        ("four", 4),
        ("two", 2),
    ]
    assert positions(conversation) == [1, 2, 3, 4]


def test_an_external_id_twice_in_one_batch_is_stored_once(conversation: Conversation) -> None:
    rows = post(
        conversation,
        NewMessage("user", "First.", external_id="m"),
        NewMessage("user", "Second.", external_id="m"),
    )

    assert [row.content for row in rows] == ["First.", "First."]
    assert positions(conversation) == [1]


def test_the_same_text_twice_is_two_messages(conversation: Conversation) -> None:
    post(conversation, NewMessage("user", "Yes."), NewMessage("user", "Yes."))

    assert positions(conversation) == [1, 2]


def test_external_ids_are_of_one_conversation(acme: Cast, conversation: Conversation) -> None:
    other = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )

    (first,) = post(conversation, NewMessage("user", "Here.", external_id="m"))
    (second,) = post(other, NewMessage("user", "There.", external_id="m"))

    assert first.pk != second.pk
    assert (first.position, second.position) == (1, 1)


# -- messages, all at once -------------------------------------------------------------------


def test_concurrent_posts_leave_no_gap_and_no_double(busy: Conversation) -> None:
    def act(number: int) -> list[list[int]]:
        return [
            [row.position for row in post(busy, *[NewMessage("user", f"{number}")] * 3)]
            for _ in range(5)
        ]

    batches = [batch for batches in race(8, act) for batch in batches]

    assert positions(busy) == list(range(1, 121))
    assert sorted(number for batch in batches for number in batch) == list(range(1, 121))
    assert all(batch == list(range(batch[0], batch[0] + 3)) for batch in batches)
    with team_scope(team_ids=[busy.team_id], actor="test"):
        assert Conversation.objects.get(pk=busy.pk).last_position == 120


def test_one_external_id_from_eight_at_once_is_stored_once(busy: Conversation) -> None:
    rows = race(8, lambda n: post(busy, NewMessage("user", f"From {n}.", external_id="m"))[0])

    assert len({row.pk for row in rows}) == 1
    assert len({row.content for row in rows}) == 1
    assert positions(busy) == [1]


def test_overlapping_batches_in_any_order_are_stored_once_each(busy: Conversation) -> None:
    def act(number: int) -> None:
        order = range(20) if number % 2 else reversed(range(20))
        post(busy, *(NewMessage("user", f"{each}", external_id=f"m-{each}") for each in order))

    race(6, act)

    assert positions(busy) == list(range(1, 21))
    with team_scope(team_ids=[busy.team_id], actor="test"):
        assert Message.objects.values("external_id").distinct().count() == 20


def test_a_post_that_fails_leaves_no_gap(busy: Conversation) -> None:
    def failing() -> None:
        with team_scope(team_ids=[busy.team_id], actor="test"):
            locked = lock_conversation(team_id=busy.team_id, conversation_id=busy.pk)
            append_messages(
                conversation=locked, messages=[NewMessage("user", "Lost.")], now=timezone.now()
            )
            raise KeyError("the request ends here")

    post(busy, NewMessage("user", "One."))
    with pytest.raises(KeyError):
        failing()
    post(busy, NewMessage("user", "Two."))

    assert positions(busy) == [1, 2]


# -- names that are new ----------------------------------------------------------------------


def test_a_new_team_named_by_eight_at_once_is_one_team(committed_db: None) -> None:
    slug = f"new-{uuid4().hex}"

    assert len(set(race(8, lambda _: ensure_team(slug=slug, actor="test")))) == 1


def test_new_names_used_by_eight_at_once_are_created_once(busy: Conversation) -> None:
    def act(_: int) -> tuple[object, ...]:
        with team_scope(team_ids=[busy.team_id], actor="test"):
            return (
                ensure_agent(team_id=busy.team_id, slug="newcomer").pk,
                ensure_end_user(team_id=busy.team_id, external_id="visitor").pk,
                ensure_project(team_id=busy.team_id, slug="apollo").pk,
            )

    assert len(set(race(8, act))) == 1


def test_one_thread_started_by_eight_at_once_is_one_conversation(busy: Conversation) -> None:
    def act(_: int) -> object:
        with team_scope(team_ids=[busy.team_id], actor="test"):
            conversation, _ = start_conversation(
                team_id=busy.team_id, agent=busy.agent, end_user=busy.end_user, thread_id="t-1"
            )
            return conversation.pk

    assert len(set(race(8, act))) == 1
