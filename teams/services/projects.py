"""Settings of a project."""

from __future__ import annotations

from teams.models import Project


def change_project(
    *, project: Project, name: str | None = None, max_items: int | None = None
) -> Project:
    """Set what is given; call it in the team's scope."""
    if name is not None:
        project.name = name
    if max_items is not None:
        project.max_items = max_items
    project.save(update_fields=["name", "max_items"])
    return project
