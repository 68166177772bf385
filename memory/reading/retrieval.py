"""The one way out: a cached answer, else question, search, score, pack, render, cache.

Read `retrieve` first, then `prompt` and `search`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.db.models import Q

from memory.clients.afterwards import at_its_end
from memory.domain.audience import Viewer
from memory.domain.levels import Level as TextLevel
from memory.domain.levels import Levels
from memory.domain.plans.plan import RETRIEVAL, Plan
from memory.domain.rendering import ESTIMATE, TokenCounter
from memory.domain.scoring import Weights
from memory.domain.talk import SUMMARY_TAG
from memory.domain.types import MemoryType, Status
from memory.models import Contradiction, Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.answers import (
    Considered,
    Prompt,
    Retrieval,
    RetrievalStats,
    ScoredMemory,
    Stopwatch,
    nobody_named,
)
from memory.reading.cache import AnswerKey, Body, Made, Sent, answer_key, keep, look_up
from memory.reading.conflicts import Clash, clashes_among, opposites_among
from memory.reading.messages import load_messages
from memory.reading.packing import Packing, levels_among, likely_to_fit, pack_prompt, quoted
from memory.reading.ranking import (
    SEARCH_WEIGHTS,
    Question,
    Ranked,
    ReadQuestion,
    Score,
    by_policy,
    by_relevance,
    chosen,
    read_with_vector,
)
from memory.reading.search import Candidates, Depth, Search, relevant
from memory.reading.snapshots import snapshots
from memory.reading.sources import further_candidates, prefetch_key, read_prefetch
from memory.reading.usage import note_retrieved
from memory.selectors.contradictions import open_contradictions_among
from memory.selectors.loading.memories import memories_by_id
from memory.selectors.person_names import person_names
from memory.selectors.revisions import Revision
from memory.selectors.zones import zone_of
from memory.understanding.tools import Tools
from teams.services.team_settings import flags_of_id
from teams.tracing import note, step

logger = logging.getLogger(__name__)

# So many are among what the signals propose anyhow.
_USUAL_LIMIT = 50
# From this chance on a predicted memory is told whatever the question says.
_LIKELY = 0.5
# A prompt quotes at most so many messages; each takes up to some 120 tokens.
MOST_QUOTED = 20
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A question of a viewer, and how far the answer looks.

    `rows` narrows the memories to what a filter of the caller left, which are found however little
    they say. Memories that say less about the question than `min_score` (0-1) are left out and
    counted. `limit` is the most results; of a prompt, of those that are not mandatory. The memories
    in `also` are candidates whatever the search finds, and so are `predicted` ones, whose chances
    (0-1) are among the signals. Reads are counted unless `is_counted` is false. `revision` is the
    team's at any moment since somebody began to ask.
    """

    viewer: Viewer
    question: Question
    tools: Tools
    now: datetime
    limit: int | None = None
    depth: Depth = field(default_factory=Depth)
    rows: MemoryQuerySet | None = None
    min_score: float | None = None
    is_counted: bool = True
    revision: Revision | None = None
    also: Collection[UUID] = ()
    predicted: Mapping[UUID, float] = field(default_factory=dict)


def retrieve(read: Read, *, packing: Packing, render: Callable[[Prompt], Body], form: str) -> Sent:
    """Returns the prompt of a question as it is sent: the way out, with `prompt` below.

    Predicted memories are candidates, and those that are likelier than not to be needed are told
    whatever the question says. `form` is that of `answer_key`. An answer that `rows` narrow is not
    cached.
    """
    cached = look_up(
        _key(read, form, packing),
        viewer=read.viewer,
        now=read.now,
        revision=read.revision,
        beside=prefetch_key(read.viewer),
    )
    if cached.sent is not None:
        return cached.sent
    chances = {each.memory_id: each.confidence for each in read_prefetch(cached.beside)}
    likely = {pk for pk, chance in chances.items() if chance >= _LIKELY}
    with at_its_end():
        told = prompt(
            replace(read, predicted=chances),
            packing=replace(packing, keeps=lambda row: row.memory_id in likely),
        )
        return keep(cached, made_of(told, body=render(told), found_count=len(told.told)))


