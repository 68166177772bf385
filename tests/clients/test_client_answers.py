"""Answers that are none of Palimpsest's, names that are no addresses, and what a caller keeps."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import palimpsest_client as p
import pytest

from tests.clients.conftest import Connect, Either, Place
from tests.support.faulty_proxy import Fault, FaultyProxy

CHAT = {"model": "kyra", "user": "sarah", "messages": [{"role": "user", "content": "Hello."}]}
EVENTS = {"Content-Type": "text/event-stream"}
LINES = {"Content-Type": "application/x-ndjson"}
HTML = {"Content-Type": "text/html"}
PIECE = 'data: {"id": "c", "model": "kyra", "choices": [{"delta": {"content": "On"}}]}\n\n'


@pytest.fixture
def proxy(place: Place) -> Iterator[FaultyProxy]:
    """A proxy that answers in the server's place."""
    with FaultyProxy(place.url) as proxy:
        yield proxy


@pytest.fixture
def ask(connect: Connect, proxy: FaultyProxy) -> Either:
    """A client whose requests go by the proxy."""
    return connect(proxy.url, "pal_any")


def stream(client: Any) -> Any:
    """A chat answer piece by piece."""
    return client.chat.stream(**CHAT)


def export(client: Any) -> Any:
    """The rows of an export."""
    return client.audit.export(user="sarah")


def test_a_stream_that_ends_without_its_last_event_is_cut(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault(200, EVENTS, PIECE))
    with pytest.raises(p.StreamCut, match="not the whole answer"):
        ask(stream)

    proxy.faults.append(Fault(200, EVENTS, f"{PIECE}data: [DONE]\n\n"))
    assert [each.text for each in ask(stream)] == ["On"]


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        (stream, Fault(200, HTML, "<html>Sign in</html>")),
        (stream, Fault(200, HTML, "")),
        (stream, Fault(302, {"Location": "/login"}, "")),
        (stream, Fault(200, EVENTS, "data: <html>\n\n")),
        (stream, Fault(200, EVENTS, "data: 7\n\n")),
        (stream, Fault(200, EVENTS, 'data: {"choices": 7}\n\n')),
        (stream, Fault(200, EVENTS, f"data: {'[' * 5_000}\n\n")),
        (export, Fault(200, HTML, "")),
        (export, Fault(302, {"Location": "/login"}, "")),
        (export, Fault(200, LINES, "{}\n\n{}\n")),
        (export, Fault(200, LINES, "<html>\n")),
        (export, Fault(200, LINES, "7\n")),
    ],
    ids=[
        "events: a page",
        "events: nothing",
        "events: elsewhere",
        "events: no JSON",
        "events: a number",
        "events: another shape",
        "events: too deep",
        "lines: nothing",
        "lines: elsewhere",
        "lines: a blank one",
        "lines: a page",
        "lines: a number",
    ],
)
def test_what_is_no_stream_of_ours_is_unexpected(
    ask: Either, proxy: FaultyProxy, act: Callable[[Any], Any], fault: Fault
) -> None:
    proxy.faults.append(fault)

    with pytest.raises(p.UnexpectedAnswer):
        ask(act)


@pytest.mark.parametrize("end", ["", "\n"], ids=["cut", "ended"])
def test_only_a_line_feed_ends_a_line(ask: Either, proxy: FaultyProxy, end: str) -> None:
    # Longer than what is read at once.
    words = ["One\u2028two\x85three\u2029four", "é" * 200_000, "five\x1csix"]
    rows = [json.dumps({"content": each}, ensure_ascii=False) for each in words]
    proxy.faults.append(Fault(200, LINES, "\n".join(rows) + end))

    assert [row["content"] for row in ask(export)] == words


@pytest.mark.parametrize("body", ["", "\n", "[]", "\x00", "{", '{"results": [], "next": "?"}'])
def test_a_body_that_is_none_of_ours_is_unexpected(
    ask: Either, proxy: FaultyProxy, body: str
) -> None:
    proxy.faults.append(Fault(200, {"Content-Type": "application/json"}, body))

    with pytest.raises(p.UnexpectedAnswer):
        ask(lambda c: c.memories.list())


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_is_no_part_of_an_address_is_not_sent(
    ask: Either, proxy: FaultyProxy, name: str
) -> None:
    with pytest.raises(p.InvalidName, match="part of its address"):
        ask(lambda c: c.users.get(name))

    assert proxy.seen == []


def test_a_key_of_ones_own_is_that_of_one_write(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.extend([Fault(422)] * 3)
    ours = ask.client.using(idempotency_key="import-17")
    for act in (ours, ours.using(timeout=9), ask.client):
        with pytest.raises(p.BadRequest):
            replace(ask, client=act)(lambda c: c.memories.create(content="The oven is on."))

    keys = [each.headers["Idempotency-Key"] for each in proxy.seen]
    assert keys[0] == "import-17"
    assert len(set(keys)) == 3


def test_refusals_are_kept_and_sent_between_processes(ask: Either, proxy: FaultyProxy) -> None:
    wrong = '{"detail": "no", "errors": {"query": ["Say what."]}}'
    for fault in (Fault(422, {"X-Request-Id": "r-1"}, wrong), Fault(429, {"Retry-After": "99"})):
        proxy.faults.append(fault)
        with pytest.raises(p.Refused) as caught:
            ask(lambda c: c.agents.list())

        kept = pickle.loads(pickle.dumps(caught.value))

        assert type(kept) is type(caught.value)
        assert (str(kept), vars(kept)) == (str(caught.value), vars(caught.value))
