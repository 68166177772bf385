"""The memory's tables."""

from .job import Compaction as Compaction
from .job import Job as Job
from .memory import Category as Category
from .memory import ExternalName as ExternalName
from .memory import Memory as Memory
from .memory import MemoryArtifact as MemoryArtifact
from .memory import MemoryLevels as MemoryLevels
from .memory import MemoryTag as MemoryTag
from .memory import MemoryUsage as MemoryUsage
from .relation import Contradiction as Contradiction
from .relation import MemoryRelation as MemoryRelation
from .relation import Settlement as Settlement
from .search import EmbeddingState as EmbeddingState
from .search import MessageEntry as MessageEntry
from .search import SearchEntry as SearchEntry
from .search import SearchGraph as SearchGraph
