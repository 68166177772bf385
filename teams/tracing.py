"""Spans around steps of the work; until `trace_with` is called they cost next to nothing.

A span says what was done, how often and how long, never what people said: its attributes are
figures, names of models and kinds of errors, and `config/telemetry.py` exports no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

Attribute = str | int | float

_tracers: list[Tracer] = []


def trace_with(tracer: Tracer | None) -> None:
    """Make this process's spans with `tracer` from now on; with None make none."""
    _tracers[:] = [tracer] if tracer is not None else []


class Step:
    """A step of the work, with its span if there is one; it ends with its block, or by `end`."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def note(self, attributes: Mapping[str, Attribute]) -> None:
        """Add attributes."""
        if self._span is not None:
            self._span.set_attributes(dict(attributes))

    def end(self, error: BaseException | None = None) -> None:
        """The step is over; of an error its kind alone is told. Harmless twice."""
        span, self._span = self._span, None
        if span is None:
            return
        if error is not None:
            from opentelemetry.trace import StatusCode

            span.set_status(StatusCode.ERROR)
            span.set_attribute("error.type", type(error).__name__)
        span.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, place: object) -> None:
        self.end(error)


_NO_STEP = Step()


def outgoing(name: str, attributes: Mapping[str, Attribute]) -> Step:
    """A call of another service under the current span, begun now; whoever asks for it ends it."""
    if not _tracers:
        return _NO_STEP
    from opentelemetry.trace import SpanKind

    return Step(_tracers[0].start_span(name, kind=SpanKind.CLIENT, attributes=dict(attributes)))


@contextmanager
def step(name: str) -> Iterator[None]:
    """A span around the block, or as a decorator around a function, for what is done in it."""
    if not _tracers:
        yield
        return
    from opentelemetry.trace import use_span

    span = _tracers[0].start_span(name)
    with Step(span), use_span(span, record_exception=False, set_status_on_exception=False):
        yield


def note(attributes: Mapping[str, Attribute]) -> None:
    """Add attributes to the span around; each is `palimpsest.` and its name."""
    if _tracers:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes(
            {f"palimpsest.{name}": value for name, value in attributes.items()}
        )
