"""Compares what several memories find in long talk, without a language model as judge.

`make report LOCOMO=folder LONGMEMEVAL=file` starts a server of its own in a throwaway home, prints
the figures and writes `docs/report.md`. Either set may be left out. Every memory gets the same
messages in the same order and, where it wants one, the same encoder (the built-in one):

- Palimpsest: messages imported and extracted without a language model; `search` finds memories and
  messages, and the prompt is that of `retrieve` with the agent's own budget;
- BM25: Okapi over words without stop words and common endings, in memory;
- grep: messages with most of the question's words, latest first;
- mem0 OSS: `add(infer=False)` for each message, its own Qdrant; `search`;
- LangGraph: `InMemoryStore` with an index of vectors; `search`;
- full context: everything in the prompt.

Recall is the share of a question's labelled messages, or of their sessions, among the first k
results. Nothing is judged by a model. Latency is of a call in this process, one at a time.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import logging
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Protocol

import numpy as np
from django.utils import timezone

from benchmarks import understanding
from benchmarks.instance import everything, free_port
from benchmarks.locomo import (
    AGENT,
    MAX_CHARS,
    Bm25Reference,
    Question,
    Recall,
    Sample,
    ingest,
    read_sample,
    turns_of,
)
from config.embedded import PROJECT_ROOT
from memory.domain.rendering import estimate_tokens
from memory.domain.text.words import STOP_WORDS
from memory.domain.types import Role
from memory.reading.answers import ScoredMemory, budget_for, own_weights
from memory.reading.messages import ScoredMessage
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Read
from memory.reading.questions import Question as Asked
from memory.reading.retrieval import prompt, search
from memory.satellites.transfer.transcripts import Transcript, Turn
from memory.understanding.embedders import built_in_embedder
from memory.understanding.ports import Embedder
from memory.understanding.tools import default_tools
from teams.models import Agent
from teams.tenancy import team_scope

REPORT: Final = PROJECT_ROOT / "docs" / "report.md"
DEPTHS: Final = (5, 10, 50)
# So many results go into the prompt of a memory that makes none itself.
TOLD: Final = 20
FULL: Final = "full context"
_UNDERSTOOD: Final = """## Conflicts and extraction

On labelled text that the models were not fitted to ([understanding](understanding.md)):

```text
{}
```
"""
_DATE: Final = "%Y/%m/%d (%a) %H:%M"
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Answered:
    """The turns that each result stands for, best first, and the prompt if the memory makes one."""

    ranked: Sequence[Sequence[str]]
    in_prompt: frozenset[str] | None = None
    tokens: int | None = None


class Contender(Protocol):
    """A memory that stores one sample and is asked about it."""

    name: str

    def store(self, sample: Sample) -> None:
        """Stores every message of the sample."""

    def find(self, question: str) -> Callable[[], Answered]:
        """Searches, which is timed, and returns how to read the answer, which is not."""


def texts_of(sample: Sample) -> list[str]:
    """The messages of a sample as every contender stores them."""
    return [f"{turn.name or turn.role.value}: {turn.content}" for turn in sample.turns]


class Palimpsest:
    """This product, in process, without a language model."""

    name = "Palimpsest"

    def store(self, sample: Sample) -> None:
        self._tools = default_tools()
        self._viewer, _ = ingest(sample=sample, mode="extracted+raw", tools=self._tools)
        with team_scope(team_ids=[self._viewer.team_id], actor=self._viewer.actor):
            agent = Agent.objects.get(team_id=self._viewer.team_id, slug=AGENT)
        self._packing = Packing(weights=own_weights(agent), token_budget=budget_for(agent, None))

    def find(self, question: str) -> Callable[[], Answered]:
        read = Read(
            viewer=self._viewer,
            question=Asked(question),
            limit=max(DEPTHS),
            depth=Depth(include_raw=True),
            tools=self._tools,
            now=timezone.now(),
        )
        results = search(read).results

        def answer() -> Answered:
            told = prompt(read, packing=self._packing)
            found: list[ScoredMemory | ScoredMessage] = [*told.memories, *told.messages]
            turns = [turn for each in found for turn in turns_of(each)]
            ranked = [turns_of(each) for each in results]
            return Answered(ranked, frozenset(turns), told.stats.tokens_used)

        return answer


@dataclass
class Ranking:
    """A contender that ranks the texts of a sample: `make` returns the ranking of a question."""

    name: str
    make: Callable[[list[str]], Callable[[str], Sequence[int]]]

    def store(self, sample: Sample) -> None:
        self._ids = [turn.external_id for turn in sample.turns]
        self._rank = self.make(texts_of(sample))

    def find(self, question: str) -> Callable[[], Answered]:
        best = self._rank(question)
        return lambda: Answered([[self._ids[place]] for place in best])


def bm25(texts: list[str]) -> Callable[[str], Sequence[int]]:
    """Ranks by Okapi BM25."""
    reference = Bm25Reference(texts=texts)
    return lambda question: reference.rank(question, limit=max(DEPTHS))


def grep(texts: list[str]) -> Callable[[str], Sequence[int]]:
    """Ranks by the number of the question's words that a text contains, then the latest first."""
    lowered = [text.lower() for text in texts]

    def rank(question: str) -> Sequence[int]:
        words = set(_WORD.findall(question.lower())) - STOP_WORDS
        counts = [sum(word in text for word in words) for text in lowered]
        found = [place for place, count in enumerate(counts) if count]
        return sorted(found, key=lambda place: (-counts[place], -place))[: max(DEPTHS)]

    return rank


