"""`palimpsest doctor`: says in words what is wrong with an installation, and exits with 1 for it.

Django is loaded after the first checks, as wrong settings are one of the findings.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple

from config import embedded
from config.embedded import EmbeddedError
from config.embedded.paths import IS_CHECKOUT, PROJECT_ROOT
from config.embedded.postgres import binaries_folder
from config.embedded.redis import server_program
from config.healthcheck import is_healthy
from config.launcher import LaunchError, Options, check_port, read_options

_LEAST_PYTHON = (3, 11)
_LEAST_FREE_BYTES, _LEAST_FREE_SHARE = 2**30, 0.05
_WEIGHTS = PROJECT_ROOT / "memory" / "understanding" / "weights"
_MOST_DRIFT = timedelta(seconds=2)
_MOST_WAIT_SECONDS = 600
_MOST_UNSEALED_SECONDS = 900
_OLDEST_BACKUP = timedelta(days=2)
_PING_SECONDS = 2.0
_MODEL_SETTINGS = ("EXTRACTION", "REVIEW", "JUDGE", "LEVELS", "SUMMARY", "EPISODE", "INSIGHT")


class Level(StrEnum):
    """Weight of a finding; only `WRONG` changes the exit code."""

    OK = "ok"
    NOTE = "note"
    WRONG = "WRONG"


class Finding(NamedTuple):
    """One line of the report."""

    level: Level
    text: str


ok, note, wrong = (partial(Finding, level) for level in Level)


def main(arguments: Sequence[str]) -> int:
    """Prints the findings, each as soon as it is known; returns 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        prog="palimpsest doctor", description="Says in words what is wrong with this installation."
    )
    parser.add_argument(
        "--models", action="store_true", help="call the endpoints of language models as well"
    )
    options = parser.parse_args(arguments)
    count = 0
    for level, text in findings(is_to_call_models=options.models):
        count += level is Level.WRONG
        sys.stdout.write(f"{level:<5}  {text}\n")
        sys.stdout.flush()
    told = {0: "Nothing is", 1: "One thing is"}.get(count, f"{count} things are")
    sys.stdout.write(f"\n{told} wrong.\n")
    return bool(count)


def findings(*, is_to_call_models: bool) -> Iterator[Finding]:
    """Yields the findings about the machine, then those about settings, servers and work."""
    try:
        options = read_options()
    except LaunchError as error:
        yield wrong(str(error))
        return
    yield from of_machine(options.home)
    yield from of_weights(_WEIGHTS)
    yield from _of_web_server(options)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DATABASE_POOL_SIZE", "0")
    import django
    from django.core.exceptions import ImproperlyConfigured

    try:
        django.setup()
    except ImproperlyConfigured as error:
        yield wrong(f"Settings: {error}")
        return
    yield from of_settings()
    has_database = True
    for finding in of_database():
        has_database &= finding.level is not Level.WRONG
        yield finding
    yield from of_redis()
    yield from of_broker()
    if has_database:
        yield from of_replicas()
        yield from of_work()
        yield from of_log()
        yield from of_backups()
        yield from of_models(is_to_call=is_to_call_models)


# -- this machine ----------------------------------------------------------------------------


