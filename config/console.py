"""The command line: `palimpsest COMMAND`, in a checkout `manage.py COMMAND`.

Its own commands start programs or have shorter names than Django's; all others are Django's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from config import __version__, embedded, launcher

_SHORT = {"key": "issue_key", "demo": "load_demo"}
# Modules that run as programs of their own.
_PROGRAMS = {
    "web": ["config.web_server"],
    "celery": ["celery", "--app=config"],
    "healthcheck": ["config.healthcheck"],
}
_HELP = """usage: palimpsest COMMAND [options]

  serve         starts everything on this machine: PostgreSQL and Redis, unless DATABASE_URL and
                REDIS_URL name yours, migrations, worker, scheduler and web server
  doctor        says in words what is wrong with this installation
  key           prints a new API key: palimpsest key --team acme
  demo          fills a team with an example
  manage        runs a command of Django's: palimpsest manage createsuperuser

  web           the web server alone
  celery        a worker or the scheduler alone: palimpsest celery worker
  healthcheck   exits with 0 while the web server of this machine answers

«palimpsest COMMAND --help» lists the options, «palimpsest manage help» all commands.
"""


def run(arguments: Sequence[str]) -> int:
    """Runs a command and returns its exit code; the programs take this process's place."""
    command, *rest = arguments or ["--help"]
    if command in ("--help", "-h"):
        sys.stdout.write(_HELP)
        return 0
    if command == "--version":
        sys.stdout.write(f"palimpsest {__version__}\n")
        return 0
    if command == "serve":
        return _serve(rest)
    if command in _PROGRAMS:
        _become(_PROGRAMS[command], rest)
    if command == "doctor":
        from config import doctor

        return doctor.main(rest)
    given = rest if command == "manage" else [_SHORT.get(command, command), *rest]
    return _django(given)


def _serve(arguments: Sequence[str]) -> int:
    if arguments:
        sys.stderr.write("palimpsest serve takes no options; PORT, HOST and PALIMPSEST_HOME do.\n")
        return 2
    return launcher.main()


def _become(module: Sequence[str], arguments: Sequence[str]) -> None:
    """Replaces this process by a module that runs in the folder of the apps."""
    os.environ["PALIMPSEST_HOME"] = str(embedded.home())
    os.chdir(embedded.PROJECT_ROOT)
    os.execv(sys.executable, [sys.executable, "-m", *module, *arguments])  # noqa: S606


def _django(arguments: Sequence[str]) -> int:
    """Hands the command line to Django; a database that is away is one line, not a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # A command has one connection; the pool is for servers.
    os.environ.setdefault("DATABASE_POOL_SIZE", "0")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line([sys.argv[0], *arguments])
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        sys.stderr.write(
            f"PostgreSQL does not answer or refuses ({reason})."
            " Start it with «make run» or «palimpsest serve» and the same PALIMPSEST_HOME; a"
            " database of your own needs «migrate» first.\n"
        )
        return 1
    return 0
