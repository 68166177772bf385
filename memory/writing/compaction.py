"""The compaction shield: extract and summarise messages before they leave a context."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db import OperationalError
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from audit.services.events import Event, record_events
from memory.domain.audience import Viewer
from memory.domain.rendering import estimate_tokens
from memory.domain.talk import SUMMARY_TAG, WrittenSummary
from memory.domain.types import DELETED, Asker, MemoryType
from memory.models import Compaction, Job
from memory.understanding.tools import Tools
from memory.writing.background import was_turned_away
from memory.writing.drafts import MemoryDraft
from memory.writing.jobs import publish, queue_extraction, revive_failed, visible_conversation
from memory.writing.outcomes import ExtractionCounts, counts_from_json
from memory.writing.summaries import (
    EXTRACTOR,
    POINT_LIST,
    POINTS,
    SummaryBasis,
    is_up_to_date,
    latest_compaction,
    running_summary,
    standing_points,
    standing_summary,
    summary_basis,
)
from memory.writing.waiting import StillExtractingError, finish, report
from memory.writing.write_path import prepare, store
from teams.errors import ConflictError, ForbiddenError, NotFoundError, UnavailableError
from teams.models import Conversation, Message
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import hold_lock, team_scope

_ATTEMPTS = 5
_SUMMARY_IMPORTANCE = 5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction: the summary, the messages that stay, and the range it covers.

    `count` is 0 if nothing had to be compacted; the summary is then the last one, renewed if a
    memory in it was deleted, corrected or superseded. `extraction` covers what was extracted and
    not reported before.
    """

    summary: str
    kept: list[Message]
    first: int
    last: int
    count: int
    extraction: ExtractionCounts


@dataclass(frozen=True, slots=True)
class _Plan:
    """Compacts messages `first` to `last`, none when `last` is smaller.

    Without `is_shielded` they are compacted before they are extracted.
    """

    conversation: Conversation
    previous: Compaction | None
    first: int
    last: int
    is_shielded: bool

    @property
    def jobs(self) -> QuerySet[Job, Job]:
        return Job.objects.extractions().filter(
            team_id=self.conversation.team_id,
            conversation=self.conversation,
            from_position__lte=self.last,
            to_position__gte=self.first,
        )


def compact_conversation(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    tools: Tools,
    keep_last: int | None = None,
    max_tokens: int | None = None,
    seconds: float | None = None,
) -> Compacted:
    """Extracts and summarises everything but the last messages, which stay in the context.

    Either `keep_last` messages stay, or as many of the last as fit `max_tokens`. Summary and
    compaction are stored in one transaction after everything is extracted; with the team's
    compaction shield off, the summary uses what is extracted by then. All messages stay stored.
    Raises NotFoundError for an invisible conversation, ForbiddenError where the team has memory
    switched off, and, compacting nothing, UnavailableError when anything fails and
    StillExtractingError if the extraction takes longer than `seconds` (COMPACT_WAIT_SECONDS): it
    continues, and the same call succeeds once it is done.
    """
    until = time.monotonic() + (settings.COMPACT_WAIT_SECONDS if seconds is None else seconds)
    for _ in range(_ATTEMPTS):
        plan = _plan(viewer, conversation_id, keep_last=keep_last, max_tokens=max_tokens)
        try:
            if plan.last < plan.first:
                _renew_summary(viewer, plan, tools)
                return _result(viewer, plan, plan.previous, tools, count=0)
            if plan.is_shielded:
                _extract_first(plan, tools, until)
            compaction = _summarise(viewer, plan, tools)
        except (StillExtractingError, ForbiddenError, NotFoundError):
            raise
        except UnavailableError as error:
            raise UnavailableError(f"Nothing was compacted: {error.message}") from error
        except ConflictError:
            continue  # others changed the conversation or its memories meanwhile: look again
        except OperationalError as error:
            if not was_turned_away(error):
                raise
            continue
        except Exception as error:
            logger.exception("A compaction of conversation %s failed.", conversation_id)
            raise UnavailableError(
                "Nothing was compacted: extracting or summing up the messages failed"
                f" ({type(error).__name__}). The messages are all there; try again."
            ) from error
        return _result(viewer, plan, compaction, tools, count=plan.last - plan.first + 1)
    raise ConflictError(
        "Nothing was compacted: others keep changing the conversation's memories; ask again."
    )


