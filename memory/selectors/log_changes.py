"""What transactions of the past changed, as the log has it: so that it can be taken back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max, Min

from audit.models import MemoryLog
from memory.models.memory import LIVE

State = Mapping[str, Any]  # Any: a memory's columns as the log has them


@dataclass(frozen=True, slots=True)
class LogRange:
    """The rows `first` to `last` of a team's log that belong to one commit."""

    team_id: UUID
    commit_id: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a memory in some ranges: its states before, None for a new one, and after.

    `seq` is the number of the last log row about it in them.
    """

    memory_id: UUID
    before: State | None
    after: State
    seq: int

    @property
    def states(self) -> tuple[State, State]:
        """Both states of a memory that is not new."""
        assert self.before is not None
        return self.before, self.after

    @property
    def is_back(self) -> bool:
        """Whether taking it back makes the memory live again."""
        before, after = self.states
        return before["status"] in LIVE and after["status"] not in LIVE


class LogMark:
    """Notes where the team's log stands, to tell afterwards what this transaction wrote.

    Make it inside the transaction, once the memories that are going to change are locked.
    """

    def __init__(self, *, team_id: UUID) -> None:
        log = MemoryLog.objects.filter(team_id=team_id)
        self._team_id = team_id
        self._before: int = log.order_by("-seq").values_list("seq", flat=True).first() or 0

    def written(self, *, locked: Collection[UUID]) -> LogRange | None:
        """The range of what was written since; None where none of the `locked` memories changed."""
        rows = MemoryLog.objects.filter(team_id=self._team_id, seq__gt=self._before)
        # They are locked: a later row about one of them is of this transaction.
        commit_id = rows.filter(memory_id__in=locked).values_list("commit_id", flat=True).first()
        if commit_id is None:
            return None
        ends = rows.filter(commit_id=commit_id).aggregate(first=Min("seq"), last=Max("seq"))
        return LogRange(self._team_id, commit_id, ends["first"], ends["last"])


def ids_in(*, ranges: Iterable[LogRange]) -> set[UUID]:
    """The memories that the ranges are about."""
    return {pk for each in ranges for pk in _rows(each).values_list("memory_id", flat=True)}


def changes_in(*, ranges: Iterable[LogRange]) -> list[Change]:
    """What the ranges, in the order of time, did to each memory; call it in the team's scope."""
    found: dict[UUID, Change] = {}
    for each in ranges:
        for row in _rows(each).order_by("seq"):
            known = found.get(row.memory_id)
            before = known.before if known else _before(row)
            found[row.memory_id] = Change(row.memory_id, before, row.state, row.seq)
    return list(found.values())


def _rows(each: LogRange) -> Any:  # Any: a query set of what Django leaves untyped
    return MemoryLog.objects.filter(
        team_id=each.team_id, commit_id=each.commit_id, seq__range=(each.first, each.last)
    )


def _before(row: MemoryLog) -> State | None:
    if row.is_first:
        return None
    earlier = MemoryLog.objects.filter(
        team_id=row.team_id, memory_id=row.memory_id, seq__lt=row.seq
    )
    return earlier.order_by("-seq").values_list("state", flat=True).first()
