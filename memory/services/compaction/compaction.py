"""The compaction shield: extract and summarise messages before they leave a context."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db import OperationalError

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Compaction
from memory.services.compaction.compaction_plan import (
    CompactionPlan,
    extract_first,
    plan_compaction,
)
from memory.services.compaction.renewing import renew_summary
from memory.services.compaction.running import running_summary
from memory.services.compaction.summaries import (
    SummaryBasis,
    latest_compaction,
    points_as_json,
    summary_basis,
)
from memory.services.compaction.summary_memory import lock_summaries, store_summary, sum_up
from memory.services.extraction.extraction import ExtractionCounts, counts_from_json
from memory.services.extraction.waiting import StillExtractingError, report
from memory.services.retrying import was_turned_away
from teams.errors import ConflictError, UnavailableError
from teams.models import Conversation, Message
from teams.tenancy import team_scope

_ATTEMPTS = 5

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


def compact_conversation(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    tools: Tools,
    keep_last: int | None = None,
    max_tokens: int | None = None,
    seconds: float | None = None,
) -> Compacted:
    """Extract and summarise everything but the last messages, which stay in the context.

    Either `keep_last` messages stay, or as many of the last as fit `max_tokens`. Summary and
    compaction are stored in one transaction after everything is extracted; if anything fails,
    nothing is compacted and UnavailableError says so. All messages stay stored; another call
    continues from there. Raises StillExtractingError if the extraction takes longer than `seconds`
    (COMPACT_WAIT_SECONDS): nothing is compacted, the extraction continues, and the same call
    succeeds once it is done. Raises NotFoundError for an invisible conversation. With the team's
    compaction shield off, the summary uses what is extracted by then, and the rest follows.
    """
    wait = settings.COMPACT_WAIT_SECONDS if seconds is None else seconds
    until = time.monotonic() + wait
    for _ in range(_ATTEMPTS):
        plan = plan_compaction(
            viewer=viewer,
            conversation_id=conversation_id,
            keep_last=keep_last,
            max_tokens=max_tokens,
        )
        try:
            if plan.last < plan.first:
                renew_summary(viewer=viewer, plan=plan, tools=tools)
                return _nothing_to_do(viewer, plan, tools)
            if plan.is_shielded:
                extract_first(plan=plan, tools=tools, until=until)
            compaction = _carry_out(viewer, plan, tools)
        except StillExtractingError:
            raise
        except UnavailableError as error:
            raise UnavailableError(f"Nothing was compacted: {error.message}") from error
        except ConflictError:
            # Others changed the conversation or its memories meanwhile: look again.
            continue
        except OperationalError as error:
            if not was_turned_away(error):
                raise
        except Exception as error:
            logger.exception("A compaction of conversation %s failed.", conversation_id)
            raise UnavailableError(
                "Nothing was compacted: extracting or summing up the messages failed"
                f" ({type(error).__name__}). The messages are all there; try again."
            ) from error
        summary, kept = _context(viewer, plan)
        return Compacted(
            summary=summary,
            kept=kept,
            first=plan.first,
            last=plan.last,
            count=plan.last - plan.first + 1,
            extraction=counts_from_json(compaction.extraction),
        )
    raise ConflictError(
        "Nothing was compacted: others keep changing the conversation's memories; ask again."
    )


def _carry_out(viewer: Viewer, plan: CompactionPlan, tools: Tools) -> Compaction:
    """The summary and the compaction; ConflictError when what they rest on has changed."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        basis = _basis(plan)
    summary, prepared = sum_up(viewer=viewer, plan=plan, basis=basis, tools=tools)
    with team_scope(
        team_ids=[viewer.team_id],
        actor=viewer.actor,
        reason=f"compacted messages {plan.first} to {plan.last}",
        conversation_id=plan.conversation.pk,
    ):
        lock_summaries(plan.conversation)
        latest = latest_compaction(team_id=viewer.team_id, conversation_id=plan.conversation.pk)
        if (latest and latest.pk) != (plan.previous and plan.previous.pk):
            raise ConflictError("Another compaction came first.")
        if _basis(plan).points != basis.points:
            raise ConflictError("The memories changed while they were summed up.")
        memory = store_summary(
            viewer=viewer,
            plan=plan,
            prepared=prepared,
            tools=tools,
            op="create",
            meta={"from": plan.first, "to": plan.last, "points": len(basis.points)},
        )
        counts = report(jobs=plan.jobs)
        return Compaction.objects.create(
            team_id=viewer.team_id,
            conversation=plan.conversation,
            from_position=plan.first,
            to_position=plan.last,
            summary=summary,
            points=points_as_json(basis.points),
            summary_memory=memory,
            extraction=_named(counts, tools).as_json(),
        )


def _basis(plan: CompactionPlan) -> SummaryBasis:
    return summary_basis(
        conversation=plan.conversation,
        previous=plan.previous,
        first=plan.first,
        last=plan.last,
    )


def _context(viewer: Viewer, plan: CompactionPlan) -> tuple[str, list[Message]]:
    """The running summary and the messages that stay, as the conversation stands now."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        conversation = Conversation.objects.get(team_id=viewer.team_id, pk=plan.conversation.pk)
        kept = Message.objects.filter(
            team_id=viewer.team_id,
            conversation=conversation,
            position__gte=max(plan.first, plan.last + 1),
            position__lte=plan.conversation.last_position,
        )
        return running_summary(conversation=conversation), list(kept.order_by("position"))


def _nothing_to_do(viewer: Viewer, plan: CompactionPlan, tools: Tools) -> Compacted:
    previous = plan.previous
    summary, kept = _context(viewer, plan)
    return Compacted(
        summary=summary,
        kept=kept,
        first=previous.from_position if previous else 0,
        last=previous.to_position if previous else 0,
        count=0,
        extraction=_named(ExtractionCounts(), tools),
    )


def _named(counts: ExtractionCounts, tools: Tools) -> ExtractionCounts:
    """The counts, with the configured extractor's name if there was nothing to extract."""
    return counts if counts.extractor else replace(counts, extractor=tools.extractor.name)
