#!/usr/bin/env python
"""Runs Palimpsest's administrative commands."""

import os
import sys


def main() -> None:
    """Hand the command line to Django; a database that is away is one line, not a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # A command has one connection; the pool is for servers.
    os.environ.setdefault("DATABASE_POOL_SIZE", "0")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        sys.exit(
            f"PostgreSQL does not answer or refuses ({reason})."
            " Start it with «make run» and the same PALIMPSEST_HOME; a database of your own wants"
            " «manage.py migrate» first."
        )


if __name__ == "__main__":
    main()
