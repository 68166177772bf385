"""The one write path: embed → duplicate → contradiction → insert, version or skip → link → tier."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import psycopg
from django.conf import settings
from django.contrib.postgres.search import SearchVector
from django.db import IntegrityError, OperationalError, connection
from django.db.models import F, Value
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.text import dedupe_key
from memory.domain.types import Status, Tier
from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryRelation, SearchEntry
from memory.models.memory import LIVE
from memory.selectors.neighbours import Neighbour, neighbours_of
from memory.services.conflicts import Ruling, hold, record_conflicts, retire_superseded, rule_on
from memory.services.drafts import MemoryDraft, Outcome, WriteResult
from memory.services.judging import prepare_judgements
from teams.errors import ConflictError
from teams.tenancy import team_scope

LEXEME_CONFIG = "english"
HOT_IMPORTANCE = 9
_ATTEMPTS = 4
_TURNED_AWAY = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)

ExternalKey = tuple[UUID | None, str | None]


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A draft with its vector and the key under which an equal fact would stand."""

    draft: MemoryDraft
    vector: NDArray[np.float32]
    key: bytes
    next_vector: NDArray[np.float32] | None = None
    next_model: str = ""


def prepare(*, drafts: Sequence[MemoryDraft], tools: Tools) -> list[PreparedDraft]:
    """Embed the drafts in one batch and let the judge think ahead.

    Call it outside any transaction: the embedder and the judge may be remote. Raises
    UnavailableError when the embedder does not answer.
    """
    contents = [draft.content for draft in drafts]
    vectors = tools.embedder.embed(contents)
    next_model, next_vectors = tools.next_vectors(contents)
    prepare_judgements(drafts=drafts, vectors=vectors, tools=tools)
    return [
        PreparedDraft(
            draft, vector, dedupe_key(draft.content, draft.audience), next_vector, next_model
        )
        for draft, vector, next_vector in zip(drafts, vectors, next_vectors, strict=True)
    ]


def write_memories(
    *, viewer: Viewer, drafts: Sequence[MemoryDraft], tools: Tools, reason: str = ""
) -> list[WriteResult]:
    """Write the drafts in one transaction and say for each what happened, in order.

    Raises ConflictError when other writers keep taking the same facts in between.
    """
    prepared = prepare(drafts=drafts, tools=tools)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
                return store(viewer=viewer, prepared=prepared, tools=tools)
        except OperationalError as error:
            # Two writers held what the other wanted; PostgreSQL ended this one whole.
            if attempt == _ATTEMPTS or not isinstance(error.__cause__, _TURNED_AWAY):
                raise
        except IntegrityError:
            # Another writer stored the same fact first: the next look finds it as a duplicate.
            if attempt == _ATTEMPTS:
                raise ConflictError(
                    "Other writers store the same memories at this moment; send it again."
                ) from None
    raise AssertionError("unreachable")


def store(*, viewer: Viewer, prepared: Sequence[PreparedDraft], tools: Tools) -> list[WriteResult]:
    """Write prepared drafts inside the caller's transaction and team scope."""
    _take_turns(prepared)
    by_external_id = _stored_external_ids(viewer, prepared)
    by_key = _stored_facts(viewer, prepared)
    results: list[WriteResult | None] = [None] * len(prepared)
    unchecked: list[tuple[int, PreparedDraft]] = []
    for index, item in enumerate(prepared):
        draft = item.draft
        existing = by_external_id.get(_external_key(draft)) if draft.external_id else None
        if existing is not None:
            if existing.end_user_id != draft.end_user_id:
                raise ConflictError(
                    f"The external_id '{draft.external_id}' is a memory about somebody else.",
                    field="external_id",
                )
            results[index] = WriteResult(existing, Outcome.DUPLICATE)
            continue
        if not draft.check and not draft.replaces:
            unchecked.append((index, item))
            if draft.external_id:
                # A second draft of the same external id in this batch is a duplicate of this one.
                by_external_id[_external_key(draft)] = item_memory = _row(viewer, item)
                results[index] = WriteResult(item_memory, Outcome.CREATED)
            continue
        existing = by_key.get(item.key) if draft.check else None
        if existing is not None and not draft.replaces:
            results[index] = WriteResult(_corroborate(existing, draft), Outcome.DUPLICATE)
            continue
        result = _store_checked(viewer, item, tools)
        results[index] = result
        # What it superseded is past: said again, it would be a change back and no repetition.
        by_key = {key: each for key, each in by_key.items() if each.pk not in result.retired}
        if result.memory.is_live:
            by_key[item.key] = result.memory
        if draft.external_id:
            by_external_id[_external_key(draft)] = result.memory
    _store_unchecked(viewer, unchecked, results, tools)
    return [result for result in results if result is not None]


