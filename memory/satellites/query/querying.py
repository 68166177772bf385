"""`memory.query`: a question with categories, filters, threshold and budget (seed 004, §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from typing import TypeAlias

from memory.clients.afterwards import at_its_end
from memory.domain.audience import Viewer
from memory.domain.differences import same_words
from memory.domain.filters import All, Expression, conditions_of
from memory.domain.packing import Item, Packed, Room, pack
from memory.domain.rendering import Quote, SaidLine, escaped_line, estimate_tokens, mark_of
from memory.domain.scoring import Signals, Weights
from memory.domain.talk import excerpt, retells
from memory.domain.types import MemoryType, in_zone
from memory.models import Category, Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.answers import Retrieval, nobody_named
from memory.reading.cache import Body, Sent, answer_key, keep, look_up
from memory.reading.messages import ScoredMessage
from memory.reading.questions import Depth, Question, Read
from memory.reading.ranking import SEARCH_WEIGHTS
from memory.reading.retrieval import search
from memory.reading.search import told_alone
from memory.reading.snapshots import at_snapshot
from memory.reading.usage import note_retrieved
from memory.selectors.filters import categories_named_in, matching
from memory.selectors.memories import outdated_summaries
from memory.selectors.names import PersonNames, person_names
from memory.selectors.revisions import Revision, committed_revision
from memory.selectors.ttl_cache import zone_of
from memory.understanding.tools import Tools
from memory.writing.categories import check_allowed, requested_categories
from teams.tenancy import team_scope

_ROOM = Room("answer")
DEFAULT_LIMIT = 10
MAX_LIMIT = 500
# No bullet takes fewer tokens, so a budget holds no more than so many of them.
SHORTEST_BULLET = 4


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that was found; no score (0-1) of one that came with its category."""

    memory: Memory
    score: float | None = None
    signals: Signals | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A found memory with its bullet and the tokens of that.

    `told` is its text with the person's own name, `quote` says whose sentence it is, if it is one.
    """

    memory: Memory
    text: str
    tokens: int
    told: str
    score: float | None = None
    signals: Signals | None = None
    quote: Quote | None = None

    @classmethod
    def of(cls, found: FoundMemory, *, names: PersonNames) -> QueryResult:
        """The memory as one line with its category, or its type where it has none."""
        memory = found.memory
        label = escaped_line(memory.category or memory.memory_type).replace("]", "&#93;")
        told, quote = names.told(memory.pk, memory.content), names.quotes.get(memory.pk)
        line = quote.render(told) if quote else escaped_line(told)
        text = f"[{label}{mark_of(memory.status, source=memory.source)}] {line}"
        tokens = estimate_tokens(f"{text}\n")
        return cls(memory, text, tokens, told, found.score, found.signals, quote)

    @property
    def saying(self) -> Hashable:
        """Equal for two memories of which one is enough."""
        memory = self.memory
        said_by = (self.quote.speaker, self.quote.day) if self.quote else None
        mark = mark_of(memory.status, source=memory.source)
        return (memory.category, mark, said_by, same_words(self.told))


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """A message with the line that quotes it, as in a prompt, and the tokens of that."""

    message: ScoredMessage
    text: str
    tokens: int

    @classmethod
    def of(
        cls, message: ScoredMessage, *, words: Sequence[str], zone: tzinfo
    ) -> QuotedMessage | None:
        """The message from where most of the question's words stand; None if nothing is left.

        Its day is that of `zone`.
        """
        said = excerpt(message.text, words=words)
        if not said:
            return None
        text = SaidLine(
            said, message.speaker, in_zone(message.said_at, zone), message.is_private
        ).render()
        return cls(message, text, estimate_tokens(f"{text}\n"))

    @property
    def score(self) -> float:
        """0-1, on the same scale as memories."""
        return self.message.score

    @property
    def saying(self) -> Hashable:
        """Another one for each message."""
        return self.message.id


Shown: TypeAlias = QueryResult | QuotedMessage


def _packed(shown: Sequence[Shown], token_budget: int) -> Packed[Shown]:
    """As many of them, in order, as the budget has room for.

    What is past is not told without what superseded it, where that was found.
    """
    memories = {each.memory.pk: each.memory for each in shown if isinstance(each, QueryResult)}
    ends = {
        pk: later
        for pk, memory in memories.items()
        if (later := memory.superseded_by_id) is not None and later in memories
    }
    kept = list(shown)
    while True:
        items = [
            Item(value=each, section=_ROOM.name, tokens=each.tokens, score=-float(place))
            for place, each in enumerate(kept)
        ]
        packed = pack(
            items, rooms=[_ROOM], token_budget=token_budget, saying=lambda each: each.saying
        )
        told = {
            each.value.memory.pk for each in packed.items if isinstance(each.value, QueryResult)
        }
        alone = told_alone(ends, told)
        if not alone:
            return packed
        kept = [
            each for each in kept if not (isinstance(each, QueryResult) and each.memory.pk in alone)
        ]


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """The question and its filters. `min_score` is that of `retrieve`; `categories` and
    `memory_types` empty mean any that the agent may read."""

    question: Question
    token_budget: int
    categories: tuple[str, ...] = ()
    memory_types: tuple[str, ...] = ()
    filters: Expression = field(default_factory=All)
    limit: int = DEFAULT_LIMIT
    min_score: float | None = None
    weights: Weights = SEARCH_WEIGHTS
    depth: Depth = field(default_factory=Depth)


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The results, best first, then those that came with their category; `left_out` had no room."""

    results: list[QueryResult]
    messages: list[QuotedMessage]
    tokens_used: int
    token_budget: int
    left_out: int
    below_min_score: int
    warnings: tuple[str, ...] = ()


