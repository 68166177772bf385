"""Differences between texts, and texts that say the same."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.domain.rendering import (
    EVENT_LABEL,
    IDENTITY_LABEL,
    PATTERN_LABEL,
    Line,
    SaidLine,
    mark_of,
)
from memory.domain.text.words import normalise_text

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
# Whose row it is never differs; the others say nothing to a reader.
_LEFT_OUT = frozenset({"id", "team_id", "dedupe_key", "salt", "updated_at", "content", "actor"})
# What the API calls them.
_SHOWN_AS = {
    "end_user_id": "user",
    "extraction_pass": "pass",
    "source_external_ids": "external_ids",
    "source_message_ids": "message_ids",
}
_NAMED = ("agent_id", "end_user_id", "project_id")
_EMPTY: tuple[object, ...] = (None, "", [], {})
# Texts with more equal pairs of words are compared by line, and those with more equal pairs of
# lines as wholes: the comparison takes time for each pair.
_MAX_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field before and after; `before` is None for what a new memory began with."""

    field: str
    before: object
    after: object


def changed_fields(
    before: Mapping[str, object] | None,
    after: Mapping[str, object],
    *,
    names: Mapping[str, str],
) -> list[FieldChange]:
    """The fields that differ, by the API's names; `names` are those of owners by their ids."""
    found = []
    for key in sorted(after.keys() | (before or {}).keys()):
        if key in _LEFT_OUT:
            continue
        old, new = (before or {}).get(key), after.get(key)
        if old != new and not (old in _EMPTY and new in _EMPTY):
            if key in _NAMED:
                old, new = names.get(str(old), old), names.get(str(new), new)
            found.append(FieldChange(_SHOWN_AS.get(key, key.removesuffix("_id")), old, new))
    return sorted(found, key=lambda change: change.field)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a text beside another one: "same" in both, "gone" from the old, "new" in it."""

    kind: str
    text: str


def text_parts(before: str, after: str) -> list[TextPart]:
    """The later text in pieces, with what went and what came, word by word."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if _pairs(old, new) > _MAX_PAIRS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if _pairs(old, new) > _MAX_PAIRS:
        old, new = [before], [after]
    parts = []
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            parts.append(TextPart("same", "".join(new[new_from:new_to])))
            continue
        if gone := "".join(old[old_from:old_to]):
            parts.append(TextPart("gone", gone))
        if came := "".join(new[new_from:new_to]):
            parts.append(TextPart("new", came))
    return parts


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    counts = Counter(new)
    return sum(count * counts[each] for each, count in Counter(old).items())


def phrase_parts(before: str, after: str) -> list[TextPart]:
    """As `text_parts`, but what differs on both sides of a mere space is one piece."""
    parts = text_parts(before, after)
    joined: list[TextPart] = []
    gone = new = ""

    def close() -> None:
        nonlocal gone, new
        joined.extend(TextPart(*each) for each in (("gone", gone), ("new", new)) if each[1])
        gone = new = ""

    for number, part in enumerate(parts):
        is_between = 0 < number < len(parts) - 1 and not part.text.strip()
        if part.kind == "gone":
            gone += part.text
        elif part.kind == "new":
            new += part.text
        elif is_between and (gone or new):
            gone, new = gone + part.text, new + part.text
        else:
            close()
            joined.append(part)
    close()
    return joined


def marked_changes(before: str, after: str) -> str:
    """The later text with what went as [-old-] and what came as {+new+}, word by word."""
    marks = {"same": "{}", "gone": "[-{}-]", "new": "{{+{}+}}"}
    return "".join(marks[part.kind].format(part.text) for part in text_parts(before, after))


# The kinds of which the same words say another thing: who it is about, when, how well it went.
_APART = (IDENTITY_LABEL, EVENT_LABEL, PATTERN_LABEL)


def saying(line: Line) -> Hashable:
    """Equal for two lines that say the same: the rule by which a prompt shows a statement once.

    The same normalised words and the same mark: both disputed, past or unconfirmed, or neither. A
    sentence that was quoted is one of its speaker and day. Otherwise the words say the same
    whatever they are filed as, but that an event is one of its day, identity is about the agent
    itself, and a pattern tells how well it went.
    """
    mark = mark_of(line.status, is_disputed=line.is_disputed, source=line.source)
    if line.quote is not None:
        return (line.quote.speaker, line.quote.day, mark, same_words(line.content))
    kind = line.label if line.label.startswith(_APART) else ""
    return (kind, mark, same_words(line.content))


def said_saying(said: SaidLine) -> Hashable:
    """The same for a message: equal to the `saying` of a memory that quotes the whole of it."""
    return (said.speaker, f"{said.said_at:%Y-%m-%d}", "", same_words(said.text))


def plain_saying(said: SaidLine) -> Hashable:
    """Equal to the `saying` of a memory in the same words that quotes nobody."""
    return ("", "", same_words(said.text))


# A text is compared more than once while a prompt is packed.
@lru_cache(maxsize=1024)
def same_words(text: str) -> str:
    """The text as it is compared."""
    return normalise_text(text)
