"""The errors of the domain; `config.problems` turns each into one HTTP status."""

from __future__ import annotations

from dataclasses import dataclass


class DomainError(Exception):
    """A refusal with a sentence for the caller and, where one is at fault, the field's name.

    `retry_after_seconds` is when the same request may succeed; None where waiting does not help.
    """

    retry_after_seconds: float | None = None

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class NotFoundError(DomainError):
    """The named object does not exist for this caller."""


class ForbiddenError(DomainError):
    """The caller is known and may not do this."""


class InvalidError(DomainError):
    """The input cannot be what the caller meant; nothing was changed."""


class UnavailableError(DomainError):
    """Something needed is unavailable at this moment; nothing was changed, and a retry helps."""

    retry_after_seconds: float | None = 2.0


class FrozenError(UnavailableError):
    """The team is being moved to another deployment; nothing was changed, and a retry helps."""

    def __init__(
        self,
        message: str = "This team is being moved to another deployment: it can be read, and"
        " changes are taken again in some seconds. Try again shortly.",
    ) -> None:
        super().__init__(message)


class MovedError(DomainError):
    """The team is in another deployment by now, whose address is `moved_to`."""

    def __init__(self, message: str, *, moved_to: str = "") -> None:
        super().__init__(message)
        self.moved_to = moved_to


class ConflictError(DomainError):
    """The input fights with what is stored; nothing was changed."""


class UnderWayError(ConflictError):
    """The same request is being carried out; its answer can be asked for in a moment."""

    retry_after_seconds = 1.0


class TooLargeError(DomainError):
    """The input is larger than what is kept of its kind; nothing was changed."""


class StaleError(DomainError):
    """The stored version is no longer, or not yet, the one the caller meant; nothing changed."""


class GivenUpError(DomainError):
    """The client has gone, so nobody reads what would be found; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The precondition on the stored version for a save to happen.

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
