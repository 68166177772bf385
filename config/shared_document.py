"""Bytes that all processes of a server share: written once by any, read by those forked later."""

from __future__ import annotations

import mmap
import struct

_LENGTH = struct.Struct("q")
_MOST_BYTES = 8 << 20


class SharedDocument:
    """A document in shared memory, empty until it is put there; its pages are taken when used."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _LENGTH.size + _MOST_BYTES)

    def put(self, content: bytes) -> None:
        """Keep the content; two writers must have the same. Raises ValueError above 8 MiB."""
        if len(content) > _MOST_BYTES:
            raise ValueError(f"{len(content)} bytes are too many to share")
        self._shared[_LENGTH.size : _LENGTH.size + len(content)] = content
        # Last: a length says that the whole of it is there.
        _LENGTH.pack_into(self._shared, 0, len(content))

    def get(self) -> bytes:
        """Return the content, empty where nothing was put."""
        (length,) = _LENGTH.unpack_from(self._shared, 0)
        return self._shared[_LENGTH.size : _LENGTH.size + length]


# The OpenAPI document by format, made when the configuration is read, before processes are forked.
SCHEMA = {"json": SharedDocument(), "yaml": SharedDocument()}
