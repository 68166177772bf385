"""A streaming replica of the tests' own PostgreSQL, made with the embedded binaries."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from config import embedded
from config.embedded.postgres import hand_over, run_program
from config.embedded.processes import serving


@dataclass(frozen=True)
class Standby:
    """A replica in a folder of its own, which holds its socket too."""

    folder: Path

    @property
    def data(self) -> Path:
        """The folder of the cluster."""
        return self.folder / "data"

    def start(self) -> None:
        """Start it and wait until it takes logins."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        self._control("-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop it as a crash would."""
        self._control("-m", "immediate", "stop")

    def promote(self) -> None:
        """Make it a primary of its own."""
        self._control("promote")

    def ask(self, statement: str) -> Any:
        """The first value of a statement of the superuser."""
        login = make_conninfo(host=str(self.folder), user="postgres", dbname="postgres")
        with psycopg.connect(login, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return row[0] if row else None

    def processes(self) -> list[int]:
        """The ids of its processes."""
        return [each.pid for each in serving(self.data, name="postgres")]

    def _control(self, *arguments: str) -> None:
        done = run_program("pg_ctl", ["-D", str(self.data), "-w", *arguments], folder=self.folder)
        assert done.returncode == 0, done.stdout


@contextmanager
def standby() -> Iterator[Standby]:
    """A running replica of the embedded server, removed at the end."""
    primary = embedded.postgres_socket_dir(embedded.home())
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-standby-"))
    hand_over(folder)
    made = Standby(folder)
    copy = ["-h", str(primary), "-U", "postgres", "-D", str(made.data)]
    how = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--wal-method=stream"]
    done = run_program("pg_basebackup", [*copy, *how], folder=folder)
    assert done.returncode == 0, done.stdout
    made.start()
    try:
        yield made
    finally:
        if made.processes():
            made.stop()
        shutil.rmtree(folder, ignore_errors=True)
