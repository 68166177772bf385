"""What compressing episodes and linking memories do to prompts and recall, on LoCoMo.

Run as ``python -m benchmarks.lifecycle_steps --data DIR`` beside a running, migrated database. Each
conversation is stored turn by turn in a throwaway team; the same questions are asked before and
after each step. All its turns are older than the ages at which episodes are compressed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from django.utils import timezone

from benchmarks.ground import ACTOR, scope_of
from benchmarks.locomo import ingest
from benchmarks.locomo_data import Recall, Sample, read_sample
from memory.domain.levels import Level
from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import UNFINISHED, start_run
from memory.satellites.lifecycle.steps import Step
from memory.satellites.transfer.targets import ImportMode
from memory.services.indexing.levels import write_levels
from memory.services.read.ranking import Question
from memory.services.read.retrieval import Read, packing_for, prompt, search
from memory.services.read.search import Depth
from memory.understanding.tools import Tools, default_tools

DEPTH = 50
_DEPTH = Depth(include_cold=False, include_raw=False)


@dataclass(slots=True)
class Measured:
    """Recall of searches, tokens of prompts, and what of the evidence prompts tell."""

    recall: Recall
    tokens: list[int] = field(default_factory=list)
    memories: list[int] = field(default_factory=list)
    told: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    def row(self) -> str:
        """The means, in percent where they are shares."""
        figures = [self.recall.at(10), self.recall.at(DEPTH), fmean(self.tokens)]
        figures += [fmean(self.memories), 100 * fmean(self.told), 100 * fmean(self.whole)]
        return f"{self.recall.name:16}" + "".join(f"{each or 0:>12.1f}" for each in figures)


def ask(
    *, measured: Measured, sample: Sample, viewer: Viewer, tools: Tools, token_budget: int
) -> None:
    """Search for each question, and build the prompt of it."""
    for question in sample.questions:
        asked, now = Question(question.text), timezone.now()
        read = Read(
            viewer=viewer, question=asked, tools=tools, now=now, depth=_DEPTH, is_counted=False
        )
        found = search(replace(read, limit=DEPTH)).memories
        measured.recall.add(question, [each.memory.source_external_ids for each in found])
        packing = packing_for(weights=Weights(), token_budget=token_budget)
        answer = prompt(read, packing=packing)
        measured.tokens.append(answer.stats.tokens_used)
        measured.memories.append(len(answer.memories))
        levels = {
            turn: each.text_level
            for each in answer.memories
            for turn in each.memory.source_external_ids
        }
        told = [turn for turn in question.evidence if turn in levels]
        whole = [turn for turn in told if levels[turn] is Level.CONTENT]
        measured.told.append(len(told) / len(question.evidence))
        measured.whole.append(len(whole) / len(question.evidence))


def consolidate(*, viewer: Viewer, step: Step, tools: Tools) -> int:
    """Run one step to its end; returns how many changes it made."""
    staff = Viewer(team_id=viewer.team_id, actor=ACTOR)
    run = start_run(viewer=staff, now=timezone.now(), steps=[step])
    run_consolidation(team_id=run.team_id, run_id=run.pk, tools=tools)
    while True:
        with scope_of(staff):
            row = ConsolidationRun.objects.get(team_id=run.team_id, pk=run.pk)
        if row.state not in UNFINISHED:
            return int(row.counts[step.value]["made"])
        time.sleep(1)  # a worker beside the database took it


def measure(
    *, samples: Sequence[Sample], tools: Tools, token_budget: int
) -> tuple[list[Measured], dict[Step, int]]:
    """What is measured before, after compressing, and after linking too; and the changes made."""
    rows = [Measured(Recall(name)) for name in ("before", "compressed", "and linked")]
    made = {Step.COMPRESS: 0, Step.LINK: 0}
    for sample in samples:
        viewer, _ = ingest(sample=sample, mode=ImportMode.VERBATIM, tools=tools)
        write_levels(team_id=viewer.team_id, tools=tools)
        for measured, step in zip(rows, (None, *made), strict=True):
            if step is not None:
                made[step] += consolidate(viewer=viewer, step=step, tools=tools)
            ask(
                measured=measured,
                sample=sample,
                viewer=viewer,
                tools=tools,
                token_budget=token_budget,
            )
    return rows, made


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the LoCoMo files")
    parser.add_argument("--conversations", help="names of files, as in 26,30; all when left out")
    parser.add_argument("--questions", type=int, help="of each conversation; all when left out")
    parser.add_argument("--token-budget", type=int, default=2000)
    given = parser.parse_args()
    names = given.conversations.split(",") if given.conversations else None
    samples = [
        read_sample(path=path, limit=given.questions)
        for path in sorted(given.data.glob("*.json"))
        if names is None or path.stem in names
    ]
    rows, made = measure(samples=samples, tools=default_tools(), token_budget=given.token_budget)
    heads = ("R@10", f"R@{DEPTH}", "tokens", "memories", "told, %", "whole, %")
    print(f"{'':16}" + "".join(f"{each:>12}" for each in heads))
    print("\n".join(each.row() for each in rows))
    print(", ".join(f"{step.value}: {count} changes" for step, count in made.items()))


if __name__ == "__main__":
    main()
