"""What an extraction did, as its job keeps it and as callers are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from memory.domain.types import Candidate, PassWork
from memory.services.write.drafts import Outcome, WriteResult

_STOOD_IN = "{who} did pass {number} where the model did not ({problem})."
_LEFT_OUT = "Pass {number} was left out where the model did not do it ({problem})."
_AVERAGES = ("seconds_per_message", "cost_usd_per_message")


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """What an extraction did; the names are those of the API's answer.

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
        """How long both passes took for a message, on average."""
        return round(self.extraction_seconds / max(1, self.messages_read), 6)

    @property
    def cost_usd_per_message(self) -> float:
        """What the models of both passes cost for a message, on average."""
        return round(self.extraction_cost_usd / max(1, self.messages_read), 6)


def count_results(
    *,
    candidates: Sequence[Candidate],
    results: Sequence[WriteResult],
    extractor: str,
    work: Sequence[PassWork] = (),
    messages_read: int = 0,
    secrets_masked: int = 0,
    left_out: int = 0,
    held_back: int = 0,
    refused: Mapping[str, int] | None = None,
    judging: Iterable[str] = (),
) -> ExtractionCounts:
    """The figures of one extraction; `work` is who did it, `extractor` who was asked.

    `secrets_masked` counts the candidates in which a secret was masked, `left_out` those that a
    cap kept out, `held_back` those that wait for a yes and were not given to the write path.
    `refused` is that of the screening, beside that of the work.
    `judging` says where others stood in for the judge.
    """
    spoke = {(each.extraction_pass, each.extractor) for each in work}
    spoke |= {(each.extraction_pass, each.extractor or extractor) for each in candidates}
    made = (Outcome.CREATED, Outcome.DISPUTED)
    versions = (Outcome.VERSIONED, Outcome.SUPERSEDED_EXISTING, Outcome.SUPERSEDED)
    return ExtractionCounts(
        created=sum(result.outcome in made for result in results),
        versioned=sum(result.outcome in versions for result in results),
        duplicates_skipped=sum(result.outcome == Outcome.DUPLICATE for result in results),
        contradictions_found=sum(result.conflicts for result in results),
        pass1_count=sum(candidate.extraction_pass == 1 for candidate in candidates),
        pass2_additions=sum(candidate.extraction_pass == 2 for candidate in candidates),
        extractor=_joined(name for _, name in spoke) or extractor,
        pass1_extractor=_joined(name for number, name in spoke if number == 1),
        pass2_extractor=_joined(name for number, name in spoke if number == 2),
        memories=tuple(
            dict.fromkeys(
                str(result.memory.pk) for result in results if result.outcome != Outcome.HELD
            )
        ),
        held_for_consent=held_back + sum(result.outcome == Outcome.HELD for result in results),
        secrets_masked=secrets_masked,
        left_out=left_out,
        refused=_summed(refused or {}, *(each.refused for each in work)),
        repaired=_summed(*(each.repaired for each in work)),
        messages_read=messages_read,
        extraction_seconds=round(sum(each.seconds for each in work), 6),
        extraction_cost_usd=float(sum(each.cost_usd for each in work)),
        warnings=tuple(
            dict.fromkeys((*(_stood_in(each) for each in work if each.problem), *judging))
        ),
    )


def add_counts(one: ExtractionCounts, other: ExtractionCounts) -> ExtractionCounts:
    """Two extractions reported as one."""
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
    """The figures as a job keeps them."""
    return asdict(counts) | {name: getattr(counts, name) for name in _AVERAGES}


def counts_from_json(result: dict[str, Any]) -> ExtractionCounts:  # Any: a field's value
    """The figures as a job kept them."""
    kept = {name: value for name, value in result.items() if name not in _AVERAGES}
    lists = {name: tuple(result.get(name, ())) for name in ("memories", "warnings")}
    return ExtractionCounts(**(kept | lists))
