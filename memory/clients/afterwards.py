"""Redis commands of a read that nobody waits for, sent in one round trip after the answer.

Outside `gathering` a command is sent at once. While Redis is down the commands are dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from redis.client import Pipeline

from routing.clients.quick_redis import quick_redis

# Any: what Redis answers, which nobody waits for.
Command = Callable[[Pipeline], Any]


class Gathered:
    """Commands to be sent, in order; thread-safe."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._changing = threading.Lock()

    def add(self, command: Command) -> None:
        """Add a command."""
        with self._changing:
            self._commands.append(command)

    def send(self) -> None:
        """Send all commands in one round trip; each is sent once."""
        with self._changing:
            commands, self._commands = self._commands, []
        if not commands:
            return
        pipe = quick_redis().pipeline()
        for command in commands:
            command(pipe)
        quick_redis().ask(lambda _: pipe.execute())


_gathered: ContextVar[Gathered | None] = ContextVar("gathered", default=None)


def afterwards(command: Command) -> None:
    """Add the command to those being gathered, or send it now."""
    gathered = _gathered.get()
    if gathered is not None:
        gathered.add(command)
        return
    alone = Gathered()
    alone.add(command)
    alone.send()


@contextmanager
def gathering() -> Iterator[Gathered]:
    """Gather the block's commands until `send`; a nested block adds to the outer one."""
    outer = _gathered.get()
    if outer is not None:
        yield outer
        return
    gathered = Gathered()
    token = _gathered.set(gathered)
    try:
        yield gathered
    finally:
        _gathered.reset(token)


@contextmanager
def at_its_end() -> Iterator[None]:
    """Send the block's commands together at its end, or with those of the outer block."""
    is_inside = _gathered.get() is not None
    with gathering() as gathered:
        try:
            yield
        finally:
            if not is_inside:
                gathered.send()
