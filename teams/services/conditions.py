"""What a writer asks of the version that stands, so that no update is lost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of the stored version for a save to happen.

    With `versions` it must be one of these, with `must_exist` there must be one, with `must_be_new`
    there must be none, and it must be none of `other_than`.
    """

    versions: frozenset[int] | None = None
    must_exist: bool = False
    must_be_new: bool = False
    other_than: frozenset[int] = frozenset()


UNCONDITIONAL = Condition()
