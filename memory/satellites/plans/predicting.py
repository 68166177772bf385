"""Predicts which memories the work in progress will need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import cast
from uuid import UUID

import numpy as np
import orjson
from django.db.models import Q

from memory.clients.afterwards import afterwards
from memory.domain.audience import Viewer
from memory.domain.retrieval.question import read_question
from memory.domain.types import Signals, Work
from memory.models import Memory
from memory.reading.cache import PREFETCH_SECONDS, Predicted, prefetch_key
from memory.reading.questions import Depth, Question, Read, ReadQuestion
from memory.reading.ranking import SEARCH_WEIGHTS, by_relevance
from memory.reading.search import ranked_candidates
from memory.reading.snapshots import at_snapshot
from memory.satellites.plans.imports import is_imported, names_of_imported
from memory.satellites.plans.models import SignalUse
from memory.satellites.plans.prediction_models import (
    confidence_of,
    decayed,
    file_name,
    keys_of,
    latest_changes,
    likely_needed,
    near_files,
)
from memory.satellites.plans.selectors import file_touches, files_of, touches_of_names
from memory.selectors.revisions import Revision
from memory.selectors.search.signal_rows import Sought
from memory.understanding.tools import Tools
from teams.models import EndUser, Team

# Of each project, the latest.
MOST_OF_PROJECT = 20_000
# Words in common with a signal are weaker than lines of an open file.
_OF_WORDS = 0.5
# A signal proposes so many by its words.
_MOST_BY_WORDS = 20
_MOST_WORDS_CHARS = 2_000


def note_useful(*, memory: Memory, work: Work, most: int = MOST_OF_PROJECT) -> None:
    """Counts that the memory was of use in the work, in scope; a project keeps `most` counts."""
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
    """Returns the visible memories of use after such signals, with confidence and reasons."""
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
    person = _collaborator(team_id, signals)
    if signals.time is not None:
        zone = Team.objects.only("time_zone").get(pk=team_id).zone
        with suppress(OverflowError):  # at the ends of the calendar
            signals = replace(signals, time=signals.time.astimezone(zone))
    return keys_of(signals, collaborator=str(person.pk) if person else "")


def _collaborator(team_id: UUID, signals: Signals) -> EndUser | None:
    """The person of the team that the signals name by the external id, if any."""
    people = EndUser.objects.filter(team_id=team_id, external_id=signals.collaborator)
    return people.first() if signals.collaborator else None


def predict(
    *,
    viewer: Viewer,
    signals: Signals,
    tools: Tools,
    now: datetime,
    limit: int = 20,
    is_kept: bool = True,
) -> tuple[Predicted, ...]:
    """The live memories that the signals speak for among what the viewer may see, likeliest first.

    At most `limit`; what nothing speaks for is left out. Call it in the team's scope or outside of
    any transaction. Unless `is_kept` is false, what is predicted is kept in Redis for the viewer's
    next reads, in place of what was.
    """
    found: dict[UUID, Predicted] = {}

    def propose(_: Revision | None) -> list[Predicted]:
        proposed = _by_files(viewer, signals) if signals.files else []
        of_use = learned(viewer=viewer, signals=signals, now=now)
        proposed += [Predicted(pk, *said) for pk, said in of_use.items()]
        for reason, text in _texts(viewer, signals):
            proposed += _by_words(viewer, reason, text, tools, now)
        return proposed

    for each in at_snapshot(propose, viewer=viewer):
        known = found.get(each.memory_id)
        found[each.memory_id] = _both(known, each) if known else each
    ranked = sorted(found.values(), key=lambda each: -each.confidence)[:limit]
    if is_kept:
        _keep(viewer, ranked)
    return tuple(ranked)


def _by_files(viewer: Viewer, signals: Signals) -> list[Predicted]:
    opened = signals.files
    touches = file_touches(viewer=viewer, names=sorted({file_name(each) for each in opened}))
    changes = latest_changes(opened=opened, touches=touches.named)
    ids = [cast(UUID, key) for keys in changes.values() for key in keys]
    # The files that the open one imports are those among the files known by such names.
    names = names_of_imported(signals.imports, path=signals.current_file)
    named = touches_of_names(viewer=viewer, names=names) if names else []
    files = files_of(team_id=viewer.team_id, ids=ids) if ids else {}
    near = near_files(
        opened=opened,
        touches=touches.named,
        files=dict[Hashable, list[str]](files.items()),
        imported={
            path
            for path in {each.path for each in named}
            if is_imported(path, signals.imports, path=signals.current_file)
        },
    )
    names = sorted({file_name(each) for each in near})
    ranked = likely_needed(
        opened=opened,
        touches=touches.named,
        near=near,
        touches_near=touches_of_names(viewer=viewer, names=names) if near else (),
        recent=touches.latest,
    )
    return [Predicted(cast(UUID, each.key), each.chance, (each.why,)) for each in ranked]


def _texts(viewer: Viewer, signals: Signals) -> list[tuple[str, str]]:
    """The signals that are read as words, each with what is said of it; where there are any."""
    person = _collaborator(viewer.team_id, signals)
    names = person.names if person else (signals.collaborator,)
    said = [
        ("words of the branch", signals.branch.replace("/", " ").replace("-", " ")),
        *(("words of the error", each) for each in signals.recent_errors),
        ("names the collaborator", " ".join(names)),
    ]
    return [(reason, text[:_MOST_WORDS_CHARS]) for reason, text in said if text.strip()]


def _by_words(
    viewer: Viewer, reason: str, text: str, tools: Tools, now: datetime
) -> list[Predicted]:
    """By the words alone: nothing is embedded while somebody types."""
    asked = read_question(text, now=now)
    words = [term.word for term in asked.terms]
    sought = Sought(words, np.zeros(1, dtype=np.float32), tools.embedder.name)
    found = ranked_candidates(
        Read(
            viewer=viewer,
            question=Question(text),
            depth=Depth(include_raw=False),
            tools=tools,
            now=now,
        ),
        ReadQuestion(asked, sought),
        score=by_relevance(SEARCH_WEIGHTS),
    )
    best = sorted(found.memories, key=lambda each: -each.rank)[:_MOST_BY_WORDS]
    return [
        Predicted(each.row.memory_id, _OF_WORDS * each.signals.semantic, (reason,))
        for each in best
        if each.signals.semantic > 0
    ]


def _both(one: Predicted, other: Predicted) -> Predicted:
    confidence = 1 - (1 - one.confidence) * (1 - other.confidence)
    reasons = tuple(dict.fromkeys((*one.reasons, *other.reasons)))
    return replace(one, confidence=confidence, reasons=reasons)


def _keep(viewer: Viewer, ranked: list[Predicted]) -> None:
    value = orjson.dumps([[each.memory_id, each.confidence, each.reasons] for each in ranked])
    key = prefetch_key(viewer)
    afterwards(lambda pipe: pipe.set(key, value, ex=PREFETCH_SECONDS))