def of_machine(home: Path) -> Iterator[Finding]:
    """Yields the findings about Python, the home, its disk, and the embedded servers' programs."""
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    is_enough = sys.version_info >= _LEAST_PYTHON
    yield ok(python) if is_enough else wrong(f"{python}: Palimpsest needs 3.11 or newer")
    # Path.exists raises for what lies in a folder that this user may not enter.
    found = next(each for each in (home, *home.parents) if os.access(each, os.F_OK))
    if not (found.is_dir() and os.access(found, os.W_OK | os.X_OK)):
        told = f"{home} cannot be written to by this user"
        if os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"):
            yield note(f"{told}, which no web server and no worker needs to")
        else:
            yield wrong(f"{told}: set PALIMPSEST_HOME to a folder")
    else:
        yield ok(f"{home} can be written to{'' if found == home else ' (it does not exist yet)'}")
    disk = shutil.disk_usage(found)
    told = f"{disk.free / 2**30:,.1f} GiB are free there"
    if disk.free < _LEAST_FREE_BYTES:
        yield wrong(f"{told}: make room, 1 GiB at least")
    elif disk.free < _LEAST_FREE_SHARE * disk.total:
        yield note(f"{told}, less than a twentieth of the disk: make room soon")
    else:
        yield ok(told)
    for variable, name, needed in (
        ("DATABASE_URL", "PostgreSQL", binaries_folder),
        ("REDIS_URL", "Redis", server_program),
    ):
        if not os.environ.get(variable):
            try:
                needed()
            except EmbeddedError as error:
                yield wrong(f"Embedded {name}: {error}")
            else:
                yield ok(f"Embedded {name} is installed")


def of_weights(folder: Path) -> Iterator[Finding]:
    """Yields the findings about the small models, by the digests in SHA256SUMS."""
    damaged = [
        name
        for digest, name in map(str.split, (folder / "SHA256SUMS").read_text().splitlines())
        if not (folder / name).is_file()
        or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]
    if damaged:
        again = "check the files out again" if IS_CHECKOUT else "install palimpsest-server again"
        yield wrong(f"Small models are missing or damaged ({', '.join(damaged)}): {again}")
    else:
        yield ok("The small models are complete")


def _of_web_server(options: Options) -> Iterator[Finding]:
    address = f"{options.host}:{options.port}"
    if is_healthy(host=options.host, port=options.port):
        yield ok(f"A web server answers on {address}")
        return
    try:
        check_port(options)
    except LaunchError as error:
        yield wrong(f"No web server answers, and another program is in the way: {error}")
    else:
        yield note(f"No web server answers on {address}; the port is free")


# -- settings --------------------------------------------------------------------------------


def of_settings() -> Iterator[Finding]:
    """Yields what Django's checks find, in production those for servers too, and weak secrets."""
    from django.conf import settings
    from django.core import checks

    is_production = bool(settings.PRODUCTION)
    found = [
        each
        for each in checks.run_checks(include_deployment_checks=is_production)
        if each.level >= checks.WARNING and not each.is_silenced()
    ]
    for each in found:
        yield wrong(f"Settings: {each.msg} {each.hint or ''}".strip())
    if not is_production:
        yield note(
            f"PALIMPSEST_ENV is {settings.ENVIRONMENT}: set it to production for a server that"
            " other machines reach"
        )
    elif not found:
        yield ok("Settings are fit for production")
    if is_production:
        for name in ("SEAL_KEY", "PROVIDER_KEYS_SECRET"):
            if not os.environ.get(name):
                yield note(f"{name} is not set; DJANGO_SECRET_KEY is used in its place")


# -- PostgreSQL ------------------------------------------------------------------------------


def of_database() -> Iterator[Finding]:
    """Yields the findings about PostgreSQL, both logins, migrations and the clock."""
    from django.conf import settings
    from django.db import Error

    home = embedded.home()
    if settings.HAS_OWN_POSTGRES and embedded.postgres_pid(home) is None:
        yield wrong(f"PostgreSQL does not run: start «{embedded.program(home)} serve»")
        return
    has_owner = settings.HAS_OWN_POSTGRES or bool(os.environ.get("DATABASE_OWNER_URL"))
    checks: dict[str, Callable[[], Iterator[Finding]]] = {"application": _of_application}
    if has_owner:
        checks["owner"] = _of_owner
    for login, check in checks.items():
        try:
            yield from check()
        except Error as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            yield wrong(f"PostgreSQL refuses the {login}'s login: {reason}")
            return
    if not has_owner:
        yield note("DATABASE_OWNER_URL is not set here, so the owner's login was not checked")


