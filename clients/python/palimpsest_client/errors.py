"""The exceptions of the client: all are PalimpsestError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx


class PalimpsestError(Exception):
    """Anything that this client raises."""


class ConnectionFailed(PalimpsestError):
    """The server was not reached, or did not answer; whether it acted is unknown for a write."""


class UnexpectedAnswer(PalimpsestError):
    """The response is not an answer of this API, for example a page of a proxy."""


class InvalidName(PalimpsestError, ValueError):
    """Nothing was sent, as this cannot be part of an address: an empty name, `.` or `..`."""


class StreamCut(PalimpsestError):
    """The answer ended before its end.

    Where the language model broke off, the pieces before it are stored.
    """


class Refused(PalimpsestError):
    """The server refused or failed; it says so in a problem document (RFC 9457).

    `message` says what to do, `field` names the first field at fault and `errors` all of them
    with what is wrong; `request_id` finds the request in the server's log, and `problem` is the
    whole document.
    """

    def __init__(self, response: httpx.Response) -> None:
        self.problem = _problem_of(response)
        self.status = response.status_code
        self.message = str(self.problem.get("detail") or response.reason_phrase)
        errors = self.problem.get("errors")
        self.errors: Mapping[str, list[str]] = errors if isinstance(errors, dict) else {}
        self.field = next(filter(None, self.errors), None)
        self.request_id = response.headers.get("X-Request-Id")
        super().__init__(f"{self.status}: {self.message}")

    def __reduce__(self) -> tuple[Any, ...]:  # Any: as object has it
        """As it stands, without the response that it was made of."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class BadRequest(Refused):
    """The request is wrong, and would be so again: 400, 422 and the other statuses below 500."""


class Unauthorized(Refused):
    """401: the key is missing, wrong, expired or revoked."""


class BudgetExceeded(Refused):
    """402: a call may cost more than a budget has left; `problem` says which, and how much."""


class Forbidden(Refused):
    """403: this key may not do that."""


class NotFound(Refused):
    """404: there is no such thing, or this key may not see it."""


class Conflict(Refused):
    """409: it conflicts with what is stored or under way."""


class ChangedSince(Refused):
    """412: somebody changed it since the version that was named."""


class TooManyRequests(Refused):
    """429, and the tries are used up; `retry_after` is when to come back, in seconds."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response)
        given = response.headers.get("Retry-After", "")
        self.retry_after = float(given) if given.isdecimal() else None


class ServerError(Refused):
    """500 and above: a fault of the server, or something it needs is away."""


_BY_STATUS: Mapping[int, type[Refused]] = {
    401: Unauthorized,
    402: BudgetExceeded,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: ChangedSince,
    429: TooManyRequests,
}


def error_of(response: httpx.Response) -> Refused:
    """The exception for an answer of 400 or above, whose body has been read."""
    status = response.status_code
    return _BY_STATUS.get(status, ServerError if status >= 500 else BadRequest)(response)


def _problem_of(response: httpx.Response) -> Mapping[str, Any]:  # Any: a JSON document
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
