"""Log lines: their form, the request they belong to, and what must not be in them."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from functools import partial
from logging.config import DictConfigurator
from pathlib import Path
from typing import Any

import pytest
from celery import shared_task
from celery.contrib.testing.worker import start_worker
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection
from django.test import Client
from pydantic import TypeAdapter
from rest_framework.test import APIClient

from config.celery import app
from config.logs import (
    HEADER,
    REQUEST_LOG,
    JsonLines,
    RequestIds,
    TextLines,
    request_id,
    working_for,
)
from config.problems import problem
from tests.support.cast import Cast, Clients
from tests.support.waiting import until

WORDS = "zanzibarion\nlives in Oslo"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """The JSON that the logger "palimpsest-test" and its children write."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    handler.addFilter(RequestIds())
    logger = logging.getLogger("palimpsest-test")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    """The lines, read as JSON."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_object_with_the_named_fields_alone(written: io.StringIO) -> None:
    with working_for("abc-1"):
        logging.getLogger("palimpsest-test.part").warning(
            "%d:\n%s", 503, "away", extra={"request": WORDS, "status_code": 503}
        )

    (line,) = lines(written)
    assert set(line) == {"time", "level", "logger", "message", "request_id"}
    assert line["level"] == "WARNING"
    assert line["logger"] == "palimpsest-test.part"
    assert line["message"] == "503:\naway"
    assert line["request_id"] == "abc-1"


@pytest.mark.django_db
@pytest.mark.parametrize("formatter", [JsonLines(), TextLines("{message}", style="{")])
def test_a_traceback_holds_no_values_of_rows(formatter: logging.Formatter) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE said (content text CHECK (length(content) < 5))")
            cursor.execute("INSERT INTO said VALUES (%s)", [WORDS])
    except IntegrityError:
        record = logging.LogRecord("x", 40, "", 1, "failed", (), sys.exc_info())

    text = formatter.format(record)

    assert "said_content_check" in text
    assert "left out" in text
    assert "zanzibarion" not in text
    assert "lives in Oslo" not in text


def raised(act: Callable[[], object]) -> str:
    """The traceback of what the call raises, as a line of JSON has it."""
    try:
        act()
    except (DatabaseError, RuntimeError, OSError):
        record = logging.LogRecord("x", 40, "", 1, "failed", (), sys.exc_info())
    return JsonLines().format(record)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT 'zanzibarion lives in Oslo'::jsonb", "invalid input syntax for type json"),
        (f"SELECT '{WORDS}'::int", "invalid input syntax for type integer"),
        ('SELECT \'zanzibarion "lives in Oslo"\n"\'::uuid', "invalid input syntax for type uuid"),
        ("SELECT '{zanzibarion'::text[]", "malformed array literal"),
        ("SELECT 'zanzibarion'::date", "invalid input syntax for type date"),
        ("SELECT 1 zanzibarion lives", "syntax error at or near"),
    ],
)
def test_a_traceback_holds_no_part_of_a_statement(statement: str, said: str) -> None:
    with connection.cursor() as cursor:
        # Where the cause is not what the traceback's lines of code show.
        run = partial(cursor.execute, statement)
        text = raised(run)

    assert said in text
    assert "left out" in text
    assert "zanzibarion" not in text
    assert "lives in Oslo" not in text


@pytest.mark.django_db
def test_a_traceback_names_what_is_missing() -> None:
    with connection.cursor() as cursor:
        text = raised(partial(cursor.execute, "SELECT FROM no_such_table"))

    assert "no_such_table" in text
    assert "does not exist" in text


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (TypeAdapter(int).validate_python, "ValidationError"),
        (int, "ValueError"),
        ({}.pop, "KeyError"),
    ],
    ids=["pydantic", "a number", "a name"],
)
def test_a_traceback_holds_no_text_of_errors_that_may_quote(
    read: Callable[[str], object], kind: str
) -> None:
    def again() -> object:
        try:
            return read(WORDS)
        except (ValueError, KeyError) as error:
            raise RuntimeError(WORDS) from error

    text = raised(again)

    assert kind in text
    assert "RuntimeError" in text
    assert "in again" in text
    assert "zanzibarion" not in text


def test_a_traceback_tells_what_is_wrong_with_a_service() -> None:
    text = raised(partial(Path("/no/such/folder").rmdir))

    assert "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/folder'" in text


@pytest.mark.parametrize("given", ["req-1", "01920000-0000-7000-8000-00000000dead", "a/b=+:._"])
def test_a_request_keeps_the_id_it_came_with(given: str) -> None:
    assert Client().get("/healthz", headers={HEADER: given})[HEADER] == given
    assert request_id() == ""


@pytest.mark.parametrize("given", ["", "two words", "x" * 129, 'a"b', "{}", "é"])
def test_an_id_that_is_none_is_replaced(given: str) -> None:
    first, second = (Client().get("/healthz", headers={HEADER: given})[HEADER] for _ in range(2))

    assert len({first, second, given}) == 3
    assert first.isalnum()


def test_refusals_have_the_id_as_a_header_and_faults_in_the_document(acme: Cast) -> None:
    refused = APIClient().get("/v1/memories", headers={HEADER: "req-2"})

    assert refused.status_code == 401
    assert refused[HEADER] == "req-2"
    assert "request_id" not in refused.json()
    with working_for("req-3"):
        fault = json.loads(problem(503, "Service unavailable", "Away.").content)
    assert fault["request_id"] == "req-3"


@pytest.fixture
def requests_logged() -> Iterator[io.StringIO]:
    """The JSON of the lines of requests, as ACCESS_LOG turns them on."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    handler.addFilter(RequestIds())
    logger = logging.getLogger(REQUEST_LOG)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_a_request_leaves_one_line_without_address_and_content(
    acme: Cast, client_of: Clients, requests_logged: io.StringIO
) -> None:
    api = client_of(acme)
    stored = api.post(
        "/v1/memories", {"content": "Zanzibarion lives in Oslo.", "agent": "kyra"}, format="json"
    ).json()
    api.get(f"/v1/memories/{stored['id']}", {"zanzibarion": 1}, headers={HEADER: "req-9"})

    first, second = lines(requests_logged)
    assert (first["method"], first["route"], first["status"]) == ("POST", "/v1/memories", 201)
    assert (first["team"], first["agent"]) == ("acme", "kyra")
    assert first["milliseconds"] > 0
    assert second["request_id"] == "req-9"
    assert second["route"].startswith("/v1/memories/<")
    assert "agent" not in second
    logged = requests_logged.getvalue()
    assert stored["id"] not in logged
    assert "zanzibarion" not in logged.lower()


