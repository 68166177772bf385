"""Retrieval at a replica: a real one, that lags, hangs, dies and is promoted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Any, TypeVar
from uuid import uuid4

import psutil  # type: ignore[import-untyped]
import pytest
from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.models import Memory
from memory.reading.questions import Question
from memory.reading.snapshots import READS, at_snapshot
from memory.selectors.revisions import Revision, server_state
from memory.understanding.tools import Tools
from teams.models import Team
from teams.replicas import LEFT_OUT_SECONDS, ImpatientConnection, Replicas, reading_from, replicas
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.reading import retrieve
from tests.support.standby import Standby, standby
from tests.support.waiting import until
from tests.support.writing import NOON, store

ALIAS = "replica1"
OTHER = "replica2"
T = TypeVar("T")


class Hasty(ImpatientConnection):
    """It breaks soon enough for a test."""

    patience_seconds = 0.2


@pytest.fixture(scope="module")
def running() -> Iterator[Standby]:
    """A replica that the tests share."""
    with standby() as made:
        yield made


@contextmanager
def reading(
    monkeypatch: pytest.MonkeyPatch, made: Standby, *others: Standby, **pool: Any
) -> Iterator[Standby]:
    """Let retrieval read at it and the others, as with DATABASE_REPLICA_URL."""
    own = connections.settings["default"]
    options = own["OPTIONS"] | ({"pool": {"min_size": 1, "timeout": 1, **pool}} if pool else {})
    named = dict(zip((ALIAS, OTHER), (made, *others), strict=False))
    for alias, each in named.items():
        login = {**own, "HOST": str(each.folder), "PORT": "5432", "OPTIONS": options}
        connections.settings[alias] = login
    monkeypatch.setattr(settings, "DATABASE_REPLICAS", list(named))
    replicas.cache_clear()
    try:
        yield made
    finally:
        for alias in named:
            connections[alias].close()
            if pool:
                connections[alias].close_pool()  # type: ignore[attr-defined]
            del connections[alias], connections.settings[alias]
        replicas.cache_clear()


@pytest.fixture
def replica(
    committed_db: None, monkeypatch: pytest.MonkeyPatch, running: Standby
) -> Iterator[Standby]:
    """The shared replica, which retrieval reads from."""
    with reading(monkeypatch, running) as made:
        yield made


@pytest.fixture
def cast(committed_db: None) -> Cast:
    """A team of the test's own."""
    return make_cast(f"acme-{uuid4().hex[:8]}")


def outcomes() -> dict[str, float]:
    """Returns the number of reads so far, by outcome."""
    (counted,) = READS.collect()
    samples = [each for each in counted.samples if each.name.endswith("_total")]
    return {each.labels["outcome"]: each.value for each in samples}


@contextmanager
def ending(**expected: int) -> Iterator[None]:
    """The reads of the block come to these ends and no others."""
    before = outcomes()
    yield
    counted = {name: int(value - before.get(name, 0)) for name, value in outcomes().items()}
    assert {name: count for name, count in counted.items() if count} == expected


def read_there(count: Mapping[str, float]) -> float:
    """Returns the number of reads at a replica since `count`; none of them went elsewhere."""
    changed = {name: value - count.get(name, 0) for name, value in outcomes().items()}
    assert {name for name, value in changed.items() if value} == {"read"}
    return changed["read"]


def told(cast: Cast, tools: Tools, question: str = "ferry") -> list[str]:
    """The texts that Kyra is told."""
    found = retrieve(
        viewer=Viewer(team_id=cast.team.pk, actor="test", agent_id=cast.kyra.pk),
        question=Question(question),
        weights=Weights(),
        token_budget=500,
        tools=tools,
        now=NOON,
    )
    return [each.memory.content for each in found.memories]


