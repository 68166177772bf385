"""The log, its order and its seals, what was done, and how often a team's memories changed."""

from .commits import CommitClock, LogCommit
from .events import OperationalEvent, WrittenBatch
from .log import EVENTS, MemoryLog
from .revisions import TeamRevision
from .seals import Erasure, Seal

__all__ = [
    "EVENTS",
    "CommitClock",
    "Erasure",
    "LogCommit",
    "MemoryLog",
    "OperationalEvent",
    "Seal",
    "TeamRevision",
    "WrittenBatch",
]