def _result(
    viewer: Viewer, plan: _Plan, done: Compaction | None, tools: Tools, *, count: int
) -> Compacted:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        conversation = Conversation.objects.get(team_id=viewer.team_id, pk=plan.conversation.pk)
        kept = Message.objects.filter(
            team_id=viewer.team_id,
            conversation=conversation,
            position__gte=max(plan.first, plan.last + 1),
            position__lte=plan.conversation.last_position,
        )
        return Compacted(
            summary=running_summary(conversation=conversation),
            kept=list(kept.order_by("position")),
            first=done.from_position if done else 0,
            last=done.to_position if done else 0,
            count=count,
            extraction=counts_from_json(done.extraction)
            if done and count
            else _named(ExtractionCounts(), tools),
        )


def _named(counts: ExtractionCounts, tools: Tools) -> ExtractionCounts:
    """Returns the counts with the configured extractor if there was nothing to extract."""
    return counts if counts.extractor else replace(counts, extractor=tools.extractor.name)


# -- messages that leave the context ---------------------------------------------------------


def _plan(
    viewer: Viewer, conversation_id: UUID, *, keep_last: int | None, max_tokens: int | None
) -> _Plan:
    """Plans the messages to compact; afterwards each of them belongs to an extraction job.

    With the compaction shield off, workers extract them like any messages.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        flags = flags_of_id(team_id=viewer.team_id)
        require_memory(flags)
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        previous = latest_compaction(team_id=viewer.team_id, conversation_id=conversation_id)
        first = previous.to_position + 1 if previous else 1
        stay = _fitting(conversation, max_tokens or 0) if keep_last is None else keep_last
        last = conversation.last_position - stay
        if last >= first:
            # Messages that leave the context must not be lost: the shield knows no caps.
            is_capped = not flags.compaction_shield
            job = queue_extraction(conversation=conversation, is_capped=is_capped, last=last)
            if job is not None and is_capped:
                publish(team_id=viewer.team_id)
        return _Plan(conversation, previous, first, last, flags.compaction_shield)


def _fitting(conversation: Conversation, max_tokens: int) -> int:
    """Returns how many of the last messages fit the budget."""
    rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    used = count = 0
    texts = rows.order_by("-position").values_list("content", flat=True)
    for text in texts.iterator(chunk_size=100):
        used += estimate_tokens(text)
        if used > max_tokens:
            break
        count += 1
    return count


def _extract_first(plan: _Plan, tools: Tools, until: float) -> None:
    """Extracts every message that is to be compacted, once and without caps.

    A finished job runs again only for the candidates that a cap left out. Skipped messages stay
    skipped until somebody retries them. Raises UnavailableError if a job failed for good.
    """
    team_id, conversation_id = plan.conversation.team_id, plan.conversation.pk
    revive_failed(team_id=team_id, conversation_id=conversation_id)

    def pending() -> list[Job]:
        _lift_caps(plan.jobs)
        # One look at both: a run may end, short of what its caps left out, between two.
        left = list(
            plan.jobs.exclude(state=Job.State.DONE, left_out=0)
            .exclude(state=Job.State.SET_ASIDE)
            .order_by("id")
        )
        for job in left:
            if job.state == Job.State.FAILED:
                raise UnavailableError(
                    f"messages {job.from_position} to {job.to_position} could not be extracted"
                    f" ({job.error}). They are all there; try again."
                )
        return left

    finish(team_id=team_id, pending=pending, tools=tools, until=until)


def _lift_caps(jobs: QuerySet[Job, Job]) -> None:
    """Lifts the caps of the jobs; those in which a cap left something out run again."""
    jobs.filter(state=Job.State.QUEUED, is_capped=True).update(is_capped=False)
    is_cut = Q(left_out=None) | Q(left_out__gt=0)
    # Between two parts of what was left out, a job is queued.
    is_read = Q(state=Job.State.QUEUED, done_position__gte=F("to_position"))
    cut = jobs.filter(is_cut, Q(state=Job.State.DONE) | is_read)
    # Reported results are not reported again; the others are added to those of the run.
    cut.exclude(reported_at=None).update(result={}, reported_at=None)
    # An import without extraction read none of its messages.
    cut.filter(waiting=[]).update(done_position=0, left_out=None)
    cut.update(
        state=Job.State.QUEUED,
        is_capped=False,
        attempts=0,
        due_at=Now(),
        finished_at=None,
    )


# -- the memory of the summary ---------------------------------------------------------------


def _renew_summary(viewer: Viewer, plan: _Plan, tools: Tools) -> None:
    """Rewrites the last summary if a memory it covers was removed or changed.

    A summary that was deleted or rewritten by a person stays.
    """
    previous = plan.previous
    if previous is None:
        return
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        if not _is_stale(previous):
            return
    plan = replace(plan, first=previous.from_position, last=previous.to_position)
    _summarise(viewer, plan, tools, is_renewed=True)


def _summarise(
    viewer: Viewer, plan: _Plan, tools: Tools, *, is_renewed: bool = False
) -> Compaction | None:
    """Writes the episodic memory of a summary and, unless it is renewed, its compaction.

    It supersedes the last summary; a renewed one has that one's points, as they are now, and no
    further messages. Call it in no transaction: the summariser and the embedder may be remote.
    Raises ConflictError when what it rests on has changed meanwhile, and UnavailableError when the
    embedder does not answer.
    """
    conversation, team_id = plan.conversation, viewer.team_id
    with team_scope(team_ids=[team_id], actor=viewer.actor):
        basis = _basis(plan, plan.previous, is_renewed)
    asker = Asker(team_id, conversation.agent_id, conversation.end_user_id)
    summary = tools.summariser.summarise(
        points=basis.points, since=basis.since, until=basis.until, asker=asker
    )
    with team_scope(team_ids=[team_id], actor=viewer.actor):
        draft = _draft(plan, basis, summary)
    prepared = prepare(drafts=[draft], tools=tools)
    meta: dict[str, object] = {"to": plan.last, "points": len(basis.points)}
    if is_renewed:
        op, reason = "update", f"renewed the summary of messages up to {plan.last}"
    else:
        op, reason = "create", f"compacted messages {plan.first} to {plan.last}"
        meta["from"] = plan.first
    with team_scope(
        team_ids=[team_id], actor=viewer.actor, reason=reason, conversation_id=conversation.pk
    ):
        # The conversation's row is no lock for compactions: writers of memories hold a share of it
        # already when they come to change it.
        hold_lock(f"compaction|{team_id}|{conversation.pk}")
        latest = latest_compaction(team_id=team_id, conversation_id=conversation.pk)
        if (latest and latest.pk) != (plan.previous and plan.previous.pk):
            raise ConflictError("Another compaction came first.")
        if is_renewed and (latest is None or not _is_stale(latest)):
            raise ConflictError("Another summary came first.")
        if _basis(plan, latest, is_renewed).points != basis.points:
            raise ConflictError("The memories changed while they were summed up.")
        (result,) = store(viewer=viewer, prepared=prepared, tools=tools)
        event = Event(
            node="compact",
            op=op,
            memory_id=result.memory.pk,
            end_user_id=conversation.end_user_id,
            conversation_id=conversation.pk,
            meta=meta,
        )
        record_events(team_id=team_id, events=[event])
        if is_renewed:
            return None
        return Compaction.objects.create(
            team_id=team_id,
            conversation=conversation,
            from_position=plan.first,
            to_position=plan.last,
            summary=summary.text,
            points=POINT_LIST.dump_python(list(basis.points), mode="json"),
            summary_memory=result.memory,
            extraction=asdict(_named(report(jobs=plan.jobs), tools)),
        )


def _basis(plan: _Plan, previous: Compaction | None, is_renewed: bool) -> SummaryBasis:
    first = plan.last + 1 if is_renewed else plan.first
    return summary_basis(
        conversation=plan.conversation, previous=previous, first=first, last=plan.last
    )


def _is_stale(compaction: Compaction) -> bool:
    memory = standing_summary(compaction)
    if memory.status in DELETED:
        return False
    heads = standing_points(compaction)
    return not is_up_to_date(memory=memory, compaction=compaction, heads=heads)


def _draft(plan: _Plan, basis: SummaryBasis, summary: WrittenSummary) -> MemoryDraft:
    conversation = plan.conversation
    old = standing_summary(plan.previous) if plan.previous else None
    rows = Message.objects.filter(
        team_id=conversation.team_id,
        conversation=conversation,
        position__range=(plan.first, plan.last),
    ).order_by("position")
    sources = list(rows.values_list("id", "external_id", "created_at"))
    return MemoryDraft(
        team_id=conversation.team_id,
        content=summary.text,
        memory_type=MemoryType.EPISODIC,
        importance=_SUMMARY_IMPORTANCE,
        extractor=f"{EXTRACTOR}:{summary.writer}",
        created_at=sources[-1][2],
        category="event",
        tags=(SUMMARY_TAG,),
        agent_id=conversation.agent_id,
        people=(str(conversation.end_user),),
        end_user_id=conversation.end_user_id,
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        message_ids=tuple(each[0] for each in sources),
        message_external_ids=tuple(each[1] for each in sources if each[1]),
        check=False,
        replaces=(old.pk,) if old and old.is_live else (),
        rests_on={POINTS: [each for point in basis.points for each in point.memory_ids]},
    )
