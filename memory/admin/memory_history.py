"""What became of a memory, line by line: what changed, with other memories by their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.models import MemoryLog
from memory.models import Memory
from teams.admin.display import NOTHING, excerpt

MAX_LOG = 50
_NAME_CHARS = 60
# Columns of the state that hold ids of other memories.
_OTHERS = ("contradicts", "supersedes_id", "superseded_by_id")

Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """One column of the state, before and after."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """A row of the log, what it changed and what it linked; a first row changes nothing."""

    entry: MemoryLog
    event: str
    differences: list[Difference]
    links: list[str]


def history_of(memory: Memory) -> list[LogLine]:
    """The last changes, the newest first; two queries."""
    # One more than is shown, so that the last one shown has something to be compared with.
    rows = list(
        MemoryLog.objects.filter(team_id=memory.team_id, memory_id=memory.pk).order_by("-seq")[
            : MAX_LOG + 1
        ]
    )
    names = _names_in(rows, memory)
    earlier = [*rows[1:], None]
    return [
        LogLine(
            entry,
            entry.event.replace("_", " "),
            _differences(before.state, entry.state, names) if before else [],
            [f"{link['type']} → {_name(link['to'], names)}" for link in _links(entry)],
        )
        for entry, before in zip(rows[:MAX_LOG], earlier, strict=False)
    ]


def _names_in(rows: Sequence[MemoryLog], memory: Memory) -> Names:
    """The first words of the memories that the rows name, by their ids."""
    ids = {link["to"] for row in rows for link in _links(row)}
    for row in rows:
        for column in _OTHERS:
            value = row.state.get(column)
            ids.update(value if isinstance(value, list) else [value] if value else [])
    if not ids:
        return {}
    others = Memory.objects.filter(team_id=memory.team_id, pk__in=ids)
    return {str(pk): text for pk, text in others.values_list("pk", "content")}


def _links(entry: MemoryLog) -> list[dict[str, str]]:
    links: list[dict[str, str]] = (entry.detail or {}).get("links", [])
    return links


def _name(memory_id: str, names: Names) -> str:
    text = names.get(memory_id)
    return f"“{excerpt(text, _NAME_CHARS)}”" if text else memory_id


def _differences(
    before: Mapping[str, object], after: Mapping[str, object], names: Names
) -> list[Difference]:
    return [
        Difference(
            column.removesuffix("_id") if column in _OTHERS else column,
            _shown(before.get(column), names),
            _shown(after.get(column), names),
        )
        for column in sorted({*before, *after})
        if before.get(column) != after.get(column)
    ]


def _shown(value: object, names: Names) -> str:
    if value in (None, "", [], {}):
        return NOTHING
    if isinstance(value, list):
        return ", ".join(_name(str(each), names) for each in value)
    return _name(str(value), names)
