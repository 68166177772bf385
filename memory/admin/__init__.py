"""The web admin's pages of the memory itself."""

from . import (
    agents,
    categories,
    consent,
    consolidation,
    contradictions,
    imports,
    jobs,
    memories,
    projects,
    webhooks,
)

__all__ = [
    "agents",
    "categories",
    "consent",
    "consolidation",
    "contradictions",
    "imports",
    "jobs",
    "memories",
    "projects",
    "webhooks",
]
