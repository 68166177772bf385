"""How well a judge tells conflicts.

`python -m benchmarks.contradictions --data FILE ... [--llm] [--stored] [--verbose]`

Conflict = supersede or dispute. Prints recall and precision of conflict and the accuracy over the
four labels, for all pairs, the hard ones and those of different facts in one sentence frame, the
confusion matrix and the speed. `--llm` asks JUDGE_MODEL as well. `--stored` writes the
pairs of each file by the whole write path, with its choice of pairs and its bars, and needs a
running, migrated database. The judge was trained on all files but those called blind.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.db.models import Q

from benchmarks.ground import new_team, scope_of
from memory.domain.types import Judgement, MemoryType, Statement, Verdict
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.services.write.drafts import MemoryDraft, Outcome, WriteResult
from memory.services.write.write_path import write_memories
from memory.understanding.judging import small_judge
from memory.understanding.ports import Judge, PreparingJudge
from memory.understanding.tools import configured_tools, default_tools

CONFLICTS = frozenset({Verdict.SUPERSEDE, Verdict.DISPUTE})
ASKED_AT_ONCE = 20
BLOCK = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair with its label; `source` is whose it is, `block` a run of pairs made together.

    `frame` marks different facts in one sentence frame, `is_weak` a pair that nobody labelled.
    """

    id: str
    source: str
    block: str
    existing: Statement
    new: Statement
    label: Verdict
    why: str = ""
    hard: bool = False
    frame: bool = False
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    """Shares from 0 to 1; `count` pairs."""

    count: int
    recall: float
    precision: float
    accuracy: float

    def __str__(self) -> str:
        return (
            f"n={self.count:<4} conflict recall {self.recall:.3f}  precision {self.precision:.3f}"
            f"  four-way accuracy {self.accuracy:.3f}"
        )


def read_pairs(*, path: Path) -> list[Pair]:
    """The pairs of a JSON-lines file, in its order."""
    counts: Counter[str] = Counter()
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = str(row["id"]).partition("-")[0]
        pairs.append(
            Pair(
                id=str(row["id"]),
                source=source,
                block=f"{source}-{counts[source] // BLOCK}",
                existing=_statement(row, "existing"),
                new=_statement(row, "new"),
                label=Verdict(row["label"]),
                why=row.get("why", ""),
                hard=bool(row.get("hard")),
                frame=bool(row.get("frame")),
            )
        )
        counts[source] += 1
    return pairs


def _statement(row: dict[str, str | None], side: str) -> Statement:
    at = datetime.fromisoformat(str(row[f"{side}_at"]))
    return Statement(str(row[side]), at, row[f"{side}_subject"] or "")


def score(*, labels: Sequence[Verdict], verdicts: Sequence[Verdict]) -> Scores:
    """Recall and precision of conflict and the four-way accuracy."""
    both = list(zip(labels, verdicts, strict=True))
    hits = sum(a in CONFLICTS and b in CONFLICTS for a, b in both)
    return Scores(
        count=len(both),
        recall=hits / max(1, sum(a in CONFLICTS for a, _ in both)),
        precision=hits / max(1, sum(b in CONFLICTS for _, b in both)),
        accuracy=sum(a is b for a, b in both) / max(1, len(both)),
    )


def report(*, title: str, pairs: Sequence[Pair], judge: Judge, verbose: bool) -> None:
    """Judge all pairs and print the figures, the confusion matrix and the failures."""
    started = time.process_time()
    judgements = [judge.judge(existing=pair.existing, new=pair.new) for pair in pairs]
    seconds = time.process_time() - started
    verdicts = [judgement.verdict for judgement in judgements]
    hard = [i for i, pair in enumerate(pairs) if pair.hard]
    print(f"== {title}")
    print("all ", score(labels=[pair.label for pair in pairs], verdicts=verdicts))
    print(
        "hard",
        score(labels=[pairs[i].label for i in hard], verdicts=[verdicts[i] for i in hard]),
    )
    frames = [verdict for pair, verdict in zip(pairs, verdicts, strict=True) if pair.frame]
    if frames:
        wrong = sum(verdict in CONFLICTS for verdict in frames)
        print(f"of {len(frames)} pairs of different facts in one frame {wrong} in conflict")
    if not isinstance(judge, PreparingJudge):
        print(f"{len(pairs) / max(seconds, 1e-9):,.0f} pairs per second of one core")
    print(f"{'label / verdict':16}" + "".join(f"{verdict.value:>11}" for verdict in Verdict))
    for label in Verdict:
        row = [
            sum(p.label is label and v is verdict for p, v in zip(pairs, verdicts, strict=True))
            for verdict in Verdict
        ]
        print(f"{label.value:16}" + "".join(f"{count:>11}" for count in row))
    stood_in = sum(bool(judgement.judge) for judgement in judgements)
    if stood_in:
        print(f"the rules stood in for {stood_in} of {len(pairs)} pairs")
    _print_failures(pairs, judgements, verbose)


