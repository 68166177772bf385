"""Moving to another embedding model while agents read and write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone
from numpy.typing import NDArray
from pytest_django import Settings

from memory.clients.active_embedder import ActiveEmbedder
from memory.clients.embedder_choice import EmbedderSpec, build_embedder, configured_spec
from memory.clients.embedders import WordLlamaEmbedder
from memory.clients.tools import Tools
from memory.domain.ports import Embedder
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import EmbeddingState, Memory, MessageEntry, SearchEntry
from memory.services.cascade import Depth
from memory.services.drafts import MemoryDraft, Outcome
from memory.services.message_index import index_team
from memory.services.ranking import Question
from memory.services.recall import ScoredMemory
from memory.services.reembedding import embedding_status, log_embedding_status, reembed
from memory.services.retrieval import search, search_levels
from memory.services.write_path import write_memories
from routing.clients.embeddings import EmbeddingError
from routing.clients.protocol import FailureKind
from teams.errors import ConflictError
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast
from tests.openai_server import FakeOpenAI, error

OLD = WordLlamaEmbedder.name
NEW = "openai/fake-model@64"
FACTS = [
    "Sarah prefers green tea in the morning.",
    "The production database runs in Frankfurt.",
    "The release is planned for March 15.",
    "Dmitri reviews every migration.",
    "The office dog is called Biscuit.",
]

both_roles = pytest.mark.django_db(databases=["default", "owner"])


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def new_settings(server: FakeOpenAI, settings: Settings) -> Settings:
    """The settings ask for an endpoint's model."""
    settings.EMBEDDING_PROVIDER = "openai"
    settings.EMBEDDING_MODEL = "fake-model"
    settings.EMBEDDING_DIMENSIONS = 64
    settings.EMBEDDING_BASE_URL = settings.EMBEDDING_PREVIOUS_BASE_URL = server.base_url
    settings.OPENAI_TIMEOUT_SECONDS = 20.0
    return settings


def tools_with(tools: Tools, *, spec: EmbedderSpec | None = None) -> Tools:
    """The tools of a process that has just started with these settings."""
    ticks = iter(range(0, 10**9, 60))  # looks the state up at each use
    active = ActiveEmbedder(configured=spec or configured_spec(), monotonic=lambda: next(ticks))
    return Tools(**{**_fields(tools), "embedder": active})


def _fields(tools: Tools) -> dict[str, Any]:  # Any: whatever tools there are
    return {name: getattr(tools, name) for name in tools.__dataclass_fields__}


def write(cast: Cast, tools: Tools, *contents: str) -> list[Memory]:
    drafts = [
        MemoryDraft(
            team_id=cast.team.id,
            content=content,
            memory_type=MemoryType.SEMANTIC,
            importance=5,
            extractor="test",
            created_at=timezone.now(),
        )
        for content in contents
    ]
    viewer = Viewer(team_id=cast.team.id, actor="test")
    return [each.memory for each in write_memories(viewer=viewer, drafts=drafts, tools=tools)]


def ask(cast: Cast, tools: Tools, question: str) -> Sequence[ScoredMemory]:
    return search(
        viewer=Viewer(team_id=cast.team.id, actor="test"),
        rows=Memory.objects.live(),
        question=Question(question),
        limit=3,
        tools=tools,
        now=timezone.now(),
    )


def finds_by_meaning(cast: Cast, tools: Tools) -> bool:
    best = ask(cast, tools, FACTS[0])[0]
    return best.memory.content == FACTS[0] and best.signals.cosine > 0.98


