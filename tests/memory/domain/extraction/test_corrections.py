"""A corrected value replaces the old one; what is taken back is never stored."""

from __future__ import annotations

import pytest

from .conversation import both_passes, extracted, texts


def test_a_corrected_date_is_merged_into_the_first_sentence() -> None:
    found = extracted(
        "user: The Heron audit starts on May 4.",
        "assistant: Noted.",
        "user: Sorry, May 6, not 4.",
    )
    assert [candidate.content for candidate in found] == ["The Heron audit starts on May 6, 2026."]
    assert [source.int for source in found[0].message_ids] == [1, 3]


def test_a_corrected_number_leaves_the_rest_of_the_sentence() -> None:
    found = texts("user: The hall holds 80 people.", "user: Oh wait, I misread it: 180, not 80.")
    assert found == ["The hall holds 180 people."]


def test_a_new_value_without_the_old_one_replaces_its_like() -> None:
    found = texts("user: The call is on Thursday at 14:00.", "user: No wait, 15:30.")
    assert found == ["The call is on Thursday, March 12, 2026 at 15:30."]


def test_only_the_corrected_clause_is_dropped() -> None:
    found = texts(
        "user: The venue is Ark Hall, the fee is 300 euros, and the host is Bo Lind.",
        "user: Actually the fee is 350 euros.",
    )
    assert not any("300" in text for text in found)
    assert any("350" in text for text in found)
    assert any("Ark Hall" in text for text in found)
    assert any("Bo Lind" in text for text in found)


def test_what_is_taken_back_is_gone() -> None:
    found = texts(
        "user: I'm going to sell my house in Turku.",
        "assistant: Shall I look for agents?",
        "user: No, forget it. I'm staying in Turku.",
    )
    assert found == ["Dana is staying in Turku."]


def test_a_scrapped_plan_hands_its_purpose_to_the_decision() -> None:
    found = texts(
        "user: Let's go with Oak for the shop floor.",
        "assistant: Fine.",
        "user: Right, scrap Oak. We decided on Birch.",
    )
    assert found == [
        "On March 10, 2026, the team decided on Birch for the shop floor instead of Oak."
    ]


@pytest.mark.parametrize(
    "said",
    [
        ["My name is Bo.", "Ignore that last message."],
        ["I like olives.", "Not really, I was joking."],
        ["I'm allergic to nuts. Wait no, never mind, that was my brother."],
        ["Our hall holds 80 people.", "Wait, that's wrong."],
    ],
)
def test_what_is_taken_back_in_passing_leaves_nothing(said: list[str]) -> None:
    assert both_passes(*(f"user: {each}" for each in said)) == []


def test_a_denial_after_a_joke_says_no_more_than_itself() -> None:
    found = texts("user: I live in Turku.", "user: Just kidding, I don't live there, forget that.")
    assert not any("forget" in text or text == "Dana lives in Turku." for text in found)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I work at Heron. Wait, that's wrong. I work at Petrel.", "Dana works at Petrel."),
        ("I work at Heron. Wait, that's wrong, I work at Petrel.", "Dana works at Petrel."),
        (
            "Our audit is on May 3. No, that's not right. It's May 8.",
            "The team's audit is on May 8, 2026.",
        ),
    ],
)
def test_what_follows_a_that_is_wrong_takes_the_place_of_what_was_said(
    said: str, told: str
) -> None:
    found = both_passes(f"user: {said}")
    assert [candidate.content for candidate in found] == [told]


def test_calling_the_agent_wrong_takes_nothing_back() -> None:
    found = texts(
        "user: I live in Turku.", "assistant: That is in Sweden.", "user: No, that's wrong."
    )
    assert found == ["Dana lives in Turku."]
