"""Runs of a re-embedding: interrupted, told about on the command line, and beside others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from numpy.typing import NDArray
from pytest_django import Settings

from memory.models import EmbeddingState, Memory, SearchEntry
from memory.understanding.active_embedder import ActiveEmbedder
from memory.understanding.embedders import (
    EmbedderSpec,
    WordLlamaEmbedder,
    build_embedder,
    configured_spec,
)
from memory.understanding.tools import Tools
from memory.writing.indexing.reembedding import log_embedding_status, reembed
from routing.clients.protocol import EmbeddingError, FailureKind
from teams.errors import ConflictError
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.openai_server import FakeOpenAI, error
from tests.support.reembedding import (
    FACTS,
    NEW,
    OLD,
    _fields,
    both_roles,
    finds_by_meaning,
    known,
    models_of,
    new_embedder,
    new_settings,
    run,
    server,
    tools_with,
    write,
)

__all__ = ["known", "new_settings", "server"]


@both_roles
def test_a_run_that_failed_goes_on_where_it_stopped(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    def fail(_: int) -> None:
        server.will(error(401), error(401))

    with pytest.raises(EmbeddingError) as caught:
        run(on_progress=fail)
    assert caught.value.kind is FailureKind.MISCONFIGURED
    assert EmbeddingState.objects.get().model == OLD
    assert finds_by_meaning(acme, tools_with(tools))
    done = SearchEntry.objects.filter(next_model=NEW).count()
    assert done == 2
    sent = len(server.embedded)

    run()

    assert models_of(acme) == {(NEW, "", False)}
    texts = [text for batch in server.embedded[sent:] for text in batch]
    assert len(set(texts) & set(FACTS)) == len(FACTS) - done


@both_roles
def test_a_run_that_stopped_after_the_switch_only_tidies_up(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(sleep=stop, grace_seconds=5.0)
    assert EmbeddingState.objects.get().model == NEW
    assert finds_by_meaning(acme, tools_with(tools))
    sent = len(server.embedded)

    run()

    assert models_of(acme) == {(NEW, "", False)}
    assert server.embedded[sent:] in ([], [["."]])


@both_roles
def test_another_change_after_an_unfinished_one_loses_no_vector_in_use(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(sleep=stop, grace_seconds=5.0)
    new_settings.EMBEDDING_DIMENSIONS = 32
    seen: list[bool] = []

    run(on_progress=lambda _: seen.append(finds_by_meaning(acme, tools_with(tools))))

    assert seen
    assert all(seen)
    assert models_of(acme) == {("openai/fake-model@32", "", False)}


@both_roles
def test_going_back_halfway_drops_what_was_begun(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    with pytest.raises(EmbeddingError):
        run(on_progress=lambda _: server.will(error(401), error(401)))

    reembed(embedder=build_embedder(EmbedderSpec("wordllama", "l2_supercat_256")), grace_seconds=0)

    assert EmbeddingState.objects.get().next_model == ""
    assert models_of(acme) == {(OLD, "", False)}


@both_roles
def test_an_endpoint_that_does_not_answer_changes_nothing(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    server.will(error(401))

    with pytest.raises(CommandError, match="run the same command again"):
        call_command("reembed", stdout=StringIO(), stderr=StringIO())

    state = EmbeddingState.objects.get()
    assert (state.model, state.next_model) == (OLD, "")
    assert models_of(acme) == {(OLD, "", False)}


@both_roles
def test_the_command_says_what_there_is_to_do_and_what_it_did(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    out = StringIO()
    call_command("reembed", "--status", stdout=out)
    assert f"the settings say {NEW}" in out.getvalue()
    assert models_of(acme) == {(OLD, "", False)}

    out = StringIO()
    call_command("reembed", "--batch", "2", "--grace", "0", stdout=out)
    assert (
        f"memories and messages embedded with {NEW}, searches no longer use {OLD}."
        in out.getvalue()
    )

    out = StringIO()
    call_command("reembed", stdout=out)
    assert f"0 memories and messages embedded with {NEW}." in out.getvalue()


class Impatient(StringIO):
    """An operator who presses Ctrl-C when told of a wait."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if "Waiting" in text:
            raise KeyboardInterrupt
        return written


