"""An embedder whose vectors a test can foresee, and memories stored with it in one go."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.writing.drafts import MemoryDraft, WriteResult
from memory.services.writing.write_path import write_memories
from tests.conftest import Cast

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
UNREADABLE = "?!"


class RandomEmbedder:
    """Gives each text a unit vector of its own, always the same; zeros to the unreadable one."""

    opposition_similarity = 0.3

    def __init__(self, *, dimensions: int = 32, name: str = "") -> None:
        self.dimensions = dimensions
        self.name = name or f"random@{dimensions}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        if text == UNREADABLE:
            return np.zeros(self.dimensions, dtype=np.float32)
        seed = int.from_bytes(hashlib.sha256(f"{self.name}|{text}".encode()).digest()[:8])
        vector = np.random.default_rng(seed).normal(size=self.dimensions)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def random_tools(tools: Tools, *, dimensions: int = 32, name: str = "") -> Tools:
    """The tools with random vectors in the place of real ones."""
    return replace(tools, embedder=RandomEmbedder(dimensions=dimensions, name=name))


def draft(cast: Cast, content: str, **fields: Any) -> MemoryDraft:
    """A draft of the team with what a test cares about."""
    values: dict[str, Any] = {
        "memory_type": MemoryType.SEMANTIC,
        "importance": 5,
        "extractor": "test",
        "created_at": NOON,
        **fields,
    }
    return MemoryDraft(team_id=cast.team.id, content=content, **values)


def write(cast: Cast, tools: Tools, *drafts: MemoryDraft) -> list[WriteResult]:
    """Write as the team, in one transaction."""
    viewer = Viewer(team_id=cast.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=drafts, tools=tools)


def store(cast: Cast, tools: Tools, *contents: str, **fields: Any) -> list[Memory]:
    """Memories stored as given, unchecked."""
    drafts = [draft(cast, content, **{"check": False, **fields}) for content in contents]
    return [each.memory for each in write(cast, tools, *drafts)]
