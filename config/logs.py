"""Log lines as JSON or text, each with the id of the request or task that it is about.

No line holds what people said: of a record only the named fields are written, and of an exception
its kind and where it was raised, with its text only where that tells of a service or a setting.
"""

from __future__ import annotations

import logging
import re
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
import redis
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from pythonjsonlogger.json import JsonFormatter

from config.telemetry import trace_ids

HEADER = "X-Request-Id"
# What goes into a log as it is, and is no way to write lines of one's own there.
_GIVEN = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_FIELDS = ("time", "level", "logger", "message", "request_id", "task", "trace_id", "span_id")
# The logger with a line for each request, and the further fields of its lines.
REQUEST_LOG = "palimpsest.requests"
OF_REQUESTS = ("method", "route", "status", "milliseconds", "team", "agent")
# Kinds of errors whose texts tell of services and settings; those of others, such as ValueError,
# may hold whatever was said.
_TOLD = (OSError, DatabaseError, psycopg.Error, redis.RedisError, ImproperlyConfigured)
# What PostgreSQL says of values below its message, the part of a statement that it points at, and a
# value that it quotes in the message; names of tables and constraints stand after other words.
_VALUES = (
    (re.compile(r"^(DETAIL|CONTEXT|QUERY|LINE \d+):.*", re.S | re.M), r"\1: left out"),
    (re.compile(r'^([^\n"]*(?:: |at or near |value ))".*', re.S), r"\1left out"),
)

_request_id: ContextVar[str] = ContextVar("request_id", default="")
_task: ContextVar[str] = ContextVar("task", default="")


def request_id() -> str:
    """The id of the request that this thread answers or works for; "" outside of any."""
    return _request_id.get()


@contextmanager
def working_for(given: str, *, task: str = "") -> Iterator[None]:
    """Let the block's log lines name the request with this id, and the task."""
    tokens = _request_id.set(given), _task.set(task)
    try:
        yield
    finally:
        _request_id.reset(tokens[0])
        _task.reset(tokens[1])


class RequestIdMiddleware:
    """Takes the id of a request from its header, or makes one, and answers with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        chosen = given if _GIVEN.fullmatch(given) else uuid.uuid4().hex
        with working_for(chosen):
            response = self.get_response(request)
        response[HEADER] = chosen
        return response


class RequestIds(logging.Filter):
    """Puts the ids of request, task and trace on every record of a handler.

    Of an exception in Celery's lines of failed tasks it leaves only the kind, without the text.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True."""
        record.request_id = _request_id.get() or "-"
        record.task = _task.get()
        record.trace_id, record.span_id = trace_ids()
        given = record.args if record.name == "celery.app.trace" else None
        if isinstance(given, dict) and "exc" in given:
            kind = str(given["exc"]).partition("(")[0]
            record.args = {**given, "exc": kind, "traceback": ""}
        return True


class TextLines(logging.Formatter):
    """Lines for people."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name; Any: as it has it
        """The traceback."""
        return "".join(_traceback(ei[1]))


class JsonLines(JsonFormatter):
    """One JSON object a line, of the fields that are named here and no others."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message", "request_id", "task", "trace_id", "span_id"],
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp="time",
        )

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name; Any: as it has it
        """The traceback."""
        return "".join(_traceback(ei[1]))

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """The fields, without empty ones; what libraries add may hold whole requests."""
        own = OF_REQUESTS if log_data.get("logger") == REQUEST_LOG else ()
        return {name: log_data[name] for name in (*_FIELDS, *own, "exc_info") if log_data.get(name)}


def _traceback(error: BaseException | None) -> Iterator[str]:
    """The frames and kinds of an exception and of its causes, these first."""
    if error is None:
        return
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    yield from _traceback(cause)
    if cause is not None:
        yield "\nThe exception above led to this one:\n\n"
    yield from traceback.format_tb(error.__traceback__)
    told = str(error) if isinstance(error, _TOLD) else ""
    for pattern, instead in _VALUES:
        told = pattern.sub(instead, told)
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    yield f"{name}: {told}\n" if told else f"{name}\n"
