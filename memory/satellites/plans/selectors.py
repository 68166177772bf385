"""Candidates of the working context."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from memory.domain.audience import Viewer
from memory.domain.forms import ArtifactKind, Form
from memory.domain.types import Tier
from memory.models import Memory, MemoryArtifact, MemoryTag
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet, visible_to_q
from memory.satellites.plans.placing import folder_of
from memory.satellites.plans.prediction_models import LATEST, Touch
from memory.selectors.filters import NOBODY, pattern_of, viewer_parameters, viewer_sql
from memory.selectors.revisions import Revision
from memory.selectors.ttl_cache import SharedTTLCache
from teams.prepared import fetch_planned, load_sql_parts, uuids

# The newest of each form that are looked at; older ones are found by their file or their words.
_MOST: Mapping[Form, int] = {
    Form.DECISION: 150,
    Form.FAILURE: 150,
    Form.CONVENTION: 40,
    Form.WORKFLOW: 20,
}
_MOST_OF_FILES = 200
_MOST_TAGGED = 20
_MOST_LIKED = 30
# Sides of the newest open contradictions of the project, among so many of the team.
_MOST_DISPUTED, _MOST_OPEN = 20, 200

_SQL = load_sql_parts(__file__, "work.sql")
_COLUMNS = "memory_memory.id, memory_memory.form, memory_memory.category, memory_memory.subject"
MOST_TOPICS = 40
_counted = SharedTTLCache()
# Counting takes at most this share of the time, where it takes long enough to matter.
_SHARE = 0.01
_LONG_SECONDS = 0.02
# Files of the same names as the open ones, and of the latest memories, that the viewer may see; ten
# times as many of the whole team are looked at for them.
_MOST_NAMED, _MOST_LATEST = 2_000, 500
_LOOKED_AT = 10


class WorkingRow(NamedTuple):
    """A memory of the working set; `reason` is why, "" for its form."""

    memory_id: UUID
    form: str
    category: str
    subject: str
    reason: str
    tags: list[str] | None
    files: list[str] | None


def working_set(
    *, viewer: Viewer, files: Sequence[str], collaborator_id: UUID | None
) -> list[WorkingRow]:
    """Returns what may stand in the context whatever is asked, and what the collaborator likes.

    The viewer names a project.
    """
    statement = _SQL["working_set"].format(
        seen=seen_sql(viewer),
        columns=_COLUMNS,
        most=", ".join(f"('{form.value}', {most})" for form, most in _MOST.items()),
        most_of_files=_MOST_OF_FILES,
        most_tagged=_MOST_TAGGED,
        most_liked=_MOST_LIKED,
        most_disputed=_MOST_DISPUTED,
        most_open=_MOST_OPEN,
    )
    parameters = seen_parameters(viewer) | {
        "files": list(files),
        "collaborator": collaborator_id or NOBODY,
    }
    return [WorkingRow._make(each) for each in fetch_planned(statement, parameters)]


def files_of(*, team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """The paths that each of the memories names; call it in the team's scope."""
    return dict(fetch_planned(_SQL["files"], {"team": team_id, "ids": uuids(ids)}))


def seen_sql(viewer: Viewer) -> str:
    """Returns the SQL condition for the live, not cold memories that the viewer may see."""
    return _seen_sql(pattern_of(viewer))


def seen_parameters(viewer: Viewer) -> dict[str, object]:
    """Returns the values of the parameters of `seen_sql`."""
    allowed = viewer.allowed_categories
    return viewer_parameters(viewer) | ({"categories": ["", *allowed]} if allowed else {})


@cache
def _seen_sql(pattern: Viewer) -> str:
    visible = viewer_sql(visible_to_q, pattern=pattern, model=Memory)
    live = ", ".join(f"'{each}'" for each in LIVE)
    allowed = (
        "memory_memory.category = ANY(%(categories)s::text[])"
        if pattern.allowed_categories
        else "true"
    )
    return (
        f"({visible}) AND memory_memory.status IN ({live})"
        f" AND memory_memory.tier <> '{Tier.COLD.value}' AND {allowed}"
    )


def topic_counts(*, viewer: Viewer, revision: Revision | None) -> list[tuple[str, int]]:
    """Counts the memories that the viewer may see of each topic, most first; call it in scope.

    `revision` is the team's in this transaction: while it stands a process remembers the answer.
    Where counting takes long, it is also remembered for a hundred times as long.
    """
    parameters = seen_parameters(viewer)
    owner = (pattern_of(viewer), *((name, str(value)) for name, value in parameters.items()))
    known = _counted.get(owner)
    now = time.monotonic()
    if known is not None and revision is not None:
        at_revision, until, topics = known
        if at_revision == revision.memories or now < until:
            return list(topics)
    statement = _SQL["topics"].format(seen=seen_sql(viewer), most=MOST_TOPICS)
    found = [(topic, count) for topic, count in fetch_planned(statement, parameters, once=False)]
    took = time.monotonic() - now
    if revision is not None:
        until = now + took / _SHARE if took > _LONG_SECONDS else now
        _counted.put(owner, (revision.memories, until, found))
    return found


def topics_of(
    *, category: str, subject: str, tags: Iterable[str], files: Iterable[str]
) -> frozenset[str]:
    """The topics of one memory."""
    named = (category, subject.split(".")[0], *tags, *map(folder_of, files))
    return frozenset(each.lower() for each in named) - {""}


def of_topic(topic: str) -> MemoryQuerySet:
    """Memories of that topic, whatever its case; who may see them is the caller's to say."""
    own = {"team_id": OuterRef("team_id"), "memory_id": OuterRef("id")}
    tagged = MemoryTag.objects.filter(**own, name__iexact=topic)
    in_folder = MemoryArtifact.objects.filter(
        **own, kind=ArtifactKind.FILE.value, ref__iregex=rf"^{re.escape(topic)}/[^/]*$"
    )
    return Memory.objects.filter(
        Q(category__iexact=topic)
        | Q(subject__iexact=topic)
        | Q(subject__istartswith=f"{topic}.")
        | Exists(tagged)
        | Exists(in_folder)
    )


@dataclass(frozen=True, slots=True)
class FileTouches:
    """Files that memories name, oldest memory first: of the names asked for, and the latest."""

    named: list[Touch]
    latest: list[Touch]


def file_touches(*, viewer: Viewer, names: Sequence[str]) -> FileTouches:
    """Returns live visible files of those names, and of the latest memories; in scope."""
    named = touches_of_names(viewer=viewer, names=names)
    latest = _touches(viewer, "true", _MOST_LATEST)
    newest = set(list(dict.fromkeys(each.key for each in reversed(latest)))[:LATEST])
    return FileTouches(named, [each for each in latest if each.key in newest])


def touches_of_names(*, viewer: Viewer, names: Sequence[str]) -> list[Touch]:
    """Returns live visible files of those names, of the oldest memory first; in scope."""
    return _touches(viewer, "name = ANY(%(names)s::text[])", _MOST_NAMED, names=list(names))


def _touches(viewer: Viewer, among: str, most: int, **parameters: object) -> list[Touch]:
    statement = _SQL["touches"].format(
        among=among, looked_at=_LOOKED_AT * most, seen=seen_sql(viewer), most=most
    )
    rows = fetch_planned(statement, seen_parameters(viewer) | parameters)
    return [Touch(*row) for row in reversed(rows)]
