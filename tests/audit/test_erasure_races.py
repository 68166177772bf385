"""People go on talking while one of them is erased."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from operator import ge
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from audit.models import Erasure
from audit.services.erasure import erase_user
from audit.services.seals import closed_up_to, seal_team
from audit.services.verification import verify_team
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.langgraph.checkpoints import NewCheckpoint, save_checkpoint
from memory.satellites.langgraph.models import GraphThread, StoreItem
from memory.satellites.langgraph.store_items import NewItem, write_items
from memory.satellites.transfer import imports
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.imports import start_import
from memory.satellites.transfer.models import ImportRun
from memory.understanding.tools import Tools
from memory.writing.posting import open_conversation, post_messages
from memory.writing.stating import StatedMemory, remember
from teams.errors import DomainError
from teams.models import EndUser, Message
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.waiting import PATIENCE_SECONDS, until

ERASED = "[erased]"


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


class Crew:
    """Threads that do the same thing until they are told to stop."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._done: list[int] = []
        self._progress = threading.Condition()
        self.failed: list[BaseException] = []

    def keep(self, act: Callable[[], object]) -> None:
        """Start a thread; being turned away by an erasure is no failure."""
        number = len(self._threads)
        self._done.append(0)

        def work() -> None:
            try:
                while not self._stop.is_set():
                    with suppress(OperationalError, DomainError):
                        act()
                        with self._progress:
                            self._done[number] += 1
                            self._progress.notify_all()
            except BaseException as error:
                self.failed.append(error)
            finally:
                connection.close()

        self._threads.append(threading.Thread(target=work))
        self._threads[-1].start()

    def go_on(self, *, times: int = 2) -> None:
        """Return once each thread has done its work so many times more.

        The second of two times began after the call.
        """
        with self._progress:
            wanted = [done + times for done in self._done]
            assert self._progress.wait_for(
                lambda: all(map(ge, self._done, wanted)), PATIENCE_SECONDS
            ), f"{self._done} of {wanted}, failed: {self.failed}"

    def stop(self) -> None:
        """Let all of them end."""
        self._stop.set()
        for thread in self._threads:
            thread.join()


@contextmanager
def a_crew() -> Iterator[Crew]:
    """A crew that is stopped at the end."""
    crew = Crew()
    try:
        yield crew
    finally:
        crew.stop()


def test_nothing_written_before_the_erasure_survives_it(town: Cast, tools: Tools) -> None:
    """Writers state memories and post messages for Sarah and Dmitri all along."""
    team_id = town.team.id
    viewer = Viewer(team_id=team_id, actor="writer")

    def state(user: str) -> None:
        remember(
            viewer=viewer,
            stated=[StatedMemory(content=f"{user} keeps {uuid4()}.", user=user, check=False)],
            tools=tools,
            now=timezone.now(),
        )

    def talk(user: str) -> None:
        with team_scope(team_ids=[team_id], actor="writer"):
            conversation, _ = open_conversation(
                team_id=team_id, agent="kyra", user=user, thread_id="one"
            )
        post_messages(
            viewer=viewer,
            conversation_id=conversation.pk,
            messages=[NewMessage(role="user", content=f"I keep {uuid4()}.")],
            now=timezone.now(),
        )

    with a_crew() as crew:
        for user in ("sarah", "dmitri"):
            crew.keep(lambda user=user: state(user))  # type: ignore[misc]
            crew.keep(lambda user=user: talk(user))  # type: ignore[misc]
        crew.go_on()
        erase_user(team_id=team_id, external_id="sarah", actor="test")
        crew.go_on()

    assert crew.failed == []
    with team_scope(team_ids=[team_id], actor="test"):
        erasure = Erasure.objects.get()
        hers = Memory.objects.filter(end_user=town.sarah)
        assert set(hers.values_list("content", flat=True)) == {ERASED}
        assert hers.count() == erasure.counts["memories"] > 0
        words = Message.objects.filter(conversation__end_user=town.sarah)
        assert set(words.values_list("content", flat=True)) == {ERASED}
        assert words.count() == erasure.counts["messages"] > 0
        his = Memory.objects.filter(end_user=town.dmitri)
        assert ERASED not in set(his.values_list("content", flat=True))
        again = EndUser.objects.get(external_id="sarah")
        assert Memory.objects.filter(end_user=again).exists()
        assert Message.objects.filter(conversation__end_user=again).exists()
    assert verify_team(team_id=team_id).findings == []


