"""LoCoMo files as transcripts with questions, the recall of evidence turns, and two references.

The figures are those of the data's README: recall@k over the questions of categories 1 to 4.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import numpy as np

from memory.domain.text.stop_words import STOP_WORDS
from memory.satellites.transfer.transcripts import Transcript, Turn, read_transcripts
from memory.understanding.ports import Embedder

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10, 20, 50)
MAX_CHARS = 32_000
_WORD = re.compile(r"\w+")
_ENDINGS = ("ing", "ies", "ed", "es", "s", "ly")
_STEM_CHARS = 3
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


class CosineReference:
    """Ranks texts by the embedder alone, exactly."""

    name = "cosine alone"

    def __init__(self, *, texts: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = embedder.embed(texts)

    def rank(self, question: str, *, limit: int) -> list[int]:
        """The indexes of the `limit` nearest texts, nearest first."""
        scores = self._vectors @ self._embedder.embed([question])[0]
        return [int(index) for index in np.argsort(-scores, kind="stable")[:limit]]


class Bm25Reference:
    """Ranks texts by Okapi BM25 over lower-case words without stop words and common endings.

    k1 = 1.2 and b = 0.75 as in Robertson and Zaragoza 2009, idf = ln(1 + (N - n + ½)/(n + ½)).
    """

    name = "BM25 in memory"
    _k1 = 1.2
    _b = 0.75

    def __init__(self, *, texts: Sequence[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(texts))
        self._containing = Counter(word for counts in self._counts for word in counts)

    def rank(self, question: str, *, limit: int) -> list[int]:
        """The indexes of the `limit` best texts, best first."""
        words = set(_words(question)) & set(self._containing)
        scores = [self._score(words, index) for index in range(len(self._counts))]
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        return order[:limit]

    def _score(self, words: set[str], index: int) -> float:
        counts, total = self._counts[index], len(self._counts)
        norm = self._k1 * (1 - self._b + self._b * self._lengths[index] / self._mean)
        return sum(
            math.log(1 + (total - self._containing[word] + 0.5) / (self._containing[word] + 0.5))
            * counts[word]
            * (self._k1 + 1)
            / (counts[word] + norm)
            for word in words
            if word in counts
        )


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS:
            return word[: -len(ending)]
    return word