def test_the_line_of_an_agents_key_names_the_agent(
    acme: Cast, client_of: Clients, requests_logged: io.StringIO
) -> None:
    client_of(acme, agent=acme.luke).get("/v1/agents")
    APIClient().get("/v1/agents")

    known, stranger = lines(requests_logged)
    assert (known["team"], known["agent"], known["status"]) == ("acme", "luke", 200)
    assert (stranger["status"], stranger["route"]) == (401, "/v1/agents")
    assert not {"team", "agent"} & stranger.keys()


def test_probes_leave_no_line(db: None, requests_logged: io.StringIO) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        Client().get(path)

    assert requests_logged.getvalue() == ""


def test_no_other_logger_may_write_the_fields_of_requests(written: io.StringIO) -> None:
    logging.getLogger("palimpsest-test").warning("x", extra={"route": WORDS, "team": WORDS})

    (line,) = lines(written)
    assert not {"route", "team"} & line.keys()


@shared_task(name="tests.say")
def say() -> None:
    """A task that logs."""
    logging.getLogger("palimpsest-test").warning("at work")


def test_a_task_logs_for_the_request_that_left_it(written: io.StringIO) -> None:
    with start_worker(app, pool="solo", perform_ping_check=False, loglevel="WARNING"):
        with working_for("req-4"):
            say.delay()
        until(lambda: len(lines(written)) == 1)
        periodic = say.delay()
        until(lambda: len(lines(written)) == 2)

    first, second = lines(written)
    assert (first["request_id"], first["task"]) == ("req-4", "tests.say")
    assert second["request_id"] == periodic.id


@shared_task(name="tests.fail")
def fail() -> None:
    """A task whose error tells what was said."""
    try:
        raise KeyError(WORDS)
    except KeyError as error:
        raise ValueError(f"It is {WORDS}") from error


def test_a_task_that_fails_logs_the_kind_of_its_error_alone() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    given: Any = settings.LOGGING
    for name in given["handlers"]["stderr"]["filters"]:
        handler.addFilter(DictConfigurator(given).configure_filter(given["filters"][name]))
    celery_logger = logging.getLogger("celery.app.trace")
    celery_logger.addHandler(handler)
    try:
        with start_worker(app, pool="solo", perform_ping_check=False, loglevel="WARNING"):
            fail.delay()
            until(lambda: lines(stream))
    finally:
        celery_logger.removeHandler(handler)

    (line,) = lines(stream)
    assert "tests.fail" in line["message"]
    assert "ValueError" in line["message"]
    assert "in fail" in line["exc_info"]
    assert "zanzibarion" not in stream.getvalue()