def full_context(texts: list[str]) -> Callable[[str], Sequence[int]]:
    """Returns everything, the latest first."""
    return lambda _: range(len(texts) - 1, -1, -1)


def langgraph(texts: list[str]) -> Callable[[str], Sequence[int]]:
    """Ranks by LangGraph's store in memory."""
    from langgraph.store.memory import InMemoryStore

    embedder = built_in_embedder()
    store = InMemoryStore(
        index={
            "dims": len(embedder.embed(["dimensions"])[0]),
            "embed": lambda given: [vector.tolist() for vector in embedder.embed(list(given))],
            "fields": ["text"],
        }
    )
    for place, text in enumerate(texts):
        store.put(("talk",), str(place), {"text": text})
    return lambda question: [
        int(each.key) for each in store.search(("talk",), query=question, limit=max(DEPTHS))
    ]


class _OfMem0:
    """The built-in encoder as mem0 calls it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        return [vector.tolist() for vector in self._embedder.embed(texts)]


def mem0(texts: list[str]) -> Callable[[str], Sequence[int]]:
    """Ranks by mem0's open-source memory, which stores each message without a language model."""
    logging.getLogger("mem0").setLevel(logging.ERROR)
    folder = tempfile.mkdtemp(prefix="palimpsest-report-mem0-")
    os.environ["MEM0_TELEMETRY"], os.environ["MEM0_DIR"] = "False", folder
    from mem0 import Memory as Mem0

    embedder = built_in_embedder()
    dimensions = len(embedder.embed(["dimensions"])[0])
    memory: Any = Mem0.from_config(  # Any: mem0 has no types
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": f"{folder}/qdrant", "embedding_model_dims": dimensions},
            },
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": f"{folder}/history.db",
        }
    )
    memory.embedding_model = _OfMem0(embedder)
    for place, text in enumerate(texts):
        said = [{"role": "user", "content": text}]
        memory.add(said, user_id="talk", metadata={"place": place}, infer=False)

    def rank(question: str) -> Sequence[int]:
        found = memory.search(
            question, filters={"user_id": "talk"}, top_k=max(DEPTHS), threshold=0.0
        )
        return [each["metadata"]["place"] for each in found["results"]]

    return rank


CONTENDERS: Final[Sequence[Contender]] = (
    Palimpsest(),
    Ranking("BM25", bm25),
    Ranking("grep", grep),
    Ranking(f"mem0 OSS {version('mem0ai')}", mem0),
    Ranking(f"LangGraph {version('langgraph')}", langgraph),
    Ranking(FULL, full_context),
)


@dataclass
class Figures:
    """Figures of one contender on one set."""

    name: str
    by_message: Recall = field(init=False)
    by_session: Recall = field(init=False)
    shares: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    messages: int = 0
    stored_in: float = 0.0

    def __post_init__(self) -> None:
        self.by_message, self.by_session = Recall(self.name), Recall(self.name)

    def row(self) -> str:
        """The figures as a row of the table."""
        is_ranked = self.name != FULL
        recalls = (each.at(k) for each in (self.by_message, self.by_session) for k in DEPTHS)
        cells = [
            *(f"{recall or 0:.1f}" if is_ranked else "" for recall in recalls),
            f"{100 * fmean(self.shares):.1f}",
            f"{fmean(self.tokens):,.0f}",
            f"{1000 * float(np.percentile(self.seconds, 50)):.1f}",
            f"{1000 * float(np.percentile(self.seconds, 95)):.1f}",
            f"{self.messages / self.stored_in:,.0f}" if self.stored_in else "",
        ]
        return f"| {self.name} | {' | '.join(cells)} |"


def measure(contender: Contender, samples: Sequence[Sample]) -> Figures:
    """Stores each sample and asks all its questions."""
    figures = Figures(contender.name)
    is_everything = contender.name == FULL
    for sample in samples:
        began = time.perf_counter()
        contender.store(sample)
        figures.stored_in += time.perf_counter() - began
        figures.messages += len(sample.turns)
        sessions = {
            turn.external_id: each.thread_id for each in sample.transcripts for turn in each.turns
        }
        sizes = {
            turn.external_id: estimate_tokens(text)
            for turn, text in zip(sample.turns, texts_of(sample), strict=True)
        }
        for question in sample.questions:
            began = time.perf_counter()
            read = contender.find(question.text)
            figures.seconds.append(time.perf_counter() - began)
            answered = read()
            figures.by_message.add(question, answered.ranked)
            of_sessions = Question(
                question.text,
                question.category,
                frozenset(sessions[turn] for turn in question.evidence),
            )
            figures.by_session.add(
                of_sessions, [{sessions[turn] for turn in each} for each in answered.ranked]
            )
            told = answered.ranked if is_everything else answered.ranked[:TOLD]
            in_prompt = answered.in_prompt
            if in_prompt is None:
                in_prompt = frozenset(turn for each in told for turn in each)
            figures.shares.append(len(question.evidence & in_prompt) / len(question.evidence))
            tokens = answered.tokens
            figures.tokens.append(
                sum(sizes[turn] for turn in in_prompt) if tokens is None else tokens
            )
        print(f"  {contender.name}: {sample.name}", file=sys.stderr)
    return figures


