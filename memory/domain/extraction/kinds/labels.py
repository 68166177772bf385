"""How a sentence is filed: type, importance, category, subject."""

from __future__ import annotations

from dataclasses import dataclass

from ...types import MemoryType


@dataclass(frozen=True, slots=True)
class Label:
    """How a sentence is filed; importance on the scale of seed 000, 1-10."""

    memory_type: MemoryType
    importance: int
    category: str
    attribute: str = ""
    pinned: bool = False
    sensitive: str = ""
    confidence: float = 0.8


def profile_of(
    attribute: str, importance: int, *, pinned: bool = False, sensitive: str = ""
) -> Label:
    """A label for a lasting fact about the speaker; `attribute` ends its subject."""
    return Label(
        MemoryType.USER_PROFILE,
        importance,
        "profile",
        "profile." + attribute,
        pinned,
        sensitive,
        0.9,
    )
