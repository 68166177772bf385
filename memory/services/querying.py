"""`memory.query`: a question with categories, filters, threshold and budget (seed 004, §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.clients.tools import Tools
from memory.domain.escaping import escaped_line
from memory.domain.filters import All, Expression, Field, Operator, conditions_of
from memory.domain.packing import Item, Room, pack
from memory.domain.scoring import Signals
from memory.domain.text import normalise_text, tell_apart
from memory.domain.tokens import estimate_tokens
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Category, Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.filters import matching
from memory.services.categories import check_allowed, requested_categories
from memory.services.ranking import Question
from memory.services.retrieval import search
from memory.services.usage import note_retrieved
from teams.tenancy import team_scope

DEFAULT_TOP_K = 10
MAX_TOP_K = 500
# No bullet takes fewer tokens, so a budget holds no more than so many of them.
SHORTEST_BULLET = 4
_ROOM = Room("answer")


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


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A memory with its bullet and the tokens of that.

    `score` (0-1) and `signals` are None for one that came with its whole category.
    """

    memory: Memory
    text: str
    tokens: int
    score: float | None = None
    signals: Signals | None = None


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What was found, best first, then what came with its category; `left_out` found no room."""

    results: list[QueryResult]
    tokens_used: int
    token_budget: int
    left_out: int


def query_memories(
    *, viewer: Viewer, query: MemoryQuery, tools: Tools, now: datetime
) -> QueryAnswer:
    """The memories that answer, as bullets within the budget.

    Of the asked categories those with the context `all` give all their memories, up to their
    length, whatever the question; from everything else come the `top_k` that say most about it.
    Filters hold for both. Raises ForbiddenError for a category, asked for or named in a filter,
    that the viewer's agent may not read, and InvalidError for one that the team's list lacks.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        check_allowed(viewer=viewer, names=query.categories, field="categories")
        check_allowed(viewer=viewer, names=_named_in(query.filters), field="filters")
        known = requested_categories(team_id=viewer.team_id, names=query.categories)
        live = Memory.objects.searchable(include_cold=False)
        rows = matching(viewer=viewer, rows=live, expression=query.filters)
        whole_categories = [row for row in known if row.context == Category.Context.ALL]
        whole, unread = _whole(rows, whole_categories, token_budget=query.token_budget)
    found = _found(
        viewer=viewer,
        rows=rows,
        query=query,
        searched=_without(query.categories, whole_categories),
        lengths={row.name: row.length for row in known if row.length},
        tools=tools,
        now=now,
    )
    answer = _packed([*found, *whole], unread=unread, token_budget=query.token_budget)
    came_whole = [each.memory.pk for each in answer.results if each.score is None]
    if came_whole:
        note_retrieved(team_id=viewer.team_id, memory_ids=came_whole, now=now)
    return answer


def bullet(memory: Memory) -> str:
    """One line with the memory's category, or its type where it has none."""
    label = escaped_line(memory.category or memory.memory_type).replace("]", "&#93;")
    if memory.status == Status.DISPUTED:
        label += " DISPUTED"
    return f"[{label}] {escaped_line(memory.content)}"


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
    rows: MemoryQuerySet, categories: Sequence[Category], *, token_budget: int
) -> tuple[list[QueryResult], int]:
    """What may fit of the categories, and how many more of their memories there are."""
    most = token_budget // SHORTEST_BULLET
    results, unread = [], 0
    for category in categories:
        own = rows.filter(category=category.name)
        length = category.length or own.count()
        best = own.with_names().order_by("-is_pinned", "-importance", "-id")[: min(length, most)]
        results += [_result(memory) for memory in best]
        if length > most:
            unread += min(length, own.count()) - most
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
) -> list[QueryResult]:
    if searched is None:
        return []
    if searched:
        rows = rows.filter(category__in=searched)
    # Where a category may give less than was asked for, others must be able to make up for it.
    is_capped = any(lengths.get(name, MAX_TOP_K) < query.top_k for name in searched)
    found = search(
        viewer=viewer,
        rows=rows,
        question=Question(query.text),
        limit=MAX_TOP_K if is_capped else query.top_k,
        tools=tools,
        now=now,
    )
    given: Counter[str] = Counter()
    results = []
    for each in found:
        category = each.memory.category
        if each.score < query.threshold or given[category] >= lengths.get(category, MAX_TOP_K):
            continue
        given[category] += 1
        results.append(_result(each.memory, score=each.score, signals=each.signals))
    return results[: query.top_k]


def _result(
    memory: Memory, *, score: float | None = None, signals: Signals | None = None
) -> QueryResult:
    text = bullet(memory)
    return QueryResult(memory, text, estimate_tokens(f"{text}\n"), score, signals)


def _packed(results: Sequence[QueryResult], *, unread: int, token_budget: int) -> QueryAnswer:
    items = [
        Item(value=each, section=_ROOM.name, tokens=each.tokens, score=-float(place))
        for place, each in enumerate(results)
    ]
    packed = pack(items, rooms=[_ROOM], token_budget=token_budget, saying=_saying)
    return QueryAnswer(
        results=[item.value for item in packed.items],
        tokens_used=packed.tokens_used,
        token_budget=token_budget,
        left_out=unread + len(items) - len(packed.items) - len(packed.duplicates),
    )


def _saying(result: QueryResult) -> Hashable:
    """Equal for two memories of which one is enough."""
    memory = result.memory
    content = memory.content
    marks = frozenset(tell_apart(content))
    return (memory.category, memory.status, normalise_text(content), marks)
