"""Traces: what is in them, what must not be, and that there are none unless asked for."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from celery import shared_task
from celery.contrib.testing.worker import start_worker
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from rest_framework.test import APIClient

from config import telemetry
from config.celery import app
from config.embedded import PROJECT_ROOT
from config.logs import RequestIds
from routing.clients.endpoints import begin_call, open_client
from teams.prepared import run_prepared
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from teams.tracing import step
from tests.support.cast import Cast, make_cast
from tests.support.chat_models import make_models
from tests.support.openai_server import FakeOpenAI, answer
from tests.support.trace_collector import TraceCollector
from tests.support.waiting import until

# Said, asked, stored, answered, refused: none of it may leave.
WORDS = ("zanzibarion", "quillfeather", "marmolade", "whitcombe", "brindlehook", "ottervane")


@pytest.fixture
def collector(committed_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[TraceCollector]:
    """Everything of the test is traced to it; what waits is there after `telemetry.stop()`."""
    connection.close()  # one that was opened before is not traced
    for each in (psycopg.Connection, psycopg.AsyncConnection):
        # Taken away, the instrumentation leaves a method that is bound to this class, and not to
        # those below it; this puts the class method back in the end.
        monkeypatch.setattr(each, "connect", each.__dict__["connect"])
    with TraceCollector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        telemetry.trace_to(OTLPSpanExporter(), role="test")
        yield collector
        telemetry.stop()
        connection.close()


@pytest.fixture
def cast(collector: TraceCollector) -> Cast:
    """A team of the test's own, whose rows are committed."""
    return make_cast(f"traced-{uuid4().hex[:8]}")


