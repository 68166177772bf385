"""Memories and messages as JSON values.

The serializers describe the same fields to the OpenAPI schema. Written by them field by field, a
page of memories would take longer than the search for it.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.serializers import Serializer

from memory.models import Contradiction, Memory
from memory.reading.answers import RetrievalStats, ScoredMemory
from memory.reading.messages import ScoredMessage
from memory.reading.search import Level

# Any: what JSON holds.
Json = dict[str, Any]
# Those that a score is made of.
SIGNALS = (
    "semantic",
    "recency",
    "importance",
    "continuity",
    "relation",
    "usage",
    "prefetched",
)
MEDIA_TYPE = "application/json"


def memory_json(memory: Memory) -> Json:
    """A memory that was loaded `with_names`, as `MemorySerializer` describes it."""
    usage = memory._state.fields_cache.get("usage")
    return {
        "id": str(memory.pk),
        "content": memory.content,
        "form": memory.form or None,
        # Without a form it holds what the product keeps for itself.
        "payload": memory.payload if memory.form else None,
        "memory_type": memory.memory_type,
        "audience": memory.audience,
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
        "agent": memory.agent.slug if memory.agent else None,
        "user": memory.end_user.external_id if memory.end_user else None,
        "project": memory.project.slug if memory.project else None,
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
        "purge_at": _time(memory.purge_at),
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


def found_memory_json(found: ScoredMemory) -> Json:
    """A found memory as `FoundMemorySerializer` describes it."""
    return {
        **memory_json(found.memory),
        "level": found.level.value,
        "score": found.score,
        "signals": found.signals,
    }


def packed_memory_json(found: ScoredMemory) -> Json:
    """A memory in a prompt as `PackedMemorySerializer` describes it."""
    return {
        **found_memory_json(found),
        "tokens": found.tokens,
        "text_level": found.text_level.value,
    }


def found_message_json(found: ScoredMessage) -> Json:
    """A found message as `FoundMessageSerializer` describes it."""
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
        "signals": found.signals,
    }


def packed_message_json(found: ScoredMessage) -> Json:
    """A message quoted in a prompt as `PackedMessageSerializer` describes it."""
    return {**found_message_json(found), "tokens": found.tokens}


def brief_memory_json(found: ScoredMemory) -> Json:
    """A memory in a prompt as `BriefMemorySerializer` describes it."""
    told = found.shorter or found.memory.content
    return {
        **_brief(found, told),
        "text_level": found.text_level.value,
        "memory_type": found.memory.memory_type,
    }


def brief_message_json(found: ScoredMessage) -> Json:
    """A message quoted in a prompt as `BriefMessageSerializer` describes it."""
    return {
        **_brief(found, found.quote),
        "speaker": found.speaker,
        "said_at": _time(found.said_at),
    }


def brief_contradiction_json(row: Contradiction) -> Json:
    """A contradiction as `BriefContradictionSerializer` describes it."""
    return {
        "id": _text(row.pk),
        "memory_a": str(row.memory_a_id),
        "memory_b": _text(row.memory_b_id),
        "verdict": row.verdict,
    }


def _brief(found: ScoredMemory | ScoredMessage, told: str) -> Json:
    signals = {name: round(getattr(found.signals, name), 2) for name in SIGNALS}
    return {
        "id": str(found.id),
        "content": told,
        "score": round(found.score, 4),
        "signals": {name: value for name, value in signals.items() if value},
    }


def stats_json(stats: RetrievalStats, *, without: str) -> Json:
    """Returns the stats without the figure that their answer does not show."""
    return {name: value for name, value in asdict(stats).items() if name != without}


def json_response(body: Json) -> HttpResponse:
    """Returns a response of the JSON object."""
    return HttpResponse(orjson.dumps(body), content_type=MEDIA_TYPE)


@cache
def answer_form(serializer: type[Serializer[Any]]) -> str:
    """All fields of an answer, so that one kept by another release is not taken for it."""
    return repr(serializer())


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _time(at: datetime | None) -> str | None:
    """As Django REST framework writes times in UTC."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")
