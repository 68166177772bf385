"""Recall and ingest rates on LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0).

Run as ``python -m benchmarks.locomo --data DIR`` beside a running, migrated database. Each sample
becomes a throwaway team of its own for each way in. The data is read from its folder only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import OperationalError
from django.utils import timezone

from benchmarks.ground import ACTOR, make_episodes, new_team, scope_of
from benchmarks.locomo_data import (
    CATEGORIES,
    DEPTHS,
    Bm25Reference,
    CosineReference,
    Recall,
    Sample,
    read_sample,
)
from memory.domain.forms import Form
from memory.domain.viewer import Viewer
from memory.satellites.transfer.targets import ImportMode, ImportSummary, ImportTarget
from memory.satellites.transfer.transcript_import import import_transcripts
from memory.services.indexing.message_index import index_team
from memory.services.indexing.statistics import renew_statistics
from memory.services.read.answers import ScoredMemory
from memory.services.read.messages import ScoredMessage
from memory.services.read.ranking import Question
from memory.services.read.retrieval import Read, search
from memory.services.read.search import Depth
from memory.understanding.tools import Tools, default_tools
from teams.models import Agent

AGENT, USER = "observer", "speakers"
# How a sample comes in, and whether the messages themselves are searched.
MODES = {
    "verbatim": (ImportMode.VERBATIM, False),
    "extracted": (ImportMode.MESSAGES, False),
    "extracted+raw": (ImportMode.MESSAGES, True),
    "episodes": (ImportMode.MESSAGES, False),
    "episodes+raw": (ImportMode.MESSAGES, True),
}
Table = dict[str, dict[str, Any]]  # Any: counts and figures, None where nothing was measured


def ingest(*, sample: Sample, mode: ImportMode, tools: Tools) -> tuple[Viewer, ImportSummary]:
    """Import the sample into a new team; who asks there, and how the import went.

    Each speaker's memories are their own, so the agent asks on behalf of nobody and sees both
    speakers', but no profile.
    """
    team_id = new_team(f"locomo-{sample.name}").team_id
    summary = import_transcripts(
        target=ImportTarget(team_id=team_id, agent=AGENT, user=USER),
        transcripts=sample.transcripts,
        mode=mode,
        extract=True,
        tools=tools,
        actor=ACTOR,
        now=timezone.now(),
    )
    index_team(team_id=team_id, tools=tools)
    renew_statistics()  # as the command that imports does
    viewer = Viewer(team_id=team_id, actor=ACTOR)
    with scope_of(viewer):
        agent = Agent.objects.get(team_id=team_id, slug=AGENT).pk
    return Viewer(team_id, ACTOR, agent_id=agent), summary


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
        way_in, include_raw = MODES[mode]
        for sample in samples:
            viewer, summary = ingest(sample=sample, mode=way_in, tools=tools)
            done.append(summary)
            if mode.startswith("episodes"):
                made = make_episodes(viewer=viewer, tools=tools)
                print(f"{sample.name}: {made} episodes", file=sys.stderr)
            for question in sample.questions:
                found = search(
                    Read(
                        viewer=viewer,
                        question=Question(question.text),
                        limit=limit,
                        depth=Depth(include_cold=False, include_raw=include_raw),
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


def _rates(mode: str, done: Sequence[ImportSummary]) -> dict[str, Any]:  # Any: see Table
    messages = sum(each.new_messages for each in done)
    memories = sum(each.new_memories for each in done)
    extracting = sum(each.extract_seconds for each in done)
    extracts = mode != "verbatim"
    # An extracted memory is written within the extraction, a verbatim one in a step of its own.
    writing = extracting if extracts else sum(each.write_seconds for each in done)
    return {
        "messages": messages,
        "memories": memories,
        "turns/s posted": _rate(messages, sum(each.post_seconds for each in done)),
        "messages/s extracted": _rate(messages, extracting) if extracts else None,
        "memories/s written": _rate(memories, writing),
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
