"""What spares most neighbours a comparison changes no verdict."""

from __future__ import annotations

from pathlib import Path

from benchmarks.contradictions import read_pairs
from memory.domain.judging import RulesJudge
from memory.domain.judging.pairs.evidence import weigh
from memory.domain.judging.pairs.patterns import strangers
from memory.domain.judging.reading.frames import read
from memory.domain.judging.reading.quantities import _at, _may_begin
from memory.domain.judging.relatedness import relatedness
from memory.domain.types import Verdict

PAIRS = read_pairs(path=Path(__file__).with_name("pairs.jsonl"))
# Each new statement against those of other items, as neighbours in a store are.
CROSSED = [
    (one.existing, PAIRS[(place + step) % len(PAIRS)].new)
    for place, one in enumerate(PAIRS)
    for step in (1, 7)
]


def test_two_things_by_name_are_unrelated_and_stand_side_by_side() -> None:
    judge = RulesJudge()
    apart = [pair for pair in CROSSED if strangers(pair[0].content, pair[1].content)]

    assert len(apart) > 100
    for existing, new in apart:
        assert judge.judge(existing=existing, new=new).verdict is Verdict.COEXIST
        assert relatedness(existing=existing, new=new, similarity=1.0) == 0.0


def test_a_verdict_does_not_depend_on_what_was_judged_before() -> None:
    judge, some = RulesJudge(), [(pair.existing, pair.new) for pair in PAIRS[:120]]
    before = [judge.judge(existing=existing, new=new) for existing, new in some]
    weigh.cache_clear()

    again = [judge.judge(existing=existing, new=new) for existing, new in reversed(some)]

    assert again[::-1] == before


def test_no_quantity_begins_with_a_word_that_is_passed_over() -> None:
    for existing, new in CROSSED[:1000]:
        for statement in (existing, new):
            tokens = read(statement.content).tokens
            for place, token in enumerate(tokens):
                if not token.separator and not _may_begin(tokens, place):
                    assert _at(tokens, place) is None