def _print_failures(pairs: Sequence[Pair], judgements: Sequence[Judgement], verbose: bool) -> None:
    failed = [
        (pair, judgement)
        for pair, judgement in zip(pairs, judgements, strict=True)
        if pair.label is not judgement.verdict
    ]
    print(f"failing: {', '.join(pair.id for pair, _ in failed) or 'none'}")
    if not verbose:
        return
    for pair, judgement in failed:
        hard = " (hard)" if pair.hard else ""
        print(f"\n{pair.id}{hard}: {pair.label.value}, judged {judgement.verdict.value}")
        print(f"  existing: {pair.existing.content}  [{pair.existing.subject}]")
        print(f"  new:      {pair.new.content}  [{pair.new.subject}]")
        print(f"  label:    {pair.why}")
        print(f"  judge:    {judgement.reason}")


def asked_model(*, pairs: Sequence[Pair]) -> Judge:
    """The judge of JUDGE_MODEL, asked about all pairs; exits where none is set."""
    judge = configured_tools().judge
    if not isinstance(judge, PreparingJudge):
        raise SystemExit("Set JUDGE_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY.")
    for start in range(0, len(pairs), ASKED_AT_ONCE):
        batch = pairs[start : start + ASKED_AT_ONCE]
        judge.prepare([(pair.existing, pair.new) for pair in batch])
    return judge


def store_statement(
    viewer: Viewer, statement: Statement, *, end_user_id: UUID | None = None
) -> WriteResult:
    """Write one statement as somebody states it, about a person or nobody."""
    draft = MemoryDraft(
        team_id=viewer.team_id,
        content=statement.content,
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        extractor="benchmark",
        created_at=statement.at,
        subject=statement.subject,
        end_user_id=end_user_id,
    )
    (result,) = write_memories(viewer=viewer, drafts=[draft], tools=default_tools())
    return result


def report_stored(*, title: str, pairs: Sequence[Pair]) -> None:
    """Print how well conflicts are told by the whole write path.

    The existing statements are written into one throwaway team, then the new ones, so that each is
    compared with all others too.
    """
    viewer = new_team("contradictions")
    old = [store_statement(viewer, pair.existing).memory.pk for pair in pairs]
    verdicts: list[Verdict] = []
    elsewhere = 0
    for pair, partner in zip(pairs, old, strict=True):
        result = store_statement(viewer, pair.new)
        if result.outcome is Outcome.DUPLICATE:
            is_partner = result.memory.pk == partner
            verdicts.append(Verdict.DUPLICATE if is_partner else Verdict.COEXIST)
            continue
        with scope_of(viewer):
            rows = Contradiction.objects.filter(
                verdict__in=[each.value for each in CONFLICTS]
            ).filter(Q(memory_a=result.memory) | Q(memory_b=result.memory))
            found = {pk: row.verdict for row in rows for pk in (row.memory_a_id, row.memory_b_id)}
        verdicts.append(Verdict(found.pop(partner)) if partner in found else Verdict.COEXIST)
        elsewhere += bool(found.keys() - {result.memory.pk})
    print("==", title, "stored\n", score(labels=[pair.label for pair in pairs], verdicts=verdicts))
    print(f"  {elsewhere} of {len(pairs)} came into conflict with another than their partner")


def main() -> None:
    """Read the command line, judge the pairs and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="JSON lines of pairs")
    parser.add_argument("--llm", action="store_true", help="ask the judging model as well")
    parser.add_argument("--stored", action="store_true", help="judge them by the write path too")
    parser.add_argument("--verbose", action="store_true", help="print each failing pair")
    options = parser.parse_args()
    pairs = [pair for path in options.data for pair in read_pairs(path=path)]
    report(title="small judge", pairs=pairs, judge=small_judge(), verbose=options.verbose)
    for path in options.data if options.stored else ():
        report_stored(title=path.name, pairs=read_pairs(path=path))
    if options.llm:
        model = asked_model(pairs=pairs)
        report(title=model.name, pairs=pairs, judge=model, verbose=options.verbose)


if __name__ == "__main__":
    main()
