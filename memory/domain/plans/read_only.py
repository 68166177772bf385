"""Seed 001's block of facts that are authoritative, and the one of documents beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from memory.domain.packing import Room
from memory.domain.plans.plan import FORGETTING, Block, Plan, Section, Written
from memory.domain.rendering import Line
from memory.domain.types import Scope

RULE = "═" * 32
MARKER = " (READ-ONLY)"
TITLE = "PERSISTENT MEMORY"
USE = "Use these facts unless the user explicitly contradicts them."
AUTHORITATIVE = "These facts are authoritative and cannot be modified by AI."
FACTS = "facts"


class Characters:
    """A counter of characters, so that a budget may be given in them."""

    name = "characters"

    def count(self, text: str) -> int:
        return len(text)


CHARACTERS = Characters()


@lru_cache(maxsize=64)
def read_only_plan(scopes: tuple[Scope, ...], *, has_marker: bool = True) -> Plan:
    """The block of facts, scope after scope in that order, each filled before the next.

    Without the marker it neither calls itself read-only nor says that nothing can modify it, nor
    how something is forgotten. It takes the facts that are given: what is told was chosen before.
    """
    opening = f"{TITLE}{MARKER if has_marker else ''}\n{RULE}\n"
    said = (USE, AUTHORITATIVE, FORGETTING) if has_marker else (USE,)
    closing = "\n".join((*said, "", RULE))
    return Plan(
        name="read_only",
        sections=[
            # All of the budget is every section's own, so that they are filled in their order.
            Section(Room(scope, share=1.0), takes=_of(scope), write=_in_place(place), block=FACTS)
            for place, scope in enumerate(scopes)
        ],
        blocks=[Block(FACTS, opening=opening, closing=closing)],
        # Category and scope decide; nothing is told by its type alone or kept from it.
        on_request=(),
    )


def _of(scope: Scope) -> Callable[[Line], bool]:
    return lambda line: line.scope == scope


def _in_place(place: int) -> Callable[[Line], Written]:
    return lambda line: Written(line.render(), order=place)


def frame_chars(*, has_marker: bool = True) -> int:
    """The characters of the block around its facts."""
    (block,) = read_only_plan((Scope.TEAM,), has_marker=has_marker).blocks
    return len(f"{block.opening}\n\n{block.closing}")
