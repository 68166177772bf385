"""The web admin's pages of the memory itself."""

from . import categories, consent, contradictions, jobs, memories

__all__ = ["categories", "consent", "contradictions", "jobs", "memories"]
