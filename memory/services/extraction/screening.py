"""What stands between an extractor and the write path: wording, and how much one turn may write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from django.conf import settings

from audit.services.events import Event
from memory.domain.grounding import Grounds, Spoken, ungrounded
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.talk import check_wording
from memory.domain.types import NAMELESS, Candidate
from memory.selectors.neighbours.neighbours import retired_sources
from memory.services.extraction.extraction import MessageRange
from memory.services.write.drafts import MemoryDraft, WriteResult
from memory.services.write.inserting import PreparedDraft
from teams.models import Message
from teams.prepared import run_prepared
from teams.tenancy import hold_lock
from teams.tracing import step

_OF_HEALTH = frozenset({"health", "safety", "allergy", "allergies", "medication", "medical"})
_DECIDED = frozenset({"decision", "constraint"})
_TASTE = "preferences"
_WRITTEN = """
SELECT coalesce(sum(job.written_that_day), 0)::integer
FROM memory_job AS job JOIN teams_conversation AS talk
    ON talk.team_id = job.team_id AND talk.id = job.conversation_id
WHERE job.team_id = $1 AND talk.end_user_id = $2 AND job.is_capped AND job.written_on = $3
"""


@dataclass(frozen=True, slots=True)
class Screened:
    """The candidates that may be written, and what is to be told of those that may not.

    `over_cap` are those that only the cap of a turn keeps out, `masked` counts those in which a
    secret was masked. `refused` counts those that may not be written by the reason that decided.
    """

    candidates: list[Candidate]
    events: tuple[Event, ...] = ()
    over_cap: Sequence[Candidate] = ()
    masked: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)


@step("extraction.screen")
def screen(*, source: MessageRange, candidates: Sequence[Candidate], capped: bool) -> Screened:
    """Hold the candidates to the writing constraints, to what was said and to the cap of a turn.

    There is a cap only where it is `capped`. The events say how many were right at first and
    rejected, and why; contents are in none of them.
    """
    kept: list[Candidate] = []
    refused: Counter[str] = Counter()
    masked = 0
    said = {row.pk: row for row in (*source.context, *source.messages)}
    for candidate in candidates:
        wording = check_wording(candidate)
        masked += wording.secret_masked or _holds_masked(candidate, said)
        if wording.candidate is None:
            refused[wording.refused] += 1
            continue
        if why := _ungrounded(wording.candidate, source):
            refused[why] += 1
            continue
        kept.append(wording.candidate)
    rejected = refused.total()
    over_cap: list[Candidate] = []
    if capped and settings.MAX_MEMORIES_PER_TURN:
        kept, over_cap = _within_turns(source, kept)
    event = partial(
        Event,
        node="extract",
        end_user_id=source.conversation.end_user_id,
        conversation_id=source.conversation.pk,
    )
    checked = event(
        op="validate",
        status="skipped" if rejected or over_cap else "ok",
        meta={
            "candidates": len(candidates),
            "first_time": len(candidates) - rejected,
            "rejected": rejected,
            "over_turn_cap": len(over_cap),
            "problems": dict(refused),
        },
    )
    events = [checked, event(op="mask_secret", meta={"candidates": masked})]
    told = tuple(events if masked else [checked])
    return Screened(kept, told, over_cap, masked, refused)


def _ungrounded(candidate: Candidate, source: MessageRange) -> str:
    """Why no message says what the candidate does, "" where they do; a quotation always does.

    They are the messages that it names, those right before them, which they may answer, and for
    words and names all up to there.
    """
    if candidate.is_verbatim:
        return ""
    window = (*source.context, *source.messages)
    named = set(candidate.message_ids)
    places = [place for place, row in enumerate(window) if row.pk in named]
    near = {near for place in places for near in (place - 1, place) if near >= 0}
    spoken = [Spoken(text=row.content, at=row.created_at) for row in window]
    conversation = source.conversation
    grounds = Grounds(
        sources=[spoken[place] for place in sorted(near)],
        window=spoken[: max(places, default=-1) + 1],
        names=[
            str(conversation.end_user),
            conversation.end_user.external_id,
            conversation.agent.slug,
            NAMELESS,
            *(row.name for row in window),
        ],
    )
    text = candidate.content.replace(MASK, " ")
    return ungrounded(text, grounds=grounds)


def _holds_masked(candidate: Candidate, said: Mapping[UUID, Message]) -> bool:
    """Whether the extractor was shown a secret of its sources masked, and wrote that down."""
    return MASK in candidate.content and any(
        mask_secrets(text=said[item].content) != said[item].content
        for item in candidate.message_ids
        if item in said
    )


def room_today(*, team_id: UUID, end_user_id: UUID, now: datetime) -> int:
    """How many more memories talk may write about this person today (UTC).

    Call it in the transaction that writes them: until that ends, everybody else who asks about
    this person waits, so that two extractions never share the same room. Only capped jobs count,
    with what they wrote today, whichever day their messages are of.
    """
    if not settings.MAX_MEMORIES_PER_USER_DAY:
        return 2**31
    # Taken before the writers' own locks by everybody.
    hold_lock(f"daily-room|{team_id}|{end_user_id}")
    ((written,),) = run_prepared(_WRITTEN, [team_id, end_user_id, now.astimezone(UTC).date()])
    return max(0, settings.MAX_MEMORIES_PER_USER_DAY - int(written))


def most_important(prepared: Sequence[PreparedDraft], room: int) -> list[PreparedDraft]:
    """As many of the drafts as there is room for, the most important ones, in their order."""
    if len(prepared) <= room:
        return list(prepared)
    drafts = [item.draft for item in prepared]
    ranked = sorted(
        range(len(drafts)),
        key=lambda index: (-drafts[index].importance, _after_importance(drafts[index]), index),
    )
    return [prepared[index] for index in sorted(ranked[:room])]


def _after_importance(found: Candidate | MemoryDraft) -> int:
    """Which of equally important facts a cap keeps: what does harm when it is missed first."""
    if found.category in _DECIDED or not _OF_HEALTH.isdisjoint(found.subject.split(".")):
        return 0
    return 2 if found.category == _TASTE else 1


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
            similarity=max(
                (each.similarity for each in results if each.similarity is not None), default=None
            ),
            meta={**counts, "over_daily_cap": over_cap},
        )
    ]


def _within_turns(
    source: MessageRange, candidates: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """At most so many candidates of each last source message, the most important ones; the rest."""
    positions = {row.pk: row.position for row in (*source.context, *source.messages)}

    def turn(candidate: Candidate) -> int:
        return max((positions.get(item, 0) for item in candidate.message_ids), default=0)

    ranked = sorted(
        range(len(candidates)),
        key=lambda index: (
            -candidates[index].importance,
            _after_importance(candidates[index]),
            -candidates[index].confidence,
            index,
        ),
    )
    taken: Counter[int] = Counter()
    kept = set()
    for index in ranked:
        place = turn(candidates[index])
        if taken[place] < settings.MAX_MEMORIES_PER_TURN:
            taken[place] += 1
            kept.add(index)
    rest = [each for index, each in enumerate(candidates) if index not in kept]
    return [candidates[index] for index in sorted(kept)], rest


def without_retired(prepared: Sequence[PreparedDraft]) -> list[PreparedDraft]:
    """The drafts without what the same messages gave before and somebody has retired since.

    So a deleted, corrected or settled memory does not come back when messages are read again.
    """
    if not prepared:
        return []
    retired: dict[bytes, set[UUID]] = {}
    for user in {item.draft.end_user_id for item in prepared}:
        keys = [key for item in prepared if item.draft.end_user_id == user for key in item.keys]
        team_id = prepared[0].draft.team_id
        retired |= retired_sources(team_id=team_id, end_user_id=user, keys=keys)
    return [
        item
        for item in prepared
        if not item.draft.message_ids
        or not any(retired.get(key, set()).issuperset(item.draft.message_ids) for key in item.keys)
    ]
