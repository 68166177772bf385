"""The web admin's pages of the memory itself."""

from .categories import CategoryAdmin
from .contradictions import ContradictionAdmin
from .jobs import JobAdmin
from .memories import MemoryAdmin

__all__ = ["CategoryAdmin", "ContradictionAdmin", "JobAdmin", "MemoryAdmin"]
