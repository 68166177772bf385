"""The web admin's pages of the memory itself."""

from .contradictions import ContradictionAdmin
from .jobs import JobAdmin
from .memories import MemoryAdmin

__all__ = ["ContradictionAdmin", "JobAdmin", "MemoryAdmin"]