def models_of(cast: Cast) -> set[tuple[str, str, bool]]:
    """The active and next model of all entries, and whether there is a next vector."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = SearchEntry.objects.filter(team=cast.team)
        return {
            (row.embedding_model, row.next_model, row.next_embedding is not None) for row in rows
        }


@pytest.fixture
def known(acme: Cast, tools: Tools) -> list[Memory]:
    """What Acme knew before anybody thought of another model."""
    EmbeddingState.objects.update_or_create(
        defaults={"model": OLD, "dimensions": 256, "next_model": ""}
    )
    return write(acme, tools_with(tools, spec=EmbedderSpec("wordllama", "l2_supercat_256")), *FACTS)


def new_embedder() -> Embedder:
    return build_embedder(configured_spec())


def run(**options: Any) -> None:  # Any: reembed's own arguments
    reembed(**{"embedder": new_embedder(), "batch": 2, "grace_seconds": 0.0, **options})


# -- before ------------------------------------------------------------------------------------


def test_the_model_of_the_first_memories_is_recorded(acme: Cast, tools: Tools) -> None:
    write(acme, tools_with(tools), FACTS[0])

    state = EmbeddingState.objects.get()
    assert (state.model, state.dimensions, state.next_model) == (OLD, 256, "")


def test_other_settings_are_told_in_one_line(
    acme: Cast, known: list[Memory], new_settings: Settings
) -> None:
    status = embedding_status(wanted=NEW)

    assert status.lacking >= len(known)
    messages = f" and {status.lacking_messages} messages" if status.lacking_messages else ""
    assert status.line == (
        f"{status.lacking} memories{messages} are embedded with {OLD}, the settings say {NEW}: run"
        f" «manage.py reembed»; until then searches by meaning use {OLD}"
    )


def test_settings_that_fit_the_data_are_not_worth_a_line(acme: Cast, known: list[Memory]) -> None:
    status = embedding_status(wanted=OLD)

    assert status.active == OLD
    assert status.line == "" or "have no vector" in status.line  # rows of other tests' own making


def test_reads_and_writes_go_on_with_the_old_model(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    started_anew = tools_with(tools)

    (memory,) = write(acme, started_anew, "Luke waters the plants.")

    assert finds_by_meaning(acme, started_anew)
    entry = SearchEntry.objects.get(memory=memory)
    assert (entry.embedding_model, entry.next_model) == (OLD, "")
    assert server.requests == []


# -- the switch ------------------------------------------------------------------------------------


@both_roles
def test_all_memories_get_the_new_vectors_and_searches_use_them(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    run()

    state = EmbeddingState.objects.get()
    assert (state.model, state.dimensions, state.next_model) == (NEW, 64, "")
    assert models_of(acme) == {(NEW, "", False)}
    assert all(len(row.embedding) == 64 for row in SearchEntry.objects.filter(team=acme.team))
    assert finds_by_meaning(acme, tools_with(tools))
    assert embedding_status(wanted=NEW).line == ""


@both_roles
def test_messages_get_the_new_vectors_too_and_are_found_by_them(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    for place, text in enumerate(("The harbour was quiet.", "[FACT]: Sarah likes tea."), start=1):
        factories.MessageFactory.create(
            team=acme.team, conversation=talk, position=place, content=text
        )
    old = tools_with(tools, spec=EmbedderSpec("wordllama", "l2_supercat_256"))
    index_team(team_id=acme.team.id, tools=old)
    assert embedding_status(wanted=NEW).lacking_messages >= 1

    run()

    said, injected = MessageEntry.objects.filter(conversation=talk).order_by("position")
    assert (said.embedding_model, said.next_model, said.next_embedding) == (NEW, "", None)
    assert len(said.embedding) == 64
    assert (injected.embedding, injected.embedding_model) == (None, "")
    answer = search_levels(
        viewer=Viewer(team_id=acme.team.id, actor="test"),
        question=Question("sarah: the harbour was quiet"),
        limit=20,
        depth=Depth(include_raw=True),
        tools=tools_with(tools),
        now=timezone.now(),
    )
    assert answer.messages[0].id == said.message_id
    assert answer.messages[0].signals.cosine > 0.5


def test_messages_indexed_meanwhile_get_both_vectors(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    EmbeddingState.objects.update(next_model=NEW)
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    factories.MessageFactory.create(
        team=acme.team, conversation=talk, position=1, content="The harbour was quiet."
    )

    index_team(team_id=acme.team.id, tools=tools_with(tools))

    entry = MessageEntry.objects.get(conversation=talk)
    assert (entry.embedding_model, entry.next_model) == (OLD, NEW)


@both_roles
def test_every_team_is_embedded(
    acme: Cast, globex: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    write(globex, tools_with(tools), "Globex sells hammocks.")

    run()

    assert models_of(globex) == {(NEW, "", False)}


@both_roles
def test_searches_find_by_meaning_at_every_step(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    seen: list[tuple[str, bool]] = []
    # A request that embedded its question before the switch still asks with the old vector.
    old_vector = WordLlamaEmbedder().embed([FACTS[0]])[0]
    late = Tools(**{**_fields(tools), "embedder": Fixed(OLD, old_vector)})

    def look(_: float) -> None:
        fresh = tools_with(tools)
        seen.append((EmbeddingState.objects.get().model, finds_by_meaning(acme, fresh)))
        seen.append(("late", finds_by_meaning(acme, late)))

    run(on_progress=look, sleep=look, grace_seconds=5.0)

    assert {model for model, _ in seen} == {OLD, NEW, "late"}
    assert all(found for _, found in seen)
    assert finds_by_meaning(acme, tools_with(tools))


class Fixed:
    """Gives one vector for any text, as a request holds it that has embedded its question."""

    opposition_similarity = 0.3

    def __init__(self, name: str, vector: NDArray[np.float32]) -> None:
        self.name, self.dimensions, self._vector = name, len(vector), vector

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector] * len(texts))


@both_roles
def test_memories_written_meanwhile_get_both_vectors(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    seen: set[tuple[str, str, bool]] = set()

    def write_one(_: int) -> None:
        if seen:
            return
        (memory,) = write(acme, tools_with(tools), "Luke waters the plants.")
        entry = SearchEntry.objects.get(memory=memory)
        seen.add((entry.embedding_model, entry.next_model, entry.next_embedding is not None))

    run(on_progress=write_one)

    assert seen == {(OLD, NEW, True)}
    assert models_of(acme) == {(NEW, "", False)}


@both_roles
def test_memories_of_a_process_that_does_not_know_are_found_before_the_end(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    unaware = tools_with(tools, spec=EmbedderSpec("wordllama", "l2_supercat_256"))
    texts = iter(["Luke waters the plants.", "Kyra feeds the fish."])
    old_vector = unaware.embedder.embed(["The plants."])[0]
    frozen = Tools(**{**_fields(tools), "embedder": Fixed(OLD, old_vector)})

    def write_before(_: int) -> None:
        if EmbeddingState.objects.get().model == OLD and (text := next(texts, None)):
            write(acme, unaware, text)

    def write_within_the_grace(_: float) -> None:
        write(acme, frozen, "The kettle is broken.")

    run(on_progress=write_before, sleep=write_within_the_grace, grace_seconds=5.0)

    assert models_of(acme) == {(NEW, "", False)}
    assert SearchEntry.objects.filter(team=acme.team).count() == len(FACTS) + 3


@both_roles
def test_a_duplicate_is_known_across_the_models(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    run()
    viewer = Viewer(team_id=acme.team.id, actor="test")
    again = MemoryDraft(
        team_id=acme.team.id,
        content=FACTS[1],
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        extractor="test",
        created_at=timezone.now(),
    )

    (result,) = write_memories(viewer=viewer, drafts=[again], tools=tools_with(tools))

    assert result.outcome == Outcome.DUPLICATE


# -- interruptions ---------------------------------------------------------------------------------


@both_roles
def test_a_run_that_failed_goes_on_where_it_stopped(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    def fail(_: int) -> None:
        server.will(error(401))

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
        run(on_progress=lambda _: server.will(error(401)))

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


# -- the command -----------------------------------------------------------------------------------


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


# -- several at once -------------------------------------------------------------------------------


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
