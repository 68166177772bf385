"""Recall and ingest rates on LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0).

Run as ``python -m benchmarks.locomo --data DIR`` beside a running, migrated database. Each sample
becomes a throwaway team of its own for each way in. The data is read from its folder only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.locomo_data import CATEGORIES, DEPTHS, Recall, Sample, read_sample
from benchmarks.locomo_reference import Bm25Reference, CosineReference

if TYPE_CHECKING:
    from memory.clients.tools import Tools
    from memory.services.messages.importing import ImportSummary

MODES = ("verbatim", "extracted", "extracted+raw", "extracted+weak")
Table = dict[str, dict[str, Any]]  # Any: counts and figures, None where nothing was measured


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
    from benchmarks.locomo_runs import INCLUDE_RAW, WAYS_IN, ask, ingest

    recalls = references(samples=samples, limit=limit, tools=tools)
    rates: Table = {}
    for mode in modes:
        recall = Recall(f"search, {mode}")
        done = []
        for sample in samples:
            home = ingest(sample=sample, mode=WAYS_IN[mode], tools=tools)
            ask(
                sample=sample,
                home=home,
                limit=limit,
                include_raw=INCLUDE_RAW[mode],
                recall=recall,
                tools=tools,
            )
            done.append(home.summary)
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
        help="extracted+weak: messages where memories are weak, as by default",
    )
    parser.add_argument("--limit", type=int, default=max(DEPTHS), help="results of a search")
    parser.add_argument("--questions", type=int, help="of each conversation; all when left out")
    parser.add_argument("--json", action="store_true", help="all figures, for machines")
    given = parser.parse_args()
    modes = given.mode.split(",")
    if unknown := set(modes) - set(MODES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose among {' '.join(MODES)}")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DATABASE_POOL_SIZE", "0")
    import django

    django.setup()
    from django.db import OperationalError

    from memory.clients.tools import default_tools

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
