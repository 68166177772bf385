"""Outcomes of extraction: the figures of a job, and operational events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

from pydantic import TypeAdapter

from audit.services.events import Event
from memory.domain.types import PassWork
from memory.models import Job
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.rules import Window

_VERSIONS = (Outcome.VERSIONED, Outcome.SUPERSEDED_EXISTING, Outcome.SUPERSEDED)


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """Figures of an extraction; the names are those of the API's answer.

    The extractors are those that did the work ("openai:x+rules"). `left_out` counts the candidates
    over the caps of a turn and a day, which a later run writes, and `held_for_consent` those that
    wait for a person's consent. `refused` counts a model's proposals that could not be written,
    and `repaired` the fields that were corrected, each by reason. `extraction_seconds` and
    `extraction_cost_usd` cover both passes.
    """

    created: int = 0
    versioned: int = 0
    duplicates_skipped: int = 0
    contradictions_found: int = 0
    pass1_count: int = 0
    pass2_additions: int = 0
    extractor: str = ""
    pass1_extractor: str = ""
    pass2_extractor: str = ""
    memories: tuple[str, ...] = ()
    secrets_masked: int = 0
    left_out: int = 0
    held_for_consent: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    repaired: Mapping[str, int] = field(default_factory=dict)
    messages_read: int = 0
    extraction_seconds: float = 0.0
    extraction_cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def seconds_per_message(self) -> float:
        """Returns how long both passes took for a message, on average."""
        return round(self.extraction_seconds / max(1, self.messages_read), 6)

    @property
    def cost_usd_per_message(self) -> float:
        """Returns what the models of both passes cost for a message, on average."""
        return round(self.extraction_cost_usd / max(1, self.messages_read), 6)


_COUNTS = TypeAdapter(ExtractionCounts)


def count_results(
    *,
    window: Window,
    results: Sequence[WriteResult],
    held: int,
    extractor: str,
    judging: Iterable[str] = (),
) -> ExtractionCounts:
    """Returns the figures of a window.

    `held` counts the candidates that never reached the write path, `extractor` is the configured
    one, and `judging` says what replaced the judge.
    """
    found, work = window.found.candidates, window.found.work
    extractor = "" if window.is_rest else extractor
    names = {(each.extraction_pass, each.extractor) for each in work}
    names |= {(each.extraction_pass, each.extractor or extractor) for each in found}
    outcomes = Counter(result.outcome for result in results)
    written = [result for result in results if result.outcome is not Outcome.HELD]
    problems = [_warning(each) for each in work if each.problem]
    return ExtractionCounts(
        created=outcomes[Outcome.CREATED] + outcomes[Outcome.DISPUTED],
        versioned=sum(outcomes[each] for each in _VERSIONS),
        duplicates_skipped=outcomes[Outcome.DUPLICATE],
        contradictions_found=sum(result.conflicts for result in results),
        pass1_count=sum(candidate.extraction_pass == 1 for candidate in found),
        pass2_additions=sum(candidate.extraction_pass == 2 for candidate in found),
        extractor=_joined(name for _, name in names) or extractor,
        pass1_extractor=_joined(name for number, name in names if number == 1),
        pass2_extractor=_joined(name for number, name in names if number == 2),
        memories=tuple(dict.fromkeys(str(result.memory.pk) for result in written)),
        held_for_consent=held + outcomes[Outcome.HELD],
        secrets_masked=window.secrets_masked,
        refused=_summed(window.refused, *(each.refused for each in work)),
        repaired=_summed(*(each.repaired for each in work)),
        messages_read=window.messages,
        extraction_seconds=round(sum(each.seconds for each in work), 6),
        extraction_cost_usd=float(sum(each.cost_usd for each in work)),
        warnings=tuple(dict.fromkeys((*problems, *judging))),
    )


def add_counts(one: ExtractionCounts, other: ExtractionCounts) -> ExtractionCounts:
    """Returns two extractions reported as one."""
    total: dict[str, Any] = {}  # Any: a number, a list or the names of extractors
    for each in fields(ExtractionCounts):
        first, second = getattr(one, each.name), getattr(other, each.name)
        if isinstance(first, int | float):
            total[each.name] = round(first + second, 6)
        elif isinstance(first, Mapping):
            total[each.name] = _summed(first, second)
        elif isinstance(first, tuple):
            total[each.name] = tuple(dict.fromkeys((*first, *second)))
        else:
            total[each.name] = _joined(f"{first}+{second}".split("+"))
    return ExtractionCounts(**total)


def counts_as_json(counts: ExtractionCounts) -> dict[str, Any]:  # Any: a field's value
    """Returns the figures as a job stores them."""
    averages = ("seconds_per_message", "cost_usd_per_message")
    return asdict(counts) | {name: getattr(counts, name) for name in averages}


def counts_from_json(result: dict[str, Any]) -> ExtractionCounts:  # Any: a field's value
    """Returns the figures that a job stored."""
    return _COUNTS.validate_python(result)


def _summed(*counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sum((Counter(each) for each in counts), Counter()))


def _joined(names: Iterable[str]) -> str:
    return "+".join(sorted({name for name in names if name}))


def _warning(work: PassWork) -> str:
    number, problem = work.extraction_pass, work.problem
    if work.extractor:
        return f"{work.extractor} did pass {number} where the model did not ({problem})."
    return f"Pass {number} was left out where the model did not do it ({problem})."


# -- operational events ----------------------------------------------------------------------


def job_event(job: Job, *, status: str = "ok", **meta: object) -> Event:
    """Returns what happened to a job as an operational event; `meta` holds no texts."""
    return Event(
        node="worker",
        op=job.kind,
        status=status,
        end_user_id=job.conversation.end_user_id,
        conversation_id=job.conversation_id,
        meta=meta,
    )


def window_events(
    *, window: Window, results: Sequence[WriteResult], over_day: int
) -> Iterator[Event]:
    """Yields what became of a window as counts and reasons, without texts."""
    written = len(results)
    yield job_event(window.job, messages=window.messages, written=written)
    event = partial(
        Event,
        node="extract",
        end_user_id=window.job.conversation.end_user_id,
        conversation_id=window.job.conversation_id,
    )
    for each in window.found.work:
        if each.problem:
            meta = {"pass": each.extraction_pass, "extractor": each.extractor}
            yield event(op="stand_in", status="error", meta=meta | {"problem": each.problem})
    if not window.is_rest:
        candidates, rejected = len(window.found.candidates), window.refused.total()
        yield event(
            op="validate",
            status="skipped" if rejected or window.over_turn else "ok",
            meta={
                "candidates": candidates,
                "first_time": candidates - rejected,
                "rejected": rejected,
                "over_turn_cap": len(window.over_turn),
                "problems": dict(window.refused),
            },
        )
        if window.secrets_masked:
            yield event(op="mask_secret", meta={"candidates": window.secrets_masked})
    if written or over_day:
        similar = [each.similarity for each in results if each.similarity is not None]
        counts = Counter(result.outcome.value for result in results)
        yield event(
            op="create",
            status="skipped" if over_day else "ok",
            similarity=max(similar, default=None),
            meta={**counts, "over_daily_cap": over_day},
        )
