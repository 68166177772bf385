"""Choosing what fits a token budget (seed 000, step 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from .types import MemoryType

MINIMUM_BUDGET = 100
IDENTITY_RESERVE = 200
PINNED_RESERVE = 300
USER_PROFILE_RESERVE = 200

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """Something that may go into a prompt: `section` names where, `tokens` is its rendered size."""

    value: T
    section: str
    tokens: int
    score: float
    memory_type: str
    is_pinned: bool

    @property
    def is_mandatory(self) -> bool:
        """Whether it goes in whatever the budget: identity and pinned memories do."""
        return self.memory_type == MemoryType.IDENTITY or self.is_pinned


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    """The chosen items, best first, what they take, and what the caller should know."""

    items: tuple[Item[T], ...]
    tokens_used: int
    warnings: tuple[str, ...] = ()


def pack(
    items: Sequence[Item[T]],
    *,
    token_budget: int,
    section_tokens: Callable[[str], int],
    limit: int | None = None,
) -> Packed[T]:
    """Choose items in the seed's order until the budget is used.

    Identity and pinned memories always go in; then user-profile memories up to their reserve; then
    everything by score (equal scores in the given order), passing over what does not fit.
    `section_tokens` is what the first item of a section costs beside itself. The result is over
    budget only when the mandatory items are, and then a warning says so. `limit` bounds the number
    of items, the mandatory ones apart.
    """
    ranked = sorted(items, key=lambda item: -item.score)
    mandatory = [item for item in ranked if item.is_mandatory]
    optional = [item for item in ranked if not item.is_mandatory]
    opened: set[str] = set()
    chosen: list[Item[T]] = []
    used = 0

    def cost(item: Item[T]) -> int:
        return item.tokens + (0 if item.section in opened else section_tokens(item.section))

    def take(item: Item[T]) -> None:
        nonlocal used
        used += cost(item)
        opened.add(item.section)
        chosen.append(item)

    for item in mandatory:
        take(item)
    warnings: tuple[str, ...] = ()
    if used > token_budget:
        warnings = (
            f"identity and pinned memories take {used} tokens, over the budget of {token_budget}",
        )
    room = len(optional) if limit is None else max(0, limit - len(chosen))
    reserve = min(USER_PROFILE_RESERVE, max(0, token_budget - used))
    profile_used = 0
    for item in optional:
        if room and item.memory_type == MemoryType.USER_PROFILE:
            price = cost(item)
            if profile_used + price <= reserve:
                profile_used += price
                room -= 1
                take(item)
    taken = {id(item) for item in chosen}
    for item in optional:
        if room and id(item) not in taken and used + cost(item) <= token_budget:
            room -= 1
            take(item)
    return Packed(
        items=tuple(sorted(chosen, key=lambda item: -item.score)),
        tokens_used=used,
        warnings=warnings,
    )
