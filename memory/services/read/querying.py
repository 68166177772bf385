"""`memory.query`: a question with categories, filters, threshold and budget (seed 004, §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.clients.tools import Tools
from memory.domain.duplicates import said_words
from memory.domain.escaping import escaped_line
from memory.domain.filters import All, Expression, Field, Operator, conditions_of
from memory.domain.packing import Item, Packed, Room, pack
from memory.domain.rendering import mark_of
from memory.domain.retrieval.events import asks_for_past
from memory.domain.scoring import Signals
from memory.domain.tokens import estimate_tokens
from memory.domain.viewer import Viewer
from memory.models import Category, Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.filters import matching
from memory.selectors.memories import outdated_summaries
from memory.selectors.revisions import team_revision
from memory.services.categories import check_allowed, requested_categories
from memory.services.compaction.summaries import SUMMARY_TAG
from memory.services.read.answer_cache import Made, Sent, answer_key, answered
from memory.services.read.cascade import Depth, told_alone
from memory.services.read.ranking import Question
from memory.services.read.retrieval import mixed_users, retrieve
from memory.services.read.usage import note_retrieved
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

    @property
    def of_past(self) -> bool:
        """Whether it asks for what something else superseded."""
        return asks_for_past(self.text)


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

    @classmethod
    def of(
        cls, memory: Memory, *, score: float | None = None, signals: Signals | None = None
    ) -> QueryResult:
        """The memory as one line with its category, or its type where it has none."""
        label = escaped_line(memory.category or memory.memory_type).replace("]", "&#93;")
        text = f"[{label}{mark_of(memory.status)}] {escaped_line(memory.content)}"
        return cls(memory, text, estimate_tokens(f"{text}\n"), score, signals)


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What was found, best first, then what came with its category; `left_out` found no room."""

    results: list[QueryResult]
    tokens_used: int
    token_budget: int
    left_out: int
    warnings: tuple[str, ...] = ()


def query_memories(
    *,
    viewer: Viewer,
    query: MemoryQuery,
    write: Callable[[QueryAnswer], bytes],
    form: str,
    tools: Tools,
    now: datetime,
) -> Sent:
    """The memories that answer, as bullets within the budget, written by `write`.

    Of the asked categories those with the context `all` give all their memories, up to their
    length, whatever the question; from everything else come the `top_k` that say most about it: of
    what categories or filters left, however little they say, and where the question asks for what
    was before, of what is past too. Filters hold for all. `form` is that of `answer_key`. Raises
    ForbiddenError for a category, asked for or named in a filter, that the viewer's agent may not
    read, and InvalidError for one that the team's list lacks.
    """
    allowed = viewer.allowed_categories
    check_allowed(allowed=allowed, names=query.categories, field="categories")
    check_allowed(allowed=allowed, names=_named_in(query.filters), field="filters")
    known: Sequence[Category] = ()
    if query.categories:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            known = requested_categories(viewer=viewer, names=query.categories)
    parts: dict[str, object] = {
        # The names of its classes tell filters apart that are made of the same parts.
        "query": repr(query),
        # Their rules are no memories, so that no revision moves with them.
        "rules": [(each.name, each.context, each.length) for each in known],
    }

    def make() -> Made:
        made = _Query(viewer=viewer, query=query, known=known, tools=tools, now=now)
        return made.answer(write)

    key = answer_key(form=form, viewer=viewer, tools=tools, now=now, parts=parts)
    return answered(key, viewer=viewer, now=now, make=make)


