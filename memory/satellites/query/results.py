"""What a query tells: memories and quoted messages as lines, as many as the budget holds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TypeAlias

from memory.domain.differences import same_words
from memory.domain.packing import Item, Packed, Room, pack
from memory.domain.rendering import Quote, SaidLine, escaped_line, estimate_tokens, mark_of
from memory.domain.scoring import Signals
from memory.domain.talk import excerpt
from memory.models import Memory
from memory.reading.messages import ScoredMessage
from memory.reading.search import told_alone
from memory.selectors.person_names import PersonNames

_ROOM = Room("answer")


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that was found.

    `score` (0-1) and `signals` are None for one that came with its whole category.
    """

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
        text = f"[{label}{mark_of(memory.status)}] {line}"
        tokens = estimate_tokens(f"{text}\n")
        return cls(memory, text, tokens, told, found.score, found.signals, quote)

    @property
    def saying(self) -> Hashable:
        """Equal for two memories of which one is enough."""
        memory = self.memory
        said_by = (self.quote.speaker, self.quote.day) if self.quote else None
        return (memory.category, memory.status, said_by, same_words(self.told))


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
            said, message.speaker, message.said_at.astimezone(zone), message.is_private
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


def pack_results(shown: Sequence[Shown], *, token_budget: int) -> Packed[Shown]:
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
        packed = pack(items, rooms=[_ROOM], token_budget=token_budget, saying=_saying)
        told = {
            each.value.memory.pk for each in packed.items if isinstance(each.value, QueryResult)
        }
        alone = told_alone(ends, told)
        if not alone:
            return packed
        kept = [
            each for each in kept if not (isinstance(each, QueryResult) and each.memory.pk in alone)
        ]


def _saying(shown: Shown) -> Hashable:
    return shown.saying