def _of_application() -> Iterator[Finding]:
    from django.core.management.base import CommandError
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from config.management.commands.migrate import check_pgvector, check_postgres

    with connection.cursor() as cursor:
        before = datetime.now(UTC)
        cursor.execute("SELECT clock_timestamp()")
        (theirs,) = cursor.fetchone()
        drift = theirs - before - (datetime.now(UTC) - before) / 2
        cursor.execute(
            "SELECT current_setting('server_version_num')::int, coalesce("
            "(SELECT extversion FROM pg_extension WHERE extname = 'vector'), '')"
        )
        version, vector = cursor.fetchone()
        cursor.execute(
            "SELECT current_user, rolsuper OR rolbypassrls OR EXISTS (SELECT FROM pg_class WHERE"
            " relrowsecurity AND pg_has_role(current_user, relowner, 'USAGE')),"
            " (SELECT coalesce(string_agg(tgrelid::regclass::text, ', '), '') FROM pg_trigger"
            " WHERE tgname = 'append_only' AND (has_table_privilege(tgrelid, 'UPDATE')"
            " OR has_table_privilege(tgrelid, 'DELETE')))"
            " FROM pg_roles WHERE rolname = current_user"
        )
        role, is_unbound, changeable = cursor.fetchone()
        cursor.execute(
            "SELECT coalesce(string_agg(indexrelid::regclass::text, ', '), '') FROM pg_index"
            " WHERE NOT indisvalid AND indrelid IN"
            " (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)"
        )
        (invalid,) = cursor.fetchone()
    try:
        check_postgres(version)
        check_pgvector(vector)
    except CommandError as error:
        yield wrong(str(error))
        return
    yield ok(f"PostgreSQL {version // 10000}.{version % 10000} with pgvector {vector}")
    if is_unbound:
        yield wrong(f"The login {role} is not held to its team by row-level security: run migrate")
    if changeable:
        yield wrong(f"The login {role} may change or delete rows of {changeable}: run migrate")
    if not is_unbound and not changeable:
        yield ok(f"The application's role {role} has the rights it should have")
    if invalid:
        yield wrong(
            f"Indexes were not built to their end and are not used ({invalid}): run"
            " «REINDEX INDEX CONCURRENTLY …» as the owner"
        )
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    unknown = set(executor.loader.applied_migrations) - set(executor.loader.disk_migrations)
    if pending:
        yield wrong(f"Pending migrations: {len(pending)}. Run «{_command('migrate')}»")
    if unknown:
        yield wrong(f"The database is of a newer version ({sorted(unknown)[0]}): upgrade")
    if not pending and not unknown:
        yield ok("All migrations have been applied")
    told = f"PostgreSQL's clock differs from this machine's by {abs(drift.total_seconds()):.1f} s"
    yield ok(told) if abs(drift) < _MOST_DRIFT else wrong(f"{told}: run NTP on both")


def _of_owner() -> Iterator[Finding]:
    from django.conf import settings
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT current_user, pg_has_role(current_user, %s, 'SET'), (SELECT count(*) FROM"
            " pg_tables WHERE schemaname = 'public' AND NOT pg_has_role(tableowner, 'USAGE'))",
            [settings.APP_ROLE],
        )
        role, may_become, others = cursor.fetchone()
    if not may_become:
        yield wrong(f"The owner {role} may not become {settings.APP_ROLE}: run migrate")
    if others:
        yield wrong(f"{others} tables belong to another login than the owner {role}")
    if may_become and not others:
        yield ok(f"The owner's login {role} works")


