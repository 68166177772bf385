"""Settles contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.judgements import A_WINS, BOTH_VALID, MERGED, told_decision
from memory.domain.types import Status, Tier
from memory.models import Contradiction, Memory, MemoryRelation, Settlement
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.history.log import LogMark, ids_in
from memory.understanding.tools import Tools
from memory.writing.background import retried
from memory.writing.conflicts import LOST, SUPERSEDED
from memory.writing.consent import consent
from memory.writing.decisions.changes import settle_tier
from memory.writing.drafts import Outcome, WriteResult, draft_of_version, people_of_memories
from memory.writing.rows import release_disputes, settle_status
from memory.writing.secrets import MaskedText, masked_note, masked_text, note_masked
from memory.writing.write_path import prepare, store
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.tenancy import team_scope


class SettlementRecord:
    """Notes where the log stands before a settlement changes anything, and keeps what it wrote.

    Make it inside the settlement's transaction, once the contradiction and both sides are locked.
    """

    def __init__(self, contradiction: Contradiction) -> None:
        self._contradiction = contradiction
        self._mark = LogMark(team_id=contradiction.team_id)
        self._began_at = timezone.now()

    def keep(self, *, merged: Memory | None) -> Settlement:
        """Store the settlement, after all of its changes and before the transaction ends."""
        row = self._contradiction
        assert row.resolved_at is not None
        settlement = Settlement(
            team_id=row.team_id,
            contradiction=row,
            resolution=row.resolution,
            actor=row.resolved_by,
            settled_at=row.resolved_at,
            merged_memory=merged,
        )
        written = self._mark.written(
            locked=[each for each in (row.memory_a_id, row.memory_b_id) if each]
        )
        if written is not None:
            settlement.commit_id = written.commit_id
            settlement.first_seq, settlement.last_seq = written.first, written.last
            settlement.ended = self._ended(ids_in(ranges=[written]))
        settlement.save(force_insert=True)
        return settlement

    def _ended(self, changed: set[UUID]) -> list[UUID]:
        """The other contradictions that ended because a side of them left the live memories."""
        row = self._contradiction
        rows = Contradiction.objects.filter(
            Q(memory_a__in=changed) | Q(memory_b__in=changed),
            team_id=row.team_id,
            resolved_by=row.resolved_by,
            resolved_at__gte=self._began_at,
            resolution_note__in=(LOST, SUPERSEDED),
        )
        return list(rows.exclude(pk=row.pk).order_by("pk").values_list("pk", flat=True))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settled:
    """A contradiction as it was settled and, for a merge, what was written in place of it.

    It is open where the merged text waits for a yes.
    """

    contradiction: Contradiction
    merged: WriteResult | None = None


@retried
def resolve_contradiction(
    *,
    viewer: Viewer,
    contradiction_id: UUID,
    resolution: str,
    tools: Tools,
    now: datetime,
    note: str = "",
    merged_content: str = "",
) -> Settled:
    """Settle an open contradiction.

    `a_wins` and `b_wins` let one side stand and supersede the other (a memory that was only said
    to be wrong is soft-deleted when it loses); what stands is pinned if either side was, and as
    important as the more important one. `both_valid` lets both stand; `merged` writes
    `merged_content`, without secrets, as a new version of both. What stands continues the chain of
    versions of what it replaces. `undo_settlement` takes it back. Raises NotFoundError when the
    viewer may not see it, ConflictError when it is settled already, with who settled it, when and
    how, InvalidError for a merge without a text or with nothing but a secret, and ForbiddenError
    where an agent chooses against what changes only with a yes; a merge asks for it.
    """
    safe, note = MaskedText(""), masked_note(note)
    if resolution == MERGED:
        if not merged_content.strip():
            raise InvalidError("Say what the merged memory says.", field="merged_content")
        safe = masked_text(text=merged_content, field="merged_content")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        first, second = _sides(_open(viewer, contradiction_id))
        prepared, judging = [], list[str]()
        if resolution == MERGED:
            draft = draft_of_version(memory=first, content=safe.text, extractor="merged", now=now)
            sides = [side for side in (first, second) if side is not None]
            draft = replace(
                draft,
                conversation_id=next(
                    (side.conversation_id for side in sides if side.conversation_id), None
                ),
                message_ids=_union(side.source_message_ids for side in sides),
                message_external_ids=_union(side.source_external_ids for side in sides),
                importance=max(side.importance for side in sides),
                is_pinned=any(side.is_pinned for side in sides),
                tags=_union(side.tags for side in sides),
                people=people_of_memories(sides),
                valid_from=None,
                valid_to=None,
                replaces=tuple(side.pk for side in sides),
            )
    if resolution == MERGED:
        prepared = prepare(drafts=[draft], tools=tools, note=judging.append)
    reason = f"contradiction resolved: {resolution}" + (f" ({note})" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        contradiction = _open(viewer, contradiction_id)
        record = SettlementRecord(contradiction)
        merged: WriteResult | None = None
        if resolution == MERGED:
            (merged,) = store(viewer=viewer, prepared=prepared, tools=tools)
            merged = replace(merged, judging=tuple(judging))
            if merged.outcome is Outcome.HELD:
                contradiction.refresh_from_db()
                return Settled(contradiction, merged)
        contradiction.resolution = resolution
        contradiction.resolution_note = note
        contradiction.resolved_by = viewer.actor
        contradiction.resolved_at = now
        contradiction.save()
        first, second = _sides(contradiction)
        if merged is not None:
            keep_merge(merged.memory, [side for side in (first, second) if side is not None])
            if safe.is_masked:
                merged = note_masked(team_id=viewer.team_id, result=merged)
        elif resolution == BOTH_VALID:
            _part(first, second)
        else:
            winner, loser = (first, second) if resolution == A_WINS else (second, first)
            if loser is not None:
                is_replaced = winner is not None
                consent().check_settled(viewer=viewer, memory=loser, is_replaced=is_replaced)
            let_stand(winner=winner, loser=loser, viewer=viewer)
        record.keep(merged=merged.memory if merged else None)
        return Settled(contradiction, merged)


def _open(viewer: Viewer, contradiction_id: UUID) -> Contradiction:
    row = contradictions_visible_to(viewer).filter(pk=contradiction_id).first()
    if row is None:
        raise NotFoundError("There is no such contradiction.")
    # The memories first, as a writer that retires one of them takes the rows.
    _sides(row)
    locked = Contradiction.objects.select_for_update().get(
        team_id=viewer.team_id, pk=contradiction_id
    )
    if locked.resolved_at is not None:
        told = told_decision(
            resolution=locked.resolution,
            is_of_two=locked.memory_b_id is not None,
            by=locked.resolved_by,
            at=locked.resolved_at,
            note=locked.resolution_note,
        )
        raise ConflictError(f"It is settled already, {told}.")
    return locked


def _sides(contradiction: Contradiction) -> tuple[Memory, Memory | None]:
    """Both memories as they stand now, locked."""
    ids = [contradiction.memory_a_id, contradiction.memory_b_id]
    rows = Memory.objects.select_for_update().filter(
        team_id=contradiction.team_id, pk__in=[each for each in ids if each]
    )
    by_id = {row.pk: row for row in rows.order_by("pk")}
    second = by_id[contradiction.memory_b_id] if contradiction.memory_b_id else None
    return by_id[contradiction.memory_a_id], second


def _part(first: Memory, second: Memory | None) -> None:
    """Let both sides go on without this dispute."""
    others = {first.pk: second.pk if second else None}
    if second is not None:
        others[second.pk] = first.pk
    for memory in (first, second):
        if memory is None:
            continue
        memory.contradicts = [each for each in memory.contradicts if each != others[memory.pk]]
        settle_status(memory=memory)


def let_stand(*, winner: Memory | None, loser: Memory | None, viewer: Viewer) -> None:
    """Let one side stand, as important and as pinned as the other, and take the other's place.

    Both are locked. Without a winner the loser is soft-deleted.
    """
    if winner is not None and loser is not None:
        winner.is_pinned = winner.is_pinned or loser.is_pinned
        winner.importance = max(winner.importance, loser.importance)
        settle_tier(memory=winner)
        _continue_chain(winner, loser)
        _part(winner, loser)
    elif winner is not None:
        settle_status(memory=winner)
    if loser is None:
        return
    release_disputes(memory=loser, actor=viewer.actor, note=LOST)
    loser.tier = Tier.COLD.value
    loser.is_pinned = False
    if winner is None:
        loser.status = Status.SOFT_DELETED.value
    else:
        loser.status = Status.SUPERSEDED.value
        loser.superseded_by = winner
    loser.save(update_fields=["status", "tier", "is_pinned", "superseded_by", "contradicts"])


def _continue_chain(winner: Memory, loser: Memory) -> None:
    """Number what stands after what it replaces, and let it name that if it replaced nothing yet.

    The caller saves the pin, importance and tier; this saves the version.
    """
    winner.version = max(winner.version, loser.version + 1)
    followed = Memory.objects.filter(team_id=winner.team_id, supersedes=loser)
    if winner.supersedes_id is None and loser.supersedes_id != winner.pk and not followed.exists():
        winner.supersedes = loser
    winner.save(update_fields=["version", "supersedes"])


def _union(lists: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(item for each in lists for item in each))


def keep_merge(merged: Memory, sides: Sequence[Memory]) -> None:
    """Keep of which memories a merged one was made."""
    MemoryRelation.objects.bulk_create(
        (
            MemoryRelation(
                team_id=merged.team_id,
                from_memory=merged,
                to_memory=side,
                relation_type="merged_from",
                strength=1.0,
            )
            for side in sides
            if side.pk != merged.pk
        ),
        ignore_conflicts=True,
    )
