"""A turn that one worker has at a time, in Redis: two would embed the same texts twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.conf import settings

from routing.clients.quick_redis import quick_redis

# Longer than a run takes; after a worker that died, the next one waits for this.
_SECONDS = 60


@contextmanager
def only_worker(name: str) -> Iterator[bool]:
    """Yields whether no other worker has the turn of that name, which ends with the block.

    Without Redis nobody has it. It saves work and guards nothing: after a minute another may come.
    """
    key, mine = f"{settings.REDIS_PREFIX}:turn:{name}", uuid4().hex.encode()
    is_mine = bool(quick_redis().ask(lambda client: client.set(key, mine, nx=True, ex=_SECONDS)))
    try:
        yield is_mine
    finally:
        if is_mine:
            quick_redis().ask(lambda client: client.get(key) == mine and client.delete(key))
