"""The memory's tables."""

from .category import Category as Category
from .compaction import Compaction as Compaction
from .contradiction import Contradiction as Contradiction
from .external_name import ExternalName as ExternalName
from .job import Job as Job
from .memory import Memory as Memory
from .memory import MemoryTag as MemoryTag
from .relation import MemoryRelation as MemoryRelation
from .search import EmbeddingState as EmbeddingState
from .search import MessageEntry as MessageEntry
from .search import SearchEntry as SearchEntry
from .search import SearchGraph as SearchGraph
from .usage import MemoryUsage as MemoryUsage
