"""The way out: a cached answer, else question, search, score, pack, render, cache.

Read `retrieve` first, then `prompt` and `search`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from memory.clients.afterwards import at_its_end
from memory.domain.scoring import Weights
from memory.reading.answers import (
    Considered,
    Prompt,
    Retrieval,
    Stopwatch,
    loaded,
    nobody_named,
)
from memory.reading.cache import (
    AnswerKey,
    Body,
    Sent,
    answer_key,
    keep,
    look_up,
    prefetch_key,
    read_prefetch,
)
from memory.reading.messages import load_messages
from memory.reading.packing import Packing, packed_prompt
from memory.reading.questions import Read, ReadQuestion, read_and_embed
from memory.reading.ranking import SEARCH_WEIGHTS, by_policy, by_relevance, chosen
from memory.reading.search import least_relevance, ranked_candidates, relevant
from memory.reading.snapshots import at_snapshot
from memory.reading.usage import note_retrieved
from memory.selectors.revisions import Revision
from teams.tracing import note, step

logger = logging.getLogger(__name__)

# From this chance on a predicted memory is told whatever the question says.
_LIKELY = 0.5
_SIGNALS = ("semantic", "recency", "importance", "continuity", "relation")
_Answer = TypeVar("_Answer", bound=Retrieval)


def retrieve(read: Read, *, packing: Packing, render: Callable[[Prompt], Body], form: str) -> Sent:
    """Returns the prompt of a question as it is sent, cached or new.

    Predicted memories are candidates, and those that are likelier than not to be needed are told
    whatever the question says. `form` is that of `answer_key`.
    """
    packed = [packing.weights, packing.token_budget, packing.counter.name]
    key = key_of(read, form=form, packing=packed)
    cached = look_up(key, beside=prefetch_key(read.viewer))
    if cached.sent is not None:
        return cached.sent
    chances = {each.memory_id: each.confidence for each in read_prefetch(cached.beside)}
    likely = {pk for pk, chance in chances.items() if chance >= _LIKELY}
    with at_its_end():
        found = prompt(
            replace(read, predicted=chances),
            packing=replace(packing, keeps=lambda row: row.memory_id in likely),
        )
        return keep(cached, sent_of(found, body=render(found), count=len(found.told)))


@step("retrieve")
def prompt(read: Read, *, packing: Packing, is_loaded: bool = True) -> Prompt:
    """Returns the prompt of a question: ranked by policy, packed into the budget of a plan.

    It holds identity, pinned memories and what the plan always tells, however little they say, and
    no types that the plan tells on request alone unless `rows` asks for them. Without `is_loaded`
    its memories are named and not loaded.
    """
    watch = Stopwatch()
    question = read_and_embed(read)
    watch.lap("question")

    def answer(revision: Revision | None) -> Prompt:
        score = by_policy(packing.weights)
        found = ranked_candidates(read, question, score=score, plan=packing.plan, revision=revision)
        least = read.min_score
        if least is None and read.rows is None:
            least = least_relevance(found)
        considered = Considered(found, relevant(found, least, always=packing.always_tells))
        watch.lap("search")
        packed = packed_prompt(
            read, question, packing, considered=considered, is_loaded=is_loaded, watch=watch
        )
        return replace(packed, revision=revision)

    return _finished(read, question, at_snapshot(answer, viewer=read.viewer), watch)


@step("search")
def search(read: Read, *, weights: Weights = SEARCH_WEIGHTS) -> Retrieval:
    """Returns the `limit` memories and messages that say most about the question, best first.

    Those that say nothing about it are left out, unless `rows` narrows the memories.
    """
    watch = Stopwatch()
    question = read_and_embed(read)
    watch.lap("question")

    def answer(revision: Revision | None) -> Retrieval:
        found = ranked_candidates(read, question, score=by_relevance(weights), revision=revision)
        considered = Considered(found, relevant(found, read.min_score, always=lambda _: False))
        watch.lap("search")
        return replace(_best(read, question, considered, watch), revision=revision)

    return _finished(read, question, at_snapshot(answer, viewer=read.viewer), watch)


def send_search(read: Read, *, render: Callable[[Retrieval], Body], form: str) -> Sent:
    """Returns the results of a search as they are sent, cached as those of `retrieve`."""
    cached = look_up(key_of(read, form=form))
    if cached.sent is not None:
        return cached.sent
    with at_its_end():
        found = search(read)
        return keep(cached, sent_of(found, body=render(found), count=len(found.results)))


def key_of(read: Read, *, form: str, **decisive: object) -> AnswerKey | None:
    """Returns the key of the answer to a read; None if `rows` narrows it: it is not cached."""
    if read.rows is not None:
        return None
    parts = {
        "question": read.question,
        "limit": read.limit,
        "depth": read.depth,
        "min_score": read.min_score,
        **decisive,
    }
    return answer_key(form=form, viewer=read.viewer, tools=read.tools, now=read.now, parts=parts)


def sent_of(found: Retrieval, *, body: Body, count: int) -> Sent:
    """Returns the answer that `found` was rendered to, with `count` results."""
    return Sent(
        body=body,
        memory_ids=[each.row.memory_id for each in found.told],
        found=count,
        similarity=found.similarity,
        revision=found.revision,
        read_messages=found.read_messages,
        stats=found.stats,
    )


def _best(
    read: Read, question: ReadQuestion, considered: Considered, watch: Stopwatch
) -> Retrieval:
    """The memories and messages that say most about the question."""
    found, limit = considered.relevant, read.limit or 0
    said = [each for each in found.messages if each.table.semantic[each.place] > 0]
    messages = load_messages(read, ranked=said, most=limit)
    watch.lap("messages")
    ranked = chosen(
        found.memories,
        keep=lambda each: read.rows is not None or each.table.semantic[each.place] > 0,
    )
    ranks = [*(each.rank for each in ranked), *(each.score for each in messages)]
    best = sorted(ranks, reverse=True)[:limit]
    room = sum(each.rank >= best[-1] for each in ranked) if best else 0
    told = sorted(ranked[: min(room, limit)], key=lambda each: -each.score)
    memories = loaded(read.viewer, told)
    watch.lap("load")
    shown = {each.id for each in memories}
    return Retrieval(
        memories=memories,
        messages=messages[: limit - len(memories)],
        told=[each for each in told if each.row.memory_id in shown],
        considered=considered,
        words=question.sought.terms,
    )


def _finished(read: Read, question: ReadQuestion, answer: _Answer, watch: Stopwatch) -> _Answer:
    """Counts what was told, and adds the costs of the read."""
    team_id, considered = read.viewer.team_id, answer.considered
    if read.is_counted:
        ids = [each.row.memory_id for each in answer.told]
        note_retrieved(team_id=team_id, memory_ids=ids, now=read.now)
    for warning in answer.warnings:
        logger.warning("A prompt of team %s: %s.", team_id, warning)
    told = [each.signals for each in answer.memories]
    stats = replace(
        answer.stats,
        signals_hit={name: sum(getattr(each, name) > 0.01 for each in told) for name in _SIGNALS},
        total_ms=watch.total_ms,
        steps_ms=watch.steps_ms,
        warnings=(*question.warnings, *answer.warnings, *nobody_named(read.viewer)),
        searched=considered.found.searched,
        below_min_score=considered.left_out,
    )
    note(
        {
            "candidates": len(considered.relevant.memories),
            "told": len(answer.told),
            "tokens": stats.tokens_used,
            **{f"signals.{name}": hit for name, hit in stats.signals_hit.items()},
        }
    )
    # An answer by words alone, while the embedder is away, is not worth caching.
    revision = answer.revision if question.sought.has_vector else None
    return replace(answer, stats=stats, revision=revision)