@step("retrieve")
def prompt(read: Read, *, packing: Packing, is_loaded: bool = True) -> Prompt:
    """Returns the prompt of a question: ranked by policy, packed into the budget of a plan.

    It holds identity, pinned memories and what the plan always tells, however little they say, and
    no types that the plan tells on request alone unless `rows` asks for them. Without `is_loaded`
    its memories are named and not loaded.
    """
    watch = Stopwatch()
    asked = _asked(read, watch)
    wanted = _search(read, asked, by_policy(packing.weights), plan=packing.plan)
    for snapshot in snapshots(viewer=read.viewer):
        with snapshot as current:
            revision = read.revision or current
            candidates = _with_further(wanted, read, asked).run(revision=revision)
            found, below = relevant(
                candidates, min_score=read.min_score, always=partial(_is_always_told, packing)
            )
            watch.lap("search")
            answer = _packed(read, asked, found, packing, is_loaded, watch)
    considered = Considered(candidates, found)
    return _finished(read, asked, replace(answer, considered=considered), revision, below, watch)


@step("search")
def search(read: Read, *, weights: Weights = SEARCH_WEIGHTS) -> Retrieval:
    """Returns the `limit` memories and messages that say most about the question, best first.

    Those that say nothing about it are left out, unless `rows` narrows the memories.
    """
    watch = Stopwatch()
    asked = _asked(read, watch)
    wanted = _search(read, asked, by_relevance(weights))
    for snapshot in snapshots(viewer=read.viewer):
        with snapshot as current:
            revision = read.revision or current
            candidates = _with_further(wanted, read, asked).run(revision=revision)
            found, below = relevant(candidates, min_score=read.min_score, always=lambda _: False)
            watch.lap("search")
            answer = _best(read, asked, found, watch)
    considered = Considered(candidates, found)
    return _finished(read, asked, replace(answer, considered=considered), revision, below, watch)


def _key(read: Read, form: str, packing: Packing | None) -> AnswerKey | None:
    if read.rows is not None:
        return None
    parts = {
        "question": read.question,
        "limit": read.limit,
        "depth": read.depth,
        "min_score": read.min_score,
        "packing": packing and [packing.weights, packing.token_budget, packing.counter.name],
    }
    return answer_key(form=form, viewer=read.viewer, tools=read.tools, now=read.now, parts=parts)


def made_of(found: Retrieval, *, body: Body, found_count: int) -> Made:
    """Returns the answer that `found` was rendered to, as the cache takes it."""
    return Made(
        body=body,
        memory_ids=[each.row.memory_id for each in found.told],
        found=found_count,
        similarity=found.similarity,
        revision=found.revision,
        read_messages=found.read_messages,
        stats=found.stats,
    )


def send_search(read: Read, *, render: Callable[[Retrieval], Body], form: str) -> Sent:
    """Returns the results of a search as they are sent, cached as those of `retrieve`."""
    cached = look_up(_key(read, form, None), viewer=read.viewer, now=read.now)
    if cached.sent is not None:
        return cached.sent
    with at_its_end():
        found = search(read)
        return keep(cached, made_of(found, body=render(found), found_count=len(found.results)))


def _asked(read: Read, watch: Stopwatch) -> ReadQuestion:
    asked = read_with_vector(
        read.question, team_id=read.viewer.team_id, tools=read.tools, now=read.now
    )
    watch.lap("question")
    return replace(asked, prefetched=read.predicted)


def _search(read: Read, asked: ReadQuestion, score: Score, *, plan: Plan | None = None) -> Search:
    most = read.limit or 0
    is_wide = plan is None and (read.rows is not None or most > _USUAL_LIMIT)
    return Search(
        viewer=read.viewer,
        question=asked,
        score=score,
        depth=read.depth,
        tools=read.tools,
        now=read.now,
        rows=read.rows,
        least=most if is_wide else 0,
        set_aside=plan.on_request if plan is not None and read.rows is None else (),
        with_project=plan is not None and plan.has_tiers,
    )


