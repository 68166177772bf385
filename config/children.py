"""A program in a process group of its own: started, watched and ended with all that it started."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from config.embedded import PROJECT_ROOT

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_CALM_SECONDS = 60.0
LONGEST_PAUSE = 30.0
_LARGEST_LOG = 10 * 1024 * 1024
_GRACE_SECONDS = 35.0  # a little more than gunicorn's graceful_timeout
GROUP_SECONDS = 5.0


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
        if self.log.exists() and self.log.stat().st_size > _LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
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
        pause = min(LONGEST_PAUSE, 0.5 * 2.0 ** (self.failures - 1))
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

    def last_lines(self) -> str:
        """Return the end of the log, for a person."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


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
    deadline = time.monotonic() + GROUP_SECONDS
    _signal_group(group, signal.SIGTERM)
    while _signal_group(group, 0) and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal_group(group, signal.SIGKILL)