def _take_turns(prepared: Sequence[PreparedDraft]) -> None:
    """Let writers of one audience go one after the other, so that each sees what the other wrote.

    Locks are taken in one order by everybody and end with the transaction.
    """
    turns = {
        f"memory-writes|{item.draft.team_id}|{item.draft.end_user_id}"
        for item in prepared
        if item.draft.check
    }
    if not turns:
        return
    numbers = sorted(
        int.from_bytes(hashlib.sha256(turn.encode()).digest()[:8], "big", signed=True)
        for turn in turns
    )
    with connection.cursor() as cursor:
        for number in numbers:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def _external_key(draft: MemoryDraft) -> ExternalKey:
    """External ids are each agent's own, so that none can be used to ask for another's memory."""
    return draft.agent_id, draft.external_id


def _stored_external_ids(
    viewer: Viewer, prepared: Sequence[PreparedDraft]
) -> dict[ExternalKey, Memory]:
    wanted = {item.draft.external_id for item in prepared if item.draft.external_id}
    if not wanted:
        return {}
    rows = Memory.objects.filter(team_id=viewer.team_id, external_id__in=wanted)
    return {(row.agent_id, row.external_id): row for row in rows}


def _stored_facts(viewer: Viewer, prepared: Sequence[PreparedDraft]) -> dict[bytes, Memory]:
    wanted = {item.key for item in prepared if item.draft.check}
    if not wanted:
        return {}
    rows = Memory.objects.filter(team_id=viewer.team_id, dedupe_key__in=wanted, status__in=LIVE)
    return {bytes(row.dedupe_key or b""): row for row in rows}


def _store_checked(viewer: Viewer, item: PreparedDraft, tools: Tools) -> WriteResult:
    draft = item.draft
    neighbours, ruling = _judged(item, tools)
    if ruling.duplicate_of is not None:
        retire_superseded(memory=ruling.duplicate_of, ruling=ruling, actor=viewer.actor)
        existing = _corroborate(ruling.duplicate_of, draft)
        return WriteResult(existing, Outcome.DUPLICATE, retired=_retired(ruling))
    memory = _row(viewer, item)
    _apply_version(memory, ruling)
    retire_superseded(memory=memory, ruling=ruling, actor=viewer.actor)
    memory.save(force_insert=True)
    _index([(memory, item)], tools)
    _link(memory, neighbours)
    conflicts = record_conflicts(memory=memory, ruling=ruling, judge=tools.judge.name)
    return WriteResult(memory, ruling.outcome, conflicts, _retired(ruling))


def _retired(ruling: Ruling) -> tuple[UUID, ...]:
    return tuple(old.pk for old in ruling.superseded)


def _judged(item: PreparedDraft, tools: Tools) -> tuple[list[Neighbour], Ruling]:
    """The neighbours and a ruling on them that holds until the transaction ends."""
    for _ in range(_ATTEMPTS):
        neighbours = (
            []
            if not item.draft.check
            else neighbours_of(
                audience=item.draft.audience,
                vector=item.vector,
                embedding_model=tools.embedder.name,
                subject=item.draft.subject,
                limit=settings.JUDGED_NEIGHBOURS,
            )
        )
        ruling = hold(rule_on(draft=item.draft, neighbours=neighbours, tools=tools))
        if ruling is not None:
            return neighbours, ruling
    raise ConflictError("The memories it meets keep changing at this moment; send it again.")


