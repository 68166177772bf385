"""How much a least relevance keeps of right answers, and how often it leaves nothing to tell.

Run as ``python -m benchmarks.silence --data DIR`` beside a running, migrated database. Each LoCoMo
file becomes a team, verbatim. Its own questions have an answer there; those of the other files,
asked about its two speakers, mostly have none.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from django.utils import timezone

from benchmarks.locomo import ingest
from benchmarks.locomo_data import Sample, read_sample
from memory.domain.viewer import Viewer
from memory.satellites.transfer.targets import ImportMode
from memory.services.read.ranking import Question
from memory.services.read.retrieval import Read, search
from memory.services.read.search import Depth
from memory.understanding.tools import Tools, default_tools

FLOORS = (0.1, 0.15, 0.2, 0.24, 0.25, 0.3, 0.35, 0.4, 0.5)
FIRST, FOUND = 5, 50


@dataclass(frozen=True, slots=True)
class Asked:
    """The relevance of the best result, and of the best one that answers; None without one."""

    best: float
    right: float | None = None


def ask(text: str, *, evidence: frozenset[str], viewer: Viewer, tools: Tools) -> Asked:
    """What a search finds, whatever its relevance; an answer is among the first five."""
    found = search(
        Read(
            viewer=viewer,
            question=Question(text),
            limit=FOUND,
            depth=Depth(include_cold=False, include_raw=False),
            min_score=0.0,
            tools=tools,
            now=timezone.now(),
        )
    ).memories
    right = [
        each.signals.semantic
        for each in found[:FIRST]
        if evidence.intersection(each.memory.source_external_ids)
    ]
    best = max((each.signals.semantic for each in found), default=0.0)
    return Asked(best, max(right, default=None))


def speakers(sample: Sample) -> list[str]:
    """The two who talk, as they are named."""
    return sorted({turn.name for turn in sample.turns})


def moved(text: str, *, source: Sample, target: Sample) -> str:
    """The question about the speakers of another file."""
    names = dict(zip(speakers(source), speakers(target), strict=False))
    pattern = "|".join(map(re.escape, names))
    return re.sub(rf"\b(?:{pattern})\b", lambda match: names[match[0]], text)


def measure(*, samples: Sequence[Sample], others: int, tools: Tools) -> list[str]:
    """A line for each floor: the share of right answers kept, and of unanswerable ones silent."""
    own: list[Asked] = []
    foreign: list[Asked] = []
    for sample in samples:
        viewer, _ = ingest(sample=sample, mode=ImportMode.VERBATIM, tools=tools)
        own += [
            ask(each.text, evidence=each.evidence, viewer=viewer, tools=tools)
            for each in sample.questions
        ]
        for other in samples:
            for each in other.questions[:others] if other is not sample else ():
                text = moved(each.text, source=other, target=sample)
                foreign.append(ask(text, evidence=frozenset(), viewer=viewer, tools=tools))
    right = [each.right for each in own if each.right is not None]
    lines = [f"{len(right)} of {len(own)} questions answered, {len(foreign)} without an answer"]
    for floor in FLOORS:
        kept = fmean(each >= floor for each in right)
        silent = fmean(each.best < floor for each in foreign) if foreign else 0.0
        lines.append(f"{floor:.2f}  answers kept {kept:.3f}  silent {silent:.3f}")
    return lines


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the LoCoMo files")
    parser.add_argument("--others", type=int, default=40, help="questions of each other file")
    given = parser.parse_args()
    samples = [read_sample(path=path) for path in sorted(given.data.glob("*.json"))]
    print("\n".join(measure(samples=samples, others=given.others, tools=default_tools())))


if __name__ == "__main__":
    main()
