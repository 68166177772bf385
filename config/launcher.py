"""Everything on one machine: `palimpsest serve` starts it, Ctrl-C stops it.

PostgreSQL and Redis of the home folder (unless DATABASE_URL or REDIS_URL name others), the
migrations, a Celery worker and its beat, the web server. Django runs in the children only. What
dies is started again; when this process ends, even by SIGKILL, so do all of them.
"""

import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from config import embedded, web_server
from config.embedded import PROJECT_ROOT, EmbeddedError
from config.embedded.paths import rotate
from config.embedded.processes import is_running, spawn
from config.healthcheck import is_healthy

_READY_SECONDS = 90.0
_LEFTOVER_SECONDS = 60.0
_TICK_SECONDS = 1.0
# A part that ran for longer has recovered from its failures.
_CALM_SECONDS = 60.0
_LONGEST_PAUSE = 30.0
_GRACE_SECONDS = 35.0  # a little more than the web server gives its requests


class LaunchError(RuntimeError):
    """The server cannot start; the message is for the person at the shell."""


class Part:
    """A server or program that is started again when it dies."""

    def __init__(
        self,
        name: str,
        *,
        start: Callable[[], object],
        is_alive: Callable[[], bool],
        stop: Callable[[], None],
    ) -> None:
        self.name, self.start, self.is_alive, self.stop = name, start, is_alive, stop
        self._failures = 0
        self._started_at = time.monotonic()
        self._due_at: float | None = None

    def tick(self, now: float) -> None:
        """Notes its death, or starts it again after a pause, which doubles with each failure."""
        if self.is_alive():
            return
        if self._due_at is None:
            is_calm = now - self._started_at > _CALM_SECONDS
            self._failures = 1 if is_calm else self._failures + 1
            pause = min(_LONGEST_PAUSE, 0.5 * 2.0 ** (self._failures - 1))
            self._due_at = now + pause
            _say(f"{self.name} has ended; starting it again in {pause:.1f} s")
        elif now >= self._due_at:
            self._due_at, self._started_at = None, now
            try:
                self.start()
            except (EmbeddedError, OSError, subprocess.SubprocessError) as error:
                _say(f"{self.name}: {error}")


class Program:
    """A Python program in a process group of its own, which inherits the descriptor `lock`."""

    def __init__(
        self, *arguments: str, lock: int, at_our_end: signal.Signals = signal.SIGTERM
    ) -> None:
        self._command = [sys.executable, *arguments]
        self._lock, self._at_our_end = lock, at_our_end
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and ends what its last run left of its group."""
        self._kill_group()
        self.process = spawn(
            self._command, at_our_end=self._at_our_end, cwd=PROJECT_ROOT, pass_fds=[self._lock]
        )

    def is_alive(self) -> bool:
        """Returns whether the process runs."""
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Asks it to finish its work; a second Ctrl-C or 35 seconds later it is killed."""
        if self.process is not None:
            self.process.terminate()
            with suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
                self.process.wait(_GRACE_SECONDS)
        self._kill_group()

    def run(self) -> int:
        """Runs it to its end and returns its exit code."""
        self.start()
        try:
            return self.process.wait() if self.process else 0
        finally:
            self.stop()

    def _kill_group(self) -> None:
        if self.process is not None:
            # macOS says EPERM for a group of zombies.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Options(NamedTuple):
    """Options of a launch."""

    home: Path
    host: str
    port: int
    workers: int


