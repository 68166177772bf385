"""Which messages leave a context, and their extraction before that."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from memory.domain.audience import Viewer
from memory.domain.rendering import estimate_tokens
from memory.models import Compaction, Job
from memory.understanding.tools import Tools
from memory.writing.compaction.summaries import latest_compaction
from memory.writing.extraction.jobs import (
    publish,
    queue_extraction,
    revive_failed,
    visible_conversation,
)
from memory.writing.extraction.waiting import finish
from teams.errors import UnavailableError
from teams.models import Conversation, Message
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Messages `first` to `last` are to go; nothing is when `last` is smaller.

    Without `is_shielded` they go before they are extracted.
    """

    conversation: Conversation
    previous: Compaction | None
    first: int
    last: int
    is_shielded: bool = True

    @property
    def jobs(self) -> QuerySet[Job, Job]:
        """The jobs that have one of the messages."""
        return Job.objects.extractions().filter(
            team_id=self.conversation.team_id,
            conversation=self.conversation,
            from_position__lte=self.last,
            to_position__gte=self.first,
        )


def plan_compaction(
    *, viewer: Viewer, conversation_id: UUID, keep_last: int | None, max_tokens: int | None
) -> CompactionPlan:
    """Plan which messages to compact; afterwards each of them belongs to an extraction job.

    With the compaction shield off, workers extract them like any messages. Raises
    NotFoundError for an invisible conversation and ForbiddenError where memory is switched off.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        flags = flags_of_id(team_id=viewer.team_id)
        require_memory(flags)
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        previous = latest_compaction(team_id=viewer.team_id, conversation_id=conversation_id)
        first = previous.to_position + 1 if previous else 1
        stay = _fitting(conversation, max_tokens or 0) if keep_last is None else keep_last
        is_shielded = flags.compaction_shield
        last = conversation.last_position - stay
        plan = CompactionPlan(conversation, previous, first, last, is_shielded)
        if plan.last >= plan.first:
            # What leaves the context must not be lost: the shield knows no caps.
            job = queue_extraction(
                conversation=conversation, is_capped=not is_shielded, last=plan.last
            )
            if job is not None and not is_shielded:
                publish(team_id=viewer.team_id)
        return plan


def _fitting(conversation: Conversation, max_tokens: int) -> int:
    """How many of the last messages fit the budget."""
    rows = Message.objects.filter(team_id=conversation.team_id, conversation=conversation)
    used = count = 0
    texts = rows.order_by("-position").values_list("content", flat=True)
    for text in texts.iterator(chunk_size=100):
        used += estimate_tokens(text)
        if used > max_tokens:
            break
        count += 1
    return count


def extract_first(*, plan: CompactionPlan, tools: Tools, until: float) -> None:
    """Extract every message that is to be compacted, once and without caps.

    A finished job runs again only for what a cap kept out. Skipped messages stay so: they can be
    found, and somebody decides about them. Raises UnavailableError if a job
    failed for good, and StillExtractingError after `until`, a time of `time.monotonic`.
    """
    team_id, conversation_id = plan.conversation.team_id, plan.conversation.pk
    revive_failed(team_id=team_id, conversation_id=conversation_id)

    def pending() -> list[Job]:
        _lift_caps(plan.jobs)
        # One look at both: a run may end, short of what its caps kept out, between two.
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
    """Lift the caps of the jobs; those in which a cap kept something out run again."""
    jobs.filter(state=Job.State.QUEUED, is_capped=True).update(is_capped=False)
    cut = jobs.filter(Q(left_out=None) | Q(left_out__gt=0), state=Job.State.DONE)
    # What a caller was told of is not told again; the rest is added to what the run will do.
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
