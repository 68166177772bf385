"""A RabbitMQ of the tests' own, in a folder that is removed at the end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import until

# Debian's programs in PATH insist on the server's own user; these run as anybody.
_PROGRAMS = Path("/usr/lib/rabbitmq/bin")
_START_SECONDS = 90


@dataclass(frozen=True)
class RabbitMQ:
    """A running server: its address for BROKER_URL, and its process."""

    url: str
    process: subprocess.Popen[bytes]

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Stops the server's processes for the block, as a machine that hangs would."""
        os.killpg(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.process.pid, signal.SIGCONT)


@contextmanager
def rabbitmq() -> Iterator[RabbitMQ]:
    """Starts Debian's RabbitMQ (`apt-get install rabbitmq-server`) with ports of its own."""
    program = _PROGRAMS / "rabbitmq-server"
    assert program.exists(), "run `apt-get install rabbitmq-server` first"
    port, between_nodes, names = _free_ports(3)
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(names),
            # Its name service may be ended although the killed server is still in its list.
            "ERL_EPMD_RELAXED_COMMAND_CHECK": "1",
            "RABBITMQ_NODENAME": f"palimpsest{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(between_nodes),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
        }
        log = Path(folder) / "output"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [program],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

        def listens() -> bool:
            assert process.poll() is None, log.read_text(errors="replace")
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                return True
            return False

        try:
            until(listens, seconds=_START_SECONDS)
            yield RabbitMQ(f"amqp://guest:guest@127.0.0.1:{port}//", process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            # The server's name service outlives it.
            subprocess.run(["epmd", "-kill"], env=environment, capture_output=True)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