def read_longmemeval(path: Path, *, limit: int | None) -> list[Sample]:
    """Reads a file in LongMemEval's form, at most `limit` of its questions.

    Questions of the same sessions are one sample; those without labelled messages are left out.
    """
    transcripts: dict[str, tuple[Transcript, ...]] = {}
    asked: dict[str, list[Question]] = {}
    for item in json.loads(path.read_text(encoding="utf-8"))[:limit]:
        sessions = list(zip(item["haystack_session_ids"], item["haystack_sessions"], strict=True))
        evidence = frozenset(
            f"{session}:{place}"
            for session, said in sessions
            for place, each in enumerate(said)
            if each.get("has_answer")
        )
        if not evidence:
            continue
        dates = zip(sessions, item["haystack_dates"], strict=True)
        read = tuple(_transcript(session, said, date) for (session, said), date in dates)
        key = hashlib.sha256(repr(read).encode()).hexdigest()
        transcripts[key] = tuple(each for each in read if each.turns)
        asked.setdefault(key, []).append(Question(item["question"], 1, evidence))
    return [
        Sample(f"haystack-{place}", transcripts[key], tuple(questions))
        for place, (key, questions) in enumerate(asked.items(), 1)
    ]


def _transcript(session: str, said: Sequence[Any], date: str) -> Transcript:  # Any: JSON
    at = datetime.strptime(date, _DATE).replace(tzinfo=UTC)
    turns = (
        Turn(Role(each["role"]), each["content"][:MAX_CHARS], f"{session}:{place}", "", at)
        for place, each in enumerate(said)
        if each["content"].strip()
    )
    return Transcript(session, tuple(turns))


def tables(sets: Sequence[tuple[str, Sequence[Sample]]]) -> Iterator[str]:
    """Yields the lines of a table for each set."""
    heads = [
        *(f"{what} R@{k}" for what in ("message", "session") for k in DEPTHS),
        "in the prompt",
        "tokens",
        "p50 ms",
        "p95 ms",
        "messages/s stored",
    ]
    for title, samples in sets:
        messages = sum(len(sample.turns) for sample in samples)
        questions = sum(len(sample.questions) for sample in samples)
        yield f"## {title}: {messages:,} messages, {questions:,} questions"
        yield ""
        yield f"| | {' | '.join(heads)} |"
        yield f"|---|{'---:|' * len(heads)}"
        for contender in CONTENDERS:
            yield measure(contender, samples).row()
        yield ""


def understood() -> str:
    """Returns the figures of conflicts and extraction, of text that no model was fitted to."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        understanding.pairs(is_stored=False, asks_models=False, is_verbose=False)
        understanding.stores()
        understanding.talk(asks_models=False, is_verbose=False)
        understanding.forms()
    return printed.getvalue().rstrip()


def main() -> None:
    """Starts a server of its own, measures beside it, and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, help="folder of the LoCoMo files")
    parser.add_argument("--longmemeval", type=Path, help="file in LongMemEval's form")
    parser.add_argument("--questions", type=int, help="of each set's samples; all when left out")
    parser.add_argument("--beside", action="store_true", help="use the running server")
    given = parser.parse_args()
    if not given.beside:
        with tempfile.TemporaryDirectory(prefix="palimpsest-report-") as home:
            environment = {**os.environ, "PALIMPSEST_HOME": home, "PORT": str(free_port())}
            with everything(environment):
                arguments = [sys.executable, "-m", "benchmarks.report", "--beside", *sys.argv[1:]]
                sys.exit(os.spawnve(os.P_WAIT, sys.executable, arguments, environment))
    sets: list[tuple[str, Sequence[Sample]]] = []
    if given.locomo:
        files = sorted(given.locomo.glob("*.json"))
        samples = [read_sample(path=path, limit=given.questions) for path in files]
        sets.append((f"LoCoMo ({len(files)} conversations)", samples))
    if given.longmemeval:
        samples = read_longmemeval(given.longmemeval, limit=given.questions)
        sets.append((given.longmemeval.stem, samples))
    if not sets:
        parser.error("name a set: --locomo FOLDER or --longmemeval FILE")
    head = (
        (Path(__file__).parent / "report_head.md")
        .read_text(encoding="utf-8")
        .format(cores=os.cpu_count(), load=os.getloadavg()[0], told=TOLD)
    )
    body = "\n".join(tables(sets))
    REPORT.write_text(f"{head}\n{body}\n{_UNDERSTOOD.format(understood())}", encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
