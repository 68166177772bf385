"""What `memory.query` answers with: memories as bullets, as many as the budget has room for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from memory.domain.duplicates import said_words
from memory.domain.escaping import escaped_line
from memory.domain.packing import Item, Room, pack
from memory.domain.rendering import mark_of
from memory.domain.scoring import Signals
from memory.domain.tokens import estimate_tokens
from memory.models import Memory
from memory.services.reading.successors import told_alone

_ROOM = Room("answer")


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
    warnings: tuple[str, ...] = ()


def bullet(memory: Memory) -> str:
    """One line with the memory's category, or its type where it has none."""
    label = escaped_line(memory.category or memory.memory_type).replace("]", "&#93;")
    return f"[{label}{mark_of(memory.status)}] {escaped_line(memory.content)}"


def result_of(
    memory: Memory, *, score: float | None = None, signals: Signals | None = None
) -> QueryResult:
    """The memory as a result, with its bullet."""
    text = bullet(memory)
    return QueryResult(memory, text, estimate_tokens(f"{text}\n"), score, signals)


def packed_answer(results: Sequence[QueryResult], *, unread: int, token_budget: int) -> QueryAnswer:
    """As many of them, in order, as the budget has room for; `unread` were left out before.

    What is past is not told without what took its place, where that was found.
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
            break
        kept = [each for each in kept if each.memory.pk not in alone]
    return QueryAnswer(
        results=[item.value for item in packed.items],
        tokens_used=packed.tokens_used,
        token_budget=token_budget,
        left_out=unread + len(results) - len(packed.items) - len(packed.duplicates),
    )


def _saying(result: QueryResult) -> Hashable:
    """Equal for two memories of which one is enough."""
    memory = result.memory
    return (memory.category, memory.status, said_words(memory.content))
