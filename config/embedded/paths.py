"""A home folder: where it lies, and the sockets, locks and logs in it."""

import fcntl
import hashlib
import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The checkout, or the folder of the installed wheel: the apps, their data and manage.py lie in it.
PROJECT_ROOT = Path(__file__).resolve().parents[2]
IS_CHECKOUT = (PROJECT_ROOT / "pyproject.toml").is_file()

# sun_path holds 108 bytes on Linux and 104 on macOS, the closing NUL included.
SOCKET_PATH_LIMIT = 103
MOST_LOG_BYTES = 10 * 1024 * 1024


class EmbeddedError(RuntimeError):
    """An embedded server cannot be started; the message is one line for the person at the shell."""


def home() -> Path:
    """Returns the folder with all data of this installation, absolute.

    It is `$PALIMPSEST_HOME`, else `.palimpsest` in the checkout or, of the installed program, in
    the user's own folder. In a checkout a relative path counts from there, so that every shell
    means the same folder.
    """
    named = os.environ.get("PALIMPSEST_HOME")
    start = PROJECT_ROOT if IS_CHECKOUT else Path.cwd()
    return Path(os.path.normpath(start / Path(named).expanduser())) if named else default_home()


def default_home() -> Path:
    """Returns the home of an installation that names none."""
    return (PROJECT_ROOT if IS_CHECKOUT else Path.home()) / ".palimpsest"


def program(home: Path) -> str:
    """Returns the beginning of the command lines that a person types for the installation."""
    called = "palimpsest"
    if IS_CHECKOUT:
        python = Path(sys.prefix) / "bin" / "python"
        if python.is_relative_to(PROJECT_ROOT):
            python = python.relative_to(PROJECT_ROOT)
        called = f"{shlex.quote(str(python))} manage.py"
    return (
        called if home == default_home() else f"PALIMPSEST_HOME={shlex.quote(str(home))} {called}"
    )


def socket_folder(preferred: Path, *, longest_name: str) -> Path:
    """Returns `preferred`, or a short private folder when a socket path in it would be too long.

    The answer depends on `preferred` alone: a second shell with another `$TMPDIR` must find the
    socket too, hence `/tmp` instead of `tempfile.gettempdir()`. The folder is not created.
    """
    if len(os.fsencode(preferred / longest_name)) <= SOCKET_PATH_LIMIT:
        return preferred
    digest = hashlib.sha256(os.fsencode(preferred)).hexdigest()[:16]
    return Path("/tmp") / f"palimpsest-{os.getuid()}-{digest}"  # noqa: S108 - see create_private


def create_private(folder: Path) -> None:
    """Creates `folder` for its owner alone; raises EmbeddedError for a link or another user's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    foreign = found.st_uid != os.getuid() and os.getuid() != 0
    if not stat.S_ISDIR(found.st_mode) or foreign:
        raise EmbeddedError(f"{folder} belongs to another user; remove it or move PALIMPSEST_HOME")


@contextmanager
def exclusive(lock_file: Path) -> Iterator[None]:
    """Holds a lock among processes while a server is started or stopped."""
    lock_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_file.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fresh_log(home: Path, name: str) -> Path:
    """Returns the log of a server, which exists and is not too long."""
    log = home / "logs" / f"{name}.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    log.touch(mode=0o600)
    rotate(log)
    return log


def rotate(log: Path, *, most_bytes: int = MOST_LOG_BYTES) -> None:
    """Moves the text of a long log to `NAME.log.1`; the server goes on writing to the same file."""
    if log.exists() and log.stat().st_size > most_bytes:
        fresh = log.with_suffix(".log.new")
        try:
            shutil.copy(log, fresh)  # with its mode
            fresh.replace(log.with_suffix(".log.1"))
        finally:
            fresh.unlink(missing_ok=True)
        os.truncate(log, 0)


def last_line(log: Path) -> str:
    """Returns the last line of a log and where the rest is, for a person."""
    lines = log.read_text(errors="replace").strip().splitlines() or ["no message"]
    return f"{lines[-1]} (log: {log})"
