"""Learns the patterns of a project from its files: what repeats becomes memories of the project."""

from __future__ import annotations

import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from memory.domain.audience import Viewer
from memory.domain.forms import ArtifactKind, Form, rendered
from memory.domain.types import Scope, Status
from memory.models import Memory
from memory.satellites.workflows.parsing import UnreadableCodeError, parse_code
from memory.satellites.workflows.shapes import (
    Cluster,
    Information,
    Place,
    Shape,
    ShapeIndex,
    clusters_of,
    is_repeated,
    largest,
)
from memory.satellites.workflows.templates import Template, template_of
from memory.understanding.languages import language_of
from memory.understanding.tools import Tools
from memory.writing.background import retried
from memory.writing.drafts import MemoryDraft, WriteResult, draft_of_version
from memory.writing.stating import StatedMemory, remember
from memory.writing.write_path import write_memories
from teams.models import Project
from teams.tenancy import team_scope

LEARNER = "patterns"
MAX_FILES = 500
MAX_FILE_CHARS = 200_000
MAX_TOTAL_CHARS = 1_000_000
MAX_PATTERNS = 20
"""New ones of one call: the best; the same files again give the next."""
MAX_STRENGTHENED = 100
READING_SECONDS, SECONDS = 3.0, 4.5
"""Of a call: until the last file is begun, and until the last shape is."""
MAX_KNOWN = 1000
MAX_PLACES = 50
FIRST_IMPORTANCE, MOST_IMPORTANCE = 6, 8
_SAMPLES = 6


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A file to learn from, by the path that places name."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Learned:
    """New and strengthened patterns, how many stand as known, and paths `skipped` with reasons."""

    new: Sequence[WriteResult]
    strengthened: Sequence[WriteResult]
    unchanged: int
    skipped: Sequence[tuple[str, str]]


@retried
def learn_patterns(
    *,
    viewer: Viewer,
    project: str,
    files: Sequence[CodeFile],
    tools: Tools,
    now: datetime,
    agent: str | None = None,
) -> Learned:
    """Store the shapes that repeat in the files as patterns of the project.

    A shape stands at least three times in at least two files. One that the project knows is
    strengthened by each file it had not stood in. What somebody deleted stays deleted. Files that
    cannot be read, or not in the time there is, are skipped. Raises what `remember` raises.
    """
    skipped: list[tuple[str, str]] = []
    began = time.monotonic()
    index, texts = _read(files, skipped, ends=began + READING_SECONDS)
    known = _Known.of(viewer=viewer, project=project)
    found, again = _found(index, known, ends=began + SECONDS)
    strengthened, unchanged = _strengthen(
        viewer=viewer, again=again, read=frozenset(texts), tools=tools, now=now
    )
    fresh = known.without_taken(viewer=viewer, found=found)
    told = _told(fresh, texts, project=project, ends=began + SECONDS)
    stated = list(islice(told, MAX_PATTERNS))
    new: list[WriteResult] = []
    if stated:
        new = remember(
            viewer=viewer,
            stated=[replace(each, agent=agent) for each in stated],
            tools=tools,
            now=now,
            reason="learned from code",
            extractor=LEARNER,
            prefix=False,
        )
    return Learned(new, strengthened, unchanged, skipped)


def _read(
    files: Iterable[CodeFile], skipped: list[tuple[str, str]], *, ends: float
) -> tuple[ShapeIndex, dict[str, str]]:
    index, texts = ShapeIndex(), {}
    for file in files:
        try:
            if time.monotonic() > ends:
                raise UnreadableCodeError("no time left; send it again with fewer files")
            index.add(parse_code(path=file.path, text=file.text))
        except UnreadableCodeError as error:
            skipped.append((file.path, str(error)))
        else:
            texts[file.path] = file.text
    return index, texts


@dataclass(frozen=True, slots=True)
class _Known:
    """The patterns of a project that were learned, by the digests of their shapes."""

    project: str
    by_digest: Mapping[str, Sequence[tuple[Shape, Memory]]]

    @classmethod
    def of(cls, *, viewer: Viewer, project: str) -> _Known:
        """The newest 1,000 that stand or were taken out; a superseded one has its successor."""
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            of_team = Project.objects.filter(team_id=viewer.team_id, slug=project)
            project_id = of_team.values_list("pk", flat=True).first()
            rows = (
                Memory.objects.visible_to(viewer)
                .filter(project_id=project_id, form=Form.PATTERN.value, payload__has_key="shape")
                .exclude(status=Status.SUPERSEDED.value)
                .order_by("-pk")[:MAX_KNOWN]
                if project_id
                else ()
            )
            by_digest: dict[str, list[tuple[Shape, Memory]]] = defaultdict(list)
            for row in rows:
                if shape := Shape.parse(row.payload["shape"]):
                    by_digest[shape.digest].append((shape, row))
        return cls(project, by_digest)

    def external_id(self, shape: Shape) -> str:
        """Under which a shape of the project is stored once, also by calls at the same time."""
        digest = hashlib.blake2b(shape.name.encode(), digest_size=12).hexdigest()
        return f"pattern:{self.project}:{digest}"

    def without_taken(
        self, *, viewer: Viewer, found: Sequence[Cluster]
    ) -> list[tuple[str, Shape, Cluster]]:
        """Returns those that were never stored, also not as deleted, with their external ids."""
        shapes = ((Shape.of(each.digest, each.places), each) for each in found)
        named = [(self.external_id(shape), shape, each) for shape, each in shapes]
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            # Not `visible_to`: none of it is told, and the write refuses an id that is taken by
            # what the viewer may not see, with all that would be learned beside it.
            stored = Memory.objects.filter(
                team_id=viewer.team_id, external_id__in=[name for name, _, _ in named]
            )
            taken = set(stored.values_list("external_id", flat=True))
        return [each for each in named if each[0] not in taken]


