"""The invented pairs beside this file: the judge as a whole does not fall behind."""

from __future__ import annotations

from pathlib import Path

from benchmarks.contradictions import cross_validate, read_pairs, score
from memory.domain.judging import RulesJudge

PAIRS = read_pairs(path=Path(__file__).with_name("pairs.jsonl"))


def test_most_pairs_get_their_label() -> None:
    judge = RulesJudge()
    labels = [pair.label for pair in PAIRS]

    verdicts = [judge.judge(existing=pair.existing, new=pair.new).verdict for pair in PAIRS]

    scores = score(labels=labels, verdicts=verdicts)
    assert scores.recall > 0.92
    assert scores.precision > 0.88
    assert scores.accuracy > 0.87


def test_weights_that_never_saw_a_pair_judge_most_pairs_right() -> None:
    verdicts = cross_validate(pairs=PAIRS, folds=2)

    scores = score(labels=[pair.label for pair in PAIRS], verdicts=verdicts)
    assert scores.recall > 0.88
    assert scores.precision > 0.86
    assert scores.accuracy > 0.84
