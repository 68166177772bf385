"""What stands between an extractor and the write path: wording, and how much one turn may write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings

from audit.services.events import Event
from memory.domain.types import Candidate
from memory.domain.wording import check_wording
from memory.models import Memory
from memory.services.drafts import WriteResult
from memory.services.extraction import MessageRange
from memory.services.write_path import PreparedDraft

# A UUIDv7 begins with its time: milliseconds in the first 48 of 128 bits (RFC 9562).
_TIME_SHIFT = 80


@dataclass(frozen=True, slots=True)
class Screened:
    """The candidates that may be written, and what is to be told of those that may not."""

    candidates: list[Candidate]
    events: tuple[Event, ...] = ()


def screen(*, source: MessageRange, candidates: Sequence[Candidate], capped: bool) -> Screened:
    """Hold the candidates to the writing constraints and, when `capped`, to the cap of a turn.

    The events say how many were right at first, repaired and rejected, and why; contents are in
    none of them.
    """
    kept: list[Candidate] = []
    problems: Counter[str] = Counter()
    first_time = rejected = masked = 0
    said = {row.pk: row.created_at for row in (*source.context, *source.messages)}
    for candidate in candidates:
        times = [said[item] for item in candidate.message_ids if item in said]
        wording = check_wording(
            candidate, said_at=max(times, default=source.messages[-1].created_at)
        )
        problems.update(wording.problems)
        masked += wording.secret_masked
        if wording.candidate is None:
            rejected += 1
            continue
        first_time += not wording.problems
        kept.append(wording.candidate)
    over_cap = 0
    if capped and settings.MAX_MEMORIES_PER_TURN:
        within = _within_turns(source, kept)
        over_cap = len(kept) - len(within)
        kept = within
    conversation = source.conversation
    events = [
        Event(
            node="extract",
            op="validate",
            status="ok" if not rejected and not over_cap else "skipped",
            meta={
                "candidates": len(candidates),
                "first_time": first_time,
                "repaired": len(candidates) - first_time - rejected,
                "rejected": rejected,
                "over_turn_cap": over_cap,
                "problems": dict(problems),
            },
            end_user_id=conversation.end_user_id,
            conversation_id=conversation.pk,
        )
    ]
    if masked:
        events.append(
            Event(
                node="extract",
                op="mask_secret",
                end_user_id=conversation.end_user_id,
                conversation_id=conversation.pk,
                meta={"candidates": masked},
            )
        )
    return Screened(kept, tuple(events))


def room_today(*, team_id: UUID, end_user_id: UUID, now: datetime) -> int:
    """How many more memories may be extracted about this person today; call it in scope."""
    if not settings.MAX_MEMORIES_PER_USER_DAY:
        return 2**31
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first_id = UUID(int=int(midnight.timestamp() * 1000) << _TIME_SHIFT)
    written = Memory.objects.filter(
        team_id=team_id,
        end_user_id=end_user_id,
        extraction_pass__isnull=False,
        id__gte=first_id,
    ).count()
    return max(0, settings.MAX_MEMORIES_PER_USER_DAY - written)


def most_important(prepared: Sequence[PreparedDraft], room: int) -> list[PreparedDraft]:
    """As many of the drafts as there is room for, the most important ones, in their order."""
    if len(prepared) <= room:
        return list(prepared)
    ranked = sorted(
        range(len(prepared)), key=lambda index: (-prepared[index].draft.importance, index)
    )
    return [prepared[index] for index in sorted(ranked[:room])]


def store_events(
    *, prepared: Sequence[PreparedDraft], results: Sequence[WriteResult]
) -> list[Event]:
    """What the write path did, counted by outcome, and what the daily cap kept out."""
    counts = Counter(result.outcome.value for result in results)
    over_cap = len(prepared) - len(results)
    if not prepared:
        return []
    first = prepared[0].draft
    return [
        Event(
            node="extract",
            op="create",
            status="skipped" if over_cap else "ok",
            end_user_id=first.end_user_id,
            conversation_id=first.conversation_id,
            meta={**counts, "over_daily_cap": over_cap},
        )
    ]


def _within_turns(source: MessageRange, candidates: Sequence[Candidate]) -> list[Candidate]:
    """At most so many candidates of each last source message, the most important ones."""
    positions = {row.pk: row.position for row in (*source.context, *source.messages)}

    def turn(candidate: Candidate) -> int:
        return max((positions.get(item, 0) for item in candidate.message_ids), default=0)

    ranked = sorted(
        range(len(candidates)),
        key=lambda index: (-candidates[index].importance, -candidates[index].confidence, index),
    )
    taken: Counter[int] = Counter()
    kept = set()
    for index in ranked:
        place = turn(candidates[index])
        if taken[place] < settings.MAX_MEMORIES_PER_TURN:
            taken[place] += 1
            kept.add(index)
    return [candidates[index] for index in sorted(kept)]
