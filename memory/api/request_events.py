"""Operational events that requests leave, noted after they are answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request

from audit.services.events import Event, add_events
from memory.api.headers import REPLAY_HEADER, IdempotentPosts
from memory.clients.afterwards import afterwards, gathering
from memory.domain.audience import Viewer
from memory.domain.plans.plan import CHARACTERS
from memory.models import Memory
from memory.reading.answers import Retrieval
from memory.reading.cache import Sent
from memory.reading.seven_layers import BuiltPrompt
from memory.selectors.filters import NOBODY
from memory.writing.drafts import Outcome, WriteResult
from teams.services.keys import Principal

_HOT = "hotpath"


class RequestEvents(IdempotentPosts):
    """A viewset whose actions in `operations` leave an event: its node and op by the action.

    A view that knows more says it with `noted`. What is refused counts as skipped, what failed as
    an error; an answer that is repeated was counted before.
    """

    operations: ClassVar[Mapping[str, tuple[str, str]]] = {}
    _events: Sequence[Event] = ()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Any: Django's own signature
        """The answer; what it leaves in Redis goes there once the answer is sent."""
        with gathering() as left:
            try:
                response = super().dispatch(request, *args, **kwargs)
            except BaseException:
                left.send()
                raise
        # What Django calls when a response is closed, which servers do once it is sent.
        cast(Any, response)._resource_closers.append(left.send)
        return response

    def noted(self, events: Iterable[Event]) -> None:
        """Note these events in place of the plain one, once the request is answered."""
        self._events = tuple(events)

    def handle_exception(self, exc: Exception) -> Any:  # Any: a response of either framework
        """The answer to an error; a defect of ours is noted before it goes on."""
        try:
            return super().handle_exception(exc)
        except Exception:
            self._note("error")
            raise

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        # Any: Django REST framework's own signature
        """The response, after its events are noted."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if not response.has_header(REPLAY_HEADER):
            self._note(_status(response.status_code))
        return response

    def _note(self, status: str) -> None:
        """Put the events of the request into the buffer, unless Redis is away."""
        operation = self.operations.get(getattr(self, "action", None) or "")
        caller = self.request.user
        if operation is None or not isinstance(caller, Principal):
            return
        plain = Event(node=operation[0], op=operation[1], status=status)
        events = self._events if status == "ok" and self._events else [plain]
        now = timezone.now()
        afterwards(
            lambda pipe: add_events(pipe=pipe, team_id=caller.team_id, events=events, now=now)
        )


def known_person(viewer: Viewer) -> UUID | None:
    """Whom the viewer names, where the team has seen that person before."""
    return viewer.end_user_id if viewer.end_user_id != NOBODY else None


def search_event(viewer: Viewer, sent: Sent) -> Event:
    """A search, with the best cosine of what it found; nothing found counts as skipped."""
    return Event(
        node=_HOT,
        op="search",
        status="ok" if sent.found else "skipped",
        end_user_id=known_person(viewer),
        similarity=sent.similarity,
        meta={"found": sent.found},
    )


def context_event(
    viewer: Viewer,
    context: BuiltPrompt | Retrieval | Sent,
    conversation_id: UUID | None = None,
    *,
    found: int | None = None,
) -> Event:
    """A prompt or part of one, with what it took; `found` where it tells more or less than that."""
    stats = context.stats
    found = context.found if found is None else found
    return Event(
        node="context",
        op="context",
        status="ok" if found else "skipped",
        end_user_id=known_person(viewer),
        conversation_id=conversation_id,
        similarity=context.similarity,
        meta={
            "found": found,
            # A block whose length is given in characters was counted in them.
            "chars" if stats.token_counter == CHARACTERS.name else "tokens": stats.tokens_used,
            "cache_hit": stats.cache_hit,
            "ms": stats.total_ms,
        },
    )


def memory_event(op: str, memory: Memory) -> Event:
    """A change of one memory."""
    return Event(
        node=_HOT,
        op=op,
        memory_id=memory.pk,
        end_user_id=memory.end_user_id,
        conversation_id=memory.conversation_id,
    )


def write_event(result: WriteResult, *, op: str = "") -> Event:
    """A write, with the cosine of the nearest neighbour; a duplicate counts as skipped."""
    is_update = result.outcome in (Outcome.VERSIONED, Outcome.SUPERSEDED_EXISTING)
    plain = memory_event(op or ("update" if is_update else "create"), result.memory)
    return replace(
        plain,
        status="skipped" if result.outcome in (Outcome.DUPLICATE, Outcome.HELD) else "ok",
        similarity=result.similarity,
        meta={"outcome": result.outcome.value},
    )


def _status(code: int) -> str:
    if code >= 500:
        return "error"
    return "ok" if code < 400 else "skipped"