def of_replicas() -> Iterator[Finding]:
    """Yields the findings about the replicas of DATABASE_REPLICA_URL: whether each follows."""
    from django.conf import settings
    from django.db import Error, connection, connections

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        (position,) = cursor.fetchone()
    for alias in settings.DATABASE_REPLICAS:
        host = connections[alias].settings_dict["HOST"]
        try:
            with connections[alias].cursor() as cursor:
                cursor.execute(
                    "SELECT pg_is_in_recovery(), current_setting('hot_standby_feedback')::bool,"
                    " CASE WHEN pg_last_wal_replay_lsn() < %s::pg_lsn THEN extract(epoch FROM"
                    " clock_timestamp() - pg_last_xact_replay_timestamp())::float END",
                    [position],
                )
                is_replica, has_feedback, late = cursor.fetchone()
        except Error as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            yield wrong(f"The replica {host} does not answer, so it is not read from: {reason}")
            continue
        finally:
            connections[alias].close()
        if not is_replica:
            yield note(f"{host} of DATABASE_REPLICA_URL is no replica: it is not read from")
        elif late is not None and late > settings.DATABASE_REPLICA_LAG_SECONDS:
            yield wrong(
                f"The replica {host} is {late:.0f} s behind, so it is not read from: see that it is"
                " connected to its primary (pg_stat_wal_receiver) and does not replay too slowly"
            )
        else:
            yield ok(f"The replica {host} follows")
        if is_replica and not has_feedback:
            yield note(f"Set hot_standby_feedback = on at {host}, or vacuums may end its searches")


# -- Redis, work, models -----------------------------------------------------------------------


def of_redis() -> Iterator[Finding]:
    """Yields the findings about Redis: whether it answers, what it evicts, whether it persists."""
    import redis
    from django_redis import get_redis_connection

    try:
        client = get_redis_connection("default")
        told = {**client.info("server"), **client.info("memory"), **client.info("persistence")}
    except redis.RedisError as error:
        yield wrong(f"Redis does not answer: {error}")
        return
    yield ok(f"Redis {told.get('redis_version', '')} answers")
    policy = str(told.get("maxmemory_policy", ""))
    if policy.startswith("allkeys"):
        yield wrong(
            f"Redis may evict queued tasks and budgets (maxmemory-policy {policy}): set"
            " volatile-lru, or noeviction"
        )
    elif policy:
        yield ok(f"Redis evicts nothing that must stay (maxmemory-policy {policy})")
    if not told.get("aof_enabled"):
        yield note("Redis keeps no append-only file: items of open tasks are lost with it")


def of_broker() -> Iterator[Finding]:
    """Yields the finding about the broker of tasks, where it is another server than REDIS_URL's."""
    from celery import current_app
    from django.conf import settings

    if settings.BROKER_URL == settings.REDIS_URL:
        return
    with current_app.connection_for_write() as connection:
        name = connection.as_uri()
        try:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
        except Exception as error:  # each broker's client raises its own
            yield wrong(f"The broker of tasks {name} does not answer: {error} (BROKER_URL)")
        else:
            yield ok(f"The broker of tasks {name} answers")


def of_work() -> Iterator[Finding]:
    """Yields the findings about workers, jobs and the vectors of the embedding model."""
    from config.metrics import is_anybody_at_work
    from memory.selectors.conversations import jobs_by_state, oldest_wait
    from memory.understanding.embedders import configured_spec
    from memory.writing.indexing.reembedding import embedding_status
    from memory.writing.indexing.vectors import pending_counts
    from teams.models import Team
    from teams.services.people import all_team_ids, frozen_team_ids
    from teams.tenancy import team_scope

    if is_anybody_at_work():
        yield ok("A worker is at work")
    else:
        yield wrong(
            "No worker has done a task for a minute, so nothing is extracted:"
            + (
                " workers run, so start the scheduler («celery beat»)"
                if _answers_of_workers()
                else " start a worker and the scheduler («celery worker», «celery beat»; «serve»"
                " runs both)"
            )
        )
    wait = oldest_wait() or 0.0
    if wait > _MOST_WAIT_SECONDS:
        yield wrong(f"A job has waited for {wait / 60:.0f} minutes: run more workers")
    with team_scope(team_ids=all_team_ids(), actor="doctor"):
        failed = jobs_by_state()["failed"]
    if failed:
        yield note(f"{failed} extraction jobs have failed; the admin lists them")
    with team_scope(team_ids=frozen_team_ids(), actor="doctor"):
        for slug, since in Team.objects.filter(moved_to="").values_list("slug", "frozen_at"):
            yield note(
                f"The team '{slug}' has taken no changes since {since:%Y-%m-%d %H:%M} UTC: end its"
                f" move with «{_command('move_team')} --to», or «--cancel» it"
            )
    status = embedding_status(wanted=configured_spec().name)
    if pending := sum(pending_counts().values()):
        yield note(f"{pending} memories of bulk writes wait for their vectors; words find them")
    if status.line:
        yield (note if status.active == status.wanted else wrong)(status.line)


