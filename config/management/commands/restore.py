"""`manage.py restore`: bring a backup back and check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backup import (
    BackupError,
    embedded_servers,
    findings_of_restored,
    read_manifest,
    restore_backup,
)


class Command(BaseCommand):
    """Restore into an empty database, migrate, verify log and seals; exit 1 when they differ."""

    help = (
        "Restore a backup into an empty database, migrate it, empty Redis, and verify the log and"
        " its seals against the manifest. Stop web and workers first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="what `manage.py backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        try:
            manifest = read_manifest(options["folder"])
            with embedded_servers():
                restore_backup(folder=options["folder"], manifest=manifest)
                findings = list(findings_of_restored(manifest.contents))
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        for finding in findings:
            self.stdout.write(f"  {finding}")
        if findings:
            raise CommandError(f"Restored, but {len(findings)} findings: see above.")
        self.stdout.write(
            f"Restored the backup of {manifest.made_at} (version {manifest.version}):"
            f" {sum(manifest.contents.rows.values()):,} rows; log and seals are as they were."
            " Erase again whoever was erased since. API keys that were revoked or rotated since,"
            " old passwords of staff logins and second factors that were removed hold again: revoke"
            " and change them anew."
        )
