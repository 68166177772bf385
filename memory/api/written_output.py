"""What was found as JSON, where an answer has very many memories: each row is written once.

The serializers (output.py) say the same to the schema, plain_output.py with plain values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from memory.api.plain_output import plain_memory
from memory.selectors.showing.shown_rows import ShownRow
from memory.services.reading.recall import ScoredMemory

JSON = "application/json"


def with_fields(written: bytes, fields: Mapping[str, object]) -> bytes:
    """A JSON object that is not empty, with more fields at its end."""
    return written[:-1] + b"," + orjson.dumps(fields)[1:]


def packed_memories(found: Sequence[ScoredMemory]) -> bytes:
    """A list of memories in a prompt as `PackedMemorySerializer` shows them."""
    written: list[bytes] = []
    for each in found:
        fields = {"score": each.score, "signals": each.signals, "tokens": each.tokens}
        written += (_opened(each), orjson.dumps(fields)[1:], b",")
    return b"[" + b"".join(written[:-1]) + b"]"


def _opened(found: ScoredMemory) -> bytes:
    """The memory with its level, for more fields to follow; kept while its row is known."""
    row: ShownRow = found.row
    called = row.called
    if row.known is not None and row.known.shown is not None and row.known.shown[0] == called:
        return row.known.shown[1]
    written = orjson.dumps({**plain_memory(row.memory), "level": found.level})[:-1] + b","
    if row.known is not None:
        row.known.shown = (called, written)
    return written
