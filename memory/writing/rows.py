"""Rows of a write: new memories, their links, supersessions, disputes and contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import orjson
from django.db import connection
from django.db.models import Q
from django.utils import timezone
from pgvector import HalfVector

from memory.domain.audience import Reach
from memory.domain.forms import searched_text
from memory.domain.judgements import B_WINS
from memory.domain.text.words import name_words
from memory.domain.tiers import HOT_IMPORTANCE
from memory.domain.types import MemoryType, Status, Strategy, Tier, Verdict
from memory.models import Contradiction, Memory
from memory.writing.conflicts import SUPERSEDED, Conflict, Ruling
from memory.writing.drafts import MemoryDraft, PreparedDraft, stacked
from teams.ids import new_id
from teams.prepared import load_sql_parts, run_prepared, uuids

_COLUMNS = {str(field.column): field.attname for field in Memory._meta.concrete_fields}
_SQL = load_sql_parts(__file__, "write_path.sql")
# The salt is not a field of the model, and its default in the database is volatile, which Citus
# does not insert beside rows of a function.
_MEMORIES = _SQL["memories"].format(
    columns=", ".join([*_COLUMNS, "salt"]),
    values=", ".join(
        "team.id" if each == "team_id" else f"given.{each}" for each in [*_COLUMNS, "salt"]
    ),
)


# -- new memories ----------------------------------------------------------------------------


def new_row(draft: MemoryDraft, *, actor: str = "", key: bytes | None = None) -> Memory:
    """Returns the memory of a draft, not stored yet, with its future id.

    An identity memory is pinned and hot from the start (seed 000, "preserves agent identity").
    """
    is_pinned = draft.is_pinned or draft.memory_type is MemoryType.IDENTITY
    is_hot = may_be_hot(draft.memory_type) and (is_pinned or draft.importance >= HOT_IMPORTANCE)
    rests_on = {name: [str(each) for each in ids] for name, ids in draft.rests_on.items()}
    return _memory_of(
        team_id=draft.team_id,
        memory_type=draft.memory_type.value,
        audience=draft.owner.audience.value,
        scope=draft.scope.value,
        source=draft.source.value,
        category=draft.category,
        subject=draft.subject,
        content=draft.content,
        importance=draft.importance,
        confidence=draft.confidence,
        is_pinned=is_pinned,
        tier=(Tier.HOT if is_hot else Tier.WARM).value,
        tags=list(dict.fromkeys(draft.tags)),
        form=draft.form.value if draft.form else "",
        payload=dict(draft.payload) if draft.form else rests_on,
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
        # An unchecked memory may stand twice.
        dedupe_key=key if draft.check else None,
        created_at=draft.created_at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
    )


def _memory_of(**values: Any) -> Memory:  # Any: a column of any type
    """Returns the memory with these values by column, much faster than Django by keywords."""
    row: list[Any] = [
        values[each.attname] if each.attname in values else each.get_default()
        for each in Memory._meta.concrete_fields
    ]
    return Memory(*row)  # type: ignore[misc]  # the plugin takes them for keywords


def may_be_hot(memory_type: str) -> bool:
    """Returns whether memories of the type may be in the hot tier: an insight never is."""
    return memory_type != MemoryType.INSIGHT


def insert_memories(rows: Sequence[tuple[Memory, PreparedDraft]], *, embedding_model: str) -> None:
    """Inserts new memories and their search entries; call it in the write's transaction."""
    if not rows:
        return
    memories = [memory for memory, _ in rows]
    columns = [
        {column: memory.__dict__[name] for column, name in _COLUMNS.items()}
        | {"salt": uuid4().bytes}
        for memory in memories
    ]
    # Bytes as PostgreSQL reads them.
    document = orjson.dumps(columns, default=lambda value: "\\x" + value.hex())
    team_id = memories[0].team_id
    run_prepared(_MEMORIES, [document.decode(), team_id])
    vectors = stacked([item for _, item in rows])
    run_prepared(
        _SQL["search_entries"],
        [
            embedding_model,
            vectors.ravel(),
            vectors.shape[1],
            uuids([memory.pk for memory in memories]),
            team_id,
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


def insert_links(edges: Sequence[tuple[Memory, UUID, float, str]]) -> None:
    """Inserts edges from new memories to older ones, each with its strength 0-1 and its type."""
    run_prepared(
        _SQL["links"],
        [
            timezone.now(),
            [new_id() for _ in edges],
            edges[0][0].team_id,
            [memory.pk for memory, *_ in edges],
            [other for _, other, *_ in edges],
            [strength for _, _, strength, _ in edges],
            [relation_type for *_, relation_type in edges],
        ],
    )


# -- effects of a ruling ---------------------------------------------------------------------


def apply_version(*, memory: Memory, ruling: Ruling) -> None:
    """Continues the chain of the superseded memories, or puts it behind a newer one.

    Call it before these are retired, which unpins them.
    """
    if ruling.continued:
        if memory.supersedes_id is None:
            memory.supersedes = ruling.continued[0]
        memory.version = max(memory.version, *(old.version + 1 for old in ruling.continued))
    if ruling.superseded:
        memory.is_pinned = memory.is_pinned or any(old.is_pinned for old in ruling.superseded)
        if memory.is_pinned:
            memory.tier = Tier.HOT.value
    if ruling.superseded_by is not None:
        memory.status = Status.SUPERSEDED.value
        memory.tier = Tier.COLD.value
        memory.is_pinned = False
        memory.superseded_by = ruling.superseded_by


def take_over(*, memory: Memory, ruling: Ruling) -> None:
    """Gives a stored memory the pin and the importance of those whose place it takes; saves it.

    Call it before these are retired, which unpins them. An unconfirmed memory gets no pin.
    """
    is_pinned = any(old.is_pinned for old in ruling.superseded)
    memory.is_pinned = memory.is_pinned or (is_pinned and not memory.is_unconfirmed)
    memory.importance = max(memory.importance, *(old.importance for old in ruling.superseded))
    is_hot = memory.is_pinned or memory.importance >= HOT_IMPORTANCE
    if is_hot and may_be_hot(memory.memory_type):
        memory.tier = Tier.HOT.value
    memory.save(update_fields=["is_pinned", "importance", "tier"])


def retire_superseded(*, memory: Memory, ruling: Ruling, actor: str) -> None:
    """Retires what the new memory replaces, naming its successor, before that is inserted."""
    for old in ruling.superseded:
        old.superseded_by = memory
        retire(memory=old, status=Status.SUPERSEDED, actor=actor, note=SUPERSEDED)


def retire(*, memory: Memory, status: Status, actor: str, note: str) -> None:
    """Takes a locked memory out of the live ones: cold, unpinned, its disputes ended; saves it."""
    release_disputes(memory=memory, actor=actor, note=note)
    memory.status = status.value
    memory.tier = Tier.COLD.value
    memory.is_pinned = False
    save_marks([memory])


def record_conflicts(*, ruled: Sequence[tuple[Memory, Ruling]], judge: str) -> None:
    """Marks the disputes of stored new memories and stores their conflicts as contradictions.

    A contradiction is settled for a supersession, open for a dispute and for an objection. No
    stored memory may be in two of the rulings.
    """
    now = timezone.now()
    disputed = {each.memory.pk: each.memory for _, ruling in ruled for each in ruling.disputed}
    if disputed:
        # Retiring a third memory may have ended a dispute of one of these a moment ago.
        rows = Memory.objects.filter(team_id=ruled[0][0].team_id, pk__in=disputed)
        for pk, contradicts in rows.values_list("pk", "contradicts"):
            disputed[pk].contradicts = contradicts
    save_marks(marked for memory, ruling in ruled for marked in _mark_disputes(memory, ruling))
    Contradiction.objects.bulk_create(
        each for memory, ruling in ruled for each in _contradictions(memory, ruling, judge, now)
    )


def save_marks(memories: Iterable[Memory]) -> None:
    """Stores status, tier, pin, successor and disputes of memories of one team, locked or new."""
    rows = sorted(memories, key=lambda memory: memory.pk)
    if not rows:
        return
    run_prepared(
        _SQL["mark"],
        [
            rows[0].team_id,
            [memory.pk for memory in rows],
            [memory.status for memory in rows],
            [memory.tier for memory in rows],
            [memory.is_pinned for memory in rows],
            [memory.superseded_by_id for memory in rows],
            [",".join(map(str, memory.contradicts)) for memory in rows],
        ],
    )


def _mark_disputes(memory: Memory, ruling: Ruling) -> Iterator[Memory]:
    """Lets disputed memories name each other, and yields the changed ones.

    A memory of fewer readers is never named by one of more readers.
    """
    marks = [each.memory.pk for each in ruling.disputed if each.reach is not Reach.NARROWER]
    for each in ruling.disputed:
        if each.reach is not Reach.WIDER:
            each.memory.status = Status.DISPUTED.value
            each.memory.contradicts = [*each.memory.contradicts, memory.pk]
            yield each.memory
    if marks or ruling.is_objected:
        memory.status = Status.DISPUTED.value
        memory.contradicts = list(dict.fromkeys([*memory.contradicts, *marks]))
        yield memory


def _contradictions(
    memory: Memory, ruling: Ruling, judge: str, now: datetime
) -> Iterator[Contradiction]:
    for each in ruling.recorded:
        yield _contradiction(memory, each, judge=judge, now=now)
    if ruling.objection is not None and ruling.is_objected:
        yield Contradiction(
            team_id=memory.team_id,
            memory_a=memory,
            strategy=Strategy.FEEDBACK.value,
            judge=ruling.objection.judge,
            verdict=ruling.objection.verdict.value,
            reason=ruling.objection.reason,
        )


def _contradiction(
    memory: Memory, conflict: Conflict, *, judge: str, now: datetime
) -> Contradiction:
    sides = (conflict.memory, memory)
    first, second = reversed(sides) if conflict.new_is_older else sides
    row = Contradiction(
        team_id=memory.team_id,
        memory_a=first,
        memory_b=second,
        strategy=conflict.strategy.value,
        judge=conflict.judgement.judge or judge,
        verdict=conflict.judgement.verdict.value,
        reason=conflict.judgement.reason,
    )
    if conflict.judgement.verdict is Verdict.SUPERSEDE:
        row.resolution = B_WINS
        row.resolved_by = f"judge:{row.judge}"
        row.resolved_at = now
    return row


# -- the end of disputes ---------------------------------------------------------------------


def release_disputes(*, memory: Memory, actor: str, note: str) -> None:
    """Ends the open disputes of a memory that leaves the live ones: the other side stands.

    A memory left without any dispute is active again. The caller saves `memory`.
    """
    still_open = Contradiction.objects.filter(team_id=memory.team_id, resolved_at=None)
    # The other side may name this one without being named by it.
    about = still_open.filter(Q(memory_a=memory) | Q(memory_b=memory))
    pairs = list(about.values_list("memory_a_id", "memory_b_id"))
    partners = {pk for pair in pairs for pk in pair if pk}
    others = (
        Memory.objects.select_for_update()
        .filter(team_id=memory.team_id, pk__in={*memory.contradicts, *partners} - {memory.pk})
        .order_by("pk")
    )
    for other in others:
        other.contradicts = [each for each in other.contradicts if each != memory.pk]
        settle_status(memory=other)
    memory.contradicts = []
    if not pairs:
        return
    settled = {"resolution_note": note, "resolved_by": actor, "resolved_at": timezone.now()}
    still_open.filter(memory_a=memory).update(resolution="b_wins", **settled)
    still_open.filter(memory_b=memory).update(resolution="a_wins", **settled)


def settle_status(*, memory: Memory) -> None:
    """Makes a memory active again unless it is in dispute or said to be wrong; saves it.

    Pin, importance and tier are saved as the caller has them.
    """
    if memory.status == Status.DISPUTED and not is_disputed(memory):
        memory.status = Status.ACTIVE.value
    memory.save(update_fields=["status", "contradicts", "is_pinned", "importance", "tier"])


def is_disputed(memory: Memory) -> bool:
    """Returns whether a memory names another that it contradicts, or is said to be wrong."""
    said_wrong = Contradiction.objects.filter(
        team_id=memory.team_id, memory_a=memory, memory_b=None, resolved_at=None
    )
    return bool(memory.contradicts) or said_wrong.exists()