def _found(
    index: ShapeIndex, known: _Known, *, ends: float
) -> tuple[list[Cluster], list[tuple[Memory, Sequence[Place]]]]:
    """The clusters that are new, best first, and the known patterns with where they stand."""
    information = Information(index.frequency)
    clusters: list[Cluster] = []
    again: list[tuple[Memory, Sequence[Place]]] = []
    for digest, places in index.groups(known=frozenset(known.by_digest)):
        if time.monotonic() > ends:
            break
        for shape, memory in known.by_digest.get(digest, ()):
            of_shape = [place for place in places if shape.fits(place)]
            places = [place for place in places if not shape.fits(place)]
            if of_shape:
                again.append((memory, of_shape))
        if is_repeated(places):
            clusters += clusters_of(digest, places, information)
    told = [place for _, places in again for place in places]
    return largest(clusters, told=told), again


def _strengthen(
    *,
    viewer: Viewer,
    again: Iterable[tuple[Memory, Sequence[Place]]],
    read: frozenset[str],
    tools: Tools,
    now: datetime,
) -> tuple[list[WriteResult], int]:
    """New versions of the live patterns that stand elsewhere than they did, and how many do not."""
    drafts: list[MemoryDraft] = []
    unchanged = 0
    for memory, places in again:
        before = [each["ref"] for each in memory.payload.get("artifacts", ())]
        refs = [place.ref for place in places]
        elsewhere = [ref for ref in before if _path(ref) not in read]
        # Lines move with every edit; what tells something is in how many places of which files.
        was = Counter(_path(ref) for ref in before if _path(ref) in read)
        is_full = len(before) >= MAX_PLACES
        is_same = was == Counter(map(_path, refs))
        if not memory.is_live or is_full or is_same or len(drafts) == MAX_STRENGTHENED:
            unchanged += 1
            continue
        grew = len(refs) + len(elsewhere) > len(before)
        draft = draft_of_version(memory=memory, content=memory.content, extractor=LEARNER, now=now)
        payload = {**memory.payload, "artifacts": _artifacts([*elsewhere, *refs])}
        importance = max(memory.importance, min(MOST_IMPORTANCE, memory.importance + grew))
        drafts.append(replace(draft, payload=payload, importance=importance, check=False))
    if not drafts:
        return [], unchanged
    reason = "found again in code"
    return write_memories(viewer=viewer, drafts=drafts, tools=tools, reason=reason), unchanged


def _told(
    found: Iterable[tuple[str, Shape, Cluster]],
    texts: Mapping[str, str],
    *,
    project: str,
    ends: float,
) -> Iterator[StatedMemory]:
    """The clusters as memories, until `ends`; without those whose every step varies."""
    for external_id, shape, cluster in found:
        if time.monotonic() > ends:
            break
        template = _template(cluster, texts)
        if not template.hint:
            continue
        language = language_of(cluster.places[0].path)
        payload: dict[str, Any] = {  # Any: JSON
            "trigger": template.trigger,
            "template": template.code,
            "hint": template.hint,
            "language": language.value if language else "",
            "shape": shape.name,
            "artifacts": _artifacts([place.ref for place in cluster.places]),
        }
        yield StatedMemory(
            content=rendered(Form.PATTERN, payload),
            scope=Scope.PROJECT,
            project=project,
            importance=FIRST_IMPORTANCE,
            external_id=external_id,
            # Patterns are worded alike and never contradict each other.
            check=False,
            form=Form.PATTERN,
            payload=payload,
        )


def _template(cluster: Cluster, texts: Mapping[str, str]) -> Template:
    # Places of many files say more of what varies than places of one.
    first = {place.path: place for place in reversed(cluster.places)}
    chosen = [*first.values(), *(each for each in cluster.places if each not in first.values())]
    samples = [
        (parse_code(path=each.path, text=texts[each.path]), each) for each in chosen[:_SAMPLES]
    ]
    return template_of(samples, places=cluster.places)


def _artifacts(refs: Sequence[str]) -> list[dict[str, str]]:
    return [{"kind": ArtifactKind.FILE.value, "ref": ref} for ref in refs[:MAX_PLACES]]


def _path(ref: str) -> str:
    return ref.rpartition("#L")[0]
