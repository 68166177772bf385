"""What was found as plain JSON values, for answers with very many of them.

The serializers (output.py, said_output.py) say the same to the schema; field by field they take
longer than the search.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.domain.scoring import Signals
from memory.models import Memory
from memory.services.reading.cascade import Level
from memory.services.reading.recall import ScoredMemory
from memory.services.reading.scored_messages import ScoredMessage

# Any: what JSON holds.
Plain = dict[str, Any]


def plain_memory(memory: Memory) -> Plain:
    """A memory as `MemorySerializer` shows it."""
    known = memory._state.fields_cache
    agent, end_user, project = (known.get(name) for name in ("agent", "end_user", "project"))
    usage = known.get("usage")
    return {
        "id": str(memory.pk),
        "content": memory.content,
        "memory_type": memory.memory_type,
        "scope": memory.scope,
        "category": memory.category,
        "subject": memory.subject,
        "tags": memory.tags,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "corroboration": memory.corroboration,
        "is_pinned": memory.is_pinned,
        "status": memory.status,
        "tier": memory.tier,
        "version": memory.version,
        "supersedes": _text(memory.supersedes_id),
        "superseded_by": _text(memory.superseded_by_id),
        "contradicts": [str(each) for each in memory.contradicts],
        "agent": agent.slug if agent else None,
        "user": end_user.external_id if end_user else None,
        "project": project.slug if project else None,
        "provenance": {
            "conversation": _text(memory.conversation_id),
            "message_ids": [str(each) for each in memory.source_message_ids],
            "external_ids": memory.source_external_ids,
            "extractor": memory.extractor,
            "pass": memory.extraction_pass,
            "actor": memory.actor,
        },
        "created_at": _time(memory.created_at),
        "updated_at": _time(memory.updated_at),
        "valid_from": _time(memory.valid_from),
        "valid_to": _time(memory.valid_to),
        "external_id": memory.external_id,
        "usage": {
            "retrieved": usage.retrieved if usage else 0,
            "cited": usage.cited if usage else 0,
            "ignored": usage.ignored if usage else 0,
            "succeeded": usage.succeeded if usage else 0,
            "failed": usage.failed if usage else 0,
            "last_accessed_at": _time(usage.last_accessed_at) if usage else None,
        },
    }


def plain_found_memory(found: ScoredMemory) -> Plain:
    """A found memory as `FoundMemorySerializer` shows it."""
    plain = plain_memory(found.memory)
    plain["level"] = found.level.value
    plain["score"] = found.score
    plain["signals"] = plain_signals(found.signals)
    return plain


def plain_packed_memory(found: ScoredMemory) -> Plain:
    """A memory in a prompt as `PackedMemorySerializer` shows it."""
    return {**plain_found_memory(found), "tokens": found.tokens}


def plain_found_message(found: ScoredMessage) -> Plain:
    """A found message as `FoundMessageSerializer` shows it."""
    return {
        "id": str(found.id),
        "level": Level.RAW.value,
        "conversation": str(found.conversation_id),
        "position": found.position,
        "role": found.role,
        "speaker": found.speaker,
        "said_at": _time(found.said_at),
        "external_id": found.external_id,
        "content": found.text,
        "score": found.score,
        "signals": plain_signals(found.signals),
    }


def plain_packed_message(found: ScoredMessage) -> Plain:
    """A message quoted in a prompt as `PackedMessageSerializer` shows it."""
    return {**plain_found_message(found), "tokens": found.tokens}


def plain_signals(signals: Signals) -> Plain:
    """The signals as `SignalsSerializer` shows them."""
    return {
        "semantic": signals.semantic,
        "recency": signals.recency,
        "importance": signals.importance,
        "continuity": signals.continuity,
        "relation": signals.relation,
        "cosine": signals.cosine,
        "lexical": signals.lexical,
        "parts": {
            "words": signals.parts.words,
            "meaning": signals.parts.meaning,
            "neighbours": signals.parts.neighbours,
            "person": signals.parts.person,
            "time": signals.parts.time,
            "event": signals.parts.event,
        },
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _time(at: datetime | None) -> str | None:
    """As Django REST framework writes times in UTC."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")
