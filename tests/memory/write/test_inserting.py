"""Rows that are inserted all at once are those that the ORM would write."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryTag, SearchEntry
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, PreparedDraft
from memory.writing.rows import insert_memories, new_row
from teams.ids import new_id
from tests import factories
from tests.support.cast import Cast
from tests.support.embedders import random_tools
from tests.support.examples import examples
from tests.support.writing import NOON, draft, store

OWN = ("id", "updated_at", "dedupe_key", "external_id", "salt")
TEXTS = [
    'She said "no", and \\left\\ it at {that}.',
    "Two lines\nand a\ttab; \r\n done.",
    "A line\u2028and a paragraph\u2029separator.",
    "Emoji 🦀👩‍👩‍👧 and accents: naïve café.",
    "NULL",
    "{}",
    "\\x00ff",
    "'; DROP TABLE memory_memory; --",
    "%(team)s %s %% {content}",
    "שלום עולם",
    "x" * 100_000,
    "a b " * 20_000,
]


def full_draft(cast: Cast, content: str, **fields: Any) -> MemoryDraft:
    """A draft with something in every field."""
    project = factories.ProjectFactory.create(team=cast.team)
    talk = factories.ConversationFactory.create(
        team=cast.team, agent=cast.kyra, end_user=cast.sarah
    )
    message = factories.MessageFactory.create(team=cast.team, conversation=talk)
    values: dict[str, Any] = {
        "memory_type": MemoryType.AGENT_PRIVATE,
        "importance": 9,
        "is_pinned": True,
        "confidence": 0.123456789012345,
        "category": "tasks",
        "subject": "tea.kind",
        "tags": ("green", 'quo"ted', "back\\slash", "co,mma", "{brace}", "NULL", "", "green"),
        "agent_id": cast.kyra.pk,
        "end_user_id": cast.sarah.pk,
        "project_id": project.pk,
        "conversation_id": talk.pk,
        "message_ids": (message.pk,),
        "message_external_ids": ("m, 1", 'm"2'),
        "extraction_pass": 2,
        "valid_from": NOON - timedelta(microseconds=1),
        "valid_to": NOON + timedelta(days=1),
        "external_id": f"external {new_id()}",
        "people": ("Sarah O'Brien", "Jean-Luc"),
        **fields,
    }
    return draft(cast, content, **values)


def prepared(each: MemoryDraft, key: bytes = b"\x00\xff'\\" * 8) -> PreparedDraft:
    return PreparedDraft(each, np.array([0.6, 0.8], dtype=np.float32), key)


def _row(viewer: Viewer, item: PreparedDraft) -> Memory:
    return new_row(item.draft, actor=viewer.actor, key=item.key)


def columns(pk: UUID) -> dict[str, Any]:
    """The row as PostgreSQL shows it, without what tells any two rows apart."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(m) FROM memory_memory m WHERE id = %s", [pk])
        row: dict[str, Any] = json.loads(cursor.fetchone()[0])
    return {name: value for name, value in row.items() if name not in OWN}


@pytest.mark.parametrize("content", TEXTS)
def test_every_column_is_as_the_orm_writes_it(acme: Cast, viewer: Viewer, content: str) -> None:
    item = prepared(full_draft(acme, content))
    inserted, saved = _row(viewer, item), _row(viewer, item)
    saved.pk, saved.dedupe_key, saved.external_id = new_id(), b"\x01" * 32, "another"

    insert_memories([(inserted, item)], embedding_model="test")
    saved.save(force_insert=True)

    assert columns(inserted.pk) == columns(saved.pk)
    read = Memory.objects.get(pk=inserted.pk)
    assert read.content == content
    assert bytes(read.dedupe_key or b"") == item.key
    assert read.external_id == item.draft.external_id
    names = MemoryTag.objects.filter(memory=read).values_list("name", flat=True)
    assert sorted(names) == sorted(set(read.tags))


def test_a_row_with_nothing_but_what_it_must_have(acme: Cast, viewer: Viewer) -> None:
    item = prepared(draft(acme, "The tea is green.", check=False))
    inserted, saved = _row(viewer, item), _row(viewer, item)
    saved.pk = new_id()

    insert_memories([(inserted, item)], embedding_model="test")
    saved.save(force_insert=True)

    assert columns(inserted.pk) == columns(saved.pk)
    assert Memory.objects.get(pk=inserted.pk).dedupe_key is None
    assert SearchEntry.objects.get(memory=inserted).people == []


def test_an_inserted_memory_may_be_saved_again(acme: Cast, viewer: Viewer) -> None:
    item = prepared(draft(acme, "The tea is green."))
    memory = _row(viewer, item)
    insert_memories([(memory, item)], embedding_model="test")

    memory.importance = 7
    memory.save(update_fields=["importance"])

    assert Memory.objects.get().importance == 7


def test_nothing_to_insert_asks_nothing(acme: Cast, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):  # Any: pytest-django's own type is private
        insert_memories([], embedding_model="test")


def test_an_entry_has_the_words_the_vector_and_the_names(acme: Cast, viewer: Viewer) -> None:
    item = PreparedDraft(
        full_draft(acme, "Sarah's tea is green."),
        np.array([0.6, 0.8], dtype=np.float32),
        b"\x00" * 32,
        next_vector=np.array([1.0, 0.0, 0.0], dtype=np.float32),
        next_model="next",
    )
    plain = prepared(draft(acme, "Other tea."), key=b"\x02" * 32)
    memory, other = _row(viewer, item), _row(viewer, plain)

    insert_memories([(memory, item), (other, plain)], embedding_model="test")

    entry = SearchEntry.objects.get(memory=memory)
    assert list(entry.embedding) == pytest.approx([0.6, 0.8], abs=1e-3)
    assert entry.embedding_model == "test"
    assert entry.next_embedding is not None
    assert (list(entry.next_embedding), entry.next_model) == ([1.0, 0.0, 0.0], "next")
    assert entry.people == ["sarah", "o'brien", "jean", "luc"]
    assert "green" in entry.lexemes
    beside = SearchEntry.objects.get(memory=other)
    assert (beside.next_embedding, beside.next_model, beside.people) == (None, "", [])


@settings(max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    tag=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=100),
    person=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
def test_any_text_comes_back_as_it_was_given(
    acme: Cast, tools: Tools, content: str, tag: str, person: str
) -> None:
    (memory,) = store(acme, random_tools(tools), content, tags=(tag,), people=(person,))

    read = Memory.objects.get(pk=memory.pk)
    assert (read.content, read.tags) == (content, [tag])
    assert all(" " not in word for word in SearchEntry.objects.get(memory=read).people)
