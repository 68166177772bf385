"""The compaction shield: extract and sum up first, and only then let messages leave a context."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import redis
from django.conf import settings
from django.utils import timezone
from django_redis import get_redis_connection

from audit.services.events import Event, record_events
from memory.clients.tools import Tools
from memory.domain.tokens import estimate_tokens
from memory.domain.types import Candidate, MemoryType, Point, Status
from memory.domain.viewer import Viewer
from memory.models import Compaction, Job, Memory
from memory.models.memory import LIVE
from memory.services import extraction
from memory.services.drafts import MemoryDraft
from memory.services.extraction import ExtractionCounts
from memory.services.jobs import visible_conversation
from memory.services.screening import screen
from memory.services.write_path import PreparedDraft, prepare, store
from teams.errors import ConflictError, UnavailableError
from teams.models import Conversation, Message
from teams.tenancy import team_scope

SUMMARY_IMPORTANCE = 5
EXTRACTOR = "summary"
SUMMARY_TAG = "summary"
_ATTEMPTS = 5
_CACHE_SECONDS = 7 * 24 * 3600

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did: the running summary, what stays, and what it stands for.

    `count` is 0 when nothing had to go; the summary is then that of the last compaction.
    """

    summary: str
    kept: list[Message]
    first: int
    last: int
    count: int
    extraction: ExtractionCounts


@dataclass(frozen=True, slots=True)
class _Plan:
    """The messages to go, read at one moment, and what was summed up before them."""

    source: extraction.MessageRange
    kept: list[Message]
    previous: Compaction | None
    earlier: str = ""

    @property
    def last(self) -> int:
        return self.source.messages[-1].position if self.source.messages else 0


def compact_conversation(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    tools: Tools,
    keep_last: int | None = None,
    max_tokens: int | None = None,
) -> Compacted:
    """Extract and sum up everything but the last messages, then say what may leave the context.

    Either `keep_last` messages stay or as many of the last as fit `max_tokens`. Memories, the
    summary and the compaction are one transaction: when anything fails nothing is compacted and
    UnavailableError says so. Messages stay in the log for ever; calling it again builds on what
    was done. Raises NotFoundError for an invisible conversation.
    """
    for _ in range(_ATTEMPTS):
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
            plan = _plan(conversation, keep_last=keep_last, max_tokens=max_tokens)
        if not plan.source.messages:
            return _nothing_to_do(viewer, plan, tools)
        try:
            compaction = _carry_out(viewer, plan, tools)
        except UnavailableError as error:
            raise UnavailableError(f"Nothing was compacted: {error.message}") from error
        except ConflictError:
            # Others changed the conversation or its memories meanwhile: look again.
            continue
        except Exception as error:
            logger.exception("A compaction of conversation %s failed.", conversation_id)
            raise UnavailableError(
                "Nothing was compacted: extracting or summing up the messages failed"
                f" ({type(error).__name__}). The messages are all there; try again."
            ) from error
        _remember_summary(compaction)
        return Compacted(
            summary=compaction.summary,
            kept=plan.kept,
            first=compaction.from_position,
            last=compaction.to_position,
            count=compaction.to_position - compaction.from_position + 1,
            extraction=extraction.counts_from_json(compaction.extraction),
        )
    raise ConflictError(
        "Nothing was compacted: others keep changing the conversation's memories; ask again."
    )


def running_summary(*, team_id: UUID, conversation_id: UUID) -> str:
    """The latest summary of a conversation, as it was corrected since; call it in scope.

    Empty when there is none or it was deleted. The text comes from Redis where that has it.
    """
    latest = _latest(team_id, conversation_id)
    if latest is None:
        return ""
    if not latest.summary_memory.is_live:
        return _standing_text(latest)
    try:
        cached = get_redis_connection("default").get(_summary_key(latest))
    except redis.RedisError:
        cached = None
    return str(cached.decode()) if cached is not None else latest.summary