def read_options() -> Options:
    """Reads the variables, and completes those that children inherit; raises LaunchError."""
    home, host = embedded.home(), os.environ.get("HOST") or "127.0.0.1"
    port = _number("PORT", os.environ.get("PORT") or "8000", most=65535)
    workers = _number(
        "WORKER_CONCURRENCY", os.environ.get("WORKER_CONCURRENCY") or "2", most=10_000
    )
    own = {"PALIMPSEST_HOME": str(home), "HOST": host, "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    os.environ.update(own)
    return Options(home, host, port, workers)


def main() -> int:
    """Runs until asked to stop; returns the exit code: 0 after a stop, 1 when it cannot start."""
    os.umask(0o077)  # the data, the logs and what is in them belong to this user alone
    _listen()
    try:
        options = read_options()
        with only_one(options.home) as lock:
            check_port(options)
            if not os.environ.get("DJANGO_SECRET_KEY") and not _is_production():
                os.environ["DJANGO_SECRET_KEY"] = _secret_key(options.home)
            _run(options, lock)
    except KeyboardInterrupt:
        _say("stopped")
        return 0
    except (LaunchError, EmbeddedError) as error:
        _say(str(error))
        return 1
    return 0


def _listen() -> None:
    """Lets SIGTERM and a closing terminal raise KeyboardInterrupt, as SIGINT does."""
    last = -1.0

    def receive(*_: object) -> None:
        # One stop of a whole process group reaches us twice, from the group and from make.
        nonlocal last
        before, last = last, time.monotonic()
        if before < 0 or last - before > 1.0:
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # as nohup does
            signal.signal(number, receive)


def _run(options: Options, lock: int) -> None:
    parts: list[Part] = []
    try:
        for part in _parts(options, lock):
            parts.append(part)
            part.start()
        _wait_until_healthy(options, parts)
        _say(_welcome(options))
        while True:
            time.sleep(_TICK_SECONDS)
            for part in parts:
                part.tick(time.monotonic())
            for log in (options.home / "logs").glob("*.log"):
                with suppress(OSError):  # what serves goes on where the disk is full
                    rotate(log)
    except KeyboardInterrupt:
        _say("stopping (once more to hurry)")
        raise
    finally:
        for part in reversed(parts):
            part.stop()


def _parts(options: Options, lock: int) -> Iterator[Part]:
    """Yields the servers, runs what of manage.py comes before the programs, and yields these."""
    home = options.home
    if not os.environ.get("DATABASE_URL"):
        yield Part(
            "PostgreSQL",
            start=lambda: embedded.start_postgres(home),
            is_alive=lambda: embedded.postgres_pid(home) is not None,
            stop=lambda: embedded.stop_postgres(home),
        )
    if not os.environ.get("REDIS_URL"):
        yield Part(
            "Redis",
            start=lambda: embedded.start_redis(home),
            is_alive=lambda: embedded.redis_pid(home) is not None,
            stop=lambda: embedded.stop_redis(home),
        )
    # Outside production whitenoise serves the files from where the apps keep them; a STATIC_ROOT
    # that is set has been filled already, as in the image.
    is_to_collect = _is_production() and not os.environ.get("STATIC_ROOT")
    for command in ("migrate", *(["collectstatic"] if is_to_collect else [])):
        if Program("manage.py", command, "--noinput", "--verbosity", "0", lock=lock).run():
            raise LaunchError(f"manage.py {command} failed, see above")
    celery = ["-m", "celery", "-A", "config", "--quiet"]
    # A name of its own: two installations may share one broker.
    pool = ["--concurrency", str(options.workers), "-n", f"port{options.port}@%h"]
    schedule = ["-s", str(home / "celerybeat-schedule"), "--pidfile="]
    # A worker would wait for its tasks, which need the servers; killed, they run again.
    worker = Program(
        *celery, "worker", "--loglevel=warning", *pool, lock=lock, at_our_end=signal.SIGKILL
    )
    beat = Program(*celery, "beat", "--loglevel=warning", *schedule, lock=lock)
    web = Program(*web_server.command(host=options.host, port=options.port)[1:], lock=lock)
    for name, program in (("worker", worker), ("beat", beat), ("web", web)):
        yield Part(name, start=program.start, is_alive=program.is_alive, stop=program.stop)


def _wait_until_healthy(options: Options, parts: list[Part]) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not is_healthy(host=options.host, port=options.port):
        for part in parts:
            if not part.is_alive():
                raise LaunchError(f"{part.name} does not start, see above")
        if time.monotonic() > deadline:
            raise LaunchError("no answer from /healthz")
        time.sleep(0.1)


@contextmanager
def only_one(home: Path) -> Iterator[int]:
    """Holds the home's lock and yields its descriptor, which the programs inherit.

    So the lock is free once the last of them has ended, also when their launcher was killed; a
    new one waits for that. Raises LaunchError when another launcher has it.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (home / "run.lock").open("a+")
    except OSError as error:
        raise LaunchError(f"cannot write to {home}: {error.strerror}") from error
    deadline = time.monotonic() + _LEFTOVER_SECONDS
    with file:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            file.seek(0)
            owner = file.read()
            if owner.isdigit() and is_running(int(owner)):
                raise LaunchError(
                    f"already running on {home} (process {owner}); stop that one, or set"
                    " PALIMPSEST_HOME and PORT for a second server"
                )
            if time.monotonic() > deadline:
                raise LaunchError(f"programs of an earlier run still use {home}; end them first")
            time.sleep(0.1)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file.fileno()


def check_port(options: Options) -> None:
    """Raises LaunchError if the web server could not listen on its port."""
    host, port = options.host, options.port
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise LaunchError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another port with PORT=…"
        ) from error


def _is_production() -> bool:
    return os.environ.get("PALIMPSEST_ENV") == "production"


def _number(name: str, text: str, *, most: int) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) <= most:
        return int(text)
    raise LaunchError(f"{name} must be a number from 1 to {most}, not {text!r}")


def _secret_key(home: Path) -> str:
    """Returns the secret key of this home; it is made at the first start, for its owner alone."""
    kept = home / "secret_key"
    if not kept.exists():
        with tempfile.NamedTemporaryFile("w", dir=home, delete=False) as fresh:
            fresh.write(secrets.token_urlsafe(64))
        Path(fresh.name).replace(kept)
    return kept.read_text().strip()


def _welcome(options: Options) -> str:
    program = embedded.program(options.home)
    name = "localhost" if options.host in {"0.0.0.0", "::"} else options.host  # noqa: S104
    url = f"http://[{name}]:{options.port}" if ":" in name else f"http://{name}:{options.port}"
    return f"""ready

  API            {url}/v1/
  API reference  {url}/v1/docs
  Admin          {url}/admin/
  Data           {options.home}

  A key for an agent:      {program} key --team acme
  A login for the admin:   {program} createsuperuser

  Ctrl-C stops everything."""


def _say(text: str) -> None:
    with suppress(OSError):  # the terminal or the reader of a pipe is gone
        sys.stdout.write(f"palimpsest: {text}\n")
        sys.stdout.flush()
