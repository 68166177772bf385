"""Additions of chat endpoints to the model's words: a `palimpsest` field, headers, errors.

A refusal is a problem document with its media type and its status, and has one more member,
`error`, in the protocol's shape, which clients of the protocol take for the whole body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse

from memory.api.headers import settle
from memory.satellites.chat.answering import LiveAnswer, Prepared, Used
from memory.satellites.chat.requests import Json
from routing.domain.chat_answers import mappings
from routing.services.calling import NoModelAnsweredError, RequestRefusedError, StreamCutError
from routing.services.router import NoModelConfiguredError
from teams.errors import DomainError

PREFIX = "X-Palimpsest-"
# So many ids stand in the header; the field has all.
_MOST_IDS = 50
RETRY_HEADER = "X-Should-Retry"
AGENT_CREATED = (
    "there was no agent '{0}', so it was created; write its document with PUT /v1/agents/{0}, or"
    " name another agent as the model"
)

_TYPES = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
_CODES = {
    401: "invalid_api_key",
    402: "budget_exceeded",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    422: "invalid_request",
    503: "unavailable",
}
_CODES_OF_ERRORS = {
    NoModelConfiguredError: "no_model_configured",
    NoModelAnsweredError: "no_model_answered",
    StreamCutError: "stream_cut",
}


def palimpsest_field(prepared: Prepared, used: Used | None) -> Json:
    """Returns the facts about an answer; without `used`, those known before the answer came."""
    context, route = prepared.context, prepared.route
    built = context.built
    choice = used.choice if used else route.model
    agent = prepared.exchange.ask.agent
    created = [AGENT_CREATED.format(agent)] if prepared.exchange.is_new_agent else []
    found: Json = {
        "conversation": str(prepared.recorded.conversation.pk),
        "thread_id": prepared.recorded.conversation.thread_id,
        "agent": agent,
        "agent_created": prepared.exchange.is_new_agent,
        "user": prepared.exchange.ask.user,
        "memories": [str(each.row.memory_id) for each in built.retrieval.told] if built else [],
        "messages": [str(each.id) for each in built.retrieval.messages] if built else [],
        "tier": choice.tier.value,
        "model": choice.name,
        "provider": choice.provider,
        "score": route.score.weighted,
        "scorer": route.scorer,
        "reason": route.reason,
        "decision": str(route.decision_id),
        "prompt_tokens": built.stats.tokens_used if built else 0,
        "left_out": context.left_out,
        "compacted": context.is_compacted,
        "stored": prepared.recorded.stored,
        "estimated_cost_usd": float(route.estimated_usd),
        "budget_left_usd": float(prepared.reservation.left.left_usd),
        "warnings": [*created, *(built.warnings if built else ())],
    }
    if used is None:
        return found
    return found | {
        "tokens": {
            "input": used.usage.input_tokens,
            "output": used.usage.output_tokens,
            "estimated": used.is_estimated,
        },
        "cost_usd": float(used.cost_usd),
        "attempts": [
            {"model": each.model, "provider": each.provider, "failure": each.failure}
            for each in used.attempts
        ],
    }


def headers_of(field: Json) -> dict[str, str]:
    """The same in short, for clients that see headers more easily than fields."""
    values = {
        "Conversation": field["conversation"],
        "Thread": field["thread_id"],
        "Agent": field["agent"],
        "Tier": field["tier"],
        "Model": field["model"],
        "Memories": ",".join(field["memories"][:_MOST_IDS]),
        "Decision": field["decision"],
        "Budget-Left-Usd": f"{field['budget_left_usd']:.6f}",
    }
    if "tokens" in field:
        values["Tokens-Input"] = str(field["tokens"]["input"])
        values["Tokens-Output"] = str(field["tokens"]["output"])
        values["Cost-Usd"] = f"{field['cost_usd']:.6f}"
    else:
        values["Estimated-Cost-Usd"] = f"{field['estimated_cost_usd']:.6f}"
    # A name of any script fits a header only when it is quoted as in an address.
    return {f"{PREFIX}{name}": quote(value, safe=" ,/:._-@+") for name, value in values.items()}


def with_protocol_error(response: HttpResponse, error: Exception | None) -> HttpResponse:
    """The problem document with the `error` that clients of the protocol look for.

    Clients try 503 again by themselves; where that cannot help they are told not to.
    """
    document = json.loads(response.content)
    document["error"] = protocol_error(
        status=response.status_code,
        message=str(document.get("detail") or document.get("title") or ""),
        fields=document.get("errors"),
        error=error,
    )
    response.content = json.dumps(document).encode()
    if isinstance(error, NoModelConfiguredError) or response.status_code == 402:
        response[RETRY_HEADER] = "false"
    return response


def protocol_error(
    *, status: int, message: str, fields: object = None, error: Exception | None = None
) -> dict[str, Any]:
    """An error in the protocol's shape."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    param = next(iter(fields), None) if isinstance(fields, dict) and fields else None
    return {
        "message": message,
        "type": _TYPES.get(status, kind),
        "param": param or None,
        "code": _code(status, param, error),
    }


