"""Histories of git repositories, replayed for prediction: what was known when each file was opened.

One JSON object a line, oldest first: `sha`, `at`, `subject`, `files` (`path`, `added`, `removed`)
and `needed`, the earlier commits whose lines it changes (benchmarks/git_history.py makes such).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from memory.satellites.plans.prediction.ownership import LATEST, Touch, file_name

LIMITS: Final = (20, 50)


@dataclass(frozen=True, slots=True)
class Commit:
    """One line of a history; `paths` are most changed first, as they are opened."""

    sha: str
    at: str
    subject: str
    files: tuple[tuple[str, int, int], ...]
    needed: frozenset[str]

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, the most changed first."""
        return tuple(name for name, *lines in sorted(self.files, key=lambda each: -sum(each[1:])))

    def touches(self) -> Iterator[Touch]:
        """What the scorer is told of it once it has happened."""
        for path, added, removed in self.files:
            yield Touch(self.sha, path, added, removed, len(self.files))


@dataclass(frozen=True, slots=True)
class Event:
    """A commit that is about to be made, and what has happened by then."""

    commit: Commit
    before: Sequence[Commit]
    touches: Sequence[Touch]

    @property
    def recent(self) -> list[Touch]:
        """What the latest commits touched, oldest first."""
        return [touch for each in self.before[-LATEST:] for touch in each.touches()]


def read_history(file: Path) -> list[Commit]:
    """The commits of the file, oldest first."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [
        Commit(
            sha=each["sha"],
            at=each["at"],
            subject=each["subject"],
            files=tuple((one["path"], one["added"], one["removed"]) for one in each["files"]),
            needed=frozenset(each["needed"]),
        )
        for each in lines
    ]


def events(history: Sequence[Commit]) -> Iterator[Event]:
    """Every commit that needs earlier ones; `touches` are those of files named like its own."""
    by_name: dict[str, list[tuple[int, Touch]]] = {}
    for place, commit in enumerate(history):
        if commit.needed:
            names = {file_name(path) for path in commit.paths}
            rows = [row for name in names for row in by_name.get(name, ())]
            rows.sort(key=lambda row: row[0])
            yield Event(commit, history[:place], [touch for _, touch in rows])
        for touch in commit.touches():
            by_name.setdefault(file_name(touch.path), []).append((place, touch))


Ranker = Callable[[Event, Sequence[str]], Sequence[str]]


def shares(history: Sequence[Commit], rank: Ranker) -> list[float]:
    """The share of all needed among the first 20 and 50, after the first file, then after all."""
    hits = np.zeros((2, len(LIMITS)))
    needed = 0
    for event in events(history):
        needed += len(event.commit.needed)
        paths = event.commit.paths
        for row, opened in enumerate((paths[:1], paths)):
            ranked = list(rank(event, opened))
            hits[row] += [len(event.commit.needed.intersection(ranked[:most])) for most in LIMITS]
    return [float(each) for each in (hits / max(1, needed)).ravel()]
