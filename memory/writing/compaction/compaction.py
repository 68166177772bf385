"""The compaction shield: extract and summarise messages before they leave a context."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db import OperationalError

from memory.domain.audience import Viewer
from memory.models import Compaction
from memory.understanding.tools import Tools
from memory.writing.compaction.compaction_plan import (
    CompactionPlan,
    extract_first,
    plan_compaction,
)
from memory.writing.compaction.summaries import points_as_json, running_summary
from memory.writing.compaction.summary_memory import new_summary, renew_summary
from memory.writing.extraction.outcomes import ExtractionCounts, counts_from_json
from memory.writing.extraction.waiting import StillExtractingError, report
from memory.writing.retrying import was_turned_away
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
                return _result(viewer, plan, plan.previous, tools, count=0)
            if plan.is_shielded:
                extract_first(plan=plan, tools=tools, until=until)
            compaction = _carry_out(viewer, plan, tools)
        except StillExtractingError:
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


def _carry_out(viewer: Viewer, plan: CompactionPlan, tools: Tools) -> Compaction:
    """The summary and the compaction; ConflictError when what they rest on has changed."""
    with new_summary(viewer=viewer, plan=plan, tools=tools) as summary:
        counts = report(jobs=plan.jobs)
        return Compaction.objects.create(
            team_id=viewer.team_id,
            conversation=plan.conversation,
            from_position=plan.first,
            to_position=plan.last,
            summary=summary.text,
            points=points_as_json(summary.points),
            summary_memory=summary.memory,
            extraction=asdict(_named(counts, tools)),
        )


def _result(
    viewer: Viewer, plan: CompactionPlan, done: Compaction | None, tools: Tools, *, count: int
) -> Compacted:
    """The running summary and the messages that stay, as the conversation stands now."""
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
    """The counts, with the configured extractor's name if there was nothing to extract."""
    return counts if counts.extractor else replace(counts, extractor=tools.extractor.name)
