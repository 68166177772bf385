"""LoCoMo files as transcripts with questions, and the recall of evidence turns.

The figures are those of the data's README: recall@k over the questions of categories 1 to 4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from memory.domain.transcripts import Transcript, Turn, read_transcripts

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10, 20, 50)
MAX_CHARS = 32_000
_EVIDENCE = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it, never none."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sample:
    """One conversation over many sessions, with its questions."""

    name: str
    transcripts: tuple[Transcript, ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> list[Turn]:
        """All turns in order."""
        return [turn for transcript in self.transcripts for turn in transcript.turns]


def read_sample(*, path: Path, limit: int | None = None) -> Sample:
    """The file's sessions and its first `limit` questions that have evidence."""
    data = json.loads(path.read_text(encoding="utf-8"))
    now = datetime.now(UTC)
    file = read_transcripts(data=data, stem=path.stem, max_chars=MAX_CHARS, now=now)
    known = {turn.external_id for each in file.transcripts for turn in each.turns}
    questions = [
        Question(item["question"], item["category"], evidence)
        for item in data["qa"]
        if item["category"] in CATEGORIES
        and (evidence := _evidence(item.get("evidence", [])) & known)
    ]
    return Sample(path.stem, file.transcripts, tuple(questions[:limit]))


def _evidence(strings: Sequence[str]) -> frozenset[str]:
    """The turn ids in strings of one or several; what is malformed is left out."""
    parts = [part for text in strings for part in re.split(r"[;,\s]+", text)]
    matches = [_EVIDENCE.fullmatch(part) for part in parts]
    return frozenset(f"D{int(m.group(1))}:{int(m.group(2))}" for m in matches if m)


@dataclass(slots=True)
class Recall:
    """Recall of one way of searching, gathered question by question."""

    name: str
    shares: list[tuple[int, dict[int, float]]] = field(default_factory=list)

    def add(self, question: Question, ranked: Sequence[Collection[str]]) -> None:
        """Note which turns the results of a question, best first, stand for."""
        found: set[str] = set()
        at: dict[int, float] = {}
        for depth in DEPTHS:
            found.update(*ranked[:depth])
            at[depth] = len(question.evidence & found) / len(question.evidence)
        self.shares.append((question.category, at))

    def at(self, depth: int, category: int | None = None) -> float | None:
        """The mean recall in percent, of one category or all; None without a question."""
        values = [at[depth] for each, at in self.shares if category is None or each == category]
        return 100 * fmean(values) if values else None

    def count(self, category: int | None = None) -> int:
        """How many questions were asked."""
        return sum(category is None or each == category for each, _ in self.shares)
