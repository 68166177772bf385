"""How well the rules-based judge tells conflicts.

`python -m benchmarks.contradictions --data FILE ... [--llm] [--verbose | --fit [--share S]]`

Conflict = supersede or dispute. Prints recall and precision of conflict and the accuracy over the
four labels, for all pairs and for the hard ones, the confusion matrix and the speed. `--llm` asks
JUDGE_MODEL as well.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from memory.domain.judging import RulesJudge
from memory.domain.judging import weights as judging_weights
from memory.domain.judging.pairs.evidence import weigh
from memory.domain.judging.pairs.features import features_of
from memory.domain.ports import Judge, PreparingJudge
from memory.domain.types import Judgement, Statement, Verdict

Weights = dict[str, tuple[float, float, float, float]]
ORDER = (Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.COEXIST, Verdict.DUPLICATE)
PENALTY, STEPS = 4.0, 1200
CONFLICTS = frozenset({Verdict.SUPERSEDE, Verdict.DISPUTE})
ASKED_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair of the data."""

    id: str
    existing: Statement
    new: Statement
    label: Verdict
    why: str
    hard: bool


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
    pairs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        pairs.append(
            Pair(
                id=str(row["id"]),
                existing=_statement(row["existing"], row["existing_subject"], row["existing_at"]),
                new=_statement(row["new"], row["new_subject"], row["new_at"]),
                label=Verdict(row["label"]),
                why=row["why"],
                hard=bool(row["hard"]),
            )
        )
    return pairs


def _statement(content: str, subject: str | None, at: str) -> Statement:
    return Statement(content, datetime.fromisoformat(at.replace("Z", "+00:00")), subject or "")


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


def fit(*, pairs: Sequence[Pair]) -> Weights:
    """Weights of the evidence by multinomial logistic regression with an L2 penalty."""
    rows = [features_of(weigh(pair.existing, pair.new)) for pair in pairs]
    names = sorted({name for row in rows for name in row})
    x = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    y = np.array([[pair.label is verdict for verdict in ORDER] for pair in pairs], dtype=float)
    weights = np.zeros((len(names), len(ORDER)))
    momentum = np.zeros_like(weights)
    # Shorter steps for more pairs: the gradient is a sum over them.
    step = min(0.002, 1.2 / max(1, len(pairs)))
    for _ in range(STEPS):
        scores = x @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        gradient = x.T @ (odds / odds.sum(axis=1, keepdims=True) - y) + PENALTY * weights
        momentum = 0.9 * momentum + gradient
        weights -= step * momentum
    return {
        name: (round(float(w[0]), 2), round(float(w[1]), 2), round(float(w[2]), 2),
               round(float(w[3]), 2))
        for name, w in zip(names, weights, strict=True)
    }  # fmt: skip


def blend(*, kept: Weights, fitted: Weights, share: float) -> Weights:
    """The `kept` weights moved towards the `fitted` ones by a share of the way, 0 to 1.

    Each fit thereby starts from the one before, and two runs move further than one. Pairs of one
    hand are of one kind; weights that went all the way lost as much on pairs of other
    hands as they gained on these.
    """
    nothing = (0.0, 0.0, 0.0, 0.0)
    blended: Weights = {}
    for name in sorted(kept.keys() | fitted.keys()):
        old, new = kept.get(name, nothing), fitted.get(name, nothing)
        a, b, c, d = ((1 - share) * x + share * y for x, y in zip(old, new, strict=True))
        blended[name] = (round(a, 2), round(b, 2), round(c, 2), round(d, 2))
    return blended


def cross_validate(*, pairs: Sequence[Pair], folds: int) -> list[Verdict]:
    """The verdict on each pair by weights fitted without its fold."""
    verdicts: list[Verdict] = [Verdict.COEXIST] * len(pairs)
    for fold in range(folds):
        rest = [pair for i, pair in enumerate(pairs) if i % folds != fold]
        judge = RulesJudge(weights=fit(pairs=rest))
        for i in range(fold, len(pairs), folds):
            pair = pairs[i]
            verdicts[i] = judge.judge(existing=pair.existing, new=pair.new).verdict
    return verdicts


def write_weights(*, weights: Weights, path: Path) -> None:
    """Write the module that the judge reads its weights from."""
    lines = [
        '"""Data: what each piece of evidence adds to supersede, dispute, coexist, duplicate.',
        "",
        "Fitted by `python -m benchmarks.contradictions --data FILE ... --fit`, not by hand.",
        '"""',
        "",
        "WEIGHTS: dict[str, tuple[float, float, float, float]] = {",
    ]
    lines.extend(f'    "{name}": {value},' for name, value in weights.items())
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def asked_model(*, pairs: Sequence[Pair]) -> Judge:
    """The judge of JUDGE_MODEL, asked about all pairs; exits where none is set."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from memory.clients.tools import configured_tools

    judge = configured_tools().judge
    if not isinstance(judge, PreparingJudge):
        raise SystemExit("Set JUDGE_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY.")
    for start in range(0, len(pairs), ASKED_AT_ONCE):
        batch = pairs[start : start + ASKED_AT_ONCE]
        judge.prepare([(pair.existing, pair.new) for pair in batch])
    return judge


def main() -> None:
    """Read the command line, judge the pairs and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="JSON lines of pairs")
    parser.add_argument("--llm", action="store_true", help="ask the judging model as well")
    parser.add_argument("--verbose", action="store_true", help="print each failing pair")
    parser.add_argument("--part", choices=("all", "even", "odd"), default="all")
    parser.add_argument("--folds", type=int, default=0, help="cross-validate the weights as well")
    parser.add_argument("--fit", action="store_true", help="fit and store the weights, no scores")
    parser.add_argument(
        "--share", type=float, default=1.0, help="with --fit: how far the stored weights move, 0-1"
    )
    options = parser.parse_args()
    if not 0 <= options.share <= 1:
        parser.error("--share takes a number from 0 to 1.")
    pairs = [pair for path in options.data for pair in read_pairs(path=path)]
    if options.fit:
        weights = blend(kept=judging_weights.WEIGHTS, fitted=fit(pairs=pairs), share=options.share)
        write_weights(weights=weights, path=Path(judging_weights.__file__))
        return
    if options.part != "all":
        pairs = pairs[0 if options.part == "even" else 1 :: 2]
    report(title="rules", pairs=pairs, judge=RulesJudge(), verbose=options.verbose)
    if options.folds:
        labels = [pair.label for pair in pairs]
        verdicts = cross_validate(pairs=pairs, folds=options.folds)
        print(f"cross-validated, {options.folds} folds")
        print("all ", score(labels=labels, verdicts=verdicts))
    if options.llm:
        model = asked_model(pairs=pairs)
        report(title=model.name, pairs=pairs, judge=model, verbose=options.verbose)


if __name__ == "__main__":
    main()
