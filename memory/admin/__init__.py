"""The web admin's pages of the memory itself."""

from . import categories, contradictions, jobs, memories

__all__ = ["categories", "contradictions", "jobs", "memories"]
