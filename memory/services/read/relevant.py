"""What of the candidates may be told: nothing that says too little about the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from django.conf import settings

from memory.domain.scoring import Parts
from memory.services.read.cascade import Candidates
from memory.services.read.messages import RankedMessage
from memory.services.read.ranking import Ranked, ReadQuestion

_TIME = [each.name for each in fields(Parts)].index("time")
# Of the 0.15 to 0.2 that fitting the time asked for adds to relevance.
_OF_THE_TIME = 0.1


@dataclass(frozen=True, slots=True)
class Floor:
    """Relevances 0-1: what is below `least` is left out, and all if the best is below `best`."""

    least: float
    best: float = 0.0


def default_floor() -> Floor:
    """The floor of a question that says nothing of its own."""
    return Floor(float(settings.MIN_SCORE), float(settings.MIN_BEST_SCORE))


def floor_of(*, question: ReadQuestion, min_score: float | None, keeps_all: bool = False) -> Floor:
    """The floor of a read: `min_score` where the caller says so, else that of the settings.

    There is none by default where a filter's choice is kept whole, where a question asks for
    nothing in particular, and without an embedder, whose half of relevance is missing then.
    """
    if min_score is not None:
        return Floor(min_score)
    if keeps_all or question.asked.is_open or not question.has_vector:
        return Floor(0.0)
    return default_floor()


def relevant(
    found: Candidates, *, floor: Floor, always: Callable[[Ranked], bool]
) -> tuple[Candidates, int]:
    """The candidates that say enough about the question, and how many others there were.

    What is of the time that is asked for is kept as well, and memories that are `always` told, and
    those that a kept one contradicts or was superseded by: nothing disputed is told without its
    other side, nothing past without what took its place.
    """
    enough = _says_enough(found.memories, floor)
    memories = [each for each in found.memories if enough[each.place] or always(each)]
    beside = {other for each in memories for other in each.row.contradicts or ()}
    if found.ends:
        beside |= {
            found.ends[key] for each in memories if (key := each.row.memory_id) in found.ends
        }
    if beside:
        beside |= {each.row.memory_id for each in memories}
        memories = [each for each in found.memories if each.row.memory_id in beside]
    enough = _says_enough(found.messages, floor)
    messages = [each for each in found.messages if enough[each.place]]
    left_out = len(found.memories) - len(memories) + len(found.messages) - len(messages)
    return replace(found, memories=memories, messages=messages), left_out


def _says_enough(
    candidates: Sequence[Ranked] | Sequence[RankedMessage], floor: Floor
) -> list[bool]:
    """By place in the table that they share: whether it is relevant or of the time asked for."""
    if not candidates:
        return []
    table = candidates[0].table
    enough = table.semantic >= (floor.least if table.semantic.max() >= floor.best else np.inf)
    if table.parts is not None:
        enough = enough | (table.parts[_TIME] >= _OF_THE_TIME)
    found: list[bool] = enough.tolist()
    return found
