"""Rows of the log in words: the event, the actor, the reason, and each column that differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps

from audit.models import MemoryLog
from teams.admin.display import actor_words, excerpt, minute, with_names
from teams.models import Agent, EndUser, Project

_NAME_CHARS = 60
EVENT_WORDS = {
    "created": "created",
    "versioned": "created as a new version",
    "corrected": "created as a correction",
    "merged": "created by a merge",
    "compacted": "created as a summary",
    "duplicate_skipped": "repeated",
    "contradiction_detected": "marked as disputed",
    "contradiction_resolved": "dispute settled",
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
    "compressed": "shorter texts added",
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
SETTLED_WORDS = {
    "a_wins": "the earlier one was kept",
    "b_wins": "the later one was kept",
    "both_valid": "both are valid",
    "merged": "merged into one text",
}
# The same of one memory that was reported as wrong.
REPORT_WORDS = {
    "a_wins": "it was kept",
    "b_wins": "it was deleted",
    "both_valid": "it was kept",
    "merged": "it was corrected",
}
_SETTLING = {
    "contradiction resolved": ("settled", SETTLED_WORDS),
    "settlement undone": ("decision undone", SETTLED_WORDS),
    "report resolved": ("settled", REPORT_WORDS),
    "report reopened": ("decision undone", REPORT_WORDS),
}
_SETTLEMENT = re.compile(rf"({'|'.join(_SETTLING)}): ({'|'.join(SETTLED_WORDS)})")
_SIGNAL = re.compile(r"^feedback: (\w+)")
_SIGNALS = {
    "wrong": "reported as wrong",
    "helpful": "reported as helpful",
    "cited": "cited in an answer",
    "ignored": "left unused by an answer",
}
_OWNERS: dict[str, tuple[str, Any]] = {
    "agent_id": ("agent", Agent),
    "end_user_id": ("person", EndUser),
    "project_id": ("project", Project),
}
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
_LISTS = ("contradicts", "tags", "source_message_ids")
_COLUMNS = (*_VALUES, *_OWNERS, "supersedes_id", "superseded_by_id", *_LISTS, "payload")
_EMPTY: tuple[object, ...] = (None, "", [], {})


# A run of a consolidation is named as who acted; its id is in the stored entry.
_RUN = re.compile(r"^consolidation(?:: (\w+)| undone), run [0-9a-f-]{36}$")


def reason_words(reason: str) -> str:
    """Returns a reason of the log without codes."""
    told = _SETTLEMENT.sub(_settlement_words, with_names(reason))
    told = _RUN.sub(lambda found: found[1] or "run undone", told)
    return _SIGNAL.sub(lambda found: _SIGNALS.get(found[1], found[1]), told)


def _settlement_words(found: re.Match[str]) -> str:
    verb, outcomes = _SETTLING[found[1]]
    return f"{verb}: {outcomes[found[2]]}"


def _value_words(value: object) -> str:
    if value in _EMPTY:
        return "none"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, datetime):
        return minute(value)
    text = str(value)
    if re.match(r"\d{4}-\d\d-\d\dT", text):
        try:
            return minute(datetime.fromisoformat(text))
        except ValueError:
            return text
    return "deleted" if text == "soft_deleted" else text.replace("_", " ")


def change_words(
    before: Mapping[str, object], after: Mapping[str, object], *, names: Mapping[str, str]
) -> list[str]:
    """Returns a short sentence for each column that differs between two states of a memory.

    `names` are those of memories and owners by their ids. The event already says whether it was
    pinned, so that is not among them.
    """
    found: list[str] = []
    for column in _COLUMNS:
        old, new = before.get(column), after.get(column)
        if old != new and not (old in _EMPTY and new in _EMPTY):
            found += _words(column, old, new, names)
    return found


def _words(column: str, old: object, new: object, names: Mapping[str, str]) -> list[str]:
    if column in _VALUES:
        return [f"{_VALUES[column]} {_value_words(old)} to {_value_words(new)}"]
    if column in _OWNERS:
        shown = [names.get(str(each), str(each)) if each else "none" for each in (old, new)]
        return [f"{_OWNERS[column][0]} {shown[0]} to {shown[1]}"]
    if column == "superseded_by_id":
        return [f"replaced by {_named(new, names)}"] if new else ["no longer replaced"]
    if column == "supersedes_id":
        return [f"replaces {_named(new, names)}"] if new else ["no longer replaces a memory"]
    if column == "payload":
        return ["details changed"]
    was, now = _listed(old), _listed(new)
    came = [each for each in now if each not in was]
    went = [each for each in was if each not in now]
    if column == "tags":
        return [*(f"tag {each} added" for each in came), *(f"tag {each} removed" for each in went)]
    if column == "contradicts":
        return [
            *(f"in dispute with {_named(each, names)}" for each in came),
            *(f"no longer in dispute with {_named(each, names)}" for each in went),
        ]
    more = len(now) - len(was)
    if more > 0:
        return [f"{more} source message{'s' if more > 1 else ''} added"]
    return ["source messages changed"]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _named(key: object, names: Mapping[str, str]) -> str:
    return names.get(str(key), f"memory {str(key)[-8:]}")


@dataclass(frozen=True, slots=True)
class LogLine:
    """A row of the log in words; a memory's first row changes nothing."""

    entry: MemoryLog
    changes: list[str]

    @property
    def title(self) -> str:
        return EVENT_WORDS.get(self.entry.event, self.entry.event.replace("_", " ")).capitalize()

    @property
    def reason(self) -> str:
        return reason_words(self.entry.reason)

    @property
    def by(self) -> str:
        return actor_words(self.entry.actor)


