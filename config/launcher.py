"""Everything on one machine: `python -m config.launcher` starts it, Ctrl-C stops it.

PostgreSQL and Redis of the home folder (unless DATABASE_URL or REDIS_URL name others), the
migrations, gunicorn, a Celery worker and its beat. Django runs in the children only.
"""

import os
import secrets
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from config import embedded
from config.embedded import PROJECT_ROOT, EmbeddedError
from config.healthcheck import is_healthy
from config.keeper import MARKS, RunningError, only_one
from config.supervisor import Child, Service, StopRequest, Supervisor, end_leftovers

_READY_SECONDS = 90.0
_PORT_SECONDS = 3.0
_TICK_SECONDS = 1.0


class LaunchError(RuntimeError):
    """The server cannot start; the message is for the person at the shell."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a launch."""

    home: Path
    host: str
    port: int
    production: bool
    own_postgres: bool
    own_redis: bool
    worker_processes: int

    @classmethod
    def from_environment(cls) -> "Options":
        """Read the variables; raises LaunchError for an invalid one."""
        port = os.environ.get("PORT") or "8000"
        if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
            raise LaunchError(f"PORT must be a number from 1 to 65535, not {port!r}")
        workers = os.environ.get("WORKER_CONCURRENCY") or "2"
        if not workers.isascii() or not workers.isdigit() or not int(workers):
            raise LaunchError(f"WORKER_CONCURRENCY must be a number from 1 on, not {workers!r}")
        return cls(
            home=embedded.home(),
            host=os.environ.get("HOST") or "127.0.0.1",
            port=int(port),
            production=os.environ.get("PALIMPSEST_ENV") == "production",
            own_postgres=not os.environ.get("DATABASE_URL"),
            own_redis=not os.environ.get("REDIS_URL"),
            worker_processes=int(workers),
        )


def main() -> int:
    """Run until asked to stop; return the exit code: 0 after a stop, 1 when it cannot start."""
    os.umask(0o077)  # the data, the logs and what is in them belong to this user alone
    stop = StopRequest()
    stop.listen()
    try:
        options = Options.from_environment()
        with only_one(options.home, owner=str(os.getpid())):
            _run(options, stop=stop)
    except RunningError as error:
        _say(
            f"already running on {options.home} (process {error.owner}); stop that one, or set "
            "PALIMPSEST_HOME and PORT for a second server"
        )
        return 1
    except (LaunchError, EmbeddedError) as error:
        _say(str(error))
        return 1
    return 0


def _run(options: Options, *, stop: StopRequest) -> None:
    record = options.home / "run.json"
    left = end_leftovers(record, marks=MARKS)
    if left:
        _say(f"ended {left} processes that an earlier run left behind")
    _check_port(options)
    environment = _child_environment(options)
    supervisor = Supervisor(record=record, say=_say)
    with _keeper(options, environment=environment):
        try:
            _start(supervisor, options=options, environment=environment, stop=stop)
            if not stop.requested.is_set():
                _say(_welcome(options))
            while not stop.requested.wait(_TICK_SECONDS):
                supervisor.tick()
            _say("stopping (once more to hurry)")
        finally:
            supervisor.stop(hurried=stop.hurried)
    _say("stopped")


def _start(
    supervisor: Supervisor, *, options: Options, environment: dict[str, str], stop: StopRequest
) -> None:
    for service in _services(options):
        if not stop.requested.is_set():
            supervisor.add_service(service)
    steps = [["migrate", "--noinput"]]
    if options.production:  # elsewhere whitenoise serves the files from where the apps keep them
        steps.append(["collectstatic", "--noinput"])
    for step in steps:
        _manage(step, options=options, environment=environment, stop=stop)
    for child in _children(options, environment=environment):
        if not stop.requested.is_set():
            supervisor.add_child(child)
    deadline = time.monotonic() + _READY_SECONDS
    while not stop.requested.wait(0.1):
        if is_healthy(host=options.host, port=options.port):
            return
        dead = supervisor.dead_child()
        if dead is not None:
            raise LaunchError(f"{dead.name} does not start:\n{dead.last_lines()}")
        if time.monotonic() > deadline:
            raise LaunchError(f"no answer from /healthz; see {options.home / 'logs'}")


def _services(options: Options) -> Iterator[Service]:
    home = options.home
    if options.own_postgres:
        yield Service(
            name="PostgreSQL",
            log=home / "logs" / "postgres.log",
            pid=partial(embedded.postgres_pid, home),
            start=partial(embedded.start_postgres, home),
            stop=partial(embedded.stop_postgres, home),
        )
    if options.own_redis:
        yield Service(
            name="Redis",
            log=home / "logs" / "redis.log",
            pid=partial(embedded.redis_pid, home),
            start=partial(embedded.start_redis, home),
            stop=partial(embedded.stop_redis, home),
        )


