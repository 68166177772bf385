"""What a statement shows, as names of features; each module can be taken out by itself."""

from __future__ import annotations

from collections.abc import Callable

from .meaning import meaning
from .profile_facts import profile_facts
from .seen import Seen
from .shape import shape
from .subjects import subjects
from .talk import talk
from .tools import tools
from .words import words

__all__ = ["MODULES", "Seen", "evidence_of"]

MODULES: dict[str, Callable[[Seen], set[str]]] = {
    "shape": shape,
    "subjects": subjects,
    "meaning": meaning,
    "profile_facts": profile_facts,
    "talk": talk,
    "tools": tools,
    "words": words,
}


def evidence_of(seen: Seen, *, without: str = "") -> frozenset[str]:
    """The names of all features; `without` leaves out one module, to measure what it is worth."""
    return frozenset(
        name for key, module in MODULES.items() if key != without for name in module(seen)
    )