def test_a_writer_who_knew_the_person_before_is_turned_away(town: Cast) -> None:
    """It found the person, then the erasure committed, then it writes."""
    found, written = threading.Event(), threading.Event()
    refused: list[BaseException] = []

    def late() -> None:
        try:
            with team_scope(team_ids=[town.team.id], actor="test"):
                person = EndUser.objects.get(external_id="sarah")
                found.set()
                written.wait(PATIENCE_SECONDS)
                factories.MemoryFactory.create(team=town.team, end_user=person, content="Late.")
        except OperationalError as error:
            refused.append(error)
        finally:
            connection.close()

    writer = threading.Thread(target=late)
    writer.start()
    assert found.wait(PATIENCE_SECONDS)
    erase_user(team_id=town.team.id, external_id="sarah", actor="test")
    written.set()
    writer.join()

    assert len(refused) == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not Memory.objects.exists()


def test_an_erasure_waits_for_what_is_being_written(town: Cast) -> None:
    """A memory is inserted and not committed when the erasure begins."""
    inserted, commit = threading.Event(), threading.Event()

    def slow() -> None:
        try:
            with team_scope(team_ids=[town.team.id], actor="test"):
                factories.MemoryFactory.create(team=town.team, end_user=town.sarah, content="Slow.")
                inserted.set()
                commit.wait(PATIENCE_SECONDS)
        finally:
            connection.close()

    writer = threading.Thread(target=slow)
    writer.start()
    assert inserted.wait(PATIENCE_SECONDS)
    threading.Timer(0.3, commit.set).start()

    plan = erase_user(team_id=town.team.id, external_id="sarah", actor="test")
    writer.join()

    assert plan.memories == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.get().content == ERASED


def test_two_erasures_of_one_person_are_one(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        factories.MemoryFactory.create_batch(20, team=town.team, end_user=town.sarah)
    done: list[object] = []
    barrier = threading.Barrier(3)

    def erase() -> None:
        try:
            barrier.wait(PATIENCE_SECONDS)
            done.append(erase_user(team_id=town.team.id, external_id="sarah", actor="test"))
        except DomainError as error:
            done.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=erase) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(done) == 3
    assert sum(isinstance(each, DomainError) for each in done) == 2
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Erasure.objects.count() == 1
    assert verify_team(team_id=town.team.id).findings == []


def test_sealing_writing_and_erasing_at_once_leave_a_log_that_stands(town: Cast) -> None:
    team_id = town.team.id
    names = [f"person{number}" for number in range(6)]

    def write(name: str) -> None:
        with team_scope(team_ids=[team_id], actor="test"):
            person, _ = EndUser.objects.get_or_create(team_id=team_id, external_id=name)
            memory = factories.MemoryFactory.create(team=town.team, end_user=person)
            Memory.objects.filter(pk=memory.pk).update(importance=8)

    def seal() -> None:
        last_seq = closed_up_to(seconds=10)
        if last_seq is not None:
            seal_team(team_id=team_id, last_seq=last_seq, now=timezone.now())

    with a_crew() as crew:
        for name in names[:3]:
            crew.keep(lambda name=name: write(name))  # type: ignore[misc]
        crew.keep(seal)
        for _ in range(4):
            for name in names[:2]:
                crew.go_on()
                erase_user(team_id=team_id, external_id=name, actor="test")

    assert crew.failed == []
    seal()
    found = verify_team(team_id=team_id)
    assert found.findings == []
    assert found.unsealed == 0
    assert found.erased > 0
    assert found.erasures > 2
    assert found.seals > 2


