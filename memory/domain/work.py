"""What is known of the work in progress (seed 002, "Predictive Context Engine")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Signals:
    """What an agent has in front of it; all of it optional, its sizes bounded by who reads it in.

    `opened_files` are those opened before `current_file`, in any order. `collaborator` is the
    external id of a person of the team. `time` is the local time of the work.
    """

    current_file: str = ""
    branch: str = ""
    recent_errors: tuple[str, ...] = ()
    activity: str = ""
    collaborator: str = ""
    time: datetime | None = None
    query: str = ""
    opened_files: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The open files, each once, the current one last."""
        named = [each for each in (*self.opened_files, self.current_file) if each]
        return tuple(dict.fromkeys(reversed(named)))[::-1]


@dataclass(frozen=True, slots=True)
class Work:
    """The signals of an agent's work at a time."""

    signals: Signals
    at: datetime
