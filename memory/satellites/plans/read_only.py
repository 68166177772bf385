"""Facts for a request as a read-only block that is authoritative (seed 001)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.clashes import Cause, Conflict, LeftOut, Rules
from memory.domain.plans.plan import CHARACTERS, NOTHING_KNOWN, read_only_plan
from memory.domain.scoring import Weights
from memory.domain.types import Scope
from memory.models import Memory
from memory.reading.answers import Prompt
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import prompt
from memory.reading.snapshots import at_snapshot
from memory.satellites.plans.choosing import (
    FactChooser,
    RequestType,
    Selection,
    asks_nothing,
    kind_of_request,
)
from memory.selectors.memories import memories_by_id
from memory.understanding.tools import Tools
from teams.domain.team_settings import ContextSettings
from teams.services.team_settings import context_settings_of

# What is only chosen and not written has no other bound than the candidates.
_NO_BOUND = 10_000_000
# Relevance (0-1) of what is told although the request asks nothing of memory.
_UNASKED_RELEVANCE = 0.15


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A request for facts; None and empty fields leave the choice to the team's settings.

    `scopes` narrows those that are asked, and `categories` stand in place of those that the kind
    of the request needs. Without `max_chars` the length of the block is not bounded by the caller.
    If `only_known` the block says that nothing else is known, also where there are no facts.
    """

    question: Question
    threshold: float | None = None
    max_chars: int | None = None
    scopes: tuple[Scope, ...] = ()
    categories: tuple[str, ...] = ()
    only_known: bool = False


@dataclass(frozen=True, slots=True)
class ChosenFact:
    """A fact that is told, the scope it counts in, why, and whether it is told as disputed."""

    memory: Memory
    scope: Scope
    reason: str
    is_flagged: bool


@dataclass(frozen=True, slots=True)
class ReadOnlyContext:
    """The block, the facts in it in their order, and what of the candidates is not in it.

    `threshold` is the confidence that was asked for, `asked` the scopes that were, and `enough`
    says why no further one was. Without facts there is no block, unless `only_known` was asked.
    """

    context: str
    facts: tuple[ChosenFact, ...]
    left_out: tuple[LeftOut, ...]
    conflicts: tuple[Conflict, ...]
    request_type: RequestType
    categories: tuple[str, ...]
    threshold: float
    asked: tuple[Scope, ...]
    enough: str
    is_truncated: bool
    retrieval: Prompt


def read_only_context(
    *,
    viewer: Viewer,
    request: ContextRequest,
    weights: Weights,
    tools: Tools,
    now: datetime,
    is_written: bool = True,
) -> ReadOnlyContext:
    """Returns the facts for the request as a block; chosen alone unless `is_written`."""
    settings = context_settings_of(team_id=viewer.team_id)
    kind = kind_of_request(request.question.text)
    max_chars = request.max_chars or settings.max_chars
    rules = _rules(settings, request, kind, max_chars)
    chooser = FactChooser(
        viewer,
        request.question.conversation_id,
        rules,
        now,
        request=request.question.text,
        kind=None if request.categories else kind,
    )
    plan = read_only_plan(
        rules.scopes, has_marker=settings.read_only_marker, is_closed=request.only_known
    )
    found = prompt(
        Read(
            viewer=viewer,
            question=request.question,
            depth=Depth(include_cold=False, include_raw=False),
            min_score=_least_relevance(request),
            tools=tools,
            now=now,
        ),
        packing=Packing(
            plan=plan,
            weights=weights,
            token_budget=max_chars if is_written else _NO_BOUND,
            counter=CHARACTERS,
            choose=chooser.choose,
            keeps=chooser.keeps,
        ),
        is_loaded=False,
    )
    selection = chooser.selection
    told = {each.row.memory_id for each in found.told}
    facts = _loaded(viewer, selection, told)
    cut = _cut(selection, found, told, max_chars)
    block = found.formatted_prompt
    if request.only_known and not block:
        block = f"{plan.blocks[0].opening}\n{NOTHING_KNOWN}\n\n{plan.blocks[0].closing}"
    return ReadOnlyContext(
        context=block if is_written else "",
        facts=facts,
        left_out=(*selection.left_out, *cut),
        conflicts=selection.conflicts,
        request_type=kind,
        categories=rules.categories,
        threshold=rules.threshold,
        asked=selection.asked or rules.scopes,
        enough=selection.enough,
        is_truncated=any(each.cause is Cause.BUDGET for each in cut),
        retrieval=found,
    )


def _least_relevance(request: ContextRequest) -> float | None:
    is_open = not request.categories and asks_nothing(request.question.text)
    return _UNASKED_RELEVANCE if is_open else None


def _rules(
    settings: ContextSettings, request: ContextRequest, kind: RequestType, max_chars: int
) -> Rules:
    threshold = settings.confidence_threshold if request.threshold is None else request.threshold
    if kind is RequestType.GENERAL and not request.categories:
        threshold = max(threshold, settings.general_confidence)
    scopes = tuple(map(Scope, settings.scope_priority))
    return Rules(
        categories=request.categories or tuple(getattr(settings.categories, kind.value)),
        threshold=threshold,
        scopes=tuple(each for each in scopes if each in request.scopes or not request.scopes),
        enough_facts=settings.enough_facts,
        enough_chars=int(settings.enough_share * max_chars),
        resolves_conflicts=settings.detect_conflicts,
    )


def _loaded(viewer: Viewer, selection: Selection, told: set[UUID]) -> tuple[ChosenFact, ...]:
    memories = at_snapshot(lambda _: memories_by_id(viewer=viewer, ids=list(told)), viewer=viewer)
    return tuple(
        ChosenFact(memories[each.fact.key], each.fact.scope, each.reason, bool(each.rivals))
        for each in selection.kept
        if each.fact.key in memories and each.fact.scope is not None
    )


def _cut(selection: Selection, found: Prompt, told: set[UUID], max_chars: int) -> list[LeftOut]:
    """Returns the chosen facts that the block omits: no room, or another line says the same."""
    repeated = dict(found.assembly.duplicates) if found.assembly else {}
    return [
        LeftOut(key, Cause.DUPLICATE, f"{repeated[key]} says the same")
        if key in repeated
        else LeftOut(key, Cause.BUDGET, f"it found no room in {max_chars} characters")
        for key in (each.fact.key for each in selection.kept)
        if key not in told
    ]
