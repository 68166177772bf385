"""Effects that a verdict may have on stored memories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.audience import Reach
from memory.domain.judgements import (
    SURE,
    as_carried_out,
    is_sure_enough,
    judged_by_words,
)
from memory.domain.types import Judgement, Verdict

JUDGEMENTS = st.builds(
    Judgement, st.sampled_from(Verdict), st.just("because"), st.floats(min_value=0, max_value=1)
)


@given(JUDGEMENTS, st.sampled_from(Reach))
def test_nothing_is_retired_by_what_fewer_see(judgement: Judgement, reach: Reach) -> None:
    done = as_carried_out(judgement, later_reach=reach)

    if done.verdict is Verdict.SUPERSEDE:
        assert reach is not Reach.NARROWER
    elif done != judgement:
        assert (judgement.verdict, done.verdict) == (Verdict.SUPERSEDE, Verdict.DISPUTE)
        assert done.reason.startswith(judgement.reason)


@given(JUDGEMENTS)
def test_a_doubtful_verdict_leaves_both_side_by_side(judgement: Judgement) -> None:
    assert is_sure_enough(judgement) == (judgement.confidence >= SURE)


@pytest.mark.parametrize(
    ("existing", "new", "verdict"),
    [
        ("Anna reports to Ben.", "Ben reports to Anna.", Verdict.COEXIST),
        ("Sarah calls Mark.", "Sarah calls mark.", Verdict.COEXIST),
        ("The limit is 5 MB.", "The limit is 5 Mb.", Verdict.COEXIST),
        ("The limit is 5 MB.", "the limit is 5 MB", Verdict.DUPLICATE),
    ],
)
def test_the_same_words_need_no_judge(existing: str, new: str, verdict: Verdict) -> None:
    judgement = judged_by_words(existing, new)

    assert judgement is not None
    assert judgement.verdict is verdict


def test_other_words_are_left_to_the_judge() -> None:
    assert judged_by_words("Anna reports to Ben.", "Ben is Anna's manager.") is None
