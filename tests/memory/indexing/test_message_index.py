"""Messages become searchable: at once or by the sweep, once, and whatever fails in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.utils import timezone
from numpy.typing import NDArray

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import MessageEntry
from memory.reading import retrieval
from memory.reading.questions import Depth, Question, Read
from memory.tasks import index_messages
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory
from memory.writing.drafts import MemoryDraft
from memory.writing.indexing.message_index import index_team, index_waiting
from memory.writing.indexing.reembedding import embedding_status
from memory.writing.posting import post_messages
from memory.writing.write_path import write_memories
from routing.clients.protocol import EmbeddingError
from teams.errors import UnavailableError
from teams.models import Conversation, Message, Project
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.embedders import RefusingEmbedder
from tests.support.waiting import until


class AwayEmbedder:
    """An embedder that does not answer."""

    name = "away"
    dimensions = 0
    opposition_similarity = 0.7

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Nothing."""
        self.asked += texts
        raise UnavailableError("The embedding model does not answer; nothing was changed.")


@pytest.fixture
def talk(acme: Cast) -> Conversation:
    """Kyra talks with Sarah."""
    conversation: Conversation = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    return conversation


def post(
    acme: Cast, talk: Conversation, *contents: str, tools: Tools | None = None, **fields: Any
) -> list[Message]:
    """Store messages of Sarah; with `tools` they are indexed."""
    rows = post_messages(
        viewer=Viewer(team_id=acme.team.id, actor="test"),
        conversation_id=talk.pk,
        messages=[NewMessage(role=fields.get("role", "user"), content=each) for each in contents],
        now=timezone.now(),
    )
    if tools is not None:
        index_team(team_id=acme.team.id, tools=tools)
    return rows


def waiting() -> int:
    """Returns the number of messages that are not searchable yet."""
    return MessageEntry.objects.filter(is_waiting=True).count()


def words_of(message: Message) -> str:
    """Returns the words of the entry."""
    return str(MessageEntry.objects.get(message=message).lexemes)


def test_a_message_waits_from_the_moment_it_is_stored(acme: Cast, talk: Conversation) -> None:
    (message,) = post(acme, talk, "Biscuit is the office dog.")

    entry = MessageEntry.objects.get(message=message)
    assert entry.is_waiting
    assert (entry.agent_id, entry.end_user_id) == (acme.kyra.pk, acme.sarah.pk)
    assert (entry.conversation_id, entry.position) == (talk.pk, 1)


def test_an_indexed_message_has_its_vector_its_words_and_its_speaker(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    (message,) = post(acme, talk, "Biscuit is the office dog.", tools=tools)

    entry = MessageEntry.objects.get(message=message)
    assert not entry.is_waiting
    assert entry.embedding_model == tools.embedder.name
    assert entry.people == ["sarah"]
    assert "biscuit" in str(entry.lexemes)


def test_a_posted_message_is_searchable_soon_without_any_queue(
    committed_db: None, tools: Tools
) -> None:
    cast = make_cast(f"soon-{uuid4().hex[:8]}")
    viewer = Viewer(team_id=cast.team.id, actor="test")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        conversation = factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content="Biscuit is the office dog.")],
        now=timezone.now(),
        tools=tools,
    )

    def indexed() -> bool:
        with team_scope(team_ids=[cast.team.id], actor="test"):
            return MessageEntry.objects.filter(is_waiting=False, embedding__isnull=False).exists()

    until(indexed)


def test_the_sweep_finds_what_was_left(acme: Cast, talk: Conversation) -> None:
    post(acme, talk, "Biscuit is the office dog.")
    before = waiting()

    index_messages()
    index_messages()

    assert (before, waiting()) == (1, 0)


def test_the_sweep_reaches_every_team_and_may_run_twice(
    acme: Cast, globex: Cast, talk: Conversation, tools: Tools
) -> None:
    while index_waiting(tools=tools, most=10_000):
        pass  # what other tests have committed waits as well
    post(acme, talk, *(f"Dog number {n}." for n in range(3)))

    assert index_waiting(tools=tools, most=100) == 3
    assert index_waiting(tools=tools, most=100) == 0


