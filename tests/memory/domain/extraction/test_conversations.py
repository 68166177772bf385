"""The scores on labelled conversations of our own, as the benchmark computes them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.extraction import run
from memory.domain.extraction import RulesExtractor

CONVERSATIONS = Path(__file__).with_name("conversations.jsonl")


def test_our_own_conversations_keep_their_scores() -> None:
    items = [json.loads(line) for line in CONVERSATIONS.read_text(encoding="utf-8").splitlines()]
    first, both, _ = run(extractor=RulesExtractor(), items=items)
    assert first.matched >= 0.9 * first.golds
    assert both.matched >= first.matched
    assert both.right_type >= 0.9 * both.matched
    assert both.in_range >= 0.9 * both.matched
    assert both.right_pin >= 0.95 * both.matched
    assert both.unmatched <= 0.2 * both.produced
    assert both.violations <= 1