def _store_unchecked(
    viewer: Viewer,
    unchecked: Sequence[tuple[int, PreparedDraft]],
    results: list[WriteResult | None],
    tools: Tools,
) -> None:
    rows: list[tuple[Memory, PreparedDraft]] = []
    for index, item in unchecked:
        known = results[index]
        memory = known.memory if known else _row(viewer, item)
        rows.append((memory, item))
        results[index] = WriteResult(memory, Outcome.CREATED)
    Memory.objects.bulk_create([memory for memory, _ in rows])
    _index(rows, tools)


def _row(viewer: Viewer, item: PreparedDraft) -> Memory:
    draft = item.draft
    is_hot = draft.is_pinned or draft.importance >= HOT_IMPORTANCE
    return Memory(
        team_id=draft.team_id,
        memory_type=draft.memory_type.value,
        scope=draft.scope.value,
        category=draft.category,
        subject=draft.subject,
        content=draft.content,
        importance=draft.importance,
        confidence=draft.confidence,
        is_pinned=draft.is_pinned,
        tier=(Tier.HOT if is_hot else Tier.WARM).value,
        tags=list(dict.fromkeys(draft.tags)),
        agent_id=draft.agent_id,
        end_user_id=draft.end_user_id,
        project_id=draft.project_id,
        conversation_id=draft.conversation_id,
        source_message_ids=list(draft.message_ids),
        source_external_ids=list(draft.message_external_ids),
        extractor=draft.extractor,
        extraction_pass=draft.extraction_pass,
        actor=viewer.actor,
        external_id=draft.external_id,
        # What is stored unchecked, as given, may stand twice.
        dedupe_key=item.key if draft.check else None,
        created_at=draft.created_at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
    )


def _apply_version(memory: Memory, ruling: Ruling) -> None:
    """Continue the chain of what it supersedes, or step back behind what is newer."""
    if ruling.superseded:
        nearest = ruling.superseded[0]
        memory.supersedes = nearest
        memory.version = max(old.version for old in ruling.superseded) + 1
        # Before the old ones are retired, which unpins them.
        memory.is_pinned = memory.is_pinned or any(old.is_pinned for old in ruling.superseded)
        if memory.is_pinned:
            memory.tier = Tier.HOT.value
    if ruling.superseded_by is not None:
        memory.status = Status.SUPERSEDED.value
        memory.tier = Tier.COLD.value
        memory.superseded_by = ruling.superseded_by


def _corroborate(existing: Memory, draft: MemoryDraft) -> Memory:
    """Note on the existing memory that the fact was said again, and by which messages.

    Messages that it already names add nothing: a repeated delivery is not a second witness.
    """
    known = set(existing.source_message_ids)
    fresh = [item for item in draft.message_ids if item not in known]
    if draft.message_ids and not fresh:
        return existing
    external = [item for item in draft.message_external_ids if item]
    existing.source_message_ids = [*existing.source_message_ids, *fresh]
    existing.source_external_ids = list(dict.fromkeys([*existing.source_external_ids, *external]))
    Memory.objects.filter(team_id=existing.team_id, pk=existing.pk).update(
        source_message_ids=existing.source_message_ids,
        source_external_ids=existing.source_external_ids,
        corroboration=F("corroboration") + 1,
    )
    existing.corroboration += 1
    return existing


def _index(rows: Sequence[tuple[Memory, PreparedDraft]], tools: Tools) -> None:
    SearchEntry.objects.bulk_create(
        SearchEntry(
            memory=memory,
            team_id=memory.team_id,
            embedding=item.vector,
            embedding_model=tools.embedder.name,
            next_embedding=item.next_vector,
            next_model=item.next_model,
            lexemes=SearchVector(Value(memory.content), config=LEXEME_CONFIG),
        )
        for memory, item in rows
    )


def _link(memory: Memory, neighbours: Sequence[Neighbour]) -> None:
    """Edges to the nearest neighbours above the threshold, with the cosine as strength."""
    near = [each for each in neighbours if each.similarity >= settings.LINK_SIMILARITY]
    MemoryRelation.objects.bulk_create(
        (
            MemoryRelation(
                team_id=memory.team_id,
                from_memory=memory,
                to_memory=each.memory,
                strength=min(1.0, each.similarity),
            )
            for each in near[: settings.LINKED_NEIGHBOURS]
        ),
        ignore_conflicts=True,
    )
