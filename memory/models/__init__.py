"""The memory's tables."""

from memory.models.search import EmbeddingState, MessageEntry

from .category import Category
from .compaction import Compaction
from .contradiction import Contradiction
from .external_name import ExternalName
from .job import Job
from .memory import Memory, MemoryTag
from .relation import MemoryRelation
from .search import SearchEntry, SearchGraph
from .usage import MemoryUsage

__all__ = [
    "Category",
    "Compaction",
    "Contradiction",
    "EmbeddingState",
    "ExternalName",
    "Job",
    "Memory",
    "MemoryRelation",
    "MemoryTag",
    "MemoryUsage",
    "MessageEntry",
    "SearchEntry",
    "SearchGraph",
]
