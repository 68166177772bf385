"""What a verdict may do to what is stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.audience import Reach
from memory.domain.judgements import (
    NEAR_TO_RETIRE,
    SURE_TO_RETIRE,
    as_carried_out,
    is_sure_enough,
    judged_by_words,
)
from memory.domain.types import Judgement, Verdict

JUDGEMENTS = st.builds(
    Judgement, st.sampled_from(Verdict), st.just("because"), st.floats(min_value=0, max_value=1)
)


NEARNESS = st.floats(min_value=-1, max_value=1.5)


@given(JUDGEMENTS, NEARNESS, st.sampled_from(Reach))
def test_nothing_is_retired_on_a_guess_or_by_what_fewer_see(
    judgement: Judgement, nearness: float, reach: Reach
) -> None:
    done = as_carried_out(judgement, nearness=nearness, later_reach=reach)

    if done.verdict is Verdict.SUPERSEDE:
        assert judgement.confidence >= SURE_TO_RETIRE
        assert nearness >= NEAR_TO_RETIRE
        assert reach is not Reach.NARROWER
    elif done != judgement:
        assert (judgement.verdict, done.verdict) == (Verdict.SUPERSEDE, Verdict.DISPUTE)
        assert done.reason.startswith(judgement.reason)


@given(JUDGEMENTS, NEARNESS)
def test_what_counts_in_talk_counts_where_it_was_stated(
    judgement: Judgement, nearness: float
) -> None:
    if is_sure_enough(judgement, nearness=nearness, is_from_talk=True):
        assert is_sure_enough(judgement, nearness=nearness, is_from_talk=False)


@pytest.mark.parametrize("verdict", [Verdict.SUPERSEDE, Verdict.DISPUTE])
def test_the_less_near_two_are_the_surer_a_judge_must_be(verdict: Verdict) -> None:
    judgement = Judgement(verdict, "", 0.4)

    assert is_sure_enough(judgement, nearness=0.9, is_from_talk=True)
    assert not is_sure_enough(judgement, nearness=0.5, is_from_talk=False)
    assert not is_sure_enough(Judgement(verdict, "", 0.2), nearness=1.4, is_from_talk=False)


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
