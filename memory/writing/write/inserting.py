"""Rows of new memories: from a prepared draft to what the tables hold, in as few statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import orjson
from django.db import connection
from django.utils import timezone
from numpy.typing import NDArray
from pgvector import HalfVector

from memory.domain.forms import searched_text
from memory.domain.text.words import category_key, name_words, payload_key
from memory.domain.tiers import HOT_IMPORTANCE
from memory.domain.types import MemoryType, Tier
from memory.models import Memory
from memory.selectors.sql_files import load_sql_parts
from memory.writing.write.drafts import MemoryDraft
from teams.ids import new_id
from teams.prepared import run_prepared, uuids

_COLUMNS = {str(field.column): field.attname for field in Memory._meta.concrete_fields}
_SQL = load_sql_parts(__file__, "write_path.sql")
_MEMORIES = _SQL["memories"].format(columns=", ".join(_COLUMNS))


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A draft with its vector and the key under which an equal fact would stand.

    Without a vector, a worker embeds it soon after it is stored.
    """

    draft: MemoryDraft
    vector: NDArray[np.float32] | None
    key: bytes
    next_vector: NDArray[np.float32] | None = None
    next_model: str = ""

    @property
    def keys(self) -> tuple[bytes, ...]:
        """Where an equal fact stands: under its key or, beside one of other readers, the second.

        One with a payload stands under the third beside equal words with another payload.
        """
        draft = self.draft
        keys = (self.key, category_key(self.key, draft.category))
        if draft.form is None:
            return keys
        return *keys, payload_key(self.key, draft.form, draft.payload)


def stacked(prepared: Sequence[PreparedDraft]) -> NDArray[np.float32]:
    """The drafts' vectors, shape (drafts, dimensions); a row of zeros where there is none yet."""
    vectors = [item.vector for item in prepared]
    size = next((len(vector) for vector in vectors if vector is not None), 0)
    nothing = np.zeros(size, dtype=np.float32)
    return np.stack([nothing if vector is None else vector for vector in vectors])


def new_row(draft: MemoryDraft, *, actor: str = "", key: bytes | None = None) -> Memory:
    """The memory of a draft, not stored yet, with the id it is going to have.

    An identity memory is pinned and hot from the start (seed 000, "preserves agent identity").
    """
    is_pinned = draft.is_pinned or draft.memory_type is MemoryType.IDENTITY
    is_hot = may_be_hot(draft.memory_type) and (is_pinned or draft.importance >= HOT_IMPORTANCE)
    return _memory_of(
        team_id=draft.team_id,
        memory_type=draft.memory_type.value,
        audience=draft.owner.audience.value,
        scope=draft.scope.value,
        category=draft.category,
        subject=draft.subject,
        content=draft.content,
        importance=draft.importance,
        confidence=draft.confidence,
        is_pinned=is_pinned,
        tier=(Tier.HOT if is_hot else Tier.WARM).value,
        tags=list(dict.fromkeys(draft.tags)),
        form=draft.form.value if draft.form else "",
        payload=dict(draft.payload)
        if draft.form
        else {name: [str(each) for each in ids] for name, ids in draft.rests_on.items()},
        agent_id=draft.agent_id,
        end_user_id=draft.end_user_id,
        project_id=draft.project_id,
        conversation_id=draft.conversation_id,
        source_message_ids=list(draft.message_ids),
        source_external_ids=list(draft.message_external_ids),
        extractor=draft.extractor,
        extraction_pass=draft.extraction_pass,
        actor=actor,
        external_id=draft.external_id,
        # What is stored unchecked, as given, may stand twice.
        dedupe_key=key if draft.check else None,
        created_at=draft.created_at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
    )


def _memory_of(**values: Any) -> Memory:  # Any: a column of any type
    """The memory with these values by column, past the much slower way of Django by keywords."""
    fields = Memory._meta.concrete_fields
    row: list[Any] = [
        values[each.attname] if each.attname in values else each.get_default() for each in fields
    ]
    return Memory(*row)  # type: ignore[misc]  # the plugin takes them for keywords


def may_be_hot(memory_type: str) -> bool:
    """Whether memories of the type may be kept closest to the prompt: an insight never is."""
    return memory_type != MemoryType.INSIGHT


def insert_memories(rows: Sequence[tuple[Memory, PreparedDraft]], *, embedding_model: str) -> None:
    """Insert new memories and what they are found by; call it in the write's transaction."""
    if not rows:
        return
    memories = [memory for memory, _ in rows]
    columns = [
        {column: memory.__dict__[name] for column, name in _COLUMNS.items()} for memory in memories
    ]
    # Bytes as PostgreSQL reads them.
    document = orjson.dumps(columns, default=lambda value: "\\x" + value.hex())
    run_prepared(_MEMORIES, [document.decode()])
    vectors = stacked([item for _, item in rows])
    run_prepared(
        _SQL["search_entries"],
        [
            embedding_model,
            vectors.ravel(),
            vectors.shape[1],
            uuids([memory.pk for memory in memories]),
            uuids([memory.team_id for memory in memories]),
            [_searched(memory) for memory in memories],
            [" ".join(name_words(item.draft.people)) for _, item in rows],
            [
                None if item.next_vector is None else HalfVector(item.next_vector).to_text()
                for _, item in rows
            ],
            [item.next_model for _, item in rows],
            [item.vector is not None for _, item in rows],
        ],
    )
    for memory in memories:
        memory._state.adding = False
        memory._state.db = connection.alias


def _searched(memory: Memory) -> str:
    return searched_text(memory.content, memory.payload) if memory.form else memory.content


def insert_links(edges: Sequence[tuple[Memory, UUID, float]]) -> None:
    """Edges `related_to` from new memories to older ones, each with its strength 0-1."""
    run_prepared(
        _SQL["links"],
        [
            timezone.now(),
            [new_id() for _ in edges],
            [memory.team_id for memory, _, _ in edges],
            [memory.pk for memory, _, _ in edges],
            [other for _, other, _ in edges],
            [strength for _, _, strength in edges],
        ],
    )
