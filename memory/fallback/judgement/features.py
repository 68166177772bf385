"""All that is found about a pair as numbers by name; one function for each feature module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .amounts import amounts
from .cues import cues
from .opposition import opposition
from .overlap import overlap
from .pairing import Features, Pair
from .products import products
from .slots import slots
from .subjects import subjects

MODULES: Final[dict[str, Callable[[Pair], Features]]] = {
    "overlap": overlap,
    "amounts": amounts,
    "opposition": opposition,
    "cues": cues,
    "slots": slots,
    "subjects": subjects,
}


def features_of(pair: Pair) -> Features:
    """The findings of all modules, each named "module: finding"; what is absent is 0."""
    found = {
        f"{module}: {name}": float(size)
        for module, find in MODULES.items()
        for name, size in find(pair).items()
        if size
    }
    found |= {f"products: {name}": size for name, size in products(found).items() if size}
    return found
