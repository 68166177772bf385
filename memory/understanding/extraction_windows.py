"""The stretches of a conversation that a model reads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory.domain.types import Candidate, Role, SourceMessage

# What a window may take of a model's context in characters leaves room for the rules, what was said
# before, what is known and the answer.
_CHARS_OF_CONTEXT_TOKEN = 1.5
_CONTEXT_MESSAGES = 20
# What a prompt puts before each message and each further line of it.
_CHARS_AROUND_MESSAGE = 110
_CHARS_AROUND_LINE = 4


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of messages read at once; the first `overlap` of them were in the one before."""

    messages: tuple[SourceMessage, ...]
    before: tuple[SourceMessage, ...]
    overlap: int

    def noted_in(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that rest on a message of this window."""
        own = {message.id for message in self.messages}
        return [candidate for candidate in candidates if own.intersection(candidate.message_ids)]


def windows_of(
    *,
    messages: Sequence[SourceMessage],
    context: Sequence[SourceMessage],
    size: int,
    overlap: int,
    context_tokens: int,
) -> Iterator[Window]:
    """Windows that together cover each message, none too long for a model's context.

    Each has at most `size` messages, up to `overlap` of which were in the one before.
    """
    # A system message configures the agent and may hold memories that we rendered.
    readable = [message for message in messages if message.role is not Role.SYSTEM]
    earlier = [message for message in context if message.role is not Role.SYSTEM]
    prices = [_price(message) for message in readable]
    room = int(context_tokens * _CHARS_OF_CONTEXT_TOKEN)
    covered = 0
    while covered < len(readable):
        first = covered
        chars = prices[covered]
        while covered - first < min(overlap, covered):
            again = sum(prices[first - 1 : covered])
            if again > room // 4 or again + chars > room:
                break
            first -= 1
        repeated = covered - first
        chars = sum(prices[first : covered + 1])
        covered += 1
        while covered < len(readable) and covered - first < size:
            chars += prices[covered]
            if chars > room:
                break
            covered += 1
        yield Window(
            messages=tuple(readable[first:covered]),
            before=tuple([*earlier, *readable[:first]][-_CONTEXT_MESSAGES:]),
            overlap=repeated,
        )


def _price(message: SourceMessage) -> int:
    """About how many characters of a prompt the message takes."""
    lines = message.content.count("\n")
    return len(message.content) + _CHARS_AROUND_LINE * lines + _CHARS_AROUND_MESSAGE