@dataclass(frozen=True, slots=True)
class _Query:
    """A query that is being answered; `known` are the categories that it names."""

    viewer: Viewer
    query: MemoryQuery
    known: Sequence[Category]
    tools: Tools
    now: datetime

    def answer(self, write: Callable[[QueryAnswer], bytes]) -> Made:
        query, team_id = self.query, self.viewer.team_id
        with team_scope(team_ids=[team_id], actor=self.viewer.actor):
            # What is read after it belongs to this revision, or to a later one.
            revision = team_revision(team_id=team_id)
            searched = Memory.objects.searchable(include_cold=query.of_past)
            rows = matching(viewer=self.viewer, rows=searched, expression=query.filters)
            whole = [row for row in self.known if row.context == Category.Context.ALL]
            given, unread = self._whole(rows, whole)
        names = [name for name in query.categories if name not in {row.name for row in whole}]
        found: list[QueryResult] = []
        warnings: tuple[str, ...] = ()
        if names or not query.categories:
            found, warnings, is_whole = self._searched(rows, names)
            revision = revision if is_whole else None
        packed = _packed([*found, *given], token_budget=query.token_budget)
        results = [item.value for item in packed.items]
        if Field.USER not in {condition.field for condition in conditions_of(query.filters)}:
            owners = [each.memory.end_user_id for each in results]
            warnings += mixed_users(viewer=self.viewer, of=owners, told_in="answer")
        body = write(
            QueryAnswer(
                results=results,
                tokens_used=packed.tokens_used,
                token_budget=query.token_budget,
                left_out=unread + len(found) + len(given) - len(results) - len(packed.duplicates),
                warnings=warnings,
            )
        )
        ids = [each.memory.pk for each in results]
        note_retrieved(team_id=team_id, memory_ids=ids, now=self.now)
        cosines = [each.signals.cosine for each in results if each.signals is not None]
        return Made(body, ids, len(ids), max(cosines, default=None), revision)

    def _whole(
        self, rows: MemoryQuerySet, categories: Sequence[Category]
    ) -> tuple[list[QueryResult], int]:
        """What may fit of the categories, and how many more of their memories there are.

        Without summaries that tell what holds no longer.
        """
        most = self.query.token_budget // SHORTEST_BULLET
        results, unread = [], 0
        for category in categories:
            own = rows.searchable(include_cold=False).filter(category=category.name)
            length = category.length or own.count()
            best = own.with_names().order_by("-is_pinned", "-importance", "-id")
            first = list(best[: min(length, most)])
            summaries = [memory.pk for memory in first if SUMMARY_TAG in memory.tags]
            outdated = outdated_summaries(team_id=self.viewer.team_id, ids=summaries)
            results += [QueryResult.of(each) for each in first if each.pk not in outdated]
            if length > most:
                unread += max(0, min(length, own.count()) - most)
        return results, unread

    def _searched(
        self, rows: MemoryQuerySet, names: Sequence[str]
    ) -> tuple[list[QueryResult], tuple[str, ...], bool]:
        """What was searched for, the warnings, and whether its meaning had a part in it."""
        query = self.query
        if names:
            rows = rows.filter(category__in=names)
        lengths = {row.name: row.length for row in self.known if row.length}
        # Where a category may give less than was asked for, others must be able to make up for it.
        is_capped = any(lengths.get(name, MAX_TOP_K) < query.top_k for name in names)
        found = retrieve(
            viewer=self.viewer,
            rows=rows,
            is_filtered=bool(names) or any(conditions_of(query.filters)),
            depth=Depth(include_cold=query.of_past, include_raw=False),
            question=Question(query.text),
            is_counted=False,
            limit=MAX_TOP_K if is_capped else query.top_k,
            tools=self.tools,
            now=self.now,
        )
        given: Counter[str] = Counter()
        results = []
        for each in found.memories:
            category = each.memory.category
            if each.score < query.threshold or given[category] >= lengths.get(category, MAX_TOP_K):
                continue
            given[category] += 1
            results.append(QueryResult.of(each.memory, score=each.score, signals=each.signals))
        return results[: query.top_k], found.warnings, found.revision is not None


def _named_in(filters: Expression) -> list[str]:
    """The categories that a filter names."""
    return [
        str(value)
        for condition in conditions_of(filters)
        if condition.field is Field.CATEGORY and condition.operator is not Operator.CONTAINS
        for value in condition.values
    ]


def _packed(results: Sequence[QueryResult], *, token_budget: int) -> Packed[QueryResult]:
    """As many of them, in order, as the budget has room for.

    What is past is not told without what superseded it, where that was found.
    """
    found = {each.memory.pk for each in results}
    ends = {
        each.memory.pk: later
        for each in results
        if (later := each.memory.superseded_by_id) is not None and later in found
    }
    kept = list(results)
    while True:
        items = [
            Item(value=each, section=_ROOM.name, tokens=each.tokens, score=-float(place))
            for place, each in enumerate(kept)
        ]
        packed = pack(items, rooms=[_ROOM], token_budget=token_budget, saying=_saying)
        alone = told_alone(ends, {item.value.memory.pk for item in packed.items})
        if not alone:
            return packed
        kept = [each for each in kept if each.memory.pk not in alone]


def _saying(result: QueryResult) -> Hashable:
    """Equal for two memories of which one is enough."""
    memory = result.memory
    return (memory.category, memory.status, said_words(memory.content))
