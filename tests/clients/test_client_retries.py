"""Requests that both clients retry, or do not, when a proxy loses or makes up answers."""

from __future__ import annotations

from collections.abc import Iterator

import palimpsest_client as p
import pytest
from pytest_django import Settings

from memory.api import throttles
from tests.clients.conftest import RETRIES, Connect, Either, Place
from tests.support.faulty_proxy import LOST_ANSWER, Fault, FaultyProxy

TEA = {"content": "Sarah drinks her tea without milk.", "agent": "kyra", "user": "sarah"}
AWAY = Fault(503)


@pytest.fixture
def proxy(place: Place) -> Iterator[FaultyProxy]:
    """A proxy between the client and the server."""
    with FaultyProxy(place.url) as proxy:
        yield proxy


@pytest.fixture
def ask(connect: Connect, place: Place, proxy: FaultyProxy) -> Either:
    """A client whose requests go by the proxy."""
    return connect(proxy.url, place.key())


def keys(proxy: FaultyProxy) -> list[str | None]:
    """The Idempotency-Key of each request, in order."""
    return [each.headers.get("Idempotency-Key") for each in proxy.seen]


def test_a_write_whose_answer_was_lost_is_carried_out_once(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.extend([LOST_ANSWER, AWAY])

    written = ask(lambda c: c.memories.create(**TEA))

    assert len(proxy.seen) == 3
    assert len(set(keys(proxy))) == 1
    assert [each.id for each in ask(lambda c: c.memories.list())] == [written.id]


def test_each_write_has_a_key_of_its_own_unless_one_is_given(
    ask: Either, proxy: FaultyProxy
) -> None:
    ask(lambda c: c.memories.create(**TEA))
    ask(lambda c: c.memories.create(**TEA))
    ask(lambda c: c.using(idempotency_key="import-17").memories.create(content="The oven is on."))
    ask(lambda c: c.memories.list())

    first, second, given, read = keys(proxy)[:4]
    assert first != second
    assert given == "import-17"
    assert read is None


def test_a_write_that_still_runs_is_waited_for(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault(409, {"Retry-After": "0"}))

    assert ask(lambda c: c.memories.create(**TEA)).content == TEA["content"]


def test_a_conflict_is_not_sent_again(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault(409))

    with pytest.raises(p.Conflict):
        ask(lambda c: c.memories.create(**TEA))

    assert len(proxy.seen) == 1


def test_a_change_whose_answer_was_lost_is_not_sent_again(ask: Either, proxy: FaultyProxy) -> None:
    memory = ask(lambda c: c.memories.create(**TEA))
    for act in (
        lambda c: c.memories.move(memory.id, scope="user", user="dmitri"),
        lambda c: c.memories.delete(memory.id),
        lambda c: c.agents.save("kyra", version=1, name="Kyra"),
        lambda c: c.agents.save("mira", name="Mira"),
    ):
        before = len(proxy.seen)
        proxy.faults.append(LOST_ANSWER)
        with pytest.raises(p.ConnectionFailed):
            ask(act)
        assert len(proxy.seen) == before + 1


def test_a_change_that_was_not_begun_is_sent_again(ask: Either, proxy: FaultyProxy) -> None:
    memory = ask(lambda c: c.memories.create(**TEA))
    proxy.faults.append(Fault(429, {"Retry-After": "0"}))

    assert ask(lambda c: c.memories.move(memory.id, scope="user", user="dmitri")).user == "dmitri"


def test_a_server_that_stays_away_is_told_after_the_tries(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.extend([AWAY] * 9)

    with pytest.raises(p.ServerError) as caught:
        ask(lambda c: c.agents.list())

    assert caught.value.status == 503
    assert len(proxy.seen) == RETRIES + 1


def test_what_the_server_calls_of_no_use_is_not_sent_again(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault(503, {"X-Should-Retry": "false"}))

    with pytest.raises(p.ServerError):
        ask(lambda c: c.memories.create(**TEA))

    assert len(proxy.seen) == 1


def test_who_asks_too_often_waits_as_long_as_the_server_says(
    ask: Either, proxy: FaultyProxy, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttles, "WINDOW_SECONDS", 3)
    settings.RATE_LIMIT_KEY = 3
    asked = 0
    while len(proxy.seen) == asked:
        ask(lambda c: c.users.list())
        asked += 1

    assert len(proxy.seen) == asked + 1


def test_a_long_wait_is_the_callers(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault(429, {"Retry-After": "3600"}))

    with pytest.raises(p.TooManyRequests) as caught:
        ask(lambda c: c.agents.list())

    assert caught.value.retry_after == 3600
    assert len(proxy.seen) == 1


def test_a_page_of_a_proxy_is_no_answer(ask: Either, proxy: FaultyProxy) -> None:
    proxy.faults.append(Fault(200, {"Content-Type": "text/html"}, "<html>Sign in</html>"))

    with pytest.raises(p.UnexpectedAnswer):
        ask(lambda c: c.agents.get("kyra"))


def test_a_page_behind_is_asked_of_the_same_address(ask: Either, proxy: FaultyProxy) -> None:
    """The links of a server behind a proxy may name another host; the key is not sent there."""
    ask(lambda c: c.memories.create_many([{"content": f"Shelf {n}", "check": False} for n in "ab"]))

    assert len(ask(lambda c: c.memories.list(limit=1))) == 2
    assert [each.path.split("?")[0] for each in proxy.seen[1:]] == ["/v1/memories"] * 2