def _answers_of_workers() -> int:
    from kombu.exceptions import OperationalError
    from redis.exceptions import RedisError

    from config.celery import app

    try:
        return len(app.control.ping(timeout=_PING_SECONDS) or ())
    except (OSError, OperationalError, RedisError):
        return 0


def of_log() -> Iterator[Finding]:
    """Yields the findings about the seals of the log."""
    from audit.services.verification import log_is_intact, oldest_unsealed_seconds
    from teams.services.people import all_team_ids
    from teams.tenancy import team_scope

    with team_scope(team_ids=all_team_ids(), actor="doctor"):
        waits, is_intact = oldest_unsealed_seconds(), log_is_intact()
    if not is_intact:
        yield wrong(
            "The last verification found that a log was changed: run «verify_log» to see where,"
            " and keep the database as it is"
        )
    if waits > _MOST_UNSEALED_SECONDS:
        yield wrong(
            f"Entries of the log have waited for {waits / 60:.0f} minutes to be sealed: see that"
            " workers run, and end transactions that have been open for long (pg_stat_activity)"
        )
    elif is_intact:
        yield ok("The log is sealed")


def of_backups() -> Iterator[Finding]:
    """Yields whether a backup of the last two days was verified."""
    import redis

    from config.backup_times import last_verified_backup

    try:
        made_at = last_verified_backup()
    except redis.RedisError:
        return  # told already
    backup = _command("backup" if IS_CHECKOUT else "manage backup")
    nightly = f"run «{backup}» and «verify_backup» nightly"
    if made_at is None:
        yield note(f"No backup is known to have been verified: {nightly}")
    elif datetime.now(UTC) - made_at > _OLDEST_BACKUP:
        yield wrong(f"The last verified backup is of {made_at:%Y-%m-%d %H:%M} UTC: {nightly}")
    else:
        yield ok(f"The backup of {made_at:%Y-%m-%d %H:%M} UTC was verified")


def of_models(*, is_to_call: bool) -> Iterator[Finding]:
    """Yields the configured endpoints of language models and, called, whether they answer."""
    from django.conf import settings

    from routing.clients.endpoints import EndpointCheck, check_endpoint
    from routing.models import Provider
    from routing.services.models import prepare_check
    from teams.services.people import all_team_ids
    from teams.tenancy import team_scope

    names = [str(getattr(settings, f"{each}_MODEL")) for each in _MODEL_SETTINGS]
    checks: dict[str, Callable[[], EndpointCheck]] = {}
    if settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY:
        checks["OPENAI_BASE_URL"] = partial(
            check_endpoint,
            base_url=settings.OPENAI_BASE_URL,
            api_key=settings.OPENAI_API_KEY,
            timeout=settings.OPENAI_TIMEOUT_SECONDS,
            models=[name for name in names if name],
        )
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor="doctor"):
            for each in Provider.objects.filter(is_enabled=True).select_related("team"):
                name = f"{each.name} of {each.team.slug}"
                checks[name] = prepare_check(provider=each, team=each.team)
    if not checks:
        yield ok("No language model is set; the small models read and judge")
    elif not is_to_call:
        yield note(f"Models were not called ({', '.join(checks)}); «doctor --models» calls them")
    else:
        for name, check in checks.items():
            found = check()
            yield (ok if found.is_well else wrong)(f"Model endpoint {name}: {found.words}")


def _command(name: str) -> str:
    return f"{embedded.program(embedded.home())} {name}"
