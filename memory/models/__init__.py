"""The memory's tables."""

from .category import Category as Category
from .consent import ConsentRequest as ConsentRequest
from .consolidation import ConsolidationChange as ConsolidationChange
from .consolidation import ConsolidationRun as ConsolidationRun
from .consolidation import JudgedPair as JudgedPair
from .imports import ImportBatch as ImportBatch
from .imports import ImportRun as ImportRun
from .job import Compaction as Compaction
from .job import Job as Job
from .levels import MemoryLevels as MemoryLevels
from .memory import ExternalName as ExternalName
from .memory import Memory as Memory
from .memory import MemoryArtifact as MemoryArtifact
from .memory import MemoryTag as MemoryTag
from .memory import MemoryUsage as MemoryUsage
from .prediction import SignalUse as SignalUse
from .relation import Contradiction as Contradiction
from .relation import MemoryRelation as MemoryRelation
from .search import EmbeddingState as EmbeddingState
from .search import MessageEntry as MessageEntry
from .search import SearchEntry as SearchEntry
from .search import SearchGraph as SearchGraph
from .settlement import Settlement as Settlement
from .workflow import WorkflowRecording as WorkflowRecording