def replayed(cast: Cast) -> None:
    """Wait until the replicas have what the team wrote."""

    def has_it(alias: str) -> bool:
        # Anew each time: a replica may have passed an earlier position, whose commit is long ago.
        primary = server_state(team_id=cast.team.pk)
        with reading_from(alias):
            return server_state(team_id=cast.team.pk).has_replayed(primary)

    for alias in settings.DATABASE_REPLICAS:
        until(partial(has_it, alias))


def test_what_a_replica_has_replayed_is_read_there(
    replica: Standby, cast: Cast, tools: Tools
) -> None:
    store(cast, tools, "The ferry leaves at nine.")
    replayed(cast)

    with (
        CaptureQueriesContext(connections["default"]) as primary,
        CaptureQueriesContext(connections[ALIAS]) as elsewhere,
        ending(read=1),
    ):
        found = told(cast, tools)

    assert found == ["The ferry leaves at nine."]
    searches = [each["sql"] for each in elsewhere if "memory_searchentry" in each["sql"]]
    assert searches
    assert not [each["sql"] for each in primary if "memory_searchentry" in each["sql"]]


def test_rows_of_a_replica_belong_to_the_primary(
    replica: Standby, cast: Cast, tools: Tools
) -> None:
    (stored,) = store(cast, tools, "The ferry leaves at nine.")
    replayed(cast)

    def read(_: Revision | None) -> Memory:
        return Memory.objects.get(team_id=cast.team.pk, pk=stored.pk)

    with ending(read=1):
        found = at_snapshot(viewer=Viewer(team_id=cast.team.pk, actor="test"), read=read)

    assert found._state.db == "default"
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        assert found.team == Team.objects.get(pk=cast.team.pk)


def test_a_replica_shows_a_team_its_own_rows_alone(
    replica: Standby, cast: Cast, tools: Tools
) -> None:
    store(cast, tools, "The ferry leaves at nine.")
    replayed(cast)
    stranger = make_cast(f"globex-{uuid4().hex[:8]}")
    replayed(stranger)

    with ending(read=1):
        seen = at_snapshot(
            viewer=Viewer(team_id=stranger.team.pk, actor="test"),
            read=lambda _: list(Memory.objects.all()),
        )

    assert seen == []


def body_of(address: str, text: str) -> dict[str, object]:
    """The body of a retrieval that asks this."""
    match address:
        case "/v1/memory/select":
            return {"user_request": text}
        case "/v1/context/assemble":
            return {"agent": "kyra", "signals": {"query": text}}
        case _:
            return {"query": text, "agent": "kyra", "token_budget": 900}


