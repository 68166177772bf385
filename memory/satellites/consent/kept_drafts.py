"""A draft as a request keeps it until somebody says yes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.domain.forms import Form
from memory.domain.types import MemoryType
from memory.services.write.drafts import MemoryDraft

# What a yes decides anew.
_LEFT_OUT = frozenset({"rests_on", "needs_consent", "is_agreed", "check"})
_IDS = ("team_id", "agent_id", "author_id", "end_user_id", "project_id", "conversation_id")
_TIMES = ("created_at", "valid_from", "valid_to")


def draft_as_json(draft: MemoryDraft) -> dict[str, Any]:  # Any: a field's value
    """The fields of the draft, as JSON keeps them."""
    kept = {
        each.name: getattr(draft, each.name) for each in fields(draft) if each.name not in _LEFT_OUT
    }
    for name in _IDS:
        kept[name] = str(kept[name]) if kept[name] else None
    for name in _TIMES:
        kept[name] = kept[name].isoformat() if kept[name] else None
    return kept | {
        "memory_type": draft.memory_type.value,
        "form": draft.form.value if draft.form else None,
        "payload": dict(draft.payload),
        "message_ids": [str(each) for each in draft.message_ids],
        "replaces": [str(each) for each in draft.replaces],
        "tags": list(draft.tags),
        "people": list(draft.people),
        "message_external_ids": list(draft.message_external_ids),
    }


def draft_from_json(kept: Mapping[str, Any]) -> MemoryDraft:  # Any: a field's value
    """The draft that a request kept."""
    ids = {name: UUID(kept[name]) if kept[name] else None for name in _IDS}
    times = {name: datetime.fromisoformat(kept[name]) if kept[name] else None for name in _TIMES}
    known = {each.name for each in fields(MemoryDraft)}
    return MemoryDraft(
        **{
            **{name: value for name, value in kept.items() if name in known},
            **ids,
            **times,
            "memory_type": MemoryType(kept["memory_type"]),
            # A request of before there were forms kept none.
            "form": Form(kept["form"]) if kept.get("form") else None,
            "message_ids": tuple(UUID(each) for each in kept["message_ids"]),
            "replaces": tuple(UUID(each) for each in kept.get("replaces", ())),
            "tags": tuple(kept["tags"]),
            "people": tuple(kept["people"]),
            "message_external_ids": tuple(kept["message_external_ids"]),
        }
    )
