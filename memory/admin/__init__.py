"""The web admin's pages of the memory itself."""

from . import agents, contradictions, jobs, memories, projects

__all__ = ["agents", "contradictions", "jobs", "memories", "projects"]
