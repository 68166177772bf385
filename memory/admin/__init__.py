"""The web admin's pages of the memory itself."""

from . import agents, categories, contradictions, jobs, memories, projects

__all__ = ["agents", "categories", "contradictions", "jobs", "memories", "projects"]
