"""`memory.query`: a question with categories, filters, threshold and budget (seed 004, §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memory.clients.afterwards import at_its_end
from memory.clients.tools import Tools
from memory.domain.filters import All, Expression, Field, Operator, conditions_of
from memory.domain.retrieval.past import asks_for_past
from memory.domain.viewer import Viewer
from memory.models import Category, Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.filters import matching
from memory.selectors.outdated_summaries import outdated_summaries
from memory.selectors.revisions import Revision, team_revision
from memory.services.categories import check_allowed, requested_categories
from memory.services.compacting.summaries import SUMMARY_TAG
from memory.services.reading.cascade import Depth
from memory.services.reading.hot_keys import hot_key
from memory.services.reading.hot_texts import held_text, keep_text
from memory.services.reading.mixed_users import mixed_users
from memory.services.reading.query_answers import QueryAnswer, QueryResult, packed_answer, result_of
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import search_levels
from memory.services.reading.usage import note_retrieved
from teams.tenancy import team_scope

DEFAULT_TOP_K = 10
MAX_TOP_K = 500
# No bullet takes fewer tokens, so a budget holds no more than so many of them.
SHORTEST_BULLET = 4


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """What is asked. `threshold` is 0-1 and compared with a result's score; `categories` empty
    means any that the agent may read."""

    text: str
    token_budget: int
    categories: tuple[str, ...] = ()
    filters: Expression = field(default_factory=All)
    top_k: int = DEFAULT_TOP_K
    threshold: float = 0.0

    @property
    def of_past(self) -> bool:
        """Whether it asks for what something else took the place of."""
        return asks_for_past(self.text)


@dataclass(frozen=True, slots=True)
class SentQuery:
    """An answer as it was written; `similarity` is the best cosine among what was `found`."""

    text: bytes
    found: int
    similarity: float | None


def query_memories(
    *,
    viewer: Viewer,
    query: MemoryQuery,
    write: Callable[[QueryAnswer], bytes],
    form: str,
    tools: Tools,
    now: datetime,
) -> SentQuery:
    """The memories that answer, as bullets within the budget, written by `write`.

    Of the asked categories those with the context `all` give all their memories, up to their
    length, whatever the question; from everything else come the `top_k` that say most about it: of
    what categories or filters left, however little they say, and where the question asks for what
    was before, of what is past too. Filters hold for all. What was written before is neither made
    nor written again while it holds; `form` tells what is written so from what is written
    otherwise. Raises ForbiddenError for a category, asked for or named in a filter, that the
    viewer's agent may not read, and InvalidError for one that the team's list lacks.
    """
    check_allowed(viewer=viewer, names=query.categories, field="categories")
    check_allowed(viewer=viewer, names=_named_in(query.filters), field="filters")
    known: Sequence[Category] = ()
    if query.categories:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            known = requested_categories(team_id=viewer.team_id, names=query.categories)
    parts: dict[str, object] = {
        # The names of its classes tell filters apart that are made of the same parts.
        "query": repr(query),
        # Their rules are no memories, so that no revision moves with them.
        "rules": [(each.name, each.context, each.length) for each in known],
    }
    key = hot_key(kind=f"query {form}", viewer=viewer, tools=tools, now=now, parts=parts)
    held = held_text(key)
    if held is not None:
        note_retrieved(team_id=viewer.team_id, memory_ids=held.memory_ids, now=now)
        return SentQuery(held.text, len(held.memory_ids), held.told["similarity"])
    with at_its_end():
        made = _make(viewer=viewer, query=query, known=known, tools=tools, now=now)
        results = made.answer.results
        cosines = [each.signals.cosine for each in results if each.signals is not None]
        sent = SentQuery(write(made.answer), len(results), max(cosines, default=None))
        ids = [each.memory.pk for each in results]
        note_retrieved(team_id=viewer.team_id, memory_ids=ids, now=now)
        keep_text(
            key,
            text=sent.text,
            told={"similarity": sent.similarity},
            memory_ids=ids,
            revision=made.revision,
            read_messages=False,
        )
    return sent


@dataclass(frozen=True, slots=True)
class _Made:
    """A new answer; `revision` is that of what it was made of, None where it may not be kept."""

    answer: QueryAnswer
    revision: Revision | None


def _make(
    *, viewer: Viewer, query: MemoryQuery, known: Sequence[Category], tools: Tools, now: datetime
) -> _Made:
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        # What is read after it belongs to this revision, or to a later one that ends the answer.
        revision = team_revision(team_id=viewer.team_id)
        searched = Memory.objects.searchable(include_cold=query.of_past)
        rows = matching(viewer=viewer, rows=searched, expression=query.filters)
        whole_categories = [row for row in known if row.context == Category.Context.ALL]
        whole, unread = _whole(
            viewer.team_id, rows, whole_categories, token_budget=query.token_budget
        )
    found, has_vector, warnings = _found(
        viewer=viewer,
        rows=rows,
        query=query,
        searched=_without(query.categories, whole_categories),
        lengths={row.name: row.length for row in known if row.length},
        tools=tools,
        now=now,
    )
    answer = packed_answer([*found, *whole], unread=unread, token_budget=query.token_budget)
    if Field.USER not in {condition.field for condition in conditions_of(query.filters)}:
        owners = [each.memory.end_user_id for each in answer.results]
        warnings += mixed_users(viewer=viewer, of=owners, told_in="answer")
    answer = replace(answer, warnings=warnings)
    return _Made(answer, revision if has_vector else None)


def _named_in(filters: Expression) -> list[str]:
    return [
        str(value)
        for condition in conditions_of(filters)
        if condition.field is Field.CATEGORY and condition.operator is not Operator.CONTAINS
        for value in condition.values
    ]


def _without(names: Sequence[str], categories: Sequence[Category]) -> tuple[str, ...] | None:
    """The names left to search; empty for any category, None when there is nothing to search."""
    whole = {row.name for row in categories}
    left = tuple(name for name in names if name not in whole)
    return None if names and not left else left


def _whole(
    team_id: UUID, rows: MemoryQuerySet, categories: Sequence[Category], *, token_budget: int
) -> tuple[list[QueryResult], int]:
    """What may fit of the categories, and how many more of their memories there are.

    Without summaries that tell what holds no longer.
    """
    most = token_budget // SHORTEST_BULLET
    results, unread = [], 0
    for category in categories:
        own = rows.searchable(include_cold=False).filter(category=category.name)
        length = category.length or own.count()
        best = own.with_names().order_by("-is_pinned", "-importance", "-id")[: min(length, most)]
        summaries = [memory.pk for memory in best if SUMMARY_TAG in memory.tags]
        outdated = outdated_summaries(team_id=team_id, ids=summaries)
        results += [result_of(memory) for memory in best if memory.pk not in outdated]
        if length > most:
            unread += max(0, min(length, own.count()) - most)
    return results, unread


def _found(
    *,
    viewer: Viewer,
    rows: MemoryQuerySet,
    query: MemoryQuery,
    searched: tuple[str, ...] | None,
    lengths: dict[str, int],
    tools: Tools,
    now: datetime,
) -> tuple[list[QueryResult], bool, tuple[str, ...]]:
    """What was searched for, and whether its meaning had a part in it; the search's warnings."""
    if searched is None:
        return [], True, ()
    if searched:
        rows = rows.filter(category__in=searched)
    # Where a category may give less than was asked for, others must be able to make up for it.
    is_capped = any(lengths.get(name, MAX_TOP_K) < query.top_k for name in searched)
    found = search_levels(
        viewer=viewer,
        rows=rows,
        is_filtered=bool(searched) or any(conditions_of(query.filters)),
        depth=Depth(include_cold=query.of_past, include_raw=False),
        question=Question(query.text),
        is_counted=False,
        limit=MAX_TOP_K if is_capped else query.top_k,
        tools=tools,
        now=now,
    )
    given: Counter[str] = Counter()
    results = []
    for each in found.memories:
        category = each.memory.category
        if each.score < query.threshold or given[category] >= lengths.get(category, MAX_TOP_K):
            continue
        given[category] += 1
        results.append(result_of(each.memory, score=each.score, signals=each.signals))
    return results[: query.top_k], found.has_vector, found.warnings
