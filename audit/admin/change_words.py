"""What a row of the log says, in words: the event, the reason, and each column that differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime

Names = Mapping[str, str]

EVENT_WORDS = {
    "created": "written",
    "versioned": "written as a new version",
    "corrected": "written as a correction",
    "merged": "written as a merge",
    "compacted": "written as a summary",
    "duplicate_skipped": "said again",
    "contradiction_detected": "put in dispute",
    "contradiction_resolved": "dispute ended",
    "superseded": "replaced",
    "pinned": "pinned",
    "unpinned": "unpinned",
    "promoted": "moved up a tier",
    "demoted": "moved down a tier",
    "archived": "archived",
    "soft_deleted": "deleted",
    "purged": "purged",
    "restored": "restored",
    "erased": "erased",
    "compressed": "shorter versions written",
    "linked": "linked",
    "unlinked": "unlinked",
    "updated": "changed",
}
LINK_WORDS = {
    "related_to": "related to",
    "supersedes": "replaces",
    "contradicts": "contradicts",
    "merged_from": "merged from",
    "derived_from": "derived from",
}
_SETTLED = {
    "a_wins": "the earlier side stands",
    "b_wins": "the later side stands",
    "both_valid": "both are valid",
    "merged": "merged into one text",
}
_SETTLEMENT = re.compile(r"contradiction resolved: (a_wins|b_wins|both_valid|merged)")
_SIGNAL = re.compile(r"^feedback: (\w+)")
_SIGNALS = {
    "wrong": "reported as wrong",
    "helpful": "reported as helpful",
    "cited": "cited in an answer",
    "ignored": "left unused by an answer",
}
_OWNERS = {"agent_id": "agent", "end_user_id": "person", "project_id": "project"}
_MEMORIES = ("supersedes_id", "superseded_by_id")
# Columns of which people say a value before and one after.
_VALUES = {
    "importance": "importance",
    "confidence": "confidence",
    "tier": "tier",
    "status": "status",
    "memory_type": "type",
    "scope": "scope",
    "category": "category",
    "subject": "subject",
    "version": "version",
    "form": "form",
    "valid_from": "valid from",
    "valid_to": "valid until",
    "purge_at": "purged on",
}
_EMPTY: tuple[object, ...] = (None, "", [], {})


def event_words(event: str) -> str:
    """An event's name in words."""
    return EVENT_WORDS.get(event, event.replace("_", " "))


def reason_words(reason: str) -> str:
    """A reason as the log has it, without codes."""
    told = _SETTLEMENT.sub(lambda found: f"settled: {_SETTLED[found[1]]}", reason)
    return _SIGNAL.sub(lambda found: _SIGNALS.get(found[1], found[1]), told)


def value_words(value: object) -> str:
    """A value of a column as people write it; "none" for an empty one."""
    if value in _EMPTY:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    text = str(value)
    if re.match(r"\d{4}-\d\d-\d\dT", text):
        try:
            return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M}"
        except ValueError:
            return text
    return "deleted" if text == "soft_deleted" else text.replace("_", " ")


def change_words(
    before: Mapping[str, object], after: Mapping[str, object], *, names: Names
) -> list[str]:
    """What differs between two states of a memory, a short sentence for each column.

    `names` are those of memories and owners by their ids. The event already says whether it was
    pinned, so that is not among them.
    """
    found: list[str] = []
    for column in [*_VALUES, *_OWNERS, *_MEMORIES, *_LISTS, "payload"]:
        old, new = before.get(column), after.get(column)
        if old != new and not (old in _EMPTY and new in _EMPTY):
            found += _words(column, old, new, names)
    return found


def memories_named(state: Mapping[str, object]) -> set[str]:
    """The ids of other memories that a state names."""
    ids = {str(state[column]) for column in _MEMORIES if state.get(column)}
    return ids | {str(each) for each in _listed(state.get("contradicts"))}


def owners_named(state: Mapping[str, object]) -> set[tuple[str, str]]:
    """The owners that a state names: column and id."""
    return {(column, str(state[column])) for column in _OWNERS if state.get(column)}


def _words(column: str, old: object, new: object, names: Names) -> list[str]:
    if column in _VALUES:
        return [f"{_VALUES[column]} {value_words(old)} to {value_words(new)}"]
    if column in _OWNERS:
        shown = [names.get(str(each), str(each)) if each else "none" for each in (old, new)]
        return [f"{_OWNERS[column]} {shown[0]} to {shown[1]}"]
    if column in _LISTS:
        return _LISTS[column](_listed(old), _listed(new), names)
    if column == "superseded_by_id":
        return [f"replaced by {_named(new, names)}"] if new else ["no longer replaced"]
    if column == "supersedes_id":
        return [f"replaces {_named(new, names)}"] if new else ["replaces nothing any more"]
    return ["details changed"]


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _named(key: object, names: Names) -> str:
    return names.get(str(key), f"memory {str(key)[-8:]}")


def _disputes(old: list[object], new: list[object], names: Names) -> list[str]:
    came = [f"in dispute with {_named(each, names)}" for each in new if each not in old]
    went = [f"no longer in dispute with {_named(each, names)}" for each in old if each not in new]
    return came + went


def _tags(old: list[object], new: list[object], names: Names) -> list[str]:
    del names
    came = [f"tag {each} added" for each in new if each not in old]
    return came + [f"tag {each} removed" for each in old if each not in new]


def _messages(old: list[object], new: list[object], names: Names) -> list[str]:
    del names
    more = len(new) - len(old)
    if more > 0:
        return [f"{more} source message{'s' if more > 1 else ''} added"]
    return ["source messages changed"]


_LISTS: Mapping[str, Callable[[list[object], list[object], Names], list[str]]] = {
    "contradicts": _disputes,
    "tags": _tags,
    "source_message_ids": _messages,
}
