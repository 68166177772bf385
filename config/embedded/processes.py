"""Starting processes that end with this one, and finding and ending the servers of a folder."""

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
# Kept until they are collected after their end.
_spawned: list[subprocess.Popen[bytes]] = []


def spawn(
    command: Sequence[str], *, at_our_end: signal.Signals, **options: Any
) -> subprocess.Popen[bytes]:  # Any: those of Popen
    """Starts a program in a session of its own, which gets `at_our_end` when this thread ends."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def bind_to_parent() -> None:
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, at_our_end)

    _spawned[:] = [each for each in _spawned if each.poll() is None]
    process = subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=bind_to_parent,
        **options,
    )
    _spawned.append(process)
    return process


def serving(folder: Path, *, name: str) -> list[psutil.Process]:
    """Returns the living processes called `name` that work in `folder`, as our servers do."""
    return [each for each in psutil.process_iter() if _serves(each, folder, name)]


def server_of(pidfile: Path, *, name: str) -> psutil.Process | None:
    """Returns the server that wrote the file, if it lives and works in the file's folder."""
    try:
        process = psutil.Process(int(pidfile.read_text().split("\n", 1)[0]))
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None
    return process if _serves(process, pidfile.parent, name) else None


def end(
    processes: Sequence[psutil.Process],
    *,
    patience: float,
    by: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGKILL),
) -> None:
    """Sends each signal of `by` in turn to those that still live, `patience` seconds apart."""
    for number in by:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        deadline = time.monotonic() + patience
        while (processes := [each for each in processes if _lives(each)]) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Returns whether a process has that id and has not ended."""
    try:
        return _lives(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


def _lives(process: psutil.Process) -> bool:
    # In a container often nobody collects zombies: those have ended.
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _serves(process: psutil.Process, folder: Path, name: str) -> bool:
    try:
        return (
            process.name() == name and _lives(process) and Path(process.cwd()) == folder.resolve()
        )
    except psutil.Error:
        return False
