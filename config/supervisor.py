"""Restarts child processes and embedded servers that die, and stops them without orphans.

Each child runs in a process group of its own and is ended with all that it started.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from config.embedded import PROJECT_ROOT, EmbeddedError
from config.embedded.logs import rotate
from config.embedded.processes import end

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_CALM_SECONDS = 60.0
_LONGEST_PAUSE = 30.0
_GRACE_SECONDS = 35.0  # a little more than gunicorn's graceful_timeout
_GROUP_SECONDS = 5.0

Say = Callable[[str], None]


class StopRequest:
    """Set once by the first signal to stop, and again, to hurry, by the second."""

    def __init__(self) -> None:
        self.requested = threading.Event()
        self.hurried = threading.Event()
        self._first = 0.0

    def listen(self) -> None:
        """Take SIGINT, SIGTERM and a closing terminal as the request."""
        signal.signal(signal.SIGINT, self._receive)
        signal.signal(signal.SIGTERM, self._receive)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # under nohup it stays ignored
            signal.signal(signal.SIGHUP, self._receive)

    def _receive(self, _signum: int, _frame: object) -> None:
        if not self.requested.is_set():
            self._first = time.monotonic()
            self.requested.set()
        elif time.monotonic() - self._first > 1.0:
            # One stop of a whole process group reaches us twice, from the group and from make.
            self.hurried.set()


class Child:
    """A program in a process group of its own, with its output in a log file."""

    def __init__(
        self, *, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path
    ) -> None:
        self.name = name
        self.log = log
        self.failures = 0
        self.due = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        self._command = list(command)
        self._environment = dict(environment)
        self._started = 0.0
        self._log_position = 0

    @property
    def alive(self) -> bool:
        """Whether the program runs."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the program; on Linux it ends when this process ends."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        rotate(self.log)
        with self.log.open("ab") as output:
            self._log_position = output.tell()
            self.process = subprocess.Popen(  # noqa: S603
                self._command,
                cwd=PROJECT_ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent if _LIBC else None,
            )
        self._started = time.monotonic()

    def note_death(self) -> float:
        """End what the dead program left of its group; return the pause until the next start."""
        if self.process is not None:
            _end_group(self.process.pid)
        calm = time.monotonic() - self._started > _CALM_SECONDS
        self.failures = 1 if calm else self.failures + 1
        pause = min(_LONGEST_PAUSE, 0.5 * 2.0 ** (self.failures - 1))
        self.due = time.monotonic() + pause
        self.process = None
        return pause

    def stop(self, *, hurried: threading.Event) -> None:
        """Ask the program to finish its work and wait; kill its group when told to hurry."""
        if self.process is None:
            return
        deadline = time.monotonic() + _GRACE_SECONDS
        self.process.terminate()
        while self.alive and time.monotonic() < deadline and not hurried.is_set():
            time.sleep(0.05)
        _signal_group(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def new_errors(self) -> list[str]:
        """Return the lines of level ERROR and above that the log got since the last call."""
        with self.log.open("rb") as log:
            log.seek(self._log_position)
            fresh = log.read(1024 * 1024)
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._log_position += len(whole)
        lines = whole.decode(errors="replace").splitlines()
        return [line for line in lines if "ERROR" in line or "CRITICAL" in line]

    def rotate_log(self) -> None:
        """Keep the log short while the program runs."""
        if rotate(self.log):
            self._log_position = 0

    def last_lines(self) -> str:
        """Return the end of the log, for a person."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


@dataclass(frozen=True, kw_only=True)
class Service:
    """An embedded server: how to find, start and stop it, and what it logs to."""

    name: str
    log: Path
    pid: Callable[[], int | None]
    start: Callable[[], object]
    stop: Callable[[], None]


class Supervisor:
    """Starts services and children in order, restarts what dies, stops in the reverse order."""

    def __init__(self, *, record: Path, say: Say) -> None:
        self._record = record
        self._say = say
        self._services: list[Service] = []
        self._children: list[Child] = []
        self._service_failures: dict[str, tuple[int, float]] = {}

    def add_service(self, service: Service) -> None:
        """Start an embedded server and keep it running."""
        self._services.append(service)
        service.start()

    def add_child(self, child: Child) -> None:
        """Start a program and keep it running."""
        self._children.append(child)
        child.start()
        self._write_record()

    def dead_child(self) -> Child | None:
        """Return a program that is not running, if there is one."""
        return next((child for child in self._children if not child.alive), None)

    def tick(self) -> None:
        """Show new errors, keep logs short and restart what has died, once."""
        for service in self._services:
            rotate(service.log)
            if service.pid() is None:
                self._restart_service(service)
        for child in self._children:
            for line in child.new_errors():
                self._say(f"{child.name}: {line}")
            child.rotate_log()
            if child.process is not None and not child.alive:
                how = _how_it_ended(child.process.returncode)
                pause = child.note_death()
                self._say(f"{child.name} {how}; starting it again in {pause:.1f} s ({child.log})")
            if child.process is None and time.monotonic() >= child.due:
                child.start()
                self._write_record()

    def stop(self, *, hurried: threading.Event) -> None:
        """Stop everything, last started first; children finish their work unless hurried."""
        for child in reversed(self._children):
            child.stop(hurried=hurried)
        for service in reversed(self._services):
            service.stop()
        self._record.unlink(missing_ok=True)

    def _restart_service(self, service: Service) -> None:
        failures, due = self._service_failures.get(service.name, (0, 0.0))
        if time.monotonic() < due:
            return
        self._say(f"{service.name} has died; starting it again")
        try:
            service.start()
        except EmbeddedError as error:
            pause = min(_LONGEST_PAUSE, 2.0**failures)
            self._service_failures[service.name] = (failures + 1, time.monotonic() + pause)
            self._say(f"{error}; next try in {pause:.0f} s")
        else:
            self._service_failures.pop(service.name, None)
            self._say(f"{service.name} is back")

    def _write_record(self) -> None:
        pids = {child.name: child.process.pid for child in self._children if child.process}
        fresh = self._record.with_suffix(".new")
        fresh.write_text(json.dumps({"launcher": os.getpid(), "children": pids}))
        fresh.replace(self._record)


def end_leftovers(record: Path, *, marks: Sequence[str]) -> int:
    """End the children of a launcher that was killed, and return how many there were.

    A process belongs to them when it is in a recorded process group and its command line holds
    one of `marks`: the recorded number alone may by now be a stranger's.
    """
    try:
        groups = set(json.loads(record.read_text())["children"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0
    leftovers = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            line = " ".join(process.cmdline())
            if os.getpgid(process.pid) in groups and any(mark in line for mark in marks):
                leftovers.append(process)
    end(leftovers, patience=_GROUP_SECONDS)
    record.unlink(missing_ok=True)
    return len(leftovers)


def _how_it_ended(returncode: int) -> str:
    if returncode < 0:
        return f"was ended by {signal.Signals(-returncode).name}"
    return f"ended with code {returncode}"


def _end_with_parent() -> None:
    # The launcher may be killed without a chance to tell its children.
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; False when nobody is left in it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM for a group of zombies
        return False
    return True


def _end_group(group: int) -> None:
    deadline = time.monotonic() + _GROUP_SECONDS
    _signal_group(group, signal.SIGTERM)
    while _signal_group(group, 0) and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal_group(group, signal.SIGKILL)