# With the statements at the primary: one finds the key, the names and the team's revision, and one
# the team's rules for facts.
ADDRESSES = {
    "/v1/retrieve": 1,
    "/v1/prompt": 1,
    "/v1/memory/query": 1,
    "/v1/memory/select": 2,
    "/v1/context/assemble": 1,
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_retrieval_is_answered_at_a_replica_as_at_the_primary(
    replica: Standby,
    cast: Cast,
    tools: Tools,
    client_of: Callable[..., APIClient],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    store(cast, tools, "The ferry leaves at nine.", "The bakery opens at six.")
    api = client_of(cast)
    replayed(cast)

    before = outcomes()
    first = api.post(address, body_of(address, "What about the bakery?"), format="json")
    assert first.status_code == 200, first.content
    asked = body_of(address, "When does the ferry leave?")
    with (
        CaptureQueriesContext(connections["default"]) as primary,
        CaptureQueriesContext(connections[ALIAS]) as elsewhere,
    ):
        there = api.post(address, asked, format="json")
    assert there.status_code == 200, there.content
    assert read_there(before) >= 2
    # Which model embeds is looked up every few seconds.
    regular = [each["sql"] for each in primary if "memory_embeddingstate" not in each["sql"]]
    assert len(regular) == ADDRESSES[address], regular
    assert len(elsewhere) >= 6
    monkeypatch.setattr(settings, "DATABASE_REPLICAS", [])
    monkeypatch.setattr(settings, "HOT_ANSWER_SECONDS", 0)
    replicas.cache_clear()
    with ending():
        here = api.post(address, asked, format="json")

    assert here.status_code == 200
    assert b"ferry leaves at nine" in there.content
    assert there.json().keys() == here.json().keys()


def test_a_read_in_a_transaction_stays_in_it(replica: Standby, cast: Cast, tools: Tools) -> None:
    with ending(), team_scope(team_ids=[cast.team.pk], actor="test"):
        store(cast, tools, "The ferry leaves at nine.")
        found = told(cast, tools)

    assert found == ["The ferry leaves at nine."]


def test_what_a_replica_has_not_replayed_is_read_at_the_primary(
    replica: Standby, cast: Cast, tools: Tools
) -> None:
    quiet = make_cast(f"quiet-{uuid4().hex[:8]}")
    store(quiet, tools, "The ferry is blue.")
    replayed(quiet)
    replica.ask("SELECT pg_wal_replay_pause()")
    try:
        until(lambda: replica.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")

        with ending(behind=2):
            store(cast, tools, "The ferry leaves at nine.")
            first = told(cast, tools)
            store(cast, tools, "The ferry costs four pounds.")
            second = told(cast, tools)
        with ending(read=1):
            unchanged = told(quiet, tools)
    finally:
        replica.ask("SELECT pg_wal_replay_resume()")

    assert first == ["The ferry leaves at nine."]
    assert set(second) == {"The ferry leaves at nine.", "The ferry costs four pounds."}
    assert unchanged == ["The ferry is blue."]
    replayed(cast)
    with ending(read=1):
        assert set(told(cast, tools)) == set(second)


def test_a_replica_that_is_late_is_not_read_whatever_it_holds(replica: Standby, cast: Cast) -> None:
    replayed(cast)
    primary = server_state(team_id=cast.team.pk)
    with reading_from(ALIAS):
        state = server_state(team_id=cast.team.pk)
    assert state.is_replica
    assert not primary.is_replica
    assert state.as_of is not None
    most = timedelta(seconds=settings.DATABASE_REPLICA_LAG_SECONDS)
    elsewhere = replace(state, position="0/1")
    soon = replace(primary, as_of=state.as_of + most / 2)
    late = replace(primary, as_of=state.as_of + most)

    assert elsewhere.has_replayed(soon)
    assert not elsewhere.has_replayed(late)
    assert not replace(elsewhere, as_of=None).has_replayed(soon)
    # A primary that writes nothing is followed all the same.
    assert replace(state, position=primary.position).has_replayed(late)


def test_what_a_replica_refuses_is_done_at_the_primary(replica: Standby, cast: Cast) -> None:
    replayed(cast)
    tries = []

    def write(_: Revision | None) -> str:
        tries.append(connection.settings_dict["HOST"])
        Team.objects.filter(pk=cast.team.pk).update(name="Acme anew")
        return "done"

    with ending(failed=1):
        found = at_snapshot(viewer=Viewer(team_id=cast.team.pk, actor="test"), read=write)

    assert found == "done"
    assert tries == [str(replica.folder), connections.settings["default"]["HOST"]]


def test_a_replica_that_ends_a_read_costs_nobody_an_answer(replica: Standby, cast: Cast) -> None:
    replayed(cast)

    def read(_: Revision | None) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (backend,) = cursor.fetchone()
        replica.ask(f"SELECT pg_terminate_backend({backend}, 10000)")
        return Memory.objects.count()

    viewer = Viewer(team_id=cast.team.pk, actor="test")
    with ending(failed=1):
        assert at_snapshot(viewer=viewer, read=read) == 0


def test_an_error_of_both_is_raised(replica: Standby, cast: Cast) -> None:
    replayed(cast)

    def read(_: Revision | None) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    with ending(failed=1), pytest.raises(DatabaseError, match="division by zero"):
        at_snapshot(viewer=Viewer(team_id=cast.team.pk, actor="test"), read=read)


def test_a_dead_replica_is_left_out(
    committed_db: None, monkeypatch: pytest.MonkeyPatch, running: Standby, cast: Cast, tools: Tools
) -> None:
    store(cast, tools, "The ferry leaves at nine.")
    running.stop()
    try:
        with reading(monkeypatch, running), ending(down=2):
            first = told(cast, tools)
            assert list(replicas().in_turn()) == []
            second = told(cast, tools)
    finally:
        running.start()

    assert first == second == ["The ferry leaves at nine."]
    with reading(monkeypatch, running):
        replayed(cast)
        with ending(read=1):
            assert told(cast, tools) == first


def test_a_replica_that_hangs_is_left_out(
    committed_db: None, monkeypatch: pytest.MonkeyPatch, running: Standby, cast: Cast, tools: Tools
) -> None:
    store(cast, tools, "The ferry leaves at nine.")
    with reading(monkeypatch, running, connection_class=Hasty, reconnect_timeout=1):
        replayed(cast)
        with ending(read=1):
            told(cast, tools)
        for each in running.processes():
            psutil.Process(each).send_signal(signal.SIGSTOP)
        try:
            with ending(down=2):
                found = [told(cast, tools), told(cast, tools)]
        finally:
            for each in running.processes():
                psutil.Process(each).send_signal(signal.SIGCONT)

    assert found == [["The ferry leaves at nine."]] * 2


def test_a_promoted_replica_is_no_longer_read(
    committed_db: None, monkeypatch: pytest.MonkeyPatch, cast: Cast, tools: Tools
) -> None:
    with standby() as made, reading(monkeypatch, made):
        store(cast, tools, "The ferry leaves at nine.")
        replayed(cast)
        made.promote()

        with ending(promoted=1):
            found = told(cast, tools)

    assert found == ["The ferry leaves at nine."]


def test_what_was_left_out_is_tried_again_by_one_read() -> None:
    now = 0.0
    two = Replicas(["one", "two"], clock=lambda: now)

    assert sorted(two.in_turn()) == ["one", "two"]
    assert next(two.in_turn()) != next(two.in_turn())
    two.leave_out("one")
    assert list(two.in_turn()) == ["two"]
    now += LEFT_OUT_SECONDS
    assert sorted(two.in_turn()) == ["one", "two"]
    assert list(two.in_turn()) == ["two"]
    two.take_back("one")
    assert sorted(two.in_turn()) == ["one", "two"]


def test_of_two_replicas_one_may_lag_and_die_and_no_answer_is_lost(
    committed_db: None, monkeypatch: pytest.MonkeyPatch, running: Standby, cast: Cast, tools: Tools
) -> None:
    stated = ["The ferry leaves at nine."]
    store(cast, tools, *stated)
    seen: list[bool] = []
    is_over = Event()

    def read() -> None:
        try:
            while not is_over.is_set():
                acknowledged = set(stated)
                seen.append(acknowledged <= set(told(cast, tools)))
        finally:
            connections.close_all()

    def served() -> None:
        """Wait until some reads more were answered by a replica."""
        before = outcomes().get("read", 0)
        until(lambda: outcomes().get("read", 0) >= before + 8)

    with standby() as other, reading(monkeypatch, running, other):
        replayed(cast)
        with ThreadPoolExecutor(2) as readers:
            ends = [readers.submit(read) for _ in range(2)]
            try:
                served()
                other.ask("SELECT pg_wal_replay_pause()")
                until(lambda: other.ask("SELECT pg_get_wal_replay_pause_state()") == "paused")
                for text in ("The ferry costs four pounds.", "The ferry is blue."):
                    store(cast, tools, text)
                    stated.append(text)
                    # The paused one has not replayed it, so that the other has answered.
                    served()
                other.stop()
                served()
            finally:
                is_over.set()
            for each in ends:
                each.result()

    assert len(seen) > 30
    assert all(seen)
