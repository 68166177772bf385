"""What can go wrong in the domain; `config.problems` turns each into one HTTP status."""

from __future__ import annotations


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
    """What was named does not exist for this caller."""


class ForbiddenError(DomainError):
    """The caller is known and may not do this."""


class InvalidError(DomainError):
    """The input cannot be what the caller meant; nothing was changed."""


class UnavailableError(DomainError):
    """What it takes cannot be had at this moment; nothing was changed, and trying again helps.

    `retry_after_seconds` is None where somebody has to do something first.
    """

    retry_after_seconds: float | None = 2.0


class ConflictError(DomainError):
    """The input fights with what is stored; nothing was changed."""


class UnderWayError(ConflictError):
    """The same request is being carried out; its answer can be asked for in a moment."""

    retry_after_seconds = 1.0


class TooLargeError(DomainError):
    """The input is larger than what is kept of its kind; nothing was changed."""


class StaleError(DomainError):
    """What is stored is no longer, or not yet, what the caller meant; nothing was changed."""


class GivenUpError(DomainError):
    """The client has gone, so nobody reads what would be found; nothing was changed."""
