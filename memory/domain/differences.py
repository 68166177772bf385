"""What differs between two states or two texts, for people to read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
# Whose row it is never differs; the others say nothing to a reader.
_LEFT_OUT = frozenset({"id", "team_id", "dedupe_key", "salt", "updated_at", "content", "actor"})
_EMPTY: tuple[object, ...] = (None, "", [], {})
# Longer texts are compared by line, which is quick whatever they hold.
_MAX_WORDS = 2_000


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field before and after; `before` is None for what a new memory began with."""

    field: str
    before: object
    after: object


def changed_fields(
    before: Mapping[str, object] | None, after: Mapping[str, object]
) -> list[FieldChange]:
    """The fields that differ, by name; of a new memory all that say something."""
    found = []
    for key in sorted(after.keys() | (before or {}).keys()):
        if key in _LEFT_OUT:
            continue
        old, new = (before or {}).get(key), after.get(key)
        if old != new and not (old in _EMPTY and new in _EMPTY):
            found.append(FieldChange(key.removesuffix("_id"), old, new))
    return found


def marked_changes(before: str, after: str) -> str:
    """The later text with what went as [-old-] and what came as {+new+}, word by word."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > _MAX_WORDS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    parts = []
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            parts.append("".join(new[new_from:new_to]))
            continue
        if gone := "".join(old[old_from:old_to]):
            parts.append(f"[-{gone}-]")
        if came := "".join(new[new_from:new_to]):
            parts.append(f"{{+{came}+}}")
    return "".join(parts)