def _plan(conversation: Conversation, *, keep_last: int | None, max_tokens: int | None) -> _Plan:
    previous = _latest(conversation.team_id, conversation.pk)
    done = previous.to_position if previous else 0
    rows = list(
        Message.objects.filter(
            team_id=conversation.team_id, conversation=conversation, position__gt=done
        ).order_by("position")
    )
    stay = min(len(rows), keep_last) if keep_last is not None else _fitting(rows, max_tokens or 0)
    going, kept = rows[: len(rows) - stay], rows[len(rows) - stay :]
    if not going:
        return _Plan(extraction.MessageRange(conversation, (), ()), kept, previous)
    source = extraction.load_range(
        conversation=conversation, first=going[0].position, last=going[-1].position
    )
    return _Plan(source, kept, previous, _standing_text(previous) if previous else "")


def _fitting(rows: Sequence[Message], max_tokens: int) -> int:
    """How many of the last messages fit the budget."""
    used = count = 0
    for row in reversed(rows):
        used += estimate_tokens(row.content)
        if used > max_tokens:
            break
        count += 1
    return count


def _carry_out(viewer: Viewer, plan: _Plan, tools: Tools) -> Compaction:
    """The compaction, stored whole; ConflictError when another one came first."""
    source, conversation = plan.source, plan.source.conversation
    found = extraction.find_candidates(source=source, tools=tools)
    # No caps here: what leaves the context must not be lost.
    screened = screen(source=source, candidates=found, capped=False)
    candidates = screened.candidates
    summary = tools.summariser.summarise(
        points=[Point(each.content, each.importance) for each in _in_order(candidates, source)],
        messages=[extraction.as_source(row) for row in source.messages],
        previous=plan.earlier,
    )
    drafts = extraction.drafts_of(
        source=source, candidates=candidates, extractor=tools.extractor.name
    )
    prepared = prepare(drafts=[*drafts, _summary_draft(plan, summary, tools)], tools=tools)
    first, last = source.messages[0].position, plan.last
    with team_scope(
        team_ids=[viewer.team_id],
        actor=viewer.actor,
        reason=f"compacted messages {first} to {last}",
        conversation_id=conversation.pk,
    ):
        # In the order in which an extraction takes them: jobs, memories, then the conversation.
        _hold_jobs(conversation, last)
        results = store(viewer=viewer, prepared=_without_retired(prepared), tools=tools)
        locked = visible_conversation(viewer=viewer, conversation_id=conversation.pk)
        now_latest = _latest(viewer.team_id, conversation.pk)
        if (now_latest and now_latest.pk) != (plan.previous and plan.previous.pk):
            raise ConflictError("Another compaction came first.")
        record_events(
            team_id=viewer.team_id,
            events=[*screened.events, Event(node="compact", op="create", meta={"to": last})],
        )
        counts = extraction.count_results(
            candidates=candidates, results=results[:-1], extractor=tools.extractor.name
        )
        _close_range(locked, last, counts)
        return Compaction.objects.create(
            team_id=viewer.team_id,
            conversation=locked,
            from_position=first,
            to_position=last,
            summary=summary,
            summary_memory=results[-1].memory,
            extraction=counts.as_json(),
        )


def _summary_draft(plan: _Plan, summary: str, tools: Tools) -> MemoryDraft:
    """The summary as an episodic memory; it supersedes the one it continues."""
    conversation = plan.source.conversation
    replaces: tuple[UUID, ...] = ()
    if plan.previous is not None:
        with team_scope(team_ids=[conversation.team_id], actor="task:compact"):
            old = _standing(plan.previous)
        replaces = (old.pk,) if old.is_live else ()
    return MemoryDraft(
        team_id=conversation.team_id,
        content=summary,
        memory_type=MemoryType.EPISODIC,
        importance=SUMMARY_IMPORTANCE,
        extractor=f"{EXTRACTOR}:{tools.summariser.name}",
        created_at=plan.source.messages[-1].created_at,
        category="event",
        tags=(SUMMARY_TAG,),
        agent_id=conversation.agent_id,
        end_user_id=conversation.end_user_id,
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        message_ids=tuple(row.pk for row in plan.source.messages),
        message_external_ids=tuple(
            row.external_id for row in plan.source.messages if row.external_id
        ),
        check=False,
        replaces=replaces,
    )


