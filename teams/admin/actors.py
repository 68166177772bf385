"""Who did something, in words: the log names its actors by codes such as `task:extract`."""

from __future__ import annotations

from typing import Any

from .display import NOTHING, Column
from .theme import display

# What the product's own work is called; the codes are those of the tasks and commands.
_WORK = {
    "task:extract": "extraction",
    "task:compact": "compaction",
    "task:sweep_jobs": "extraction",
    "task:flush_usage": "usage counts",
    "task:flush_key_use": "use of keys",
    "task:clear_caches": "erasure",
    "task:index_messages": "indexing",
    "task:embed_memories": "indexing",
    "task:seal_log": "sealing of the log",
    "task:events": "counting of events",
    "judge": "the judge",
    "merged": "a merge",
    "correction": "a correction",
}
_KINDS = {
    "staff": "{} (staff)",
    "agent": "{} (agent)",
    "user": "{} (person)",
    "key": "API key {}",
    "command": "command {}",
    "database": "database login {}",
    "summary": "summary ({})",
    "judge": "the judge ({})",
    "task": "{}",
}


def actor_words(actor: str) -> str:
    """The name of who acted as people say it: "rob (staff)", "kyra (agent)", "extraction"."""
    if not actor:
        return NOTHING
    if actor in _WORK:
        return _WORK[actor]
    kind, colon, name = actor.partition(":")
    if not colon or not name or kind not in _KINDS:
        return actor
    return _KINDS[kind].format(name if kind in ("staff", "agent", "user") else _spaced(name))


def actors_called(words: str) -> list[str]:
    """The codes of the product's own work whose words hold these, for a search."""
    wanted = words.strip().lower()
    return [code for code, name in _WORK.items() if wanted and wanted in name]


def actor_column(field: str = "actor", title: str = "by") -> Column:
    """Who acted, in words."""

    @display(description=title, ordering=field)
    def column(_: Any, row: Any) -> str:  # Any: a ModelAdmin and a row of whatever model
        return actor_words(getattr(row, field))

    return column


def _spaced(name: str) -> str:
    return name.replace("_", " ")
