"""Traces to an OpenTelemetry collector, where OTEL_EXPORTER_OTLP_ENDPOINT names one.

Without it nothing of OpenTelemetry is loaded. What leaves the process are the attributes named
here and no others, as in the logs: libraries put addresses with queries in them, statements, keys
of Redis and texts of exceptions into their spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.env import read_bool, read_choice, read_str
from teams.tracing import trace_with

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

# Where beginnings end with a dot. No address, query, statement, key, user or text of an error.
_EXPORTED = (
    "celery.action",
    "celery.state",
    "celery.task_name",
    "db.operation",
    "db.operation.name",
    "db.redis.pipeline_length",
    "db.system",
    "db.system.name",
    "error.type",
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.finish_reasons",
    "gen_ai.usage.",
    "http.method",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "http.status_code",
    "messaging.destination",
    "messaging.message.id",
    "messaging.operation",
    "palimpsest.",
    "server.",
)
# Addresses that are asked all the time, of Django.
_NOT_TRACED = "healthz$,readyz$,metrics$,static/.*"
_LAST_SECONDS = 5.0
# One a process: what is to be flushed and taken back when it ends.
_running: list[TracerProvider] = []


def is_wanted() -> bool:
    """Returns whether traces are exported; raises ImproperlyConfigured for bad settings."""
    endpoint = read_str("OTEL_EXPORTER_OTLP_ENDPOINT", "")
    if not endpoint or read_bool("OTEL_SDK_DISABLED", False):
        return False
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ImproperlyConfigured(
            f"OTEL_EXPORTER_OTLP_ENDPOINT must look like http://collector:4318, not {endpoint!r}."
        )
    read_choice("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", choices=("http/protobuf",))
    if not _is_installed("opentelemetry.instrumentation.django"):
        raise ImproperlyConfigured(
            "OTEL_EXPORTER_OTLP_ENDPOINT needs more packages: pip install 'palimpsest[telemetry]'."
        )
    return True


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def start(role: str) -> None:
    """Trace this process as `palimpsest-ROLE`, if wanted; call it after a fork, before loading."""
    if _running or not settings.TELEMETRY:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    trace_to(OTLPSpanExporter(), role=role)


def trace_to(exporter: SpanExporter, *, role: str) -> None:
    """Trace this process to an exporter, which gets the attributes above alone."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    own = Resource.create({"service.name": f"palimpsest-{role}"})
    resource = own.merge(OTELResourceDetector().detect())  # a name in the environment goes before
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_bare(exporter)))
    for each in _instrumentors():
        each.instrument(tracer_provider=provider, excluded_urls=_NOT_TRACED)
    trace_with(provider.get_tracer("palimpsest"))
    _running.append(provider)


def stop() -> None:
    """Send what waits, for five seconds at most, and trace no further."""
    if not _running:
        return
    trace_with(None)
    for each in _instrumentors():
        each.uninstrument()
    # It tries a collector that is away for as long as it likes.
    sending = Thread(target=_running.pop().shutdown, name="last traces", daemon=True)
    sending.start()
    sending.join(_LAST_SECONDS)


def trace_ids() -> tuple[str, str]:
    """The ids of the current trace and span, in hexadecimal; "" where nothing is traced."""
    if not _running:
        return "", ""
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

    here = get_current_span().get_span_context()
    if not here.is_valid:
        return "", ""
    return format_trace_id(here.trace_id), format_span_id(here.span_id)


def _instrumentors() -> list[Any]:  # Any: their base has no types
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
    from opentelemetry.instrumentation.redis import RedisInstrumentor

    celery: Any = CeleryInstrumentor()  # type: ignore[no-untyped-call]
    return [DjangoInstrumentor(), PsycopgInstrumentor(), RedisInstrumentor(), celery]


def _bare(exporter: SpanExporter) -> SpanExporter:
    """An exporter that passes spans on without the attributes and events that say too much."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
    from opentelemetry.trace import Status

    def bare(span: ReadableSpan) -> ReadableSpan:
        kept = {
            name: value
            for name, value in (span.attributes or {}).items()
            if any(name.startswith(each) if each[-1] == "." else name == each for each in _EXPORTED)
        }
        return ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=kept,
            links=span.links,
            kind=span.kind,
            status=Status(span.status.status_code),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    class Bare(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            return exporter.export([bare(each) for each in spans])

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return exporter.force_flush(timeout_millis)

    return Bare()
