"""The memory's tables."""

from .contradiction import Contradiction
from .job import Job
from .memory import Memory, MemoryTag
from .relation import MemoryRelation
from .search import SearchEntry
from .usage import MemoryUsage

__all__ = [
    "Contradiction",
    "Job",
    "Memory",
    "MemoryRelation",
    "MemoryTag",
    "MemoryUsage",
    "SearchEntry",
]
