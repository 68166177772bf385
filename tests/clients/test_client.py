"""Both clients against a real server: what they send, what they read, what they raise."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime, timedelta
from typing import assert_type
from uuid import uuid4

import palimpsest_client as p
import pytest
from palimpsest_client.models import Agent, FullRetrieval, History, Memory, Retrieval, WrittenMemory

from tests.clients.conftest import Connect, Either, Place

TEA = {"content": "Sarah drinks her tea without milk.", "agent": "kyra", "user": "sarah"}
MANY = [
    {"content": f"Parcel {number} is on shelf {number}.", "check": False} for number in range(7)
]


def test_a_memory_is_stored_read_changed_and_deleted(ask: Either) -> None:
    written = ask(lambda c: c.memories.create(**TEA))
    assert isinstance(written, WrittenMemory)
    assert written.content == TEA["content"]

    moved = ask(lambda c: c.memories.move(written.id, scope="user", user="dmitri"))
    corrected = ask(
        lambda c: c.memories.correct(written.id, corrected_content="Sarah drinks her tea black.")
    )
    deleted = ask(lambda c: c.memories.delete(corrected.id, reason="a test"))
    restored = ask(lambda c: c.memories.restore(str(corrected.id)))

    assert moved.user == "dmitri"
    assert corrected.id != written.id
    assert deleted.status == "soft_deleted"
    assert restored.status == "active"
    assert ask(lambda c: c.memories.get(corrected.id)).content == "Sarah drinks her tea black."


def test_a_list_is_followed_to_its_end_a_page_at_a_time(ask: Either) -> None:
    before = datetime.now(UTC) - timedelta(minutes=5)
    written = ask(lambda c: c.memories.create_many(MANY))

    found = ask(lambda c: c.memories.list(limit=3, created_after=before))
    sizes = [len(page.results) for page in ask(lambda c: c.memories.list(limit=3).pages())]

    assert [each.id for each in found] == [each.id for each in reversed(written)]
    assert sizes == [3, 3, 1]


def test_a_page_may_say_more_than_its_items(ask: Either) -> None:
    memory = ask(lambda c: c.memories.create(**TEA))
    ask(lambda c: c.memories.correct(memory.id, corrected_content="Sarah drinks her tea black."))

    (page,) = ask(lambda c: c.memories.history(memory.id).pages())

    assert isinstance(page, History)
    assert len(page.versions) == 2


def test_talk_is_stored_and_extracted(ask: Either) -> None:
    talk = ask(lambda c: c.conversations.create(agent="kyra", user="sarah", thread_id="tea"))
    said = [
        {"role": "user", "content": "I am allergic to peanuts.", "external_id": "m1"},
        {"role": "assistant", "content": "Thank you, I will keep that in mind."},
    ]
    stored = ask(lambda c: c.conversations.add_messages(talk.id, messages=said))
    ask(lambda c: c.conversations.extract(talk.id, wait=True))

    messages = ask(lambda c: c.conversations.messages(talk.id, limit=1))
    memories = ask(lambda c: c.memories.list(user="sarah", tier=["hot", "warm"]))

    assert [each.id for each in messages] == [each.id for each in stored.messages]
    assert any("peanuts" in each.content for each in memories)


def test_a_question_is_answered_briefly_or_in_full(ask: Either) -> None:
    memory = ask(lambda c: c.memories.create(**TEA))
    question = {"agent": "kyra", "user": "sarah", "query": "How does Sarah take her tea?"}

    brief = ask(lambda c: c.retrieve(**question))
    full = ask(lambda c: c.retrieve_full(**question))
    bullets = ask(lambda c: c.query(**question))

    assert type(brief) is Retrieval
    assert type(full) is FullRetrieval
    assert [each.id for each in brief.memories] == [memory.id]
    assert [each.id for each in full.memories] == [memory.id]
    assert bullets.results[0].id == memory.id


def test_a_document_is_saved_over_the_version_that_was_read(ask: Either) -> None:
    saved = ask(lambda c: c.agents.save("mira", is_new=True, name="Mira"))
    again = ask(lambda c: c.agents.save("mira", version=saved.version, name="Mira", tagline="cook"))

    assert ask(lambda c: c.agents.get("mira", known_version=again.version)) is None
    assert ask(lambda c: c.agents.get("mira")).tagline == "cook"
    with pytest.raises(p.ChangedSince):
        ask(lambda c: c.agents.save("mira", version=saved.version, name="Mira"))


def test_names_with_any_letters_stand_in_an_address(ask: Either) -> None:
    name = "Zoë / Ω? #1"
    ask(lambda c: c.conversations.create(agent="kyra", user=name))

    assert ask(lambda c: c.users.get(name)).external_id == name


def test_the_log_is_read_from_an_instant(ask: Either) -> None:
    first = ask(lambda c: c.memories.create(content="The oven is on.", check=False))
    later = ask(lambda c: c.memories.create(content="The lamp is off.", check=False))

    log = ask(lambda c: c.audit.log(from_=later.created_at, event=["created"]))

    assert [each.memory for each in log] == [later.id]
    assert first.created_at < later.created_at


def test_an_export_comes_line_by_line(ask: Either) -> None:
    ask(lambda c: c.memories.create(**TEA))

    rows = ask(lambda c: c.audit.export(user="sarah"))

    assert any(TEA["content"] in str(row) for row in rows)


def test_a_memory_is_pinned_and_unpinned(ask: Either) -> None:
    memory = ask(lambda c: c.memories.create(**TEA, ttl="P30D"))

    pinned = ask(lambda c: c.memories.pin(memory.id, reason="Asked for."))
    unpinned = ask(lambda c: c.memories.unpin(memory.id))

    assert (pinned.is_pinned, unpinned.is_pinned) == (True, False)
    steps = ask(lambda c: c.memories.history(memory.id))
    assert len(steps) == 3
    assert memory.valid_to is not None


def test_health_needs_no_key(connect: Connect, place: Place) -> None:
    assert connect(place.url, "none")(lambda c: c.health()).postgresql == "ok"


def test_an_address_may_end_in_the_version(connect: Connect, place: Place) -> None:
    assert connect(f"{place.url}/v1/", place.key())(lambda c: c.agents.list())


def test_a_wrong_key_is_refused(connect: Connect, place: Place) -> None:
    with pytest.raises(p.Unauthorized) as caught:
        connect(place.url, "pal_wrong")(lambda c: c.agents.list())

    assert caught.value.status == 401


def test_an_unknown_field_is_named(ask: Either) -> None:
    with pytest.raises(p.BadRequest) as caught:
        ask(lambda c: c.memories.create(**TEA, importence=3))

    error = caught.value
    assert (error.status, error.field) == (422, "importence")
    assert "There is no such field" in error.message
    assert error.request_id


def test_refusals_have_classes_of_their_own(ask: Either, connect: Connect, place: Place) -> None:
    reader = connect(place.url, place.key(is_read_only=True))

    with pytest.raises(p.NotFound):
        ask(lambda c: c.memories.get(uuid4()))
    with pytest.raises(p.Forbidden):
        reader(lambda c: c.memories.create(**TEA))
    ask(lambda c: c.tasks.create(id="bake", agent="kyra"))
    with pytest.raises(p.Conflict):
        ask(lambda c: c.tasks.create(id="bake", agent="kyra"))


def test_type_checkers_know_what_is_answered(place: Place) -> None:
    key = place.key()

    async def ask_both() -> None:
        async with p.AsyncPalimpsest(place.url, key) as other:
            with p.Palimpsest(place.url, key) as client:
                assert_type(client.memories.create(content="The oven is on."), WrittenMemory)
                assert_type(await other.memories.create(content="The lamp is off."), WrittenMemory)
                assert_type(list(client.memories.list()), list[Memory])
                assert_type([each async for each in other.memories.list()], list[Memory])
                assert_type(client.agents.get("kyra"), Agent | None)

    asyncio.run(ask_both())


def test_a_server_that_is_away_is_told(connect: Connect) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(p.ConnectionFailed):
            connect(url, "pal_any", retries=1)(lambda c: c.memories.create(**TEA))
