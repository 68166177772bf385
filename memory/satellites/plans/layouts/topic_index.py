"""The fourth tier of the context of work in progress: topics of what is not told (seed 002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.domain.packing import Room
from memory.domain.plans.assembly import assemble
from memory.domain.plans.plan import Block, Plan, Section, Text, Written
from memory.domain.rendering import TokenCounter, beginning, escaped_line
from memory.satellites.plans.layouts.working import ContextTier

HEADING = "## Index"
OPENING = f"{HEADING}\nMore is known of these topics. Ask for one by its name:"
_MOST_TOPIC_CHARS = 100

_INDEX = Plan(
    name="index",
    sections=[Section(Room(ContextTier.INDEX, share=1.0), block="index")],
    blocks=[Block("index", opening=OPENING)],
)


@dataclass(frozen=True, slots=True)
class TopicIndex:
    """The tier, its tokens with the line before it, and the topics in it with their counts."""

    prompt: str = ""
    tokens: int = 0
    topics: tuple[tuple[str, int], ...] = ()


def topic_index(
    topics: Sequence[tuple[str, int]], *, token_budget: int, counter: TokenCounter
) -> TopicIndex:
    """As many of the topics as the budget holds, the first ones first."""
    texts = [
        Text(
            ContextTier.INDEX,
            Written(f"- {_name(topic)} ({count})", order=place),
            score=1 / (place + 1),
            key=UUID(int=place + 1),
        )
        for place, (topic, count) in enumerate(topics)
    ]
    room = max(0, token_budget - counter.count("\n\n"))
    found = assemble(plan=_INDEX, entries=(), texts=texts, token_budget=room, counter=counter)
    if not found.prompt:
        return TopicIndex()
    told = tuple(each for place, each in enumerate(topics, 1) if UUID(int=place) in found.quoted)
    return TopicIndex(found.prompt, counter.count(f"\n\n{found.prompt}"), told)


def untold(topics: Sequence[tuple[str, int]], *, told: Mapping[str, int]) -> list[tuple[str, int]]:
    """The topics with what of them is not told, most first, without those of which all is."""
    left = [(topic, count - told.get(topic, 0)) for topic, count in topics]
    return sorted((each for each in left if each[1] > 0), key=lambda each: (-each[1], each[0]))


def _name(topic: str) -> str:
    name = escaped_line(beginning(topic, longest=_MOST_TOPIC_CHARS))
    return name.replace("[", "&#91;").replace("]", "&#93;")
