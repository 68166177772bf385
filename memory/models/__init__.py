"""The memory's tables."""

from .category import Category as Category
from .job import Compaction as Compaction
from .job import Job as Job
from .levels import MemoryLevels as MemoryLevels
from .memory import ExternalName as ExternalName
from .memory import Memory as Memory
from .memory import MemoryArtifact as MemoryArtifact
from .memory import MemoryTag as MemoryTag
from .memory import MemoryUsage as MemoryUsage
from .relation import Contradiction as Contradiction
from .relation import MemoryRelation as MemoryRelation
from .search import EmbeddingState as EmbeddingState
from .search import MessageEntry as MessageEntry
from .search import SearchEntry as SearchEntry
from .search import SearchGraph as SearchGraph
from .settlement import Settlement as Settlement