@both_roles
def test_the_command_says_what_it_waits_for_when_all_is_embedded(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    told = Impatient()

    with pytest.raises(CommandError, match="Interrupted; searches go on"):
        call_command("reembed", "--grace", "600", stdout=StringIO(), stderr=told)

    assert f"searches use {NEW}. Waiting " in told.getvalue()
    assert "--grace" in told.getvalue()
    told = Impatient()
    call_command("reembed", "--grace", "0", stdout=StringIO(), stderr=told)
    assert told.getvalue() == ""
    assert models_of(acme) == {(NEW, "", False)}


@both_roles
def test_the_wait_is_told_before_it_begins(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    told: list[str] = []

    run(
        on_wait=lambda seconds: told.append(f"{seconds:.0f}"),
        sleep=lambda _: told.append("slept"),
        grace_seconds=500.0,
    )

    assert told[1:] == ["slept"]
    assert 400 < int(told[0]) <= 500


class Waiting:
    """The embedded model, which says when it is asked and answers when it may."""

    name = OLD
    dimensions = 256
    opposition_similarity = 0.3

    def __init__(self) -> None:
        self._behind = WordLlamaEmbedder()
        self.asked, self.may = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.set()
        self.may.wait(60.0)
        return self._behind.embed(texts)


def in_thread(work: Callable[[], object]) -> threading.Thread:
    def run_and_close() -> None:
        try:
            work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run_and_close)
    thread.start()
    return thread


def test_a_second_run_is_refused_while_the_first_is_under_way(committed_db: None) -> None:
    first = Waiting()
    thread = in_thread(lambda: reembed(embedder=first, grace_seconds=0.0))
    assert first.asked.wait(60.0)

    with pytest.raises(ConflictError, match="under way"):
        reembed(embedder=WordLlamaEmbedder(), grace_seconds=0.0)

    first.may.set()
    thread.join()
    reembed(embedder=WordLlamaEmbedder(), grace_seconds=0.0)


def test_writers_and_readers_go_on_while_the_model_changes(
    committed_db: None, tools: Tools, new_settings: Settings
) -> None:
    """Every acknowledged memory has a vector of the new model in the end, and was always found."""
    cast = make_cast("changing")
    old_spec = EmbedderSpec("wordllama", "l2_supercat_256")
    reembed(embedder=build_embedder(old_spec), grace_seconds=0.0)
    write(cast, tools_with(tools, spec=old_spec), *FACTS)
    shared = Tools(**{**_fields(tools), "embedder": ActiveEmbedder(configured=configured_spec())})
    done, written, misses, failures = threading.Event(), [0], [0], list[BaseException]()

    def keep_writing() -> None:
        try:
            while not done.is_set():
                write(cast, shared, f"The sensor in room {written[0]} reads {written[0] * 7} lux.")
                written[0] += 1
        except BaseException as caught:
            failures.append(caught)
            raise

    def keep_asking() -> None:
        try:
            while not done.is_set():
                misses[0] += not finds_by_meaning(cast, shared)
        except BaseException as caught:
            failures.append(caught)
            raise

    threads = [in_thread(keep_writing), in_thread(keep_asking)]
    try:
        reembed(embedder=new_embedder(), batch=3, grace_seconds=2.0)
    finally:
        done.set()
        for thread in threads:
            thread.join()
        try:
            reembed(embedder=new_embedder(), grace_seconds=0.0)
            in_the_end = models_of(cast)
        finally:
            # Other tests find the database as they left it.
            reembed(embedder=build_embedder(old_spec), grace_seconds=0.0)

    assert failures == []
    assert written[0] > 3
    assert misses == [0]
    assert in_the_end == {(NEW, "", False)}
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert SearchEntry.objects.filter(team=cast.team).count() == len(FACTS) + written[0]
    assert models_of(cast) == {(OLD, "", False)}


def test_a_starting_process_logs_the_line_once_and_starts_without_a_database(
    committed_db: None, tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    cast = make_cast("starting")
    write(cast, tools_with(tools), FACTS[0])

    log_embedding_status(wanted=NEW)

    assert caplog.text.count("run «manage.py reembed»") == 1
    caplog.clear()
    own = connections["default"].settings_dict
    host, own["HOST"] = own["HOST"], "/nowhere"
    try:
        log_embedding_status(wanted=NEW)
    finally:
        own["HOST"] = host
        connections["default"].close()
    assert caplog.text == ""
