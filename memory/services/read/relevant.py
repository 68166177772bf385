"""Applies the least relevance that a caller asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

from memory.domain.scoring import Parts
from memory.services.read.messages import RankedMessage
from memory.services.read.ranking import Ranked
from memory.services.read.search import Candidates

_TIME = [each.name for each in fields(Parts)].index("time")
# Of the 0.15 to 0.2 that fitting the time asked for adds to relevance.
_OF_THE_TIME = 0.1


def relevant(
    found: Candidates, *, min_score: float | None, always: Callable[[Ranked], bool]
) -> tuple[Candidates, int]:
    """The candidates of at least that relevance (0-1), and how many others there were.

    Without a `min_score` nothing is left out. What is of the time that is asked for is kept as
    well, and memories that are `always` told, and those that a kept one contradicts or was
    superseded by: nothing disputed is told without its other side, nothing past without what took
    its place.
    """
    if min_score is None:
        return found, 0
    enough = _says_enough(found.memories, min_score)
    memories = [each for each in found.memories if enough[each.place] or always(each)]
    beside = {other for each in memories for other in each.row.contradicts or ()}
    if found.ends:
        beside |= {
            found.ends[key] for each in memories if (key := each.row.memory_id) in found.ends
        }
    if beside:
        beside |= {each.row.memory_id for each in memories}
        memories = [each for each in found.memories if each.row.memory_id in beside]
    enough = _says_enough(found.messages, min_score)
    messages = [each for each in found.messages if enough[each.place]]
    left_out = len(found.memories) - len(memories) + len(found.messages) - len(messages)
    return replace(found, memories=memories, messages=messages), left_out


def _says_enough(
    candidates: Sequence[Ranked] | Sequence[RankedMessage], min_score: float
) -> list[bool]:
    """By place in the table that they share: whether it is relevant or of the time asked for."""
    if not candidates:
        return []
    table = candidates[0].table
    enough = table.semantic >= min_score
    if table.parts is not None:
        enough = enough | (table.parts[_TIME] >= _OF_THE_TIME)
    found: list[bool] = enough.tolist()
    return found
