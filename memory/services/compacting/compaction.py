"""The compaction shield: extract and sum up first, and only then let messages leave a context."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db import OperationalError

from audit.services.events import Event, record_events
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Compaction
from memory.services.compacting.compaction_plan import (
    CompactionPlan,
    extract_first,
    plan_compaction,
)
from memory.services.compacting.renewing import renew_summary
from memory.services.compacting.running import running_summary
from memory.services.compacting.summaries import (
    SummaryBasis,
    latest_compaction,
    points_as_json,
    summary_basis,
)
from memory.services.compacting.summary_memory import sum_up, take_turn
from memory.services.extracting.extraction import ExtractionCounts, counts_from_json
from memory.services.extracting.waiting import StillExtractingError, report
from memory.services.retrying import was_turned_away
from memory.services.writing.write_path import store
from memory.services.writing.written import count_written
from teams.errors import ConflictError, UnavailableError
from teams.models import Conversation, Message
from teams.tenancy import team_scope

_ATTEMPTS = 5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did: the running summary, what stays, and what it stands for.

    `count` is 0 when nothing had to go; the summary is then that of the last compaction, made anew
    where something that it tells was deleted, corrected or superseded since.
    `extraction` covers what was extracted from the messages and not reported to anybody before.
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
    """Extract and sum up everything but the last messages, then say what may leave the context.

    Either `keep_last` messages stay or as many of the last as fit `max_tokens`. The summary and
    the compaction are one transaction after all is extracted; when anything fails nothing is
    compacted and UnavailableError says so. Messages stay in the log for ever; calling it again
    goes on from what was done. Raises StillExtractingError when there is more to extract after
    `seconds` (COMPACT_WAIT_SECONDS): nothing is compacted, the extraction goes on, and the same
    call succeeds when it has ended. Raises NotFoundError for an invisible conversation. Where the
    team's compaction shield is switched off, the summary is made of what was extracted by then,
    and the rest is extracted behind it.
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
        take_turn(plan.conversation)
        latest = latest_compaction(team_id=viewer.team_id, conversation_id=plan.conversation.pk)
        if (latest and latest.pk) != (plan.previous and plan.previous.pk):
            raise ConflictError("Another compaction came first.")
        if _basis(plan).points != basis.points:
            raise ConflictError("The memories changed while they were summed up.")
        (result,) = store(viewer=viewer, prepared=prepared, tools=tools)
        count_written([result])
        counts = report(jobs=plan.jobs)
        record_events(
            team_id=viewer.team_id,
            events=[
                Event(
                    node="compact",
                    op="create",
                    memory_id=result.memory.pk,
                    end_user_id=plan.conversation.end_user_id,
                    conversation_id=plan.conversation.pk,
                    meta={"from": plan.first, "to": plan.last, "points": len(basis.points)},
                )
            ],
        )
        return Compaction.objects.create(
            team_id=viewer.team_id,
            conversation=plan.conversation,
            from_position=plan.first,
            to_position=plan.last,
            summary=summary,
            points=points_as_json(basis.points),
            summary_memory=result.memory,
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
    """The figures with the extractor that was at hand, where none had anything to do."""
    return counts if counts.extractor else replace(counts, extractor=tools.extractor.name)