def test_without_its_embedder_a_message_is_stored_and_waits(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    away = Tools(AwayEmbedder(), tools.extractor, tools.judge, tools.summariser)
    (message,) = post(acme, talk, "Biscuit is the office dog.")

    with pytest.raises(UnavailableError):
        index_team(team_id=acme.team.id, tools=away)

    assert Message.objects.filter(pk=message.pk).exists()
    assert waiting() == 1
    assert index_team(team_id=acme.team.id, tools=tools) == 1


def test_a_text_that_the_embedder_refuses_is_found_by_its_words_alone(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    picky = replace(tools, embedder=RefusingEmbedder("poison"))
    refused, other, _ = post(acme, talk, "Biscuit ate poison.", "Biscuit is well.", "Good!")

    index_team(team_id=acme.team.id, tools=picky)

    assert (waiting(), "poison" in words_of(refused)) == (0, True)
    entries = {each.message_id: each for each in MessageEntry.objects.all()}
    assert [any(entries[each.pk].embedding) for each in (refused, other)] == [False, True]
    assert embedding_status(wanted="another model").lacking_messages == 3


def test_a_text_that_was_refused_in_passing_has_a_vector(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    post(acme, talk, "Biscuit is the office dog.")

    index_team(team_id=acme.team.id, tools=replace(tools, embedder=RefusingEmbedder("dog", 1)))

    assert any(MessageEntry.objects.get().embedding)


def test_an_embedder_that_refuses_every_text_leaves_all_waiting(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    post(acme, talk, "Biscuit is the office dog.")

    with pytest.raises(EmbeddingError):
        index_team(team_id=acme.team.id, tools=replace(tools, embedder=RefusingEmbedder("")))

    assert waiting() == 1


def test_a_team_that_cannot_be_indexed_holds_up_no_other(
    acme: Cast, globex: Cast, tools: Tools
) -> None:
    for cast in (acme, globex):
        with team_scope(team_ids=[cast.team.id], actor="test"):
            talk = factories.ConversationFactory.create(
                team=cast.team, agent=cast.kyra, end_user=cast.sarah
            )
        post(cast, talk, f"Biscuit is the dog of {cast.team.slug}.")
    away = AwayEmbedder()

    with pytest.raises(UnavailableError):
        index_waiting(tools=replace(tools, embedder=away), most=100)

    asked = " ".join(away.asked)
    assert all(f"dog of {each.team.slug}." in asked for each in (acme, globex))


@pytest.mark.parametrize("role", ["system", "tool"])
def test_what_nobody_says_is_not_searched(acme: Cast, talk: Conversation, role: str) -> None:
    post(acme, talk, "You are Kyra.", role=role)

    assert not MessageEntry.objects.exists()


def test_injected_memory_has_no_words(acme: Cast, talk: Conversation, tools: Tools) -> None:
    (message,) = post(
        acme, talk, "## Team Knowledge\n[TEAM]: Biscuit is the office dog.", tools=tools
    )

    assert words_of(message) == ""
    assert waiting() == 0


def test_an_entry_follows_its_conversation(acme: Cast, talk: Conversation) -> None:
    (message,) = post(acme, talk, "Biscuit is the office dog.")
    project: Project = factories.ProjectFactory.create(team=acme.team)

    Conversation.objects.filter(pk=talk.pk).update(project=project)

    assert MessageEntry.objects.get(message=message).project_id == project.pk


def test_what_a_deleted_memory_was_made_of_is_forgotten(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    told, other = post(acme, talk, "I live in Berlin.", "I like tea.", tools=tools)
    viewer = Viewer(team_id=acme.team.id, actor="test")
    draft = MemoryDraft(
        team_id=acme.team.id,
        content="Sarah lives in Berlin.",
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        extractor="test",
        created_at=timezone.now(),
        conversation_id=talk.pk,
        message_ids=(told.pk,),
    )
    (written,) = write_memories(viewer=viewer, drafts=[draft], tools=tools)

    delete_memory(viewer=viewer, memory_id=written.memory.pk)

    assert MessageEntry.objects.get(message=told).is_forgotten
    assert not MessageEntry.objects.get(message=other).is_forgotten


def test_the_words_of_another_team_are_not_looked_up(
    acme: Cast, globex: Cast, talk: Conversation, tools: Tools
) -> None:
    post(acme, talk, "Biscuit is the office dog.", tools=tools)
    with connection.cursor() as cursor:
        asked: list[Any] = [globex.team.id, [""], ["biscuit"], 10]
        cursor.execute(
            "SELECT * FROM palimpsest_message_matches(%s, %s, %s, %s, NULL, NULL, TRUE)",
            asked,
        )
        assert cursor.fetchall() == []
        cursor.execute(
            "SELECT count(*) FROM palimpsest_message_matches(%s, %s, %s, %s, NULL, NULL, TRUE)",
            [acme.team.id, *asked[1:]],
        )
        assert cursor.fetchone() == (1,)


def test_what_others_said_does_not_use_up_the_room_for_a_word(
    acme: Cast, talk: Conversation, tools: Tools
) -> None:
    project = Project.objects.create(team=acme.team, slug="moon", name="Moon")
    elsewhere = factories.ConversationFactory.create(
        team=acme.team, agent=acme.luke, end_user=acme.sarah
    )
    other_project = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah, project=project
    )
    for each in (elsewhere, other_project):
        post(acme, each, *["Biscuit barks."] * 3, tools=tools)
    (mine,) = post(acme, talk, "Biscuit is the office dog.", tools=tools)

    asked: list[Any] = [acme.team.id, [str(acme.sarah.pk)], ["biscuit"], 1, acme.kyra.pk, uuid4()]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT message_id FROM palimpsest_message_matches(%s, %s, %s, %s, %s, %s, TRUE)",
            asked,
        )
        found = cursor.fetchall()

    assert found == [(mine.pk,)]


def test_an_entry_cannot_be_removed(acme: Cast, talk: Conversation) -> None:
    post(acme, talk, "Biscuit is the office dog.")

    with pytest.raises(DatabaseError), transaction.atomic():
        MessageEntry.objects.all().delete()


def test_a_kept_answer_does_not_outlive_a_new_message(committed_db: None, tools: Tools) -> None:
    cast = make_cast(f"kept-{uuid4().hex[:8]}")
    viewer = Viewer(
        team_id=cast.team.id,
        actor="test",
        agent_id=cast.kyra.pk,
        end_user_id=cast.sarah.pk,
    )
    with team_scope(team_ids=[cast.team.id], actor="test"):
        conversation = factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )

    def found() -> list[str]:
        answer = retrieval.search(
            Read(
                viewer=viewer,
                question=Question("What did Biscuit chew?"),
                limit=5,
                depth=Depth(),
                tools=tools,
                now=timezone.now(),
            )
        )
        return [each.text for each in answer.messages]

    assert found() == found() == []
    post(cast, conversation, "Biscuit chewed a slipper.", tools=tools)
    assert found() == found() == ["Biscuit chewed a slipper."]
