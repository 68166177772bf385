"""The shape of mem0's refusals and memories, as its clients see them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework import status
from rest_framework.exceptions import APIException

from memory.api.base import PROBLEM_MEDIA, ApiViewSet
from memory.domain.types import MAX_TAGS
from memory.models import Memory
from memory.writing.secrets import masked_note
from teams.authentication import TokenAuthentication
from teams.errors import InvalidError
from teams.models import Conversation

# So that what people tag otherwise, as in `level=3`, is no metadata.
PREFIX = "mem0:"
MAX_CHARS = 100 - len(PREFIX) - len("=")

# Any: what JSON holds.
Metadata = Mapping[str, Any]


def tag_of(key: str, value: object) -> str:
    """The tag of one key; InvalidError that names the key where a tag cannot hold it.

    Equal values have one tag, however their JSON is written. Secrets are masked. A tag has 100
    characters, and its key no `=` and no sign that cannot be printed.
    """
    field = f"metadata.{key}"
    tag = masked_note(f"{PREFIX}{key}={_as_json(value, field=field)}")
    if not key.strip() or "=" in key or not tag.isprintable():
        raise InvalidError("A key is a text without «=», and all is printable.", field=field)
    long = len(tag) - len(PREFIX) - len("=")
    if long > MAX_CHARS:
        raise InvalidError(
            f"Metadata is kept as tags: key and value may have {MAX_CHARS} characters together,"
            f" written as JSON; these have {long}.",
            field=field,
        )
    return tag


def tags_of(metadata: Metadata, *, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """The tags of the metadata after the others that stay; InvalidError for more than 50."""
    tags = tuple(dict.fromkeys((*beside, *(tag_of(*each) for each in metadata.items()))))
    if len(tags) > MAX_TAGS:
        raise InvalidError(f"A memory has at most {MAX_TAGS} tags.", field="metadata")
    return tags


def metadata_in(tags: Iterable[str]) -> dict[str, Any]:
    """The metadata among the tags; what people tagged otherwise is none."""
    return dict(_read(tag) for tag in tags if tag.startswith(PREFIX))


def other_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags that are no metadata."""
    return tuple(tag for tag in tags if not tag.startswith(PREFIX))


def _read(tag: str) -> tuple[str, Any]:
    key, _, written = tag.removeprefix(PREFIX).partition("=")
    try:
        return key, json.loads(written)
    except ValueError:
        return key, written


def _as_json(value: object, *, field: str) -> str:
    """One form for all that is equal as JSON; InvalidError for a number that JSON has not."""
    try:
        return json.dumps(
            _plain(value),
            ensure_ascii=False,
            allow_nan=False,
            sort_keys=True,
            separators=(",", ":"),
        )
    except ValueError:
        raise InvalidError("Infinity and NaN are no JSON.", field=field) from None


def _plain(value: object) -> object:
    """The value with each whole number as an integer: 3.0 is 3."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


# Any: what JSON holds.
Json = dict[str, Any]
FIELDS = (
    "id",
    "memory",
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "hash",
    "metadata",
    "categories",
    "created_at",
    "updated_at",
    "expiration_date",
    "immutable",
)


def shown(memories: Sequence[Memory], *, fields: Sequence[str] | None = None) -> list[Json]:
    """The memories, loaded `with_names`, with all fields or those named and the id.

    Call it in the team's scope.
    """
    talks = {row.conversation_id for row in memories if row.conversation_id}
    teams = {row.team_id for row in memories}
    rows = Conversation.objects.filter(team_id__in=teams, pk__in=talks) if talks else ()
    runs = {row.pk: row.thread_id for row in rows if row.thread_id != str(row.pk)}
    found = [_memory(row, run=runs.get(row.conversation_id or UUID(int=0))) for row in memories]
    kept = FIELDS if fields is None else ("id", *fields)
    return [{name: each[name] for name in FIELDS if name in kept} for each in found]


def _memory(memory: Memory, *, run: str | None) -> Json:
    return {
        "id": str(memory.pk),
        "memory": memory.content,
        "user_id": memory.end_user.external_id if memory.end_user else None,
        "agent_id": memory.agent.slug if memory.agent else None,
        "app_id": memory.project.slug if memory.project else None,
        "run_id": run,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata_in(memory.tags),
        "categories": [memory.category] if memory.category else [],
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expiration_date": _last_day(memory.valid_to),
        "immutable": False,
    }


def _last_day(end: datetime | None) -> str | None:
    return (end - timedelta(microseconds=1)).date().isoformat() if end else None


class NotOfferedError(APIException):
    """501: a part of mem0's protocol that this server does not have, with the reason."""

    status_code = status.HTTP_501_NOT_IMPLEMENTED


class Mem0ViewSet(ApiViewSet):
    """A view that takes `Authorization: Token <key>` and refuses as mem0's platform does.

    Refusals are JSON with a `detail`; a wrong field is 400, where /v1/ answers 422. The views are
    no part of the OpenAPI document: mem0 describes them.
    """

    authentication_classes = (TokenAuthentication,)
    schema = None

    def handle_exception(self, exc: Exception) -> Any:  # Any: a response of either framework
        """The refusal as mem0's client reads it."""
        response = super().handle_exception(exc)
        if isinstance(response, HttpResponse) and response["Content-Type"] == PROBLEM_MEDIA:
            if response.status_code == status.HTTP_422_UNPROCESSABLE_ENTITY:
                response.status_code = status.HTTP_400_BAD_REQUEST
            told = json.loads(response.content)
            kept = ("detail", "errors", "request_id", "memories")
            shown = {name: told[name] for name in kept if name in told}
            response.content = json.dumps({"error": told["title"], **shown}).encode()
            response["Content-Type"] = "application/json"
        if response.status_code == status.HTTP_501_NOT_IMPLEMENTED:
            # The caller can act on it; Django would log it as a server error.
            response._has_been_logged = True
        return response
