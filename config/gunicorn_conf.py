"""How gunicorn serves: addresses and sizes from the environment, threads for waiting on models."""

import gc
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from config.embedded.paths import home
from config.web_worker import CONNECTIONS

if TYPE_CHECKING:
    from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]
    from gunicorn.workers.base import Worker  # type: ignore[import-untyped]

_host = os.environ.get("HOST") or "127.0.0.1"
_shared_memory = Path("/dev/shm")  # noqa: S108 - gunicorn makes its own unnamed file there


def _metrics_folder() -> str:
    """Where each process counts its requests in a file of its own; a home may be read-only."""
    folder = home() / "metrics"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.access(folder, os.W_OK):
        return str(folder)
    return tempfile.mkdtemp(prefix="palimpsest-metrics-")


# Before anything imports the client, which looks at it once.
if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _metrics_folder()

bind = f"{f'[{_host}]' if ':' in _host else _host}:{os.environ.get('PORT') or 8000}"
worker_class = "config.web_worker.WebWorker"
workers = int(os.environ.get("WEB_CONCURRENCY") or 2)
threads = int(os.environ.get("WEB_THREADS") or 8)
# Seconds without a heartbeat of the worker, not of a request: long answers of a model are fine.
timeout = 60
graceful_timeout = 25
# The heartbeat file on a disk can stall for longer than `timeout` under heavy writing.
worker_tmp_dir = str(_shared_memory) if os.access(_shared_memory, os.W_OK) else None
loglevel = os.environ.get("LOG_LEVEL", "warning").lower()
errorlog = "-"
accesslog = os.environ.get("ACCESS_LOG") or None
# One socket path per user, so that two servers of one user would fight for it.
control_socket_disable = True


def on_starting(server: "Arbiter") -> None:
    """Begin with empty counters: files of an earlier server's processes would be added."""
    del server
    for file in Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db"):
        file.unlink(missing_ok=True)


def child_exit(server: "Arbiter", worker: "Worker") -> None:
    """Keep what a worker that ended has counted, without what only held while it lived."""
    del server
    CONNECTIONS.forget(worker.age)
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def post_fork(server: "Arbiter", worker: "Worker") -> None:
    """Trace the process, if traces are wanted, before it loads the application."""
    del server, worker
    from config import telemetry

    telemetry.start("web")


def worker_exit(server: "Arbiter", worker: "Worker") -> None:
    """Send the traces that wait."""
    del server, worker
    from config import telemetry

    telemetry.stop()


def post_worker_init(worker: "Worker") -> None:
    """Warm up, and log once per server what the operator must know about embeddings."""
    # Here, because it needs the application, which is not loaded before.
    from config.warming import warm_up

    warm_up()
    # What is loaded now stays: a full collection that looked at all of it would stop every
    # thread of the process for a quarter of a second (record 61).
    gc.collect()
    gc.freeze()
    if worker.age == 1:  # the first of its workers; later and replaced ones have higher ages
        from memory.services.indexing.embedding_status import log_embedding_status
        from memory.understanding.embedder_choice import configured_spec

        log_embedding_status(wanted=configured_spec().name)
