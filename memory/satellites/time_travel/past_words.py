"""A memory of the past in words: what it was, and how it differs from what it became."""

from __future__ import annotations

from audit.admin.history import change_words
from memory.models import Memory


def marks_of(memory: Memory) -> list[str]:
    """What kind of memory it is, in which state, and whose, in a few words each."""
    owners = [
        memory.agent and memory.agent.slug,
        memory.end_user and memory.end_user.external_id,
        memory.project and memory.project.slug,
    ]
    return [
        memory.memory_type.replace("_", " "),
        memory.status.replace("_", " "),
        *(["pinned"] if memory.is_pinned else []),
        f"importance {memory.importance}",
        *(owner for owner in owners if owner),
    ]


def differences(before: Memory, after: Memory) -> list[str]:
    """What differs between two states of one memory, a short sentence for each."""
    names = _owners(before) | _owners(after)
    found = change_words(_state(before), _state(after), names=names)
    if before.is_pinned != after.is_pinned:
        found.append("pinned" if after.is_pinned else "unpinned")
    return found


def _state(memory: Memory) -> dict[str, object]:
    return {field.attname: getattr(memory, field.attname) for field in memory._meta.concrete_fields}


def _owners(memory: Memory) -> dict[str, str]:
    owners = (memory.agent, memory.end_user, memory.project)
    return {str(owner.pk): str(owner) for owner in owners if owner is not None}
