"""mem0's metadata as tags: each key is the tag `key=<its value as JSON>`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memory.api.serializers.memories import MAX_TAGS
from teams.errors import InvalidError

MAX_TAG_CHARS = 100

# Any: what JSON holds.
Metadata = Mapping[str, Any]


def tag_of(key: str, value: object) -> str:
    """The tag of one key; InvalidError that names the key where a tag cannot hold it.

    A tag has 100 characters, and its key no `=` and no sign that cannot be printed.
    """
    field = f"metadata.{key}"
    tag = f"{key}={json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
    if not key.strip() or "=" in key or not tag.isprintable():
        raise InvalidError("A key is a text without «=», and all is printable.", field=field)
    if len(tag) > MAX_TAG_CHARS:
        raise InvalidError(
            f"Metadata is kept as tags: key and value may have {MAX_TAG_CHARS - 1} characters"
            f" together, written as JSON; these have {len(tag) - 1}.",
            field=field,
        )
    return tag


def tags_of(metadata: Metadata, *, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """The tags of the metadata after the others that stay; InvalidError for more than 50."""
    tags = tuple(dict.fromkeys((*beside, *(tag_of(*each) for each in metadata.items()))))
    if len(tags) > MAX_TAGS:
        raise InvalidError(f"A memory has at most {MAX_TAGS} tags.", field="metadata")
    return tags


def read_tag(tag: str) -> tuple[str, Any] | None:
    """Key and value of a tag that metadata made; None for any other."""
    key, equals, written = tag.partition("=")
    if not equals:
        return None
    try:
        return key, json.loads(written)
    except ValueError:
        return None


def metadata_in(tags: Iterable[str]) -> dict[str, Any]:
    """The metadata among the tags; what people tagged otherwise is none."""
    return dict(read for tag in tags if (read := read_tag(tag)) is not None)


def other_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags that are no metadata."""
    return tuple(tag for tag in tags if read_tag(tag) is None)
