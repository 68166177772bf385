"""Recall and ingest rates on LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0).

Run as ``python -m benchmarks.locomo --data DIR`` beside a running, migrated database. Each sample
becomes a throwaway team of its own for each way in. The data is read from its folder only.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from benchmarks.ground import ACTOR, make_episodes, new_team, scope_of
from memory.domain.audience import Viewer
from memory.domain.forms import Form
from memory.domain.text.words import STOP_WORDS
from memory.domain.types import MemoryType
from memory.reading.answers import ScoredMemory
from memory.reading.messages import ScoredMessage
from memory.reading.questions import Depth, Read
from memory.reading.questions import Question as Asked
from memory.reading.retrieval import search
from memory.satellites.transfer.transcripts import (
    ImportTarget,
    Transcript,
    Turn,
    import_transcripts,
    read_transcripts,
)
from memory.understanding.ports import Embedder
from memory.understanding.tools import Tools, default_tools
from memory.writing.drafts import Outcome
from memory.writing.indexing.message_index import index_team
from memory.writing.indexing.vector_graphs import renew_statistics
from memory.writing.stating import StatedMemory, remember
from teams.models import Agent, Message

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10, 20, 50)
MAX_CHARS = 32_000
_WORD = re.compile(r"\w+")
_ENDINGS = ("ing", "ies", "ed", "es", "s", "ly")
_STEM_CHARS = 3
_EVIDENCE = re.compile(r"D(\d+):(\d+)")
AGENT, USER = "observer", "speakers"
VERBATIM = "verbatim"
MODES = (VERBATIM, "extracted", "extracted+raw", "episodes", "episodes+raw")
Table = dict[str, dict[str, Any]]  # Any: counts and figures, None where nothing was measured


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
    transcripts = read_transcripts(data=data, stem=path.stem, max_chars=MAX_CHARS, now=now)
    known = {turn.external_id for each in transcripts for turn in each.turns}
    questions = [
        Question(item["question"], item["category"], evidence)
        for item in data["qa"]
        if item["category"] in CATEGORIES
        and (evidence := _evidence(item.get("evidence", [])) & known)
    ]
    return Sample(path.stem, transcripts, tuple(questions[:limit]))


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
        """Returns the number of questions asked, of one category or all."""
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


@dataclass(frozen=True, slots=True)
class Ingested:
    """The counts that an import stored, and the seconds that its two steps took."""

    messages: int
    memories: int
    posting: float
    learning: float


def ingest(*, sample: Sample, mode: str, tools: Tools) -> tuple[Viewer, Ingested]:
    """Import the sample into a new team; who asks there, and how the import went.

    Each speaker's memories are their own, so the agent asks on behalf of nobody and sees both
    speakers', but no profile.
    """
    team_id = new_team(f"locomo-{sample.name}").team_id
    viewer = Viewer(team_id=team_id, actor=ACTOR)
    run = partial(
        import_transcripts,
        target=ImportTarget(team_id=team_id, agent=AGENT, user=USER),
        transcripts=sample.transcripts,
        tools=tools,
        actor=ACTOR,
        now=timezone.now(),
    )
    started = time.perf_counter()
    messages = run(extract=False).new_messages
    posted = time.perf_counter()
    if mode == VERBATIM:
        memories = write_verbatim(viewer=viewer, tools=tools)
    else:
        memories = run(extract=True).new_memories
    learned = time.perf_counter()
    index_team(team_id=team_id, tools=tools)
    renew_statistics()  # as the command that imports does
    with scope_of(viewer):
        agent = Agent.objects.get(team_id=team_id, slug=AGENT).pk
    done = Ingested(messages, memories, posted - started, learned - posted)
    return Viewer(team_id, ACTOR, agent_id=agent, sees_people=True), done


def write_verbatim(*, viewer: Viewer, tools: Tools) -> int:
    """Write each message of the team verbatim as a memory of its speaker; returns how many."""
    with scope_of(viewer):
        rows = list(Message.objects.filter(team_id=viewer.team_id).order_by("id"))
    written = 0
    size = settings.MAX_ITEMS_PER_REQUEST
    for start in range(0, len(rows), size):
        stated = [
            StatedMemory(
                content=f"{row.name}: {row.content}",
                memory_type=MemoryType.EPISODIC,
                importance=5,
                agent=AGENT,
                user=row.name,
                conversation=row.conversation_id,
                message_ids=(row.pk,),
                created_at=row.created_at,
                check=False,
            )
            for row in rows[start : start + size]
        ]
        now = timezone.now()
        results = remember(viewer=viewer, stated=stated, tools=tools, now=now, is_import=True)
        written += sum(result.outcome == Outcome.CREATED for result in results)
    return written


def turns_of(found: ScoredMemory | ScoredMessage) -> list[str]:
    """The turns that a result stands for; an episode takes a place and stands for none."""
    if isinstance(found, ScoredMemory):
        if found.memory.form == Form.EPISODE:
            return []
        return found.memory.source_external_ids
    return [found.external_id] if found.external_id else []


def references(*, samples: Sequence[Sample], limit: int, tools: Tools) -> list[Recall]:
    """The recall of plain cosine and BM25 over the same turns."""
    cosine, bm25 = Recall(CosineReference.name), Recall(Bm25Reference.name)
    for sample in samples:
        turns = sample.turns
        texts = [f"{turn.name}: {turn.content}" for turn in turns]
        ways = (
            (cosine, CosineReference(texts=texts, embedder=tools.embedder)),
            (bm25, Bm25Reference(texts=texts)),
        )
        for question in sample.questions:
            for recall, way in ways:
                best = way.rank(question.text, limit=limit)
                recall.add(question, [[turns[index].external_id] for index in best])
    return [cosine, bm25]


def measure(
    *, samples: Sequence[Sample], modes: Sequence[str], limit: int, tools: Tools
) -> dict[str, Table]:
    """All figures: recall by way of searching, and rates by way in."""
    recalls = references(samples=samples, limit=limit, tools=tools)
    rates: Table = {}
    for mode in modes:
        recall, done = Recall(f"search, {mode}"), []
        for sample in samples:
            viewer, ingested = ingest(sample=sample, mode=mode, tools=tools)
            done.append(ingested)
            if mode.startswith("episodes"):
                made = make_episodes(viewer=viewer, tools=tools)
                print(f"{sample.name}: {made} episodes", file=sys.stderr)
            for question in sample.questions:
                found = search(
                    Read(
                        viewer=viewer,
                        question=Asked(question.text),
                        limit=limit,
                        depth=Depth(include_cold=False, include_raw=mode.endswith("+raw")),
                        tools=tools,
                        now=timezone.now(),
                    )
                ).results
                recall.add(question, [turns_of(each) for each in found])
        recalls.append(recall)
        rates[mode] = _rates(mode, done)
    return {"recall": {each.name: _recall_row(each) for each in recalls}, "rates": rates}


def _recall_row(recall: Recall) -> dict[str, Any]:  # Any: see Table
    row: dict[str, Any] = {"questions": recall.count()}
    row.update({f"R@{depth}": recall.at(depth) for depth in DEPTHS})
    for category, name in CATEGORIES.items():
        row[name] = {f"R@{depth}": recall.at(depth, category) for depth in DEPTHS}
        row[name]["questions"] = recall.count(category)
    return row


def _rates(mode: str, done: Sequence[Ingested]) -> dict[str, Any]:  # Any: see Table
    messages = sum(each.messages for each in done)
    memories = sum(each.memories for each in done)
    learning = sum(each.learning for each in done)
    return {
        "messages": messages,
        "memories": memories,
        "turns/s posted": _rate(messages, sum(each.posting for each in done)),
        "messages/s extracted": None if mode == VERBATIM else _rate(messages, learning),
        "memories/s written": _rate(memories, learning),
    }


def _rate(count: int, seconds: float) -> float | None:
    return count / seconds if seconds else None


def table_lines(*, result: dict[str, Table]) -> list[str]:
    """The figures as a printable table; recall in percent, per category at 10."""
    heads = [f"R@{depth}" for depth in DEPTHS]
    counts = next(iter(result["recall"].values()))
    names = [f"{name} ({counts[name]['questions']})" for name in CATEGORIES.values()]
    lines = [f"{'recall, %':26}" + _cells(heads, 7) + "   at 10:" + _cells(names, 18)]
    for name, row in result["recall"].items():
        by_category = [row[category]["R@10"] for category in CATEGORIES.values()]
        figures = [row[head] for head in heads]
        lines.append(f"{name:26}" + _cells(figures, 7) + "         " + _cells(by_category, 18))
    lines.append("")
    for name, row in result["rates"].items():
        pairs = ", ".join(f"{key} {_cell(value)}" for key, value in row.items())
        lines.append(f"{name:26}{pairs}")
    return lines


def _cells(values: Any, width: int) -> str:  # Any: any iterable of figures or heads
    return "".join(f"{_cell(value):>{width}}" for value in values)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the LoCoMo files")
    parser.add_argument("--conversations", help="names of files, as in 26,30; all when left out")
    parser.add_argument(
        "--mode",
        default="verbatim,extracted,extracted+raw",
        help="+raw: with the messages themselves, as by default; episodes: with the talk told as"
        " episodes too",
    )
    parser.add_argument("--limit", type=int, default=max(DEPTHS), help="results of a search")
    parser.add_argument("--questions", type=int, help="of each conversation; all when left out")
    parser.add_argument("--json", action="store_true", help="all figures, for machines")
    given = parser.parse_args()
    modes = given.mode.split(",")
    if unknown := set(modes) - set(MODES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose among {' '.join(MODES)}")
    wanted = given.conversations.split(",") if given.conversations else None
    paths = [
        path for path in sorted(given.data.glob("*.json")) if wanted is None or path.stem in wanted
    ]
    if not paths:
        parser.error(f"no such conversations in {given.data}")
    samples = [read_sample(path=path, limit=given.questions) for path in paths]
    try:
        result = measure(samples=samples, modes=modes, limit=given.limit, tools=default_tools())
    except OperationalError as error:
        sys.exit(f"PostgreSQL does not answer ({str(error).splitlines()[0]}).")
    print(json.dumps(result, indent=2) if given.json else "\n".join(table_lines(result=result)))


if __name__ == "__main__":
    main()
