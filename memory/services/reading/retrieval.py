"""The one read path: who asks → what they may see → signals → score → budget → prompt."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.clients.afterwards import at_its_end
from memory.clients.tools import Tools
from memory.domain.plain_json import from_plain, shape_of
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE, TokenCounter
from memory.domain.viewer import Viewer
from memory.models.querysets import MemoryQuerySet
from memory.selectors.revisions import team_revision
from memory.services.reading.answers import Retrieval, RetrievalStats, SearchAnswer
from memory.services.reading.cascade import Depth, Level, descend
from memory.services.reading.hot_answers import held_answer, keep_answer
from memory.services.reading.hot_keys import hot_key
from memory.services.reading.hot_texts import held_text, keep_text
from memory.services.reading.ranking import Question, by_relevance, read
from memory.services.reading.recall import ScoredMemory, load_chosen
from memory.services.reading.retrieving import Wanted, make, milliseconds
from memory.services.reading.scored_messages import load_messages
from memory.services.reading.turns import in_turn
from memory.services.reading.usage import note_retrieved
from teams.tenancy import team_scope

# So many are among what is proposed anyhow.
_USUAL_LIMIT = 50


@dataclass(frozen=True, slots=True)
class SentRetrieval:
    """A retrieval as it was written for whoever asked, all but its stats.

    `found` is the number of its memories, `similarity` the best cosine among them.
    """

    text: bytes
    stats: RetrievalStats
    found: int
    similarity: float | None


def search(
    *,
    viewer: Viewer,
    question: Question,
    limit: int,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
    include_cold: bool = False,
) -> Sequence[ScoredMemory]:
    """The `limit` memories that say most about the question, best first.

    Among `rows`, narrowed by the caller's filters, or among all that are found by default, with
    `include_cold` in the archive too. What the viewer may see is enforced here.
    """
    return search_levels(
        viewer=viewer,
        question=question,
        limit=limit,
        depth=Depth(include_cold, include_raw=False),
        tools=tools,
        now=now,
        rows=rows,
    ).memories


def search_levels(
    *,
    viewer: Viewer,
    question: Question,
    limit: int,
    depth: Depth,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
    is_filtered: bool | None = None,
    is_counted: bool = True,
) -> SearchAnswer:
    """The `limit` memories and messages that say most about the question, as deep as asked for.

    What says nothing about it is left out, but not what a filter of the caller's left: `rows` are
    that, unless `is_filtered` is false. Without `is_counted` who asks counts what is read of it.
    """
    keeps_all = rows is not None if is_filtered is None else is_filtered
    key = None
    if rows is None:
        parts = {"question": question, "limit": limit, "depth": depth}
        key = hot_key(kind="search", viewer=viewer, tools=tools, now=now, parts=parts)
    held = held_answer(key, SearchAnswer)
    if held is not None:
        note_retrieved(team_id=viewer.team_id, memory_ids=held.memory_ids, now=now)
        return held.answer
    asked = read(question, team_id=viewer.team_id, tools=tools, now=now)
    with (
        in_turn(),
        team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True),
    ):
        revision = team_revision(team_id=viewer.team_id)
        reached = descend(
            viewer=viewer,
            question=asked,
            score=by_relevance,
            depth=depth,
            tools=tools,
            now=now,
            rows=rows,
            least=limit if keeps_all or limit > _USUAL_LIMIT else 0,
            revision=revision,
        )
        ranked = [
            each for each in reached.memories if keeps_all or each.table.semantic[each.place] > 0
        ]
        said = [each for each in reached.messages if each.table.semantic[each.place] > 0]
        messages = load_messages(viewer=viewer, question=asked, ranked=said, most=limit)
        scores = [*(each.score for each in ranked), *(each.score for each in messages)]
        scores = sorted(scores, reverse=True)[:limit]
        room = sum(each.score >= scores[-1] for each in ranked) if scores else 0
        memories = load_chosen(viewer=viewer, ranked=ranked[: min(room, limit)], revision=revision)
    said_best = messages[: limit - len(memories)]
    best = SearchAnswer(memories, said_best, reached.searched, asked.has_vector, asked.warnings)
    with at_its_end():
        if is_counted:
            note_retrieved(
                team_id=viewer.team_id, memory_ids=[each.id for each in best.memories], now=now
            )
        if best.has_vector:
            keep_answer(
                key, answer=best, revision=revision, read_messages=Level.RAW in reached.searched
            )
    return best


def retrieve(
    *,
    viewer: Viewer,
    question: Question,
    weights: Weights,
    token_budget: int,
    limit: int | None,
    tools: Tools,
    now: datetime,
    include_cold: bool | None = None,
    include_raw: bool | None = None,
    counter: TokenCounter = ESTIMATE,
) -> Retrieval:
    """What the viewer's agent should know for this question, as a prompt within the budget.

    `include_cold` and `include_raw` are those of `cascade.Depth`.
    """
    started = time.perf_counter()
    wanted = Wanted(
        viewer, question, weights, token_budget, limit, include_cold, include_raw, counter
    )
    key = wanted.key("retrieve", tools=tools, now=now)
    held = held_answer(key, Retrieval)
    if held is not None:
        note_retrieved(team_id=viewer.team_id, memory_ids=held.memory_ids, now=now)
        kept = held.answer
        return replace(kept, stats=kept.stats.again(total_ms=milliseconds(started)))
    with at_its_end():
        made = make(wanted, tools=tools, now=now, started=started)
        keep_answer(
            key, answer=made.found, revision=made.revision, read_messages=made.read_messages
        )
    return made.found


def retrieve_written(
    *,
    wanted: Wanted,
    write: Callable[[Retrieval], bytes],
    form: str,
    tools: Tools,
    now: datetime,
) -> SentRetrieval:
    """As `retrieve`, written by `write`: what was written before is not made or written again.

    `form` tells what is written so from what is written otherwise. The stats, which are of each
    time, stay out of it.
    """
    started = time.perf_counter()
    team_id = wanted.viewer.team_id
    kind = f"{form} {shape_of(RetrievalStats)}"
    key = wanted.key(kind, tools=tools, now=now)
    held = held_text(key, revision=wanted.revision)
    if held is not None:
        note_retrieved(team_id=team_id, memory_ids=held.memory_ids, now=now)
        stats: RetrievalStats = from_plain(RetrievalStats, held.told["stats"], {})
        return SentRetrieval(
            text=held.text,
            stats=stats.again(total_ms=milliseconds(started)),
            found=len(held.memory_ids),
            similarity=held.told["similarity"],
        )
    with at_its_end():
        made = make(wanted, tools=tools, now=now, started=started)
        found = made.found
        sent = SentRetrieval(
            text=write(found),
            stats=found.stats,
            found=len(found.memories),
            similarity=max((each.signals.cosine for each in found.memories), default=None),
        )
        keep_text(
            key,
            text=sent.text,
            told={"stats": sent.stats, "similarity": sent.similarity},
            memory_ids=[each.id for each in found.memories],
            revision=made.revision,
            read_messages=made.read_messages,
        )
    return sent
