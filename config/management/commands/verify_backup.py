"""`manage.py verify_backup`: restores a backup into a scratch server and verifies it there."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backup import BackupError, read_manifest
from config.backup_times import note_verified_backup
from config.embedded.paths import PROJECT_ROOT

# The scratch home has servers of its own.
_SERVERS = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_REPLICA_URL", "REDIS_URL")


class Command(BaseCommand):
    """Restore a backup into a server of its own, verify rows, log and seals, and drop it."""

    help = (
        "Restore a backup into an embedded PostgreSQL and Redis in a temporary folder, compare its"
        " rows, verify the log and its seals, and remove the folder. This installation goes on, and"
        " only the time of the backup is noted, for doctor and /metrics."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="what `manage.py backup` wrote")
        parser.add_argument(
            "--scratch",
            type=Path,
            help="where the temporary folder is made, with room for the database (TMPDIR)",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        folder = options["folder"].resolve()
        started = time.monotonic()
        try:
            manifest = read_manifest(folder)
            with tempfile.TemporaryDirectory(
                prefix="palimpsest-verify-", dir=options["scratch"]
            ) as home:
                said = _restore(folder, home=Path(home))
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{said}\nVerified in {time.monotonic() - started:.0f} s.")
        try:
            note_verified_backup(made_at=datetime.fromisoformat(manifest.made_at))
        except redis.RedisError as error:
            self.stderr.write(f"Redis does not answer, so doctor will not know of it: {error}")


def _restore(folder: Path, *, home: Path) -> str:
    """Runs `restore` with servers in `home` and returns its output; raises BackupError."""
    environment = {name: value for name, value in os.environ.items() if name not in _SERVERS}
    environment |= {"PALIMPSEST_HOME": str(home), "DJANGO_SECRET_KEY": settings.SECRET_KEY}
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, str(PROJECT_ROOT / "manage.py"), "restore", str(folder)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupError(
            f"The trial restore of {folder} failed: {done.stdout}"
            f"{done.stderr.removeprefix('CommandError: ').strip()}"
        )
    return done.stdout.partition(" Erase again")[0].strip()
