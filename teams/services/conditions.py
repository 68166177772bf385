"""Optimistic locking: what a writer requires of the stored version, so that no update is lost."""

from __future__ import annotations

from dataclasses import dataclass

from teams.errors import StaleError


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

    def check(self, *, stored: int, what: str) -> None:
        """Raise StaleError unless it holds of the version `stored`, 0 for none, of `what`."""
        if self.must_be_new and stored:
            raise StaleError(
                f"There is {what} already, at version {stored}. Load it, or send"
                f' If-Match: "{stored}".'
            )
        if (self.must_exist or self.versions is not None) and not stored:
            raise StaleError(f"There is not {what} yet; send it without If-Match.")
        if self.versions is not None and stored not in self.versions:
            raise StaleError(
                f"There is {what} at version {stored} now: somebody changed it in between. Load"
                f' it, bring your change to it and send If-Match: "{stored}".'
            )
        if stored in self.other_than:
            raise StaleError(f"There is {what} at version {stored}, which the request excludes.")


UNCONDITIONAL = Condition()
