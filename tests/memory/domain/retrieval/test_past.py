"""Questions for what something else took the place of."""

from __future__ import annotations

import pytest

from memory.domain.retrieval.events import asks_for_past


@pytest.mark.parametrize(
    "question",
    [
        "What was the orchard dog called before?",
        "Where did Kim live before that?",
        "Before, where did she live?",
        "What was the dog called before Biscuit?",
        "Which database did we previously use?",
        "Who formerly led the team?",
        "Where was the office originally?",
        "Who used to be the owner?",
        "Where is the shop that Kim used to run?",
        "What did Ada use to drink?",
        "What was its former name?",
        "Who was the previous manager?",
        "What is the old address?",
        "What was the price before the change?",
        "What was the tool called before it was renamed?",
        "What did people pay in the past?",
    ],
)
def test_asks_for_what_was_before(question: str) -> None:
    assert asks_for_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "What happened before June?",
        "What did we ship before the release?",
        "Who called before the release?",
        "What did she do before she moved?",
        "What happened the day before?",
        "Did she ever visit Oslo?",
        "What is the key used to open?",
        "Which tool was used to deploy?",
        "Is Kim used to the noise?",
        "What did we discuss in the previous meeting?",
        "What happened prior to June?",
        "What happened in the past two weeks?",
        "Where is the old bridge?",
        "What is our first priority?",
        "Where are the originals?",
    ],
)
def test_asks_for_a_time_or_for_today(question: str) -> None:
    assert not asks_for_past(question)
