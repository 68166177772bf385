"""The memory's tables."""

from .compaction import Compaction
from .contradiction import Contradiction
from .embedding_state import EmbeddingState
from .job import Job
from .memory import Memory, MemoryTag
from .relation import MemoryRelation
from .search import SearchEntry
from .usage import MemoryUsage

__all__ = [
    "Compaction",
    "Contradiction",
    "EmbeddingState",
    "Job",
    "Memory",
    "MemoryRelation",
    "MemoryTag",
    "MemoryUsage",
    "SearchEntry",
]
