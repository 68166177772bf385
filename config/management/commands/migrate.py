"""Django's `migrate`, run by the owner's role after preparing the database."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands.migrate import Command as MigrateCommand

from config.database import prepare_database


class Command(MigrateCommand):
    """Prepare the database and apply migrations as its owner."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        prepare_database(using=options["database"])
        super().handle(*args, **options)