def _with_further(wanted: Search, read: Read, asked: ReadQuestion) -> Search:
    further = further_candidates(viewer=read.viewer, asked=asked.asked)
    return replace(wanted, also=(*read.also, *read.predicted, *further))


_Answer = TypeVar("_Answer", bound=Retrieval)


def _finished(
    read: Read,
    asked: ReadQuestion,
    answer: _Answer,
    revision: Revision | None,
    below: int,
    watch: Stopwatch,
) -> _Answer:
    """Counts what was told, and adds what the read took."""
    team_id = read.viewer.team_id
    if read.is_counted:
        ids = [each.row.memory_id for each in answer.told]
        note_retrieved(team_id=team_id, memory_ids=ids, now=read.now)
    for warning in answer.warnings:
        logger.warning("A prompt of team %s: %s.", team_id, warning)
    stats = replace(
        answer.stats,
        signals_hit=_signals_hit(answer.memories),
        total_ms=watch.total_ms,
        steps_ms=watch.steps_ms,
        warnings=(*asked.warnings, *answer.warnings, *nobody_named(read.viewer)),
        searched=answer.considered.found.searched,
        below_min_score=below,
    )
    note(
        {
            "candidates": len(answer.considered.relevant.memories),
            "told": len(answer.told),
            "tokens": stats.tokens_used,
            **{f"signals.{name}": hit for name, hit in stats.signals_hit.items()},
        }
    )
    # What words alone decided, while the embedder was away, is not worth caching.
    return replace(
        answer,
        stats=stats,
        revision=revision if asked.has_vector else None,
        words=tuple(asked.words),
    )


def _best(read: Read, asked: ReadQuestion, found: Candidates, watch: Stopwatch) -> Retrieval:
    """The memories and messages that say most about the question."""
    limit = read.limit or 0
    keeps_all = read.rows is not None
    said = [each for each in found.messages if each.table.semantic[each.place] > 0]
    messages = load_messages(viewer=read.viewer, question=asked, ranked=said, most=limit)
    watch.lap("messages")
    ranked = chosen(
        found.memories, keep=lambda each: keeps_all or each.table.semantic[each.place] > 0
    )
    ranks = sorted(
        [*(each.rank for each in ranked), *(each.score for each in messages)], reverse=True
    )[:limit]
    room = sum(each.rank >= ranks[-1] for each in ranked) if ranks else 0
    told = _best_first(ranked[: min(room, limit)])
    memories = _loaded(read.viewer, told)
    watch.lap("load")
    loaded = {each.id for each in memories}
    return Retrieval(
        memories=memories,
        messages=messages[: limit - len(memories)],
        told=[each for each in told if each.row.memory_id in loaded],
        considered=Considered(found, found),
        revision=None,
        words=(),
    )


def _packed(
    read: Read,
    asked: ReadQuestion,
    found: Candidates,
    packing: Packing,
    is_loaded: bool,
    watch: Stopwatch,
) -> Prompt:
    """The prompt of the candidates, and what is in it."""
    viewer = read.viewer
    summary_of = packing.summary_of
    ranked = [each for each in found.memories if not is_told_as_summary(each, of=summary_of)]
    ranked = chosen(ranked, keep=lambda _: True)
    if packing.choose is None and not packing.plan.has_tiers:
        ranked = likely_to_fit(ranked, token_budget=packing.token_budget)
    ranked = _best_first(ranked)
    messages = load_messages(viewer=viewer, question=asked, ranked=found.messages, most=MOST_QUOTED)
    watch.lap("messages")
    clashes = clashes_among(viewer=viewer, ranked=ranked, tools=read.tools)
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
        zone=zone_of(team_id=viewer.team_id, now=read.now),
        words=asked.words,
        limit=read.limit,
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
    return Prompt(
        memories=memories,
        messages=quoted(messages, assembly.quoted, words=asked.words),
        contradictions=contradictions,
        told=told,
        considered=Considered(found, found),
        revision=None,
        words=(),
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


def _is_always_told(packing: Packing, each: Ranked) -> bool:
    row = each.row
    return (
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
