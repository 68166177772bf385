"""Answers as they were sent, kept and given again as hot_answers.py does it with what they hold.

What is sent is written once: to be kept, it is neither written nor read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

import orjson
from django.db import connection

from memory.clients.quick_redis import quick_redis
from memory.selectors.revisions import Revision, committed_revision
from memory.services.reading.hot_keys import HotKey, holds, is_of_today, kept_revision, put

# Between what is known of the text and the text; no JSON of one line holds it.
_END = b"\n"


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text that was kept, with what was known of it (`told`) and the ids of its memories."""

    text: bytes
    told: Any  # Any: what JSON holds
    memory_ids: list[str]


def held_text(key: HotKey | None, *, revision: Revision | None = None) -> HeldText | None:
    """The text that is kept under the key and still holds; None in a transaction.

    `revision` is the team's since somebody began to ask, where it is known.
    """
    if key is None or connection.in_atomic_block:
        return None
    value = cast("bytes | None", quick_redis().ask(lambda client: client.get(key.name)))
    if value is None:
        return None
    head, _, text = value.partition(_END)
    try:
        known = orjson.loads(head)
    except ValueError:
        return None
    if not is_of_today(known["at"], key):
        return None
    revision = revision or committed_revision(team_id=key.viewer.team_id)
    if revision is None or not holds(known["revision"], revision):
        return None
    return HeldText(text, known["told"], known["memories"])


def keep_text(
    key: HotKey | None,
    *,
    text: bytes,
    told: object,
    memory_ids: Sequence[UUID],
    revision: Revision | None,
    read_messages: bool,
) -> None:
    """Keep a text that was made after `revision` was read, in the same transaction.

    Whoever reads `told` again must know by the key that it is of the same shape. Otherwise as
    `keep_answer`.
    """
    if key is None or revision is None:
        return
    head = {
        "told": told,
        "memories": memory_ids,
        "revision": kept_revision(revision, read_messages=read_messages),
        "at": key.now,
    }
    put(key, orjson.dumps(head) + _END + text)
