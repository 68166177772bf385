"""Every refusal is one problem document with the right status; defects are not dressed up."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import psycopg_pool
import pytest
import redis
from django.conf import LazySettings
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.test import APIClient

from config.problems import problem_for, problem_response
from routing.services.cost_guard import BudgetExceededError
from teams.errors import ConflictError, DomainError, ForbiddenError, InvalidError, NotFoundError


def document(response: Any) -> dict[str, Any]:
    """The body of a problem response."""
    assert response is not None
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == response.status_code
    return body


@pytest.mark.parametrize(
    ("error", "status", "title"),
    [
        (NotFoundError, 404, "Not found"),
        (ForbiddenError, 403, "Forbidden"),
        (InvalidError, 422, "Invalid input"),
        (ConflictError, 409, "Conflict"),
    ],
)
def test_a_domain_error_has_its_status(error: type[DomainError], status: int, title: str) -> None:
    plain = document(problem_for(error("No.")))
    named = document(problem_for(error("No.", field="agent")))

    assert (plain["status"], plain["title"], plain["detail"]) == (status, title, "No.")
    assert "errors" not in plain
    assert named["errors"] == {"agent": ["No."]}
    assert named["detail"] == "agent: No."


def test_every_domain_error_has_a_status() -> None:
    # A refused budget is no bare sentence: tests/routing/test_cost_guard_api.py.
    for error in set(DomainError.__subclasses__()) - {BudgetExceededError}:
        assert problem_for(error("No.")) is not None


def broken_off() -> Exception:
    """Returns the exception that Django raises for a connection that breaks during an answer."""
    error = DatabaseError("the server closed the connection unexpectedly")
    error.__cause__ = psycopg.DatabaseError("the server closed the connection unexpectedly")
    return error


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("connection refused"),
        broken_off(),
        InterfaceError("connection already closed"),
        psycopg.OperationalError("server closed the connection"),
        psycopg_pool.PoolTimeout("no connection"),
        redis.ConnectionError("connection refused"),
        redis.TimeoutError("timed out"),
        OperationalError(),
        redis.ConnectionError(),
    ],
    ids=lambda error: f"{type(error).__module__}.{type(error).__name__}({error})",
)
def test_a_service_that_is_away_is_503_with_when_to_come_back(error: Exception) -> None:
    response = problem_for(error)

    body = document(response)
    assert body["status"] == 503
    assert response is not None
    assert int(response["Retry-After"]) >= 1


def test_an_outage_does_not_tell_addresses() -> None:
    body = document(problem_for(OperationalError('connection to "10.0.0.7" as "owner" failed')))

    assert "10.0.0.7" not in json.dumps(body)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), RuntimeError()])
def test_a_defect_of_ours_is_no_refusal(error: Exception) -> None:
    assert problem_for(error) is None
    assert problem_response(error, {}) is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Http404(), 404),
        (PermissionDenied(), 403),
        (exceptions.ParseError(), 400),
        (exceptions.NotAuthenticated(), 401),
        (exceptions.MethodNotAllowed("PUT"), 405),
        (exceptions.UnsupportedMediaType("text/plain"), 415),
        (exceptions.Throttled(wait=7), 429),
        (NotFoundError("No."), 404),
        (OperationalError("away"), 503),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_the_frameworks_errors_are_problem_documents(error: Exception, status: int) -> None:
    assert document(problem_response(error, {}))["status"] == status


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (exceptions.MethodNotAllowed("PUT"), "Method not allowed"),
        (exceptions.UnsupportedMediaType("text/plain"), "Unsupported media type"),
        (exceptions.Throttled(), "Too many requests"),
    ],
    ids=str,
)
def test_a_problem_is_titled_as_its_status(error: Exception, title: str) -> None:
    assert document(problem_response(error, {}))["title"] == title


def test_a_throttled_caller_is_told_when_to_come_back() -> None:
    response = problem_response(exceptions.Throttled(wait=7), {})

    assert response is not None
    assert response["Retry-After"] == "7"


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("No.", {"": ["No."]}),
        ({"a": ["One.", "Two."]}, {"a": ["One.", "Two."]}),
        ({"a": {"b": ["No."]}}, {"a.b": ["No."]}),
        ({"a": [{}, {"b": ["No."]}]}, {"a[1].b": ["No."]}),
        ({"a": {3: {"b": ["No."]}}}, {"a[3].b": ["No."]}),
        ([{}, {"b": ["No."]}], {"[1].b": ["No."]}),
        ({"non_field_errors": ["No."]}, {"": ["No."]}),
        ({"a": [{"non_field_errors": ["No."]}]}, {"a[0]": ["No."]}),
    ],
    ids=str,
)
def test_nested_errors_name_the_path_of_the_field(
    detail: Any, expected: dict[str, list[str]]
) -> None:
    body = document(problem_response(exceptions.ValidationError(detail), {}))

    assert body["errors"] == expected
    assert body["status"] == 422


@pytest.mark.parametrize("path", ["/nothing", "/v1/nothing", "/v1/memories/not-an-id"])
def test_an_unknown_address_is_a_problem_document(db: None, path: str) -> None:
    assert document(APIClient().get(path))["status"] == 404


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_probes_may_name_any_host(
    db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    settings.ALLOWED_HOSTS = ["memory.example.com"]
    monkeypatch.setenv("ALLOWED_HOSTS", "memory.example.com")

    assert APIClient().get(path, headers={"host": "10.1.2.3:8000"}).status_code == 200
    assert APIClient().get("/v1/docs", headers={"host": "10.1.2.3:8000"}).status_code == 400


def test_the_server_says_that_it_lives_and_is_ready(db: None) -> None:
    health, ready = APIClient().get("/healthz"), APIClient().get("/readyz")

    assert (health.status_code, ready.status_code) == (200, 200)
    assert ready.json() == {
        "status": "ok",
        "postgresql": "ok",
        "redis": "ok",
        "background": "away",
        "oldest_waiting_job_seconds": None,
        "pending_vectors": 0,
    }
