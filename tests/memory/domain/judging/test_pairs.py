"""The invented pairs beside this file: the judge as a whole does not fall behind."""

from __future__ import annotations

from pathlib import Path

from benchmarks.contradictions import cross_validate, read_pairs, score
from memory.domain.judging import RulesJudge

PAIRS = read_pairs(path=Path(__file__).with_name("pairs.jsonl"))
HARD_PAIRS = read_pairs(path=Path(__file__).with_name("hard_pairs.jsonl"))


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


def test_pairs_written_to_be_hard_are_judged_better_than_by_the_weights_before_them() -> None:
    judge = RulesJudge()

    verdicts = [judge.judge(existing=pair.existing, new=pair.new).verdict for pair in HARD_PAIRS]

    scores = score(labels=[pair.label for pair in HARD_PAIRS], verdicts=verdicts)
    assert scores.recall > 0.80
    assert scores.precision > 0.74
    assert scores.accuracy > 0.67