def query_memories(
    *,
    viewer: Viewer,
    query: MemoryQuery,
    render: Callable[[QueryAnswer], Body],
    form: str,
    tools: Tools,
    now: datetime,
) -> Sent:
    """The memories that answer, as bullets within the budget, as they are sent.

    Of the asked categories those with the context `all` give all their memories, up to their
    length, whatever the question; from everything else come the `limit` that say most about it: of
    what categories, types or filters left, however little they say. Filters and types hold for all
    memories; `depth` says whether messages come too. `form` is that of `answer_key`. Raises
    ForbiddenError for a category, asked for or named in a filter, that the viewer's agent may not
    read, and InvalidError for one that the team's list lacks.
    """
    known = _checked_categories(viewer, query)
    parts: dict[str, object] = {
        # The names of its classes tell filters apart that are made of the same parts.
        "query": repr(query),
        # Their rules are no memories, so that no revision moves with them.
        "rules": [(each.name, each.context, each.length) for each in known],
    }
    key = answer_key(form=form, viewer=viewer, tools=tools, now=now, parts=parts)
    cached = look_up(key)
    if cached.sent is not None:
        return cached.sent
    with at_its_end():
        made = _Query(viewer=viewer, query=query, known=known, tools=tools, now=now)
        return keep(cached, made.answer(render))


def _checked_categories(viewer: Viewer, query: MemoryQuery) -> Sequence[Category]:
    allowed = viewer.allowed_categories
    check_allowed(allowed=allowed, names=query.categories, field="categories")
    check_allowed(allowed=allowed, names=categories_named_in(query.filters), field="filters")
    if not query.categories:
        return ()
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        return requested_categories(viewer=viewer, names=query.categories)