@pytest.fixture
def api(cast: Cast) -> APIClient:
    """A client whose middleware is loaded while requests are traced."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        token = issue_key(team_id=cast.team.id).token
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def attributes(span: Span) -> dict[str, Any]:
    """By name, as plain values."""
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


def named(collector: TraceCollector, name: str) -> Span:
    """The last span of this name."""
    return next(each for each in reversed(collector.spans) if each.name == name)


def path_to(span: Span, collector: TraceCollector) -> list[str]:
    """The names of the spans around it, the outermost first, its own last."""
    by_id = {each.span_id: each for each in collector.spans}
    names = [span.name]
    while span := by_id.get(span.parent_span_id):  # type: ignore[assignment]
        names.insert(0, span.name)
    return names


def test_requests_are_traced_step_by_step_without_a_word_of_what_was_said(
    collector: TraceCollector, cast: Cast, api: APIClient
) -> None:
    def post(path: str, body: object) -> Any:
        response = api.post(path, body, format="json")
        assert response.status_code < 300, response.content
        return response.json() if hasattr(response, "json") else None

    talk = post("/v1/conversations", {"agent": "kyra", "user": "ottervane"})["id"]
    said = {"role": "user", "content": "I am Ada Whitcombe and I run the zanzibarion team."}
    post(f"/v1/conversations/{talk}/messages", {"messages": [said]})
    post(f"/v1/conversations/{talk}/extract", {"wait": True})
    for port in (5432, 5433):
        post("/v1/memories", {"content": f"The quillfeather database listens on port {port}."})
    asked = {"query": "Where is the marmolade?", "agent": "kyra", "user": "ottervane"}
    post("/v1/retrieve", asked)
    assert api.get("/v1/memories/search", {"query": "marmolade brindlehook"}).status_code == 200
    with FakeOpenAI() as models, team_scope(team_ids=[cast.team.id], actor="test"):
        make_models(cast, models)
        models.will(answer("A brindlehook answered."), answer("And a brindlehook streamed."))
        chat = {"model": "kyra", "user": "ottervane", "messages": [said]}
        post("/v1/chat/completions", chat)
        streamed = api.post("/v1/chat/completions", {**chat, "stream": True}, format="json")
        assert b"brindlehook" in b"".join(streamed.streaming_content)  # type: ignore[attr-defined]
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT %s::int", ["zanzibarion"])
    with pytest.raises(DatabaseError):
        run_prepared("SELECT $1::text::int", ["zanzibarion"])
    with pytest.raises(ValueError, match="quillfeather"), step("failing"):
        raise ValueError("quillfeather")
    telemetry.stop()

    told = collector.text.lower()
    assert [word for word in WORDS if word in told] == []
    assert {each.name for each in collector.spans} >= {
        "ingest",
        "extraction.window",
        "extraction.read",
        "write.prepare",
        "write.store",
        "contradictions.judge",
        "contradictions.rule",
        "retrieve",
        "retrieve.question",
        "retrieve.search",
        "retrieve.signals",
        "retrieve.score",
        "retrieve.pack",
        "prepared statement",
    }
    assert path_to(named(collector, "retrieve.signals"), collector)[-3:] == [
        "retrieve",
        "retrieve.search",
        "retrieve.signals",
    ]
    packed = [path_to(each, collector) for each in collector.spans if each.name == "retrieve.pack"]
    assert {path[0] for path in packed} == {"POST v1/retrieve", "POST v1/chat/completions"}
    (failed,) = [each for each in collector.spans if each.name == "failing"]
    assert attributes(failed) == {"error.type": "ValueError"}
    assert failed.status.code == Status.STATUS_CODE_ERROR
    calls = [each for each in collector.spans if "gen_ai.request.model" in attributes(each)]
    assert len(calls) == 2
    for call in calls:
        noted = attributes(call)
        assert noted["gen_ai.operation.name"] == "chat"
        assert call.name == f"chat {noted['gen_ai.request.model']}"
        assert noted["gen_ai.usage.input_tokens"] > 0
        assert noted["gen_ai.usage.output_tokens"] > 0
        assert noted["server.address"] == "127.0.0.1"
    written = attributes(named(collector, "write.store"))
    assert written["palimpsest.conflicts"] == 1
    assert "db.statement" not in {name for each in collector.spans for name in attributes(each)}


def test_spans_of_the_libraries_come_too(collector: TraceCollector, api: APIClient) -> None:
    api.get("/v1/memories")
    telemetry.stop()

    request = next(each for each in collector.spans if each.kind == Span.SPAN_KIND_SERVER)
    assert request.name == "GET v1/memories"
    systems = {attributes(each).get("db.system") for each in collector.spans}
    assert systems >= {"postgresql", "redis"}
    names = {
        each.value.string_value
        for taken in collector.requests
        for spans in taken.resource_spans
        for each in spans.resource.attributes
        if each.key == "service.name"
    }
    assert names == {"palimpsest-test"}


def test_a_failed_call_of_a_model_tells_the_kind_of_the_error(collector: TraceCollector) -> None:
    client = open_client(base_url="http://127.0.0.1:9/v1", api_key="", timeout=1, max_retries=0)
    with pytest.raises(ConnectionError), begin_call(client, operation="chat", model="swift"):
        raise ConnectionError("marmolade")
    telemetry.stop()

    assert attributes(named(collector, "chat swift"))["error.type"] == "ConnectionError"
    assert "marmolade" not in collector.text


RAN: list[str] = []


@shared_task(name="tests.traced")
def traced() -> None:
    """A task with a step."""
    with step("in the task"):
        RAN.append("traced")


def test_a_task_belongs_to_the_trace_of_the_request_that_left_it(
    collector: TraceCollector,
) -> None:
    with (
        start_worker(app, pool="solo", perform_ping_check=False, loglevel="WARNING"),
        step("a request"),
    ):
        done = traced.delay()
        until(lambda: RAN)
    telemetry.stop()

    assert path_to(named(collector, "in the task"), collector) == [
        "a request",
        "apply_async/tests.traced",
        "run/tests.traced",
        "in the task",
    ]
    assert attributes(named(collector, "run/tests.traced"))["messaging.message.id"] == done.id


def test_log_lines_name_the_trace(collector: TraceCollector) -> None:
    def logged() -> logging.LogRecord:
        record = logging.LogRecord("x", 30, "", 1, "said", (), None)
        RequestIds().filter(record)
        return record

    with step("logging"):
        inside: Any = logged()
    outside: Any = logged()
    telemetry.stop()

    span = named(collector, "logging")
    assert (inside.trace_id, inside.span_id) == (span.trace_id.hex(), span.span_id.hex())
    assert (outside.trace_id, outside.span_id) == ("", "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ],
)
def test_what_cannot_be_right_is_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    assert telemetry.is_wanted()
    monkeypatch.setenv(name, value)

    with pytest.raises(ImproperlyConfigured, match=f"^{name} must "):
        telemetry.is_wanted()


def test_the_standard_switch_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")

    assert not telemetry.is_wanted()


def test_without_the_setting_nothing_of_it_is_loaded() -> None:
    script = (
        "import sys; from config import telemetry; import django; django.setup();"
        "from django.urls import get_resolver;"
        "get_resolver().url_patterns; telemetry.start('web');"
        # redis' client loads the SDK's metrics wherever they are installed.
        "print([n for n in sys.modules if n.startswith(('opentelemetry.sdk.trace',"
        " 'opentelemetry.instrumentation', 'opentelemetry.exporter'))])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT_ROOT, capture_output=True, text=True
    )

    assert done.stdout == "[]\n", done.stderr
