"""Ends what a launcher leaves behind that was killed; the launcher starts it beside everything.

Programs get a signal when their parent ends, but embedded servers are nobody's children. The
launcher alone holds the other end of this process's standard input, so that closes with it.
"""

import fcntl
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from config import embedded
from config.embedded import EmbeddedError
from config.supervisor import end_leftovers

# Enough of a command line to know gunicorn's and Celery's processes as ours.
MARKS = ("config.wsgi", "-A config")
# What the home's lock says while a keeper has it, for which a launcher waits.
_CLEARING = "clearing"
_CLEARING_SECONDS = 90.0


class RunningError(RuntimeError):
    """Another process has the home; `owner` is the id of a launcher."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner


@contextmanager
def only_one(home: Path, *, owner: str, ended: str = "") -> Iterator[None]:
    """Hold the home's lock, which tells others `owner`; a keeper is waited for.

    So is the launcher with the process id `ended`, which may still be about to let go of the lock.
    Raises RunningError when a launcher has it, and EmbeddedError where the home cannot be written.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
        file = (home / "run.lock").open("a+")
    except OSError as error:
        raise EmbeddedError(f"cannot write to {home}: {error.strerror}") from error
    deadline = time.monotonic() + _CLEARING_SECONDS
    with file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                found = file.read().strip()
                # A keeper that has just taken the lock has not said so yet.
                is_other = found.isdigit() and found != ended
                is_running = is_other and psutil.pid_exists(int(found))
                if is_running or time.monotonic() > deadline:
                    raise RunningError(found or "unknown") from None
                time.sleep(0.1)
        file.truncate(0)
        file.write(owner)
        file.flush()
        yield


def main(launcher: str, servers: Sequence[str]) -> None:
    """Wait for the end of process `launcher`; then end its programs and these embedded servers."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    home = embedded.home()
    try:
        with only_one(home, owner=_CLEARING, ended=launcher):
            end_leftovers(home / "run.json", marks=MARKS)
            if "Redis" in servers:
                embedded.stop_redis(home)
            if "PostgreSQL" in servers:
                embedded.stop_postgres(home)
    except RunningError:
        return  # A new launcher was quicker, and took over what there was.


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
