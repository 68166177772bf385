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
from memory.domain.judgements import A_WINS, BOTH_VALID, MERGED
from memory.domain.types import Source, Status, strongest
from memory.models import Contradiction, Memory, MemoryRelation, Settlement
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.history.log import LogMark, ids_in
from memory.understanding.tools import Tools
from memory.writing.background import retried
from memory.writing.conflicts import LOST, SUPERSEDED
from memory.writing.consent import consent
from memory.writing.decisions.changes import check_confirmed, settle_tier
from memory.writing.drafts import (
    MemoryDraft,
    Outcome,
    WriteResult,
    draft_of_version,
    people_of_memories,
)
from memory.writing.rows import retire, settle_status
from memory.writing.secrets import SafeStatement, masked_note, note_masked, safe_statement
from memory.writing.stating import source_of
from memory.writing.write_path import prepare, store
from teams.errors import ConflictError, InvalidError, NotFoundError
from teams.tenancy import team_scope

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settled:
    """A settled contradiction and, for a merge, the text written in place of both sides.

    It is open where the merged text waits for consent.
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
    """Settles an open contradiction.

    `a_wins` and `b_wins` let one side supersede the other (a memory that was only said to be wrong
    is soft-deleted when it loses) and take over its pin and importance. `both_valid` lets both
    stand; `merged` writes `merged_content`, with secrets masked, as a new version of both. Raises
    NotFoundError when the viewer may not see it, ConflictError when it is settled already,
    InvalidError for a merge without a text or with nothing but a secret, and ForbiddenError where
    an agent decides against a memory that needs consent; a merge asks for it.
    """
    note, safe = masked_note(note), SafeStatement("")
    drafts: list[MemoryDraft] = []
    judging: list[str] = []
    if resolution == MERGED:
        if not merged_content.strip():
            raise InvalidError("Say what the merged memory says.", field="merged_content")
        safe = safe_statement(text=merged_content, text_field="merged_content")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        sides = _sides(_open(viewer, contradiction_id))
        if resolution == MERGED:
            drafts = [_draft_of_merge(sides, safe.text, now, viewer=viewer)]
    prepared = prepare(drafts=drafts, tools=tools, note=judging.append) if drafts else []
    settled = "contradiction resolved" if len(sides) == 2 else "report resolved"
    reason = f"{settled}: {resolution}" + (f" ({note})" if note else "")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        contradiction = _open(viewer, contradiction_id)
        mark, began_at = LogMark(team_id=contradiction.team_id), timezone.now()
        merged: WriteResult | None = None
        if prepared:
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
        sides = _sides(contradiction)
        first, second = sides[0], sides[1] if len(sides) == 2 else None
        if merged is not None:
            keep_merge(merged.memory, sides)
            if safe.is_masked:
                merged = note_masked(team_id=viewer.team_id, result=merged)
        elif resolution == BOTH_VALID:
            _part(sides)
        else:
            winner, loser = (first, second) if resolution == A_WINS else (second, first)
            if loser is not None:
                is_replaced = winner is not None
                consent().check_settled(viewer=viewer, memory=loser, is_replaced=is_replaced)
            let_stand(winner=winner, loser=loser, viewer=viewer)
        _record(contradiction, mark, began_at, merged=merged.memory if merged else None)
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
        raise ConflictError(f"It is already settled, {locked.decision}.")
    return locked


def _sides(contradiction: Contradiction) -> list[Memory]:
    """Returns the present memories of one or two sides, locked, in their order."""
    ids = [each for each in (contradiction.memory_a_id, contradiction.memory_b_id) if each]
    rows = Memory.objects.select_for_update().filter(team_id=contradiction.team_id, pk__in=ids)
    by_id = {row.pk: row for row in rows.order_by("pk")}
    return [by_id[each] for each in ids]


def _draft_of_merge(
    sides: Sequence[Memory], text: str, now: datetime, *, viewer: Viewer
) -> MemoryDraft:
    draft = draft_of_version(memory=sides[0], content=text, extractor="merged", now=now)
    talks = (side.conversation_id for side in sides if side.conversation_id)
    by = source_of(viewer)
    return replace(
        draft,
        author_id=sides[0].agent_id or viewer.agent_id,
        conversation_id=next(talks, None),
        message_ids=_union(side.source_message_ids for side in sides),
        message_external_ids=_union(side.source_external_ids for side in sides),
        importance=max(side.importance for side in sides),
        is_pinned=any(side.is_pinned for side in sides),
        tags=_union(side.tags for side in sides),
        people=people_of_memories(sides),
        valid_from=None,
        valid_to=None,
        replaces=tuple(side.pk for side in sides),
        source=by if by is Source.PERSON else strongest(Source(side.source) for side in sides),
    )


def _union(lists: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(item for each in lists for item in each))


def _part(sides: Sequence[Memory]) -> None:
    """Ends the dispute of these sides."""
    ids = {each.pk for each in sides}
    for memory in sides:
        memory.contradicts = [each for each in memory.contradicts if each not in ids]
        settle_status(memory=memory)


def let_stand(*, winner: Memory | None, loser: Memory | None, viewer: Viewer) -> None:
    """Lets one locked side stand, as important and pinned as the other, in the other's place.

    Without a winner the loser is soft-deleted. Raises ConflictError where the loser is confirmed
    and the winner is not.
    """
    if winner is not None and loser is not None:
        if not loser.is_unconfirmed:
            check_confirmed(memory=winner)
        winner.is_pinned = winner.is_pinned or loser.is_pinned
        winner.importance = max(winner.importance, loser.importance)
        settle_tier(memory=winner)
        _continue_chain(winner, loser)
        _part([winner, loser])
        loser.superseded_by = winner
    elif winner is not None:
        settle_status(memory=winner)
    if loser is not None:
        status = Status.SOFT_DELETED if winner is None else Status.SUPERSEDED
        retire(memory=loser, status=status, actor=viewer.actor, note=LOST)


def _continue_chain(winner: Memory, loser: Memory) -> None:
    """Numbers the winner after the loser, which it names if it replaced nothing yet.

    The caller saves the pin, importance and tier; this saves the version.
    """
    winner.version = max(winner.version, loser.version + 1)
    followed = Memory.objects.filter(team_id=winner.team_id, supersedes=loser)
    if winner.supersedes_id is None and loser.supersedes_id != winner.pk and not followed.exists():
        winner.supersedes = loser
    winner.save(update_fields=["version", "supersedes"])


def keep_merge(merged: Memory, sides: Sequence[Memory]) -> None:
    """Records the memories that a merged one was made of."""
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


def _record(
    row: Contradiction, mark: LogMark, began_at: datetime, *, merged: Memory | None
) -> None:
    """Stores the settlement with its range of the log, and the contradictions that it ended."""
    assert row.resolved_at is not None
    settlement = Settlement(
        team_id=row.team_id,
        contradiction=row,
        resolution=row.resolution,
        actor=row.resolved_by,
        settled_at=row.resolved_at,
        merged_memory=merged,
    )
    sides = [each for each in (row.memory_a_id, row.memory_b_id) if each]
    written = mark.written(locked=sides)
    if written is not None:
        settlement.commit_id = written.commit_id
        settlement.first_seq, settlement.last_seq = written.first, written.last
        changed = ids_in(ranges=[written])
        ended = Contradiction.objects.filter(
            Q(memory_a__in=changed) | Q(memory_b__in=changed),
            team_id=row.team_id,
            resolved_by=row.resolved_by,
            resolved_at__gte=began_at,
            resolution_note__in=(LOST, SUPERSEDED),
        ).exclude(pk=row.pk)
        settlement.ended = list(ended.order_by("pk").values_list("pk", flat=True))
    settlement.save(force_insert=True)
