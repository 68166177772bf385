"""Log lines as JSON or text, each with the id of the request or task that it is about.

No line holds what people said: of a record only the named fields are written, and what PostgreSQL
and pydantic tell of values is left out of tracebacks.
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

from django.http import HttpRequest, HttpResponse
from pythonjsonlogger.json import JsonFormatter

from config.telemetry import trace_ids

HEADER = "X-Request-Id"
# What goes into a log as it is, and is no way to write lines of one's own there.
_GIVEN = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_FIELDS = (
    "time",
    "level",
    "logger",
    "message",
    "request_id",
    "task",
    "trace_id",
    "span_id",
    "exc_info",
)
# Up to the next exception of the traceback, as a value may have lines of its own: what PostgreSQL
# says of values below its message, the part of a statement that it points at, and a value that it
# quotes in the message; names of tables and constraints stand after other words. And pydantic's.
_END = r".*?(?=\n\n(?:The above exception|During handling)|\Z)"
_VALUES = (
    (re.compile(rf"^(DETAIL|CONTEXT|QUERY|LINE \d+):{_END}", re.S | re.M), r"\1: left out"),
    (
        re.compile(
            rf'^((?:psycopg|django\.db)[\w.]*: [^\n"]*(?:: |at or near |value ))"{_END}',
            re.S | re.M,
        ),
        r"\1left out",
    ),
    (re.compile(r"\binput_value=.*?(?=, input_type=)", re.S), "input_value=left out"),
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
    """Puts the ids of request, task and trace on every record of a handler."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True."""
        record.request_id = _request_id.get() or "-"
        record.task = _task.get()
        record.trace_id, record.span_id = trace_ids()
        return True


class TaskErrors(logging.Filter):
    """Leaves the kind of an exception and where it was raised in Celery's lines of failed tasks.

    Its text, and the texts of its causes, may hold what was said.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True."""
        if record.name != "celery.app.trace" or not isinstance(record.args, dict):
            return True
        if "exc" in record.args:
            kind = str(record.args["exc"]).partition("(")[0]
            record.args = {**record.args, "exc": kind, "traceback": ""}
        if record.exc_info:
            raised, _, place = record.exc_info
            frames = traceback.format_tb(place)
            record.exc_text = "".join([*frames, raised.__name__ if raised else ""])
            record.exc_info = None
        return True


class TextLines(logging.Formatter):
    """Lines for people, without values of rows."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name; Any: as it has it
        """The traceback."""
        return _without_values(super().formatException(ei))


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
        return _without_values(str(super().formatException(ei)))

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """The fields, without empty ones; what libraries add may hold whole requests."""
        return {name: log_data[name] for name in _FIELDS if log_data.get(name)}


def _without_values(text: str) -> str:
    for pattern, instead in _VALUES:
        text = pattern.sub(instead, text)
    return text