def _code(status: int, param: object, error: Exception | None) -> str | None:
    if isinstance(error, RequestRefusedError) and error.code:
        return error.code
    if status == 404 and param == "model":
        return "model_not_found"
    return _CODES_OF_ERRORS.get(type(error)) or _CODES.get(status)


class EventStream:
    """A live answer as server-sent events; closing it closes the answer.

    The first chunk has the `palimpsest` field as far as it is known, the one that ends the answer
    has it whole. `replay` is the same answer in few events, once it is there in full.
    """

    def __init__(self, live: LiveAnswer) -> None:
        self._live = live
        self._is_whole = False
        self._last: list[Json] = []
        self._first: Json | None = None
        self._at_the_end: Callable[[], None] | None = None

    def __iter__(self) -> Iterator[bytes]:
        """The events; what waits for the end is done before the end is told."""
        chunks = iter(self._live)
        try:
            for chunk, is_done in chunks:
                if self._first is None:
                    chunk = {**chunk, "palimpsest": palimpsest_field(self._live.prepared, None)}
                    self._first = chunk
                if is_done:
                    chunk = {
                        **chunk,
                        "palimpsest": palimpsest_field(self._live.prepared, self._live.used),
                    }
                    self._last = [chunk, *(each for each, _ in chunks)]
                    break
                yield _event(chunk)
            self._is_whole = True
        except DomainError as error:
            # Whoever reads this may send the request again at once.
            self.close()
            yield _event({"error": protocol_error(status=503, message=error.message, error=error)})
            return
        self._end()
        yield from map(_event, self._last)
        yield _DONE

    def close(self) -> None:
        """Read no further, and end what waits for the end. Raises nothing."""
        self._live.close()
        self._end()

    def _end(self) -> None:
        act, self._at_the_end = self._at_the_end, None
        if act is not None:
            settle(act)

    def at_the_end(self, act: Callable[[], None]) -> None:
        """Do this once: before the last chunk, or when it is closed before."""
        self._at_the_end = act

    @property
    def replay(self) -> str | None:
        """The events of the whole answer for whoever sends the request again; else None."""
        if not self._is_whole or self._first is None:
            return None
        delta = {**self._live.message}
        if calls := delta.get("tool_calls"):
            delta["tool_calls"] = [{"index": place, **each} for place, each in enumerate(calls)]
        choice = {"index": 0, "delta": delta, "finish_reason": None, "logprobs": None}
        # The message has what the last chunks added to it.
        ends = [
            {**each, "choices": [{**end, "delta": {}} for end in mappings(each.get("choices"))]}
            for each in self._last
        ]
        events = [{**self._first, "choices": [choice]}, *ends]
        return b"".join([*map(_event, events), _DONE]).decode()


_DONE = b"data: [DONE]\n\n"


def _event(data: Json) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode(errors="replace") + b"\n\n"