@dataclass(frozen=True, slots=True)
class _Query:
    """A query that is being answered; `known` are the categories that it names."""

    viewer: Viewer
    query: MemoryQuery
    known: Sequence[Category]
    tools: Tools
    now: datetime

    def answer(self, render: Callable[[QueryAnswer], Body]) -> Sent:
        """The answer as it is sent; its memories are counted as retrieved."""
        query, viewer = self.query, self.viewer
        whole = [row for row in self.known if row.context == Category.Context.ALL]
        matched = partial(self._matching, whole)
        if whole or any(conditions_of(query.filters)):
            rows, given, unread, revision = at_snapshot(matched, viewer=viewer)
        else:  # no row is read yet
            rows, given, unread, revision = matched(committed_revision(team_id=viewer.team_id))
        names = [name for name in query.categories if name not in {row.name for row in whole}]
        found: list[FoundMemory | QuotedMessage] = []
        warnings = nobody_named(self.viewer)
        read_messages, below = False, 0
        if names or not query.categories:
            found, searched = self._searched(rows, names)
            warnings, read_messages = searched.warnings, searched.read_messages
            below = searched.stats.below_min_score
            revision = revision if searched.revision is not None else None
        called = self._names([*found, *given])
        shown: list[Shown] = [
            QueryResult.of(each, names=called) if isinstance(each, FoundMemory) else each
            for each in (*found, *given)
        ]
        packed = _packed(shown, query.token_budget)
        told = [item.value for item in packed.items]
        results = [each for each in told if isinstance(each, QueryResult)]
        messages = [each for each in told if isinstance(each, QuotedMessage)]
        answer = QueryAnswer(
            results=results,
            messages=messages,
            tokens_used=packed.tokens_used,
            token_budget=query.token_budget,
            left_out=unread + len(shown) - len(told) - len(packed.duplicates),
            below_min_score=below,
            warnings=warnings,
        )
        ids = [each.memory.pk for each in results]
        note_retrieved(team_id=viewer.team_id, memory_ids=ids, now=self.now)
        cosines = [each.signals.cosine for each in results if each.signals is not None]
        return Sent(
            render(answer),
            ids,
            len(results) + len(messages),
            max(cosines, default=None),
            revision,
            read_messages or called.is_heard,
        )

    def _matching(
        self, whole: Sequence[Category], revision: Revision | None
    ) -> tuple[MemoryQuerySet, list[FoundMemory], int, Revision | None]:
        """Returns the rows to search, those of whole categories, and how many more, as of when."""
        rows = Memory.objects.searchable(include_cold=True)
        if self.query.memory_types:
            rows = rows.filter(memory_type__in=self.query.memory_types)
        rows = matching(viewer=self.viewer, rows=rows, expression=self.query.filters)
        return rows, *self._whole(rows, whole), revision

    def _names(self, found: Sequence[FoundMemory | QuotedMessage]) -> PersonNames:
        memories = [each.memory for each in found if isinstance(each, FoundMemory)]
        if not memories:
            return PersonNames()
        texts = [(memory.pk, memory.content) for memory in memories]
        return at_snapshot(
            lambda _: person_names(team_id=self.viewer.team_id, texts=texts), viewer=self.viewer
        )

    def _whole(
        self, rows: MemoryQuerySet, categories: Sequence[Category]
    ) -> tuple[list[FoundMemory], int]:
        """Returns the memories of the categories that may fit, and the count of the others.

        Without summaries that tell what holds no longer.
        """
        query = self.query
        most = query.token_budget // SHORTEST_BULLET
        results: list[FoundMemory] = []
        unread = 0
        for category in categories:
            with_cold = query.depth.include_cold
            own = rows.searchable(include_cold=with_cold).filter(category=category.name)
            if not query.depth.include_private:
                own = own.exclude(memory_type=MemoryType.AGENT_PRIVATE, end_user__isnull=False)
            length = category.length or own.count()
            best = own.with_names().order_by("-is_pinned", "-importance", "-id")
            first = list(best[: min(length, most)])
            summaries = [
                each.pk for each in first if retells(tags=each.tags, memory_type=each.memory_type)
            ]
            outdated = outdated_summaries(team_id=self.viewer.team_id, ids=summaries)
            results += [FoundMemory(each) for each in first if each.pk not in outdated]
            if length > most:
                unread += max(0, min(length, own.count()) - most)
        return results, unread

    def _searched(
        self, rows: MemoryQuerySet, names: Sequence[str]
    ) -> tuple[list[FoundMemory | QuotedMessage], Retrieval]:
        """Returns the search results, best first, and the search that found them."""
        query = self.query
        if names:
            rows = rows.filter(category__in=names)
        is_narrowed = bool(names or query.memory_types or any(conditions_of(query.filters)))
        lengths = {row.name: row.length for row in self.known if row.length}
        # Where a category may give less than was asked for, others must be able to make up for it.
        is_capped = any(lengths.get(name, MAX_LIMIT) < query.limit for name in names)
        found = search(
            Read(
                viewer=self.viewer,
                rows=rows if is_narrowed else None,
                min_score=query.min_score,
                depth=query.depth,
                question=query.question,
                is_counted=False,
                limit=MAX_LIMIT if is_capped else query.limit,
                tools=self.tools,
                now=self.now,
            ),
            weights=query.weights,
        )
        given: Counter[str] = Counter()
        shown: list[FoundMemory | QuotedMessage] = []
        zone = zone_of(team_id=self.viewer.team_id, now=self.now)
        for each in found.results:
            if isinstance(each, ScoredMessage):
                quoted = QuotedMessage.of(each, words=found.words, zone=zone)
                shown += [quoted] if quoted else []
                continue
            category = each.memory.category
            if given[category] < lengths.get(category, MAX_LIMIT):
                given[category] += 1
                shown.append(FoundMemory(each.memory, each.score, each.signals))
        return shown[: query.limit], found
