"""What the shipped extractor finds in each file of labelled talk must not fall below a floor."""

from __future__ import annotations

import json

import pytest

from benchmarks.extraction import run
from benchmarks.extraction_fit import LABELLED
from memory.fallback.extractor import RulesExtractor


@pytest.mark.parametrize(
    ("file", "recall", "unmatched", "violated"),
    [
        ("train", 0.70, 0.32, 0.10),
        ("dev", 0.75, 0.22, 0.05),
        ("conversations", 0.65, 0.25, 0.08),
        ("conversations_of_everyday", 0.65, 0.25, 0.10),
        ("conversations_of_many_voices", 0.70, 0.20, 0.12),
        ("conversations_of_planning", 0.70, 0.23, 0.15),
        ("plain", 0.70, 0.10, 0.02),
    ],
)
def test_a_file_of_labelled_talk_keeps_its_score(
    file: str, recall: float, unmatched: float, violated: float
) -> None:
    lines = (LABELLED / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    _, score, _ = run(extractor=RulesExtractor(), items=[json.loads(line) for line in lines])

    assert score.matched >= recall * score.golds
    assert score.unmatched <= unmatched * score.produced
    assert score.violations <= violated * score.forbidden
