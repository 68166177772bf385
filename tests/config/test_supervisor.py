"""Keeping programs alive and ending them, with real processes."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from config.embedded import EmbeddedError
from config.embedded.logs import MOST_BYTES
from config.supervisor import Child, Service, StopRequest, Supervisor, end_leftovers
from tests.support.waiting import until


def gone(pid: int) -> bool:
    """Tell whether a process has ended, collected or not."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


class Stage:
    """A supervisor that writes into a list, and children made of a line of Python."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.record = folder / "run.json"
        self.supervisor = Supervisor(record=self.record, say=self.said.append)

    def child(self, code: str, *, name: str = "child") -> Child:
        return Child(
            name=name,
            command=[sys.executable, "-c", code],
            environment=os.environ,
            log=self.folder / f"{name}.log",
        )


class CountedEvent(threading.Event):
    """An event that counts how often it was looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.questions = 0

    def is_set(self) -> bool:
        """Whether it was set."""
        self.questions += 1
        return super().is_set()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    hurried = threading.Event()
    hurried.set()
    stage.supervisor.stop(hurried=hurried)


SLEEP = "import time; time.sleep(60)"


def test_a_killed_child_is_started_again_and_recorded(stage: Stage) -> None:
    child = stage.child(SLEEP)
    stage.supervisor.add_child(child)
    assert child.process is not None
    first = child.process.pid

    os.kill(first, signal.SIGKILL)
    until(lambda: not child.alive)

    def is_back() -> bool:
        stage.supervisor.tick()
        return child.alive

    until(is_back)
    assert child.process.pid != first
    assert "was ended by SIGKILL" in stage.said[0]
    assert json.loads(stage.record.read_text())["children"] == {"child": child.process.pid}


def test_a_child_that_keeps_failing_is_given_longer_and_longer_pauses(stage: Stage) -> None:
    child = stage.child("raise SystemExit(3)")
    pauses = []
    for _ in range(9):
        child.start()
        until(lambda: not child.alive)
        pauses.append(child.note_death())

    assert pauses[:3] == [0.5, 1.0, 2.0]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 30.0


def test_what_a_dead_child_leaves_of_its_group_goes_with_it(stage: Stage) -> None:
    code = (
        "import subprocess, sys, time;"
        f"p = subprocess.Popen([sys.executable, '-c', '{SLEEP}']);"
        "print(p.pid, flush=True); time.sleep(60)"
    )
    child = stage.child(code)
    stage.supervisor.add_child(child)
    until(lambda: child.log.read_text().strip().isdigit())
    grandchild = int(child.log.read_text())
    assert child.process is not None

    os.kill(child.process.pid, signal.SIGKILL)
    until(lambda: not child.alive)
    stage.supervisor.tick()

    until(lambda: gone(grandchild))


def test_stopping_lets_a_child_finish_its_work(stage: Stage) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.3), print('done'), sys.exit()))\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    child = stage.child(code)
    stage.supervisor.add_child(child)
    until(lambda: "ready" in child.log.read_text())

    stage.supervisor.stop(hurried=threading.Event())

    assert child.log.read_text().split() == ["ready", "done"]
    assert not stage.record.exists()


def test_hurrying_does_not_wait_for_a_child_that_will_not_go(stage: Stage) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('ready', flush=True); time.sleep(60)"
    )
    child = stage.child(code)
    stage.supervisor.add_child(child)
    until(lambda: "ready" in child.log.read_text())
    hurried = CountedEvent()
    hurried.set()

    stage.supervisor.stop(hurried=hurried)

    assert hurried.questions == 1  # not once more for each twentieth of a second of the grace time
    assert not child.alive


def test_errors_in_a_log_are_shown_once_and_whole(stage: Stage) -> None:
    child = stage.child(SLEEP)
    stage.supervisor.add_child(child)
    with child.log.open("a") as log:
        log.write("a warning\n2026 ERROR it broke\n2026 ERROR half a li")

    stage.supervisor.tick()
    stage.supervisor.tick()
    assert stage.said == ["child: 2026 ERROR it broke"]

    with child.log.open("a") as log:
        log.write("ne\n")
    stage.supervisor.tick()
    assert stage.said[1:] == ["child: 2026 ERROR half a line"]


