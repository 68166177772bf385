"""What a plan is: sections that share a budget, and blocks in which their lines are printed.

The plan of `retrieve` stands at the end: identity, pinned, the profile, then the best (seed 000,
step 5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from memory.domain.levels import ORDER, Level, Levels
from memory.domain.packing import Room
from memory.domain.rendering import HEADINGS, Line, SaidLine
from memory.domain.types import MemoryType

IDENTITY_RESERVE = 200
PINNED_RESERVE = 300
USER_PROFILE_RESERVE = 200
USER_PROFILE = "user_profile"


@dataclass(frozen=True, slots=True)
class Written:
    """A line ready to print below a heading ("" for none), by `order` and then by score."""

    text: str
    heading: str = ""
    order: float = 0.0


def by_type(line: Line) -> Written:
    """The line below the heading of its type, the latest first (seed 000, step 6).

    Events stand by their own time, all else by when it was said, so that a change comes before what
    it changes.
    """
    is_event = line.memory_type == MemoryType.EPISODIC
    at = line.at if is_event or line.quote is None else line.quote.said_at
    return Written(line.render(), line.heading, order=-at.timestamp())


def without_heading(line: Line) -> Written:
    return Written(line.render())


def always(_: Line) -> bool:
    return True


def never(_: Line) -> bool:
    return False


def is_pinned(line: Line) -> bool:
    """Whether somebody said that it must always be told."""
    return line.is_pinned


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a plan: which memories belong to it, what room they have, how they are written.

    A memory belongs to the first section that `takes` it, or to none. Those that it `must` hold
    are told whatever the budget. Its lines are printed in `block`. Each is told whole, or from the
    level `longest` on, or a shorter one where its levels say so; what is too long for what is left
    of the budget is told at a shorter level.
    """

    room: Room
    takes: Callable[[Line], bool] = never
    must: Callable[[Line], bool] = never
    write: Callable[[Line], Written] = by_type
    block: str = ""
    longest: Level = Level.CONTENT

    def written(self, entry: Entry) -> list[tuple[Level, Written]]:
        """The entry at each level that the section may tell it at, the longest first.

        An index term says too little to stand for its memory where more was meant.
        """
        line, levels = entry.line, entry.levels
        if levels is None or self.must(line):
            return [(Level.CONTENT, self.write(line))]
        last = Level.INDEX_TERM if self.longest is Level.INDEX_TERM else Level.COMPRESSED
        told: dict[str, Level] = {}
        first = max(self.longest, levels.told_at_most, key=ORDER.index)
        for level in ORDER[ORDER.index(first) : ORDER.index(last) + 1]:
            told.setdefault(levels.at(level, line.content), level)
        return [
            (level, self.write(replace(line, content=text) if text != line.content else line))
            for text, level in told.items()
        ]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the prompt; `after` names the block whose opening it needs."""

    name: str = ""
    opening: str = ""
    closing: str = ""
    headings: Sequence[str] = HEADINGS
    after: str | None = None


FORGETTING = (
    "Tell whoever wants something forgotten that their team does it in the memory's admin or API."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Sections as they claim room, blocks as printed; `mandatory` names what passes the budget.

    Memories of the types in `on_request` are told only when pinned or asked for: how something is
    done is for whoever does it, and no part of talk (seed 004, §12). Those in `always` are told
    whatever is asked, as identity and what is pinned are.

    A plan that `has_tiers` keeps room for what ranks low: the most important memories of the
    viewer's project are candidates whatever they say, and no candidate is left out before packing.
    `first` names the entries that claim room before all sections, in their order.
    """

    name: str
    sections: Sequence[Section]
    blocks: Sequence[Block] = (Block(),)
    mandatory: str = "what must always be told"
    on_request: Collection[MemoryType] = (MemoryType.PROCEDURAL,)
    always: Collection[MemoryType] = ()
    has_tiers: bool = False
    first: Callable[[Sequence[Entry]], Sequence[Entry]] | None = None

    def section_of(self, line: Line) -> Section | None:
        return next((section for section in self.sections if section.takes(line)), None)


class Entry(NamedTuple):
    """A memory that a plan may show; `key` is its id, `score` its rank, 0-1.

    `section` is the one it stands in where rules chose one of the plan; else its line decides.
    `levels` are shorter versions of its text, None where it is told whole or not at all.
    """

    key: UUID
    line: Line
    score: float
    section: str = ""
    levels: Levels | None = None


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


def is_identity(line: Line) -> bool:
    """What the agent knows of itself."""
    return line.memory_type == MemoryType.IDENTITY


def is_profile(line: Line) -> bool:
    """What is known of the user across all agents."""
    return line.memory_type == MemoryType.USER_PROFILE


RETRIEVAL = Plan(
    name="retrieval",
    sections=(
        Section(Room("identity", reserve=IDENTITY_RESERVE), takes=is_identity, must=always),
        Section(Room("pinned", reserve=PINNED_RESERVE), takes=is_pinned, must=always),
        Section(Room(USER_PROFILE, reserve=USER_PROFILE_RESERVE), takes=is_profile),
        Section(Room("rest"), takes=always),
    ),
    mandatory="identity and pinned memories",
)
