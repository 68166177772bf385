"""Numbers of examples, of which `make nightly` takes more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

_T = TypeVar("_T")
_FEW = settings.get_profile("few").max_examples


def examples(usual: int) -> int:
    """Returns `usual`, multiplied as the loaded profile multiplies the default number."""
    return usual * settings().max_examples // _FEW


def few_of(cases: Sequence[_T], *, every: int = 4) -> Sequence[_T]:
    """Returns each `every`th of many similar cases, and all of them in `make nightly`."""
    return cases if settings().max_examples > _FEW else cases[::every]