def _hold_jobs(conversation: Conversation, last: int) -> None:
    """Let no extraction of messages up to `last` end until the transaction does."""
    rows = Job.objects.select_for_update().filter(
        team_id=conversation.team_id,
        conversation=conversation,
        to_position__lte=last,
        state__in=(Job.State.QUEUED, Job.State.RUNNING),
    )
    list(rows.order_by("id").values_list("id", flat=True))


def _without_retired(prepared: Sequence[PreparedDraft]) -> list[PreparedDraft]:
    """The drafts without what the same messages gave before and somebody has retired since.

    So a deleted, corrected or settled memory does not come back by being extracted again.
    """
    keys = [item.key for item in prepared if item.draft.check]
    team_id = prepared[0].draft.team_id
    rows = Memory.objects.filter(team_id=team_id, dedupe_key__in=keys).exclude(status__in=LIVE)
    retired: dict[bytes, set[UUID]] = {}
    for row in rows:
        retired.setdefault(bytes(row.dedupe_key or b""), set()).update(row.source_message_ids)
    return [
        item
        for item in prepared
        if not item.draft.check
        or not item.draft.message_ids
        or not retired.get(item.key, set()).issuperset(item.draft.message_ids)
    ]


def _close_range(conversation: Conversation, last: int, counts: ExtractionCounts) -> None:
    """Note that messages up to `last` need no extraction of their own any more.

    A job that waits for or works on them is done by this; a run of it finds its claim gone.
    """
    now = timezone.now()
    Job.objects.filter(
        team_id=conversation.team_id, conversation=conversation, to_position__lte=last
    ).exclude(state=Job.State.DONE).update(
        state=Job.State.DONE,
        error="",
        claim=None,
        lease_until=None,
        finished_at=now,
        reported_at=now,
    )
    first = conversation.extracted_position + 1
    if first > last:
        return
    Job.objects.create(
        team_id=conversation.team_id,
        conversation=conversation,
        from_position=first,
        to_position=last,
        state=Job.State.DONE,
        result=counts.as_json(),
        finished_at=now,
        reported_at=now,
    )
    conversation.extracted_position = last
    conversation.save(update_fields=["extracted_position"])


def _in_order(candidates: Sequence[Candidate], source: extraction.MessageRange) -> list[Candidate]:
    positions = {row.pk: row.position for row in source.messages}
    return sorted(
        candidates,
        key=lambda each: min((positions.get(item, 0) for item in each.message_ids), default=0),
    )


def _latest(team_id: UUID, conversation_id: UUID) -> Compaction | None:
    rows = Compaction.objects.filter(team_id=team_id, conversation_id=conversation_id)
    return rows.select_related("summary_memory").order_by("-to_position").first()


def _standing(compaction: Compaction) -> Memory:
    """The summary's memory in its present version, whatever its status."""
    memory = compaction.summary_memory
    while memory.superseded_by is not None and SUMMARY_TAG in memory.superseded_by.tags:
        memory = memory.superseded_by
    return memory


def _standing_text(compaction: Compaction) -> str:
    """The summary as it was corrected since; empty once it was deleted."""
    memory = _standing(compaction)
    return "" if memory.status == Status.SOFT_DELETED else memory.content


def _nothing_to_do(viewer: Viewer, plan: _Plan, tools: Tools) -> Compacted:
    previous = plan.previous
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        summary = running_summary(
            team_id=viewer.team_id, conversation_id=plan.source.conversation.pk
        )
    return Compacted(
        summary=summary,
        kept=plan.kept,
        first=previous.from_position if previous else 0,
        last=previous.to_position if previous else 0,
        count=0,
        extraction=ExtractionCounts(extractor=tools.extractor.name),
    )


def _summary_key(compaction: Compaction) -> str:
    """Of one compaction, so that an older summary never stands for a newer one."""
    owner = f"{compaction.team_id}:{compaction.conversation_id}"
    return f"{settings.REDIS_PREFIX}:summary:{owner}:{compaction.to_position}"


def _remember_summary(compaction: Compaction) -> None:
    """Keep the running summary at hand; the database has it when Redis is away."""
    key = _summary_key(compaction)
    try:
        get_redis_connection("default").set(key, compaction.summary, ex=_CACHE_SECONDS)
    except redis.RedisError:
        logger.warning("A summary was not cached: Redis is away.")