def _children(options: Options, *, environment: dict[str, str]) -> Iterator[Child]:
    python, logs = sys.executable, options.home / "logs"
    schedule = options.home / "celerybeat-schedule"
    celery = ["-m", "celery", "-A", "config"]
    beat = [*celery, "beat", "-s", str(schedule), "--pidfile=", "--loglevel", "warning"]
    celery += ["worker", "--concurrency", str(options.worker_processes), "--loglevel", "warning"]
    # A name of its own: two installations may share one broker.
    celery += ["-n", f"port{options.port}@%h"]
    gunicorn = ["-m", "gunicorn", "config.wsgi", "-c", "config/gunicorn_conf.py"]
    for name, arguments in (("worker", celery), ("beat", beat), ("web", gunicorn)):
        command = [python, *arguments]
        yield Child(name=name, command=command, environment=environment, log=logs / f"{name}.log")


def _manage(
    arguments: list[str], *, options: Options, environment: dict[str, str], stop: StopRequest
) -> None:
    """Run one command of manage.py to its end; raises LaunchError with what it said."""
    name = arguments[0]
    step = Child(
        name=name,
        command=[sys.executable, "manage.py", *arguments],
        environment=environment,
        log=options.home / "logs" / f"{name}.log",
    )
    if stop.requested.is_set():
        return
    step.log.unlink(missing_ok=True)
    step.start()
    try:
        while step.alive and not stop.requested.wait(0.05):
            pass
    finally:
        step.stop(hurried=stop.hurried)
    if step.process is not None and step.process.returncode and not stop.requested.is_set():
        raise LaunchError(f"manage.py {name} failed:\n{step.last_lines()}")


def _child_environment(options: Options) -> dict[str, str]:
    """Return the environment of a child process, with the launcher's options made explicit."""
    environment = {
        **os.environ,
        "PALIMPSEST_HOME": str(options.home),
        "HOST": options.host,
        "PORT": str(options.port),
        "PYTHONUNBUFFERED": "1",
    }
    if not environment.get("DJANGO_SECRET_KEY") and not options.production:
        environment["DJANGO_SECRET_KEY"] = _secret_key(options.home)
    return environment


def _secret_key(home: Path) -> str:
    """Return the secret key of this home; it is made at the first start, for its owner alone."""
    kept = home / "secret_key"
    if not kept.exists():
        fresh = home / "secret_key.new"
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
        fresh.replace(kept)
    return kept.read_text().strip()


@contextmanager
def _keeper(options: Options, *, environment: dict[str, str]) -> Iterator[None]:
    """Have what is started in the block ended also if this process is killed."""
    servers = [service.name for service in _services(options)]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "config.keeper", str(os.getpid()), *servers],
        cwd=PROJECT_ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        start_new_session=True,
    ) as keeper:
        try:
            yield
        finally:
            keeper.kill()


def _check_port(options: Options) -> None:
    """Raise LaunchError when the port stays in use.

    A process of an earlier run that was killed may hold it for a moment after its end.
    """
    deadline = time.monotonic() + _PORT_SECONDS
    while (error := _port_error(options)) is not None:
        if time.monotonic() > deadline:
            raise LaunchError(
                f"cannot listen on {options.host}:{options.port} ({error.strerror}); "
                "choose another with PORT=… make run"
            ) from error
        time.sleep(0.1)


def _port_error(options: Options) -> OSError | None:
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return error
    return None


def _welcome(options: Options) -> str:
    python = Path(sys.prefix) / "bin" / "python"
    if python.is_relative_to(PROJECT_ROOT):
        python = python.relative_to(PROJECT_ROOT)
    manage = f"{shlex.quote(str(python))} manage.py"
    if options.home != PROJECT_ROOT / embedded.DEFAULT_HOME:
        manage = f"PALIMPSEST_HOME={shlex.quote(str(options.home))} {manage}"
    name = "localhost" if options.host in {"0.0.0.0", "::"} else options.host  # noqa: S104
    url = f"http://[{name}]:{options.port}" if ":" in name else f"http://{name}:{options.port}"
    return f"""ready

  API            {url}/v1/
  API reference  {url}/v1/docs
  Admin          {url}/admin/
  Data and logs  {options.home}

  A key for an agent:      {manage} issue_key --team acme
  A login for the admin:   {manage} createsuperuser

  Ctrl-C stops everything."""


def _say(text: str) -> None:
    sys.stdout.write(f"palimpsest: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
