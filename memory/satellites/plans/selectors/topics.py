"""Topics of memories: categories, tags, first parts of subjects, and folders of files."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q

from memory.domain.audience import Viewer
from memory.domain.forms import ArtifactKind
from memory.models import Memory, MemoryArtifact, MemoryTag
from memory.models.querysets import MemoryQuerySet
from memory.satellites.plans.placing import folder_of
from memory.satellites.plans.selectors.working_set import seen_parameters, seen_sql
from memory.selectors.filters import Kind
from memory.selectors.revisions import Revision
from memory.selectors.ttl_cache import SharedTTLCache
from teams.prepared import fetch_planned

MOST_TOPICS = 200
_STATEMENT = """
WITH seen AS MATERIALIZED (SELECT id, category, subject FROM memory_memory WHERE {seen})
SELECT topic, count(*)::int FROM (
    SELECT id, lower(category) AS topic FROM seen
    UNION SELECT id, lower(split_part(subject, '.', 1)) FROM seen
    UNION SELECT seen.id, lower(t.name) FROM seen
        JOIN memory_memorytag t ON t.team_id = %(team)s AND t.memory_id = seen.id
    UNION SELECT seen.id, lower(regexp_replace(a.ref, '/[^/]*$', '')) FROM seen
        JOIN memory_memoryartifact a ON a.team_id = %(team)s AND a.memory_id = seen.id
        WHERE a.kind = 'file' AND position('/' IN a.ref) > 0
) AS named
WHERE topic <> ''
GROUP BY topic ORDER BY count(*) DESC, topic LIMIT {most}
"""
_counted = SharedTTLCache()
# Counting takes at most this share of the time, where it takes long enough to matter.
_SHARE = 0.01
_LONG_SECONDS = 0.02


def topic_counts(*, viewer: Viewer, revision: Revision | None) -> list[tuple[str, int]]:
    """How many memories that the viewer may see each topic has, most first; call it in scope.

    `revision` is the team's in this transaction: while it stands a process remembers the answer.
    Where counting takes long, it is also remembered for a hundred times as long.
    """
    parameters = seen_parameters(viewer)
    owner = (Kind.of(viewer), *((name, str(value)) for name, value in parameters.items()))
    known = _counted.get(owner)
    now = time.monotonic()
    if known is not None and revision is not None:
        at_revision, until, topics = known
        if at_revision == revision.memories or now < until:
            return list(topics)
    statement = _STATEMENT.format(seen=seen_sql(viewer), most=MOST_TOPICS)
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