def test_a_dead_service_is_started_again_and_a_failing_one_is_tried_later(stage: Stage) -> None:
    starts: list[str] = []
    broken = [False]

    def start() -> None:
        if broken[0]:
            raise EmbeddedError("the disk is full")
        starts.append("start")

    service = Service(
        name="Store",
        log=stage.folder / "store.log",
        pid=lambda: None,
        start=start,
        stop=lambda: starts.append("stop"),
    )
    stage.supervisor.add_service(service)

    stage.supervisor.tick()
    assert starts == ["start", "start"]
    assert stage.said == ["Store has died; starting it again", "Store is back"]

    broken[0] = True
    stage.supervisor.tick()
    stage.supervisor.tick()
    assert stage.said[3:] == ["the disk is full; next try in 1 s"]


@pytest.fixture
def leftover() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-c", SLEEP, "the-mark"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_a_leftover_of_a_killed_launcher_is_ended(
    tmp_path: Path, leftover: "subprocess.Popen[bytes]"
) -> None:
    record = tmp_path / "run.json"
    record.write_text(json.dumps({"launcher": 1, "children": {"web": leftover.pid}}))

    assert end_leftovers(record, marks=["the-mark"]) == 1

    assert leftover.wait(timeout=60) == -signal.SIGTERM
    assert not record.exists()


def test_a_stranger_with_a_recorded_number_is_left_alone(
    tmp_path: Path, leftover: "subprocess.Popen[bytes]"
) -> None:
    record = tmp_path / "run.json"
    record.write_text(json.dumps({"launcher": 1, "children": {"web": leftover.pid}}))

    assert end_leftovers(record, marks=["config.wsgi"]) == 0

    assert leftover.poll() is None


@pytest.mark.parametrize(
    "text", ["", "not json", "[]", '{"children": 3}', '{"children": {"a": []}}']
)
def test_a_damaged_record_ends_nothing(tmp_path: Path, text: str) -> None:
    record = tmp_path / "run.json"
    record.write_text(text)

    assert end_leftovers(record, marks=[""]) == 0


def test_the_same_stop_heard_twice_at_once_is_no_hurry() -> None:
    stop = StopRequest()

    stop._receive(signal.SIGTERM, None)
    stop._receive(signal.SIGTERM, None)

    assert stop.requested.is_set()
    assert not stop.hurried.is_set()


def test_a_log_that_grows_too_long_begins_anew_while_its_program_writes_on(stage: Stage) -> None:
    go_on = stage.folder / "go-on"
    code = (
        "import pathlib, time\n"
        f"print('x' * {MOST_BYTES}, flush=True)\n"
        f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)\n"
        "print('2026 ERROR the rest', flush=True)\n"
        "time.sleep(60)"
    )
    child = stage.child(code)
    stage.supervisor.add_child(child)
    until(lambda: child.log.stat().st_size > MOST_BYTES)

    stage.supervisor.tick()
    cut = child.log.stat().st_size
    go_on.touch()
    until(lambda: child.log.stat().st_size > 0)
    stage.supervisor.tick()

    assert cut == 0
    assert child.log.read_text() == "2026 ERROR the rest\n"
    assert (stage.folder / "child.log.1").stat().st_size == MOST_BYTES + 1
    assert stage.said == ["child: 2026 ERROR the rest"]


def test_the_log_of_a_service_is_kept_short_too(stage: Stage) -> None:
    log = stage.folder / "store.log"
    service = Service(name="Store", log=log, pid=os.getpid, start=lambda: None, stop=lambda: None)
    stage.supervisor.add_service(service)
    for number in range(3):
        log.write_text(f"{number}" * (MOST_BYTES + 1))
        stage.supervisor.tick()

    assert log.stat().st_size == 0
    assert sorted(each.name for each in stage.folder.glob("store*")) == [
        "store.log",
        "store.log.1",
    ]
    assert (stage.folder / "store.log.1").read_text()[0] == "2"
