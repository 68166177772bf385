"""Where an action on a memory leads: to what stands in its place by then."""

from __future__ import annotations

from memory.models import Memory
from memory.selectors.versions import current_version
from teams.admin.display import page_of


def current_page(memory_id: str) -> str:
    """The address of the page of what is current of the memory's chain."""
    memory = Memory.objects.filter(pk=memory_id).first()
    return page_of("memory_memory", current_version(memory).pk if memory else memory_id)
