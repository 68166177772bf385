"""Errors as application/problem+json (RFC 9457): the one place that maps domain errors to HTTP."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import psycopg
import psycopg_pool
import redis
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import set_rollback

from config.logs import request_id
from memory.writing.decisions.undoing import ChangedSinceError
from routing.services.cost_guard import BudgetExceededError
from routing.services.router import NoModelConfiguredError
from teams import admin_permissions, errors
from teams.domain.documents import DocumentError
from teams.tenancy import broke_off

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
# How many wrong fields a refusal names, and how many characters it has room for: what was sent may
# have been large, and its refusal repeats it.
_MAX_NAMED = 10
_MAX_CHARS = 1_000

logger = logging.getLogger(__name__)

_DOMAIN: dict[type[errors.DomainError], tuple[int, str]] = {
    errors.NotFoundError: (404, "Not found"),
    errors.ForbiddenError: (403, "Forbidden"),
    errors.InvalidError: (422, "Invalid input"),
    errors.ConflictError: (409, "Conflict"),
    errors.TooLargeError: (413, "Content too large"),
    errors.StaleError: (412, "Precondition failed"),
    # As nginx has it: only the log and the metrics tell.
    errors.GivenUpError: (499, "Client closed request"),
    errors.UnavailableError: (503, "Service unavailable"),
    errors.MovedError: (421, "Misdirected request"),
}
_TITLES = {
    400: "Malformed request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    415: "Unsupported media type",
    429: "Too many requests",
}
# Appended to messages that name the error but not the remedy.
_WAYS_OUT = {
    406: " Answers are JSON: send «Accept: application/json», or no such header.",
    415: " Send the body as JSON, with the header «Content-Type: application/json».",
}
_AWAY = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg_pool.PoolTimeout,
    redis.ConnectionError,
    redis.TimeoutError,
)
_NOT_REACHED = "The database does not answer; nothing was changed. Try again shortly."
_TOO_LONG = (
    "A question to the database took too long and was stopped; what it was to change was not"
    " changed. Ask for less at a time, or try again when less is going on."
)
# When a connection breaks during a commit, nobody knows whether the commit took effect.
_BROKE_OFF = (
    "The database or the cache stopped answering. Try again shortly; what was to be changed may"
    " have been: look first, or send it again under the Idempotency-Key that it had."
)


def problem(
    code: int,
    title: str,
    detail: str,
    *,
    problems: dict[str, list[str]] | None = None,
    members: Mapping[str, object] | None = None,
    headers: dict[str, str] | None = None,
) -> JsonResponse:
    """A problem document; `problems` maps each invalid field to its messages.

    `members` are extra members of the document, for clients that act on the error. Faults of ours
    name the request, as the log does.
    """
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": code}
    body["detail"] = _short(detail)
    if problems:
        named = islice(problems.items(), _MAX_NAMED)
        body["errors"] = {_short(name): [_short(each) for each in told] for name, told in named}
    if code >= 500 and (asked := request_id()):
        body["request_id"] = asked
    body |= members or {}
    return JsonResponse(body, status=code, content_type=MEDIA_TYPE, headers=headers)


def problem_for(error: Exception) -> JsonResponse | None:
    """The problem document of an error; None for a bug, which becomes a 500."""
    if isinstance(error, BudgetExceededError):
        return problem(402, "Budget exceeded", error.message, members=_of_budget(error))
    if isinstance(error, errors.DomainError):
        code, title = next(_DOMAIN[kind] for kind in type(error).__mro__ if kind in _DOMAIN)
        fields = {error.field: [error.message]} if error.field else None
        if isinstance(error, DocumentError):
            fields = error.problems
        detail = f"{error.field}: {error.message}" if error.field else error.message
        wait = error.retry_after_seconds
        headers = None if wait is None else {"Retry-After": str(math.ceil(wait))}
        changed = error.changed if isinstance(error, ChangedSinceError) else ()
        members: dict[str, object] = {}
        if changed:
            members["memories"] = [str(each.memory.pk) for each in changed]
        if isinstance(error, errors.MovedError):
            members["moved_to"] = error.moved_to
        answer = problem(code, title, detail, problems=fields, members=members, headers=headers)
        if code >= 500:
            # The caller can act on it; Django would log it as a server error.
            level = logging.INFO if isinstance(error, NoModelConfiguredError) else logging.WARNING
            logger.log(level, "%d: %s", code, detail)
            return _logged(answer)
        return answer
    if isinstance(error.__cause__, psycopg.errors.ReadOnlySqlTransaction):
        # Begun before the team was frozen; or the database is a standby.
        return problem_for(errors.FrozenError())
    if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
        logger.warning("A statement took too long and was stopped.")
        return _unavailable(_TOO_LONG, retry_after=10)
    if isinstance(error, _AWAY) or broke_off(error):
        lines = str(error).strip().splitlines()
        logger.warning("A service is away: %s", lines[0] if lines else type(error).__name__)
        unreached = any(
            isinstance(each, psycopg_pool.PoolTimeout) for each in (error, error.__cause__)
        )
        words = _NOT_REACHED if unreached else _BROKE_OFF
        return _unavailable(words, retry_after=RETRY_AFTER_SECONDS)
    return None


def _unavailable(detail: str, *, retry_after: int) -> JsonResponse:
    headers = {"Retry-After": str(retry_after)}
    return _logged(problem(503, "Service unavailable", detail, headers=headers))


def _logged(answer: JsonResponse) -> JsonResponse:
    """Mark the response as logged, so that Django does not log it again with a traceback."""
    answer._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return answer


def _of_budget(error: BudgetExceededError) -> dict[str, object]:
    cap = error.tightest
    return {
        "cap": cap.account.kind.value,
        "limit": float(cap.limit_usd),
        "remaining": float(cap.left_usd),
        "estimated": float(error.estimated_usd),
        "resets_at": cap.resets_at,
        "suggested_tier": error.suggested_tier,
    }


def problem_response(error: Exception, _context: dict[str, Any]) -> Response | JsonResponse | None:
    """The answer of Django REST framework for an error of a view."""
    set_rollback()
    if isinstance(error, Http404):
        error = exceptions.NotFound("There is no such thing.")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return problem_for(error)
    headers = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait))
    if isinstance(error, exceptions.ValidationError):
        fields = dict(islice(_flatten(error.detail), _MAX_NAMED))
        name, messages = next(iter(fields.items()))
        return problem(
            status.HTTP_422_UNPROCESSABLE_ENTITY,
            "Invalid input",
            f"{name}: {messages[0]}" if name else messages[0],
            problems=fields,
        )
    title = _TITLES.get(error.status_code, "Request refused")
    if isinstance(error, exceptions.NotAuthenticated) and header:
        error = exceptions.NotAuthenticated(
            f"Send the header «Authorization: {header.split()[0]} <API key>»."
        )
    detail = f"{error.detail}{_WAYS_OUT.get(error.status_code, '')}"
    return problem(error.status_code, title, detail, headers=headers)


def _flatten(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """The nested errors, each as its path ("messages[3].content", "" for the body) and messages."""
    if isinstance(detail, dict | ReturnDict):
        for key, value in detail.items():
            if key == "non_field_errors":
                inner = path
            elif isinstance(key, int):
                inner = f"{path}[{key}]"
            else:
                inner = f"{path}.{key}" if path else str(key)
            yield from _flatten(value, inner)
    elif isinstance(detail, list | tuple):
        if any(isinstance(item, dict | list) for item in detail):
            for index, item in enumerate(detail):
                if item:
                    yield from _flatten(item, f"{path}[{index}]")
        elif detail:
            yield path, [str(item) for item in detail]
    else:
        yield path, [str(detail)]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"


def not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    """The answer for an address that does not exist; a page for people in the admin."""
    if request.path.startswith("/admin/"):
        return admin_permissions.not_found(request)
    return problem(404, "Not found", f"Nothing answers at {request.path}.")


def bad_request(*_: object, **__: object) -> JsonResponse:
    """The answer for a request that Django refuses before any view."""
    return problem(400, "Malformed request", "The request is malformed.")


def server_error(_request: HttpRequest) -> JsonResponse:
    """The answer for a bug."""
    return problem(500, "Server error", "Something went wrong on our side; it has been logged.")


class ServiceUnavailableMiddleware:
    """Answers 503 with Retry-After when a page needs a database that is down."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The problem response of an outage; None leaves any other error to Django."""
        return problem_for(error)
