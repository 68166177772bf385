"""The candidates that the caps of talk kept out, as a job keeps them for its next run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from django.db.models import Q

from memory.domain.types import Candidate, MemoryType
from memory.models import Job
from memory.services.extraction.extraction import MessageRange, load_messages
from memory.services.extraction.speakers import people_beside_user

_TIMES = ("valid_from", "valid_to")
_FIELDS = {each.name for each in fields(Candidate)}


def as_json(
    candidates: Iterable[Candidate], *, extractor: str
) -> list[dict[str, Any]]:  # Any: a field's value
    """The candidates as a job keeps them; `extractor` found those that name no other."""
    return [
        asdict(candidate)
        | {
            "message_ids": [str(each) for each in candidate.message_ids],
            "extractor": candidate.extractor or extractor,
        }
        | {name: (at := getattr(candidate, name)) and at.isoformat() for name in _TIMES}
        for candidate in candidates
    ]


def from_json(kept: Sequence[Mapping[str, Any]]) -> list[Candidate]:  # Any: a field's value
    return [
        Candidate(
            **{
                # Jobs of earlier versions name fields that are gone.
                **{name: value for name, value in each.items() if name in _FIELDS},
                "memory_type": MemoryType(each["memory_type"]),
                "message_ids": tuple(UUID(item) for item in each["message_ids"]),
                "tags": tuple(each["tags"]),
                **{name: each[name] and datetime.fromisoformat(each[name]) for name in _TIMES},
            }
        )
        for each in kept
    ]


def load_sources(*, job: Job, candidates: Iterable[Candidate], zone: tzinfo) -> MessageRange:
    """The messages that the candidates name, and the job's last; call it in scope."""
    ids = {each for candidate in candidates for each in candidate.message_ids}
    wanted = Q(pk__in=ids) | Q(position=job.to_position)
    rows = load_messages(conversation=job.conversation, wanted=wanted, zone=zone)
    people = people_beside_user(conversation=job.conversation)
    return MessageRange(job.conversation, tuple(rows), context=(), people=people)
