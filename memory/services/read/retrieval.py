"""The one read path: who asks → what they may see → signals → score → budget → answer."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from uuid import UUID

from django.db.models import Q

from memory.domain.levels import Level as TextLevel
from memory.domain.levels import Levels
from memory.domain.plans.plan import RETRIEVAL
from memory.domain.scoring import Weights
from memory.domain.summarising import SUMMARY_TAG
from memory.domain.tokens import ESTIMATE, TokenCounter
from memory.domain.types import MemoryType, Status
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.contradictions import open_contradictions_among
from memory.selectors.loading.memories import memories_by_id
from memory.selectors.person_names import person_names
from memory.selectors.revisions import Revision
from memory.selectors.zones import zone_of
from memory.services.read.about_whom import nobody_named
from memory.services.read.answers import Considered, Retrieval, RetrievalStats, ScoredMemory
from memory.services.read.conflicts import Clash, clashes_among, opposites_among
from memory.services.read.messages import load_messages
from memory.services.read.prompt_packing import (
    Packing,
    levels_among,
    likely_to_fit,
    pack_prompt,
    quoted,
)
from memory.services.read.ranking import (
    SEARCH_WEIGHTS,
    Question,
    Ranked,
    ReadQuestion,
    by_policy,
    by_relevance,
    chosen,
    read_with_vector,
)
from memory.services.read.read_queue import queued_read
from memory.services.read.relevant import relevant
from memory.services.read.replica_reads import read_in_scope
from memory.services.read.search import Candidates, Depth, Search
from memory.services.read.sources import further_candidates
from memory.services.read.stopwatch import Stopwatch
from memory.services.read.usage import note_retrieved
from memory.understanding.tools import Tools
from teams.services.flags import flags_of_id
from teams.tracing import note, step

logger = logging.getLogger(__name__)

# So many are among what the signals propose anyhow.
_USUAL_LIMIT = 50
# A prompt quotes at most so many messages; each takes up to some 120 tokens.
MOST_QUOTED = 20
_NOTHING: Mapping[UUID, float] = MappingProxyType({})
_SIGNALS = ("semantic", "recency", "importance", "continuity", "relation")


def packing_for(
    *, weights: Weights, token_budget: int, counter: TokenCounter = ESTIMATE
) -> Packing:
    """How `POST /v1/retrieve` makes a prompt: identity, pinned, the profile, then the best."""
    return Packing(RETRIEVAL, weights, token_budget, counter)


def of_types(memory_types: Collection[str]) -> MemoryQuerySet | None:
    """What a prompt narrowed to these types may tell: identity and what is pinned come anyway.

    None where no type is named.
    """
    if not memory_types:
        return None
    return Memory.objects.filter(
        Q(memory_type__in=[*memory_types, MemoryType.IDENTITY.value]) | Q(is_pinned=True)
    )


@step("retrieve")
def retrieve(
    *,
    viewer: Viewer,
    question: Question,
    tools: Tools,
    now: datetime,
    limit: int | None = None,
    depth: Depth = Depth(),  # noqa: B008 - frozen
    packing: Packing | None = None,
    rows: MemoryQuerySet | None = None,
    weights: Weights = SEARCH_WEIGHTS,
    min_score: float | None = None,
    is_counted: bool = True,
    is_loaded: bool = True,
    revision: Revision | None = None,
    also: Collection[UUID] = (),
    prefetched: Mapping[UUID, float] = _NOTHING,
) -> Retrieval:
    """What says most about the question among what the viewer may see, best first.

    Without `packing` it is a search: at most `limit` results, ranked by `weights`, without what
    says nothing about the question. `rows` narrows it to what a filter of the caller's left, which
    is kept however little it says. With `packing` it is a prompt: ranked by its weights, conflicts
    marked, as much as the budget has room for, without the types that its plan tells on request
    alone, unless `rows` asks for them. What says less about
    the question than `min_score` is left out and counted, nothing without it; a prompt tells
    identity, what is pinned and what its plan always tells all the same.

    Reads are counted unless `is_counted` is false; without `is_loaded` the memories of a prompt
    are named and not loaded. `revision` is the team's at any moment since somebody began to ask.
    The memories `also` named are candidates whatever the signals propose, and so are `prefetched`
    ones, whose chances of 0-1 are among the signals.
    """
    watch = Stopwatch()
    asked = read_with_vector(question, team_id=viewer.team_id, tools=tools, now=now)
    asked = replace(asked, prefetched=prefetched)
    watch.lap("question")
    keeps_all = rows is not None
    most = limit or 0

    def read(current: Revision | None) -> tuple[Retrieval, Candidates, int]:
        """The answer, the candidates that are relevant enough, and how many others there were."""
        known = revision or current
        every = Search(
            viewer=viewer,
            question=asked,
            score=by_policy(packing.weights) if packing else by_relevance(weights),
            depth=depth,
            tools=tools,
            now=now,
            rows=rows,
            least=most if keeps_all or most > _USUAL_LIMIT else 0,
            set_aside=packing.plan.on_request if packing and rows is None else (),
            with_project=packing is not None and packing.plan.has_tiers,
            revision=known,
            also=(*also, *prefetched, *further_candidates(viewer=viewer, asked=asked.asked)),
        ).run()
        found, below = relevant(
            every, min_score=min_score, always=partial(_is_always_told, packing)
        )
        watch.lap("search")
        if packing is None:
            answer = _best(viewer, asked, found, watch, limit=most, keeps_all=keeps_all)
        else:
            answer = _prompt(viewer, asked, found, packing, limit, is_loaded, tools, now, watch)
        considered = Considered(every, found)
        return replace(answer, considered=considered, revision=known), found, below

    with queued_read():
        answer, found, below = read_in_scope(viewer=viewer, read=read)
    if is_counted:
        ids = [each.row.memory_id for each in answer.told]
        note_retrieved(team_id=viewer.team_id, memory_ids=ids, now=now)
    for warning in answer.warnings:
        logger.warning("A prompt of team %s: %s.", viewer.team_id, warning)
    stats = replace(
        answer.stats,
        signals_hit=_signals_hit(answer.memories),
        total_ms=watch.total_ms,
        steps_ms=watch.steps_ms,
        warnings=(*asked.warnings, *answer.warnings, *nobody_named(viewer)),
        searched=found.searched,
        below_min_score=below,
    )
    note(
        {
            "candidates": len(found.memories),
            "told": len(answer.told),
            "tokens": stats.tokens_used,
            **{f"signals.{name}": hit for name, hit in stats.signals_hit.items()},
        }
    )
    # What words alone decided, while the embedder was away, is not worth keeping.
    revision = answer.revision if asked.has_vector else None
    return replace(
        answer,
        stats=stats,
        revision=revision,
        words=tuple(asked.words),
    )


def _best(
    viewer: Viewer,
    asked: ReadQuestion,
    found: Candidates,
    watch: Stopwatch,
    *,
    limit: int,
    keeps_all: bool,
) -> Retrieval:
    """The `limit` memories and messages that say most about the question."""
    said = [each for each in found.messages if each.table.semantic[each.place] > 0]
    messages = load_messages(viewer=viewer, question=asked, ranked=said, most=limit)
    watch.lap("messages")
    ranked = chosen(
        found.memories, keep=lambda each: keeps_all or each.table.semantic[each.place] > 0
    )
    ranks = sorted(
        [*(each.rank for each in ranked), *(each.score for each in messages)], reverse=True
    )[:limit]
    room = sum(each.rank >= ranks[-1] for each in ranked) if ranks else 0
    told = _best_first(ranked[: min(room, limit)])
    memories = _loaded(viewer, told)
    watch.lap("load")
    kept = {each.id for each in memories}
    return Retrieval(
        memories=memories,
        messages=messages[: limit - len(memories)],
        stats=RetrievalStats(),
        told=[each for each in told if each.row.memory_id in kept],
    )


def _prompt(
    viewer: Viewer,
    asked: ReadQuestion,
    found: Candidates,
    packing: Packing,
    limit: int | None,
    is_loaded: bool,
    tools: Tools,
    now: datetime,
    watch: Stopwatch,
) -> Retrieval:
    """The prompt of the candidates, and what is in it."""
    summary_of = packing.summary_of
    ranked = [each for each in found.memories if not is_told_as_summary(each, of=summary_of)]
    ranked = chosen(ranked, keep=lambda _: True)
    if packing.choose is None and not packing.plan.has_tiers:
        ranked = likely_to_fit(ranked, token_budget=packing.token_budget)
    ranked = _best_first(ranked)
    messages = load_messages(viewer=viewer, question=asked, ranked=found.messages, most=MOST_QUOTED)
    watch.lap("messages")
    clashes = clashes_among(viewer=viewer, ranked=ranked, tools=tools)
    if clashes and not flags_of_id(team_id=viewer.team_id).contradiction_detection:
        clashes = []
    ends = found.ends
    sections: Mapping[UUID, str] = {}
    names = person_names(
        team_id=viewer.team_id, texts=[(each.row.memory_id, each.row.content) for each in ranked]
    )
    named = {each.row.memory_id for each in ranked}
    if packing.choose is not None:
        narrowed = packing.choose(ranked, clashes, names)
        ranked, clashes = list(narrowed.ranked), list(narrowed.clashes)
        ends, sections = narrowed.together, narrowed.sections
    opposed = opposites_among(viewer=viewer, ranked=ranked, clashes=clashes)
    further = [each for each in opposed.contents if each[0] not in named]
    if further:
        names = names.joined(person_names(team_id=viewer.team_id, texts=further))
    watch.lap("conflicts and names")
    assembly = pack_prompt(
        packing,
        ranked=ranked,
        messages=messages,
        opposites=opposed.told(names),
        ends=ends,
        names=names,
        zone=zone_of(team_id=viewer.team_id, now=now),
        words=asked.words,
        limit=limit,
        sections=sections,
        levels=levels_among(packing, team_id=viewer.team_id, ranked=ranked, sections=sections),
    )
    watch.lap("pack")
    tokens = {each.entry.key: each.tokens for each in assembly.told}
    levels = {each.entry.key: (each.level, each.entry.levels) for each in assembly.told}
    told = [each for each in ranked if each.row.memory_id in tokens]
    memories = _loaded(viewer, told) if is_loaded else []
    memories = [
        _told_at(replace(each, tokens=tokens[each.id]), *levels[each.id]) for each in memories
    ]
    contradictions = _contradictions(viewer, told, memories, clashes)
    watch.lap("load")
    return Retrieval(
        memories=memories,
        messages=quoted(messages, assembly.quoted, words=asked.words),
        contradictions=contradictions,
        told=told,
        assembly=assembly,
        has_heard_names=names.is_heard,
        stats=RetrievalStats(
            tokens_used=assembly.tokens_used,
            token_budget=packing.token_budget,
            token_counter=packing.counter.name,
            warnings=assembly.warnings,
            duplicates=len(assembly.duplicates),
        ),
    )


def _told_at(found: ScoredMemory, level: TextLevel, levels: Levels | None) -> ScoredMemory:
    shorter = levels.at(level, "") if levels is not None else ""
    return replace(found, text_level=level, shorter=shorter)


def _is_always_told(packing: Packing | None, each: Ranked) -> bool:
    row = each.row
    return packing is not None and (
        row.is_pinned
        or (packing.keeps is not None and packing.keeps(row))
        or row.memory_type == MemoryType.IDENTITY
        or row.memory_type in packing.plan.always
    )


def _best_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """By score; equal ones stay in their order."""
    return sorted(ranked, key=lambda each: -each.score)


def is_told_as_summary(each: Ranked, *, of: UUID | None) -> bool:
    """Whether a candidate is a summary of the conversation whose summary the prompt holds."""
    row = each.row
    return (
        of is not None
        and row.conversation_id == of
        and not row.is_pinned
        and SUMMARY_TAG in (row.tags or ())
    )


@step("retrieve.load")
def _loaded(viewer: Viewer, ranked: Sequence[Ranked]) -> list[ScoredMemory]:
    """The memories of ranked candidates, in their order."""
    memories = memories_by_id(viewer=viewer, ids=[each.row.memory_id for each in ranked])
    return [
        ScoredMemory(memories[each.row.memory_id], each.score, each.signals)
        for each in ranked
        if each.row.memory_id in memories
    ]


def _contradictions(
    viewer: Viewer,
    told: Sequence[Ranked],
    memories: Sequence[ScoredMemory],
    clashes: Sequence[Clash],
) -> list[Contradiction]:
    """The open contradictions of the loaded memories, recorded or seen only now."""
    shown = {each.id: each.memory for each in memories}
    if not shown:
        return []
    recorded: list[Contradiction] = []
    if any(each.row.status == Status.DISPUTED for each in told):
        recorded = open_contradictions_among(viewer=viewer, memory_ids=list(shown))
    seen = [
        each.as_contradiction(
            earlier=shown[each.earlier.memory_id], later=shown[each.later.memory_id]
        )
        for each in clashes
        if each.earlier.memory_id in shown and each.later.memory_id in shown
    ]
    return [*recorded, *seen]


def _signals_hit(chosen: Sequence[ScoredMemory]) -> dict[str, int]:
    """How many of the memories each signal speaks for."""
    signals = [each.signals for each in chosen]
    return {name: sum(getattr(each, name) > 0.01 for each in signals) for name in _SIGNALS}