def lines_of(rows: Sequence[MemoryLog], *, most: int) -> list[LogLine]:
    """Returns the first `most` of one memory's rows, which are the newest first, in words.

    Each is compared with the one after it. One query for the memories they name, and one for each
    kind of owner that changed.
    """
    names = _names(rows)
    lines = []
    for entry, before in zip(rows[:most], [*rows[1:], None], strict=False):
        changes = change_words(before.state, entry.state, names=names) if before else []
        changes += [
            f"{LINK_WORDS.get(link['type'], link['type'])} {_named(link['to'], names)}"
            for link in _links(entry)
        ]
        lines.append(LogLine(entry, changes))
    return lines


def line_of(entry: MemoryLog) -> LogLine:
    """Returns one row in words, compared with the memory's row before it."""
    before = MemoryLog.objects.filter(
        team_id=entry.team_id, memory_id=entry.memory_id, seq__lt=entry.seq
    )
    (line,) = lines_of([entry, *before.order_by("-seq")[:1]], most=1)
    return line


def _links(entry: MemoryLog) -> list[dict[str, str]]:
    links: list[dict[str, str]] = (entry.detail or {}).get("links", [])
    return links


def _names(rows: Sequence[MemoryLog]) -> Mapping[str, str]:
    """The memories that the rows name and the owners that differ between them, by their ids."""
    if not rows:
        return {}
    team_id = rows[0].team_id
    ids: set[str] = {link["to"] for row in rows for link in _links(row)}
    for row in rows:
        state = row.state
        named = (state.get("supersedes_id"), state.get("superseded_by_id"))
        ids |= {str(each) for each in (*named, *_listed(state.get("contradicts"))) if each}
    names: dict[str, str] = {}
    if ids:
        # By name: the memory's own code stands on the log's, not the other way.
        memories = apps.get_model("memory", "Memory")._default_manager
        found = memories.filter(team_id=team_id, pk__in=ids).values_list("pk", "content")
        names = {str(pk): f"“{excerpt(text, _NAME_CHARS)}”" for pk, text in found}
    for column, (_, model) in _OWNERS.items():
        owners = {row.state.get(column) for row in rows}
        if len(owners) > 1:
            named = model.objects.filter(team_id=team_id, pk__in=owners - {None})
            names |= {str(owner.pk): str(owner) for owner in named}
    return names
