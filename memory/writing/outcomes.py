"""Outcomes of extraction: the figures of a job, operational events, and counters for /metrics."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.db import transaction
from django_redis import get_redis_connection

from audit.services.events import Event
from memory.domain.types import PassWork
from memory.models import Job
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.rules import Window
from routing.clients.quick_redis import quick_redis

_STOOD_IN = "{who} did pass {number} where the model did not ({problem})."
_LEFT_OUT = "Pass {number} was left out where the model did not do it ({problem})."
_VERSIONS = (Outcome.VERSIONED, Outcome.SUPERSEDED_EXISTING, Outcome.SUPERSEDED)
_AVERAGES = ("seconds_per_message", "cost_usd_per_message")


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """Figures of an extraction; the names are those of the API's answer.

    The extractors are those that did the work ("openai:x+rules"), found something or not.
    `left_out` counts what waits: the caps of a turn and a day kept it out. A later run writes it.
    `held_for_consent` counts what would change a person's profile and waits for a yes.
    `refused` counts by reason the proposals of a model that could not be written, `repaired` the
    fields of the others that were put right; their words are never edited. Both passes over
    `messages_read` messages took `extraction_seconds`, and the models that did them cost
    `extraction_cost_usd`.
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


def count_results(
    *,
    window: Window,
    results: Sequence[WriteResult],
    held: int,
    extractor: str,
    judging: Iterable[str] = (),
) -> ExtractionCounts:
    """Returns the figures of a window.

    `held` counts the candidates that wait for a yes and were not given to the write path. The
    `extractor` was asked; `judging` says who replaced the judge.
    """
    found, work = window.found.candidates, window.found.work
    extractor = "" if window.is_rest else extractor
    spoke = {(each.extraction_pass, each.extractor) for each in work}
    spoke |= {(each.extraction_pass, each.extractor or extractor) for each in found}
    outcomes = Counter(result.outcome for result in results)
    written = [result for result in results if result.outcome is not Outcome.HELD]
    return ExtractionCounts(
        created=outcomes[Outcome.CREATED] + outcomes[Outcome.DISPUTED],
        versioned=sum(outcomes[each] for each in _VERSIONS),
        duplicates_skipped=outcomes[Outcome.DUPLICATE],
        contradictions_found=sum(result.conflicts for result in results),
        pass1_count=sum(candidate.extraction_pass == 1 for candidate in found),
        pass2_additions=sum(candidate.extraction_pass == 2 for candidate in found),
        extractor=_joined(name for _, name in spoke) or extractor,
        pass1_extractor=_joined(name for number, name in spoke if number == 1),
        pass2_extractor=_joined(name for number, name in spoke if number == 2),
        memories=tuple(dict.fromkeys(str(result.memory.pk) for result in written)),
        held_for_consent=held + outcomes[Outcome.HELD],
        secrets_masked=window.secrets_masked,
        refused=_summed(window.refused, *(each.refused for each in work)),
        repaired=_summed(*(each.repaired for each in work)),
        messages_read=window.messages,
        extraction_seconds=round(sum(each.seconds for each in work), 6),
        extraction_cost_usd=float(sum(each.cost_usd for each in work)),
        warnings=tuple(
            dict.fromkeys((*(_stood_in(each) for each in work if each.problem), *judging))
        ),
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


def _summed(*counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sum((Counter(each) for each in counts), Counter()))


def _joined(names: Iterable[str]) -> str:
    return "+".join(sorted({name for name in names if name}))


def _stood_in(work: PassWork) -> str:
    told = _STOOD_IN if work.extractor else _LEFT_OUT
    return told.format(who=work.extractor, number=work.extraction_pass, problem=work.problem)


def counts_as_json(counts: ExtractionCounts) -> dict[str, Any]:  # Any: a field's value
    """Returns the figures as a job keeps them."""
    return asdict(counts) | {name: getattr(counts, name) for name in _AVERAGES}


def counts_from_json(result: dict[str, Any]) -> ExtractionCounts:  # Any: a field's value
    """Returns the figures as a job kept them."""
    kept = {name: value for name, value in result.items() if name not in _AVERAGES}
    lists = {name: tuple(result.get(name, ())) for name in ("memories", "warnings")}
    return ExtractionCounts(**(kept | lists))


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
    """Yields what became of a window: counts and reasons, and no texts."""
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
            names = {"pass": each.extraction_pass, "extractor": each.extractor}
            yield event(op="stand_in", status="error", meta=names | {"problem": each.problem})
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


# -- counters in Redis -----------------------------------------------------------------------

# Upper bounds of the histograms' buckets, for one message in one pass.
SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COST_USD = (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1.0)
_BOUNDS = {"seconds": SECONDS, "cost": COST_USD}
_SUM = "sum"


def count_work(work: Iterable[PassWork]) -> None:
    """Counts who read how many messages once the transaction commits; never fails or undoes it.

    A message counts once for each pass, with its share of the stretch it was read in, under the
    model that was asked, else under who did the work without one.
    """
    rows = [each for each in work if each.messages]

    def count() -> None:
        pipe = quick_redis().pipeline()
        for each in rows:
            model = each.asked or each.extractor
            for kind, whole in (("seconds", each.seconds), ("cost", float(each.cost_usd))):
                place = bisect_left(_BOUNDS[kind], whole / each.messages)
                pipe.hincrby(_key(kind), f"{place}|{model}", each.messages)
                pipe.hincrbyfloat(_key(kind), f"{_SUM}|{model}", whole)
        quick_redis().ask(lambda _: pipe.execute())

    if rows:
        transaction.on_commit(count)


def work_counts(kind: str) -> dict[str, tuple[list[tuple[str, int]], float]]:
    """Returns by model the histogram of "seconds" or "cost": messages up to each bound, and a sum.

    The last bound is "+Inf". Raises RedisError when Redis is away.
    """
    kept: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, value in get_redis_connection("default").hgetall(_key(kind)).items():
        place, _, model = name.decode().partition("|")
        kept[model][place] = float(value)
    bounds = (*map(str, _BOUNDS[kind]), "+Inf")
    found = {}
    for model, places in kept.items():
        counts = accumulate(int(places.get(str(place), 0)) for place in range(len(bounds)))
        found[model] = list(zip(bounds, counts, strict=True)), places.get(_SUM, 0.0)
    return found


def _key(kind: str) -> str:
    return f"{settings.REDIS_PREFIX}:extraction_{kind}"
