"""What a read leaves in Redis: all of it in one round trip, once its answer is sent.

Commands that nobody gathers go out at once. With Redis away they are lost, as with `quick_redis`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from redis.client import Pipeline

from memory.clients.quick_redis import quick_redis

# Any: what Redis answers, which nobody waits for.
Command = Callable[[Pipeline], Any]


class Gathered:
    """Commands on their way, in their order; thread-safe."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._changing = threading.Lock()

    def add(self, command: Command) -> None:
        """One more, after those that are there."""
        with self._changing:
            self._commands.append(command)

    def send(self) -> None:
        """All of them in one round trip; each goes out once."""
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
    """Send the command with what is being gathered, or now."""
    gathered = _gathered.get()
    if gathered is not None:
        gathered.add(command)
        return
    alone = Gathered()
    alone.add(command)
    alone.send()


@contextmanager
def gathering() -> Iterator[Gathered]:
    """Keep the block's commands until somebody sends them; inside another one, that one's."""
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
    """Send the block's commands together when it ends, or with those of the one around it."""
    is_inside = _gathered.get() is not None
    with gathering() as gathered:
        try:
            yield
        finally:
            if not is_inside:
                gathered.send()
