"""Finding and ending the server processes of one data folder, and no others."""

import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]


def serving(folder: Path, *, name: str) -> list[psutil.Process]:
    """Return the living processes called `name` whose working folder is `folder`.

    Both servers change into their data folder, so this tells our processes from those of another
    home, and from a stranger who got a recycled process id.
    """
    return [process for process in psutil.process_iter() if _serves(process, folder, name)]


def is_serving(pid: int, *, folder: Path, name: str) -> bool:
    """Tell whether process `pid` lives, is called `name` and works in `folder`."""
    try:
        return _serves(psutil.Process(pid), folder, name)
    except psutil.NoSuchProcess:
        return False


def end(processes: list[psutil.Process], *, patience: float) -> None:
    """Ask processes to end, wait up to `patience` seconds, kill those that are left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        deadline = time.monotonic() + patience
        while (processes := [each for each in processes if _lives(each)]) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.02)


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
