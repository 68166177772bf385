"""What a plan is: sections that share a budget, and blocks in which their lines are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from ..packing import Room
from ..rendering import HEADINGS, Line, SaidLine
from ..types import MemoryType


@dataclass(frozen=True, slots=True)
class Written:
    """A line ready to print: below which heading of its block ("" for none), and in what order.

    Lines of one heading are printed by `order`, then by score.
    """

    text: str
    heading: str = ""
    order: float = 0.0


def by_type(line: Line) -> Written:
    """The line below the heading of its type; events with the latest first (seed 000, step 6)."""
    is_event = line.memory_type == MemoryType.EPISODIC
    return Written(line.render(), line.heading, order=-line.at.timestamp() if is_event else 0.0)


def without_heading(line: Line) -> Written:
    """The line as it is, in a block that has a heading of its own."""
    return Written(line.render())


def always(_: Line) -> bool:
    """Every memory."""
    return True


def never(_: Line) -> bool:
    """No memory."""
    return False


def is_pinned(line: Line) -> bool:
    """Whether somebody said that it must always be told."""
    return line.is_pinned


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a plan: which memories belong to it, what room they have, how they are written.

    A memory belongs to the first section that `takes` it, or to none. Those that it `must` hold
    are told whatever the budget. Its lines are printed in `block`.
    """

    room: Room
    takes: Callable[[Line], bool] = never
    must: Callable[[Line], bool] = never
    write: Callable[[Line], Written] = by_type
    block: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the printed prompt: opening lines, the lines of its sections by heading, an end.

    `after` names a block whose opening must be printed when this one is.
    """

    name: str = ""
    opening: str = ""
    closing: str = ""
    headings: Sequence[str] = HEADINGS
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Sections in the order in which they claim room, and blocks in the order of the prompt.

    `mandatory` names, for the warning, what goes in over the budget.
    """

    name: str
    sections: Sequence[Section]
    blocks: Sequence[Block] = (Block(),)
    mandatory: str = "what must always be told"

    def section_of(self, line: Line) -> Section | None:
        """The section a memory belongs to."""
        for section in self.sections:
            if section.takes(line):
                return section
        return None


class Entry(NamedTuple):
    """A memory that a plan may show; `key` is its id, `score` its rank, 0-1."""

    key: UUID
    line: Line
    score: float


@dataclass(frozen=True, slots=True)
class Text:
    """Something a plan shows that is no memory: a personality, a summary, a message.

    `section` names where; `key` says which it is, for what is asked of it afterwards. `said` is
    what a message says, for it to be told once.
    """

    section: str
    written: Written
    score: float = 1.0
    is_mandatory: bool = False
    key: UUID | None = None
    said: SaidLine | None = None
