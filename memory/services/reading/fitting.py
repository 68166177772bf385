"""How many of the best candidates a budget has room for."""

from __future__ import annotations

from collections.abc import Sequence

from memory.domain.plans.prompt import TEAM_SIZE
from memory.domain.tokens import CHARACTERS_A_TOKEN
from memory.domain.types import MemoryType
from memory.selectors.searching.signal_rows import SignalRow
from memory.services.reading.ranking import Ranked

_SHARED = MemoryType.SHARED.value
# What has room of its own, as what is pinned has.
_ALWAYS = (MemoryType.IDENTITY.value, MemoryType.USER_PROFILE.value)
_RATED = (MemoryType.SEMANTIC.value, MemoryType.AGENT_PRIVATE.value)
# The characters of a line beside the memory's text: "[TEAM]: " and its end, and of what is rated
# "[FACT]: ", how important it is, and its end.
_BARE, _WITH_RATING = 9, 25


def that_could_fit(ranked: Sequence[Ranked], *, token_budget: int) -> list[Ranked]:
    """What may reach the prompt: what has room of its own, and of the others so many tokens."""
    kept, room = [], token_budget * CHARACTERS_A_TOKEN
    # A few more of what the team knows than its room holds, as the longest may not fit.
    team_room = 2 * TEAM_SIZE * CHARACTERS_A_TOKEN
    for each in ranked:
        row = each.row
        kind = row.memory_type
        has_room = kind == _SHARED and team_room > 0
        if has_room:
            team_room -= _size(row)
        if row.is_pinned or kind in _ALWAYS:
            kept.append(each)
        elif room > 0 or has_room:
            kept.append(each)
            room -= _size(row)
    return kept


def _size(row: SignalRow) -> int:
    if row.memory_type not in _RATED or row.category == "preferences":
        return len(row.content) + _BARE
    return len(row.content) + _WITH_RATING
