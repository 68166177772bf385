"""What two sentences distilled from talk can have against each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.judging.hearing import EXTRACTED, STATED, hearing_on
from memory.domain.judging.pairs.told import is_reported, may_contradict
from memory.domain.judging.rules import UNNAMED, RulesJudge
from memory.domain.types import Statement, Verdict

AT = datetime(2026, 5, 1, tzinfo=UTC)


def pair(existing: str, new: str) -> tuple[Statement, Statement]:
    return Statement(existing, AT), Statement(new, AT + timedelta(days=30))


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The standup is at 9:30.", "The standup is at 10:00 now."),
        ("There are six people on the team.", "There are eight people on the team now."),
        ("Iris plays tennis.", "Iris used to play tennis."),
        ("The flight to Oslo leaves at 7:40.", "The flight to Oslo was rescheduled to 9:15."),
        ("Dr. Lund is the family's dentist.", "Dr. Moser is the family's dentist now."),
    ],
)
def test_plain_statements_that_differ_in_a_value_may_contradict(existing: str, new: str) -> None:
    assert may_contradict(*pair(existing, new))


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        # Words as they were said, and what leans on words that are not there.
        ("Iris said: It is green.", "Iris said: It is red."),
        ('Asked "Which colour", Iris said: Green.', 'Asked "Which colour", Iris said: Red.'),
        ("They are always late.", "They are never late."),
        ("On May 3, 2026, it was cheap.", "On June 3, 2026, it was dear."),
        ("[shares a photo: a red boat]", "[shares a photo: a blue boat]"),
        # Two parts of a story.
        ("Iris lives in Graz. She likes it there.", "Iris lives in Linz. She moved in May."),
        (
            "Iris has been restoring an old wooden boat with her uncle in Rostock every summer.",
            "Iris has been writing a long novel about sailors, storms and forgotten islands.",
        ),
        # What came up, what is done otherwise, what was done.
        ("Iris has a canary.", "Iris took a photo of their new canary cage."),
        ("Iris plays tennis.", "Iris used to play football."),
        ("Iris works at Globex.", "Iris used to cycle to work."),
        ("Iris went to Oslo on May 3, 2026.", "Iris's flight to Oslo was cancelled in June."),
        # Somebody else's.
        ("Iris's connection has 50 Mbit.", "Iris's parents' connection has 250 Mbit now."),
        # What is denied is something else.
        ("Iris calls Boris every day.", "Iris will not let Boris down."),
        ("Iris has to tell Boris.", "Boris is there to help Iris."),
    ],
)
def test_what_only_sounds_opposed_contradicts_nothing(existing: str, new: str) -> None:
    assert not may_contradict(*pair(existing, new))


def test_a_change_in_reported_words_is_not_heard_in_talk() -> None:
    existing, new = pair("Iris's editor is Vim.", 'Iris said: "My editor is Helix now."')

    assert is_reported(new)
    heard = hearing_on(existing=existing, new=new, similarity=0.9, anchor=0.3, bar=EXTRACTED)
    assert heard is None or heard.contradiction is None


def test_what_was_stated_on_purpose_may_be_told_in_two_sentences() -> None:
    existing, new = pair(
        "Iris lives in Graz. The flat is small.", "Iris lives in Linz. The flat is large."
    )

    stated = hearing_on(existing=existing, new=new, similarity=0.8, anchor=0.3, bar=STATED)
    talked = hearing_on(existing=existing, new=new, similarity=0.8, anchor=0.3, bar=EXTRACTED)

    assert stated is not None
    assert stated.contradiction is not None
    assert talked is None or talked.contradiction is None


@pytest.mark.parametrize(
    ("existing", "new", "why"),
    [
        ("Otto is here to support Nils.", "Otto is sure Nils will succeed.", "feeling"),
        (
            "The team released version 2.1 on April 2, 2026.",
            "The team released version 2.2 on April 30, 2026.",
            "two events",
        ),
        (
            "The payment service was down on March 3, 2026.",
            "The payment service was down again on April 9, 2026.",
            "two events",
        ),
        (
            "The flight to Oslo leaves at 7:40.",
            "The flight back from Oslo was rescheduled to 19:15.",
            "two ways",
        ),
        (
            "Iris was really stressed about the exam on May 1, 2026.",
            "Iris is really happy about the exam result.",
            "feeling",
        ),
    ],
)
def test_feelings_deeds_at_two_times_and_two_ways_stand_side_by_side(
    existing: str, new: str, why: str
) -> None:
    first, second = pair(existing, new)

    judgement = RulesJudge().judge(existing=first, new=second)

    assert judgement.verdict is Verdict.COEXIST
    assert why in judgement.reason


def test_one_deed_with_two_dates_is_a_dispute() -> None:
    first, second = pair("The audit ended on May 3, 2026.", "The audit ended on May 5, 2026.")

    assert RulesJudge().judge(existing=first, new=second).verdict is Verdict.DISPUTE


def test_a_conflict_that_names_nothing_is_a_guess() -> None:
    first, second = pair(
        "Melina's family moments make it all worth it.", "Family time matters to Melina."
    )

    judgement = RulesJudge().judge(existing=first, new=second)

    assert judgement.verdict not in (Verdict.SUPERSEDE, Verdict.DISPUTE) or (
        judgement.confidence <= UNNAMED
    )
