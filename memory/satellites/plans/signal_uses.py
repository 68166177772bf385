"""Counting after which signals memories were of use, and what that predicts."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.work import Signals, Work
from memory.models import Memory
from memory.satellites.plans.models import SignalUse
from memory.satellites.plans.prediction.learned import confidence_of, decayed, keys_of
from teams.models import EndUser

# Of each project, the latest.
MOST_OF_PROJECT = 20_000


def note_useful(*, memory: Memory, work: Work, most: int = MOST_OF_PROJECT) -> None:
    """Count that the memory was of use in the work; call it in the team's scope.

    A project keeps its latest `most` counts.
    """
    keys, now = _keys(memory.team_id, work.signals), work.at
    if not keys:
        return
    rows = SignalUse.objects.filter(team_id=memory.team_id)
    known = {
        each.signal: each
        for each in rows.filter(memory=memory, signal__in=keys).select_for_update().order_by("pk")
    }
    for use in known.values():
        use.weight = decayed(use.weight, since=use.noted_at, now=now) + 1.0
        use.noted_at = now
    SignalUse.objects.bulk_update(known.values(), ["weight", "noted_at"])
    SignalUse.objects.bulk_create(
        [
            SignalUse(
                team_id=memory.team_id,
                project_id=memory.project_id,
                signal=key,
                memory=memory,
                weight=1.0,
                noted_at=now,
            )
            for key in keys
            if key not in known
        ],
        ignore_conflicts=True,
    )
    own = rows.filter(Q(project=memory.project_id)).order_by("-noted_at", "-id")
    spare = own.values_list("id", flat=True)[most : most + 1_000]
    rows.filter(id__in=list(spare)).delete()


def learned(
    *, viewer: Viewer, signals: Signals, now: datetime
) -> dict[UUID, tuple[float, tuple[str, ...]]]:
    """The visible live memories that were of use after such signals: confidence and reasons each.

    Counted are those of the viewer's project and of none. Call it in the team's scope.
    """
    keys = _keys(viewer.team_id, signals)
    if not keys:
        return {}
    rows = SignalUse.objects.filter(
        Q(project=viewer.project_id) | Q(project__isnull=True),
        team_id=viewer.team_id,
        signal__in=keys,
    )
    weights: dict[UUID, float] = defaultdict(float)
    reasons: dict[UUID, list[str]] = defaultdict(list)
    # The weightiest signal first.
    for use in sorted(rows, key=lambda each: -keys[each.signal]):
        weights[use.memory_id] += keys[use.signal] * decayed(
            use.weight, since=use.noted_at, now=now
        )
        reasons[use.memory_id].append(f"was of use at {_told(use.signal)}")
    seen = Memory.objects.visible_to(viewer).searchable(include_cold=False)
    return {
        pk: (confidence_of(weights[pk]), tuple(reasons[pk][:2]))
        for pk in seen.filter(id__in=weights).values_list("id", flat=True)
    }


def _told(signal: str) -> str:
    """The signal in a reason; a person is not named by an id that nobody else uses."""
    return "the same collaborator" if signal.startswith("collaborator:") else signal


def _keys(team_id: UUID, signals: Signals) -> dict[str, float]:
    person = ""
    if signals.collaborator:
        people = EndUser.objects.filter(team_id=team_id, external_id=signals.collaborator)
        person = str(people.values_list("id", flat=True).first() or "")
    return keys_of(signals, collaborator=person)