def test_items_and_threads_of_graphs_do_not_survive_the_erasure(town: Cast, tools: Tools) -> None:
    """Writers keep items and states for Sarah all along, and say whose a thread is."""
    team_id = town.team.id
    viewer = Viewer(team_id=team_id, actor="writer")

    def keep() -> None:
        namespace = ("users", "sarah")
        item = NewItem(namespace=namespace, key=str(uuid4()), value={"n": 1}, text="Sarah sails.")
        write_items(viewer=viewer, items=[item], tools=tools, now=timezone.now())

    def save() -> None:
        thread = str(uuid4())
        for user in (None, "sarah"):
            checkpoint = NewCheckpoint(
                checkpoint_id="a", namespace="", parent_id="", data={}, metadata={}, channels={}
            )
            save_checkpoint(
                viewer=viewer,
                thread_id=thread,
                agent=None,
                user=user,
                checkpoint=checkpoint,
                now=timezone.now(),
            )

    with a_crew() as crew:
        crew.keep(keep)
        crew.keep(save)
        crew.go_on()
        erase_user(team_id=team_id, external_id="sarah", actor="test")
        crew.go_on()

    assert crew.failed == []
    with team_scope(team_ids=[team_id], actor="test"):
        assert not StoreItem.objects.filter(end_user=town.sarah).exists()
        assert not GraphThread.objects.filter(end_user=town.sarah).exists()
        assert StoreItem.objects.filter(end_user__external_id="sarah").exists()
        assert GraphThread.objects.filter(end_user__external_id="sarah").exists()


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "named-later"])
@pytest.mark.parametrize("model", [StoreItem, GraphThread], ids=["item", "thread"])
def test_a_row_for_a_person_who_was_erased_since_is_refused(
    town: Cast, model: type[StoreItem | GraphThread], is_new: bool
) -> None:
    names = {"key": "k", "value": {}} if model is StoreItem else {"thread_id": "t"}
    row = model(team_id=town.team.id, **names)
    with team_scope(team_ids=[town.team.id], actor="test"):
        if not is_new:
            row.save()
    erase_user(team_id=town.team.id, external_id="sarah", actor="test")
    row.end_user_id = town.sarah.pk

    with (
        pytest.raises(OperationalError, match="the person was erased"),
        team_scope(team_ids=[town.team.id], actor="test"),
    ):
        row.save()

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not model.objects.filter(end_user__isnull=False).exists()


def test_an_item_of_a_person_who_is_erased_meanwhile_is_kept_for_the_new_one(
    town: Cast, tools: Tools
) -> None:
    """The person is looked up, erased while the words are embedded, then the item is written."""

    class Erasing:
        """An embedder during whose first call the person is erased."""

        def __init__(self) -> None:
            self.is_first = True

        def __getattr__(self, name: str) -> Any:  # Any: whatever the embedder has
            if self.is_first and name.startswith("embed"):
                self.is_first = False
                erase_user(team_id=town.team.id, external_id="sarah", actor="test")
            return getattr(tools.embedder, name)

    item = NewItem(namespace=("users", "sarah"), key="k", value={"n": 1}, text="Sarah sails.")
    kept, _ = write_items(
        viewer=Viewer(team_id=town.team.id, actor="writer"),
        items=[item],
        tools=replace(tools, embedder=Erasing()),
        now=timezone.now(),
    )

    assert kept == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        stored = StoreItem.objects.select_related("end_user").get()
        assert stored.end_user is not None
        assert (stored.end_user.pk != town.sarah.pk, stored.end_user.external_id) == (True, "sarah")


def test_an_import_that_takes_items_leaves_no_one_to_come_back(
    town: Cast, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = town.team.pk
    viewer = Viewer(team_id=team, actor="test")
    refused = {"content": "Nobody's.", "agent": "bad agent name"}
    items = [{"content": f"Dmitri's boat {each} is blue.", "user": "dmitri"} for each in range(4)]
    lines = "\n".join(map(json.dumps, [refused, *items]))
    run = start_import(
        viewer=viewer,
        source=BytesIO(lines.encode()),
        names=Names(),
        now=timezone.now(),
        is_published=False,
    )
    taken = threading.Event()
    note = imports._note_done

    def note_while_an_erasure_waits(*given: Any, **named: Any) -> None:
        if not taken.is_set():
            taken.set()
            until(lambda: waits_for_a_lock())
        note(*given, **named)

    def waits_for_a_lock() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(cursor.fetchone()[0])

    def work() -> None:
        try:
            with suppress(OperationalError):
                imports.run_import(team_id=team, run_id=run.pk, tools=tools)
        finally:
            connection.close()

    monkeypatch.setattr(imports, "_note_done", note_while_an_erasure_waits)
    importing = threading.Thread(target=work)
    importing.start()
    assert taken.wait(PATIENCE_SECONDS)
    erase_user(team_id=team, external_id="dmitri", actor="test")
    importing.join()

    with team_scope(team_ids=[team], actor="test"):
        ImportRun.objects.update(due_at=timezone.now())
    imports.run_import(team_id=team, run_id=run.pk, tools=tools)
    with team_scope(team_ids=[team], actor="test"):
        assert not EndUser.objects.filter(external_id="dmitri").exists()
        assert set(Memory.objects.values_list("content", flat=True)) <= {ERASED}
        run.refresh_from_db()
        assert (run.state, run.done + run.failed) == ("done", run.total)
