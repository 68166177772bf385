"""What the next words put right or take back is corrected or not kept, and is no memory itself."""

from __future__ import annotations

import pytest

from memory.domain.extraction import RulesExtractor

from .conversation import DANA, both_passes, extracted, talk


@pytest.mark.parametrize(
    ("said", "then", "told"),
    [
        ("I live in Gdanks.", "that was a typo, Gdansk", "Dana lives in Gdansk."),
        ("My wife is called Hana.", "*Hanna", "Dana's wife is called Hanna."),
        ("I get up at 7pm.", "oops meant 7am", "Dana gets up at 7am."),
        ("I take 50mg of sertraline.", "correction 100mg", "Dana takes 100mg of sertraline."),
        ("I weigh 740 kilos.", "74 obviously lol", "Dana weighs 74 kilos."),
        ("I'm allergic to peanuts.", "wait no, tree nuts", "Dana is allergic to tree nuts."),
        ("My brother Tom lives in Leeds.", "I mean my cousin", "Dana's cousin Tom lives in Leeds."),
        ("I moved to Lisbon.", "*Lagos", "Dana moved to Lagos."),
        ("I live on the third floor.", "*fourth", "Dana lives on the fourth floor."),
        ("I have two sisters.", "kidding, one", "Dana has one sister."),
        ("I like spinach.", "dislike*", "Dana dislikes spinach."),
        (
            "I've been waiting for 3 months.",
            "just kidding, it's 3 weeks",
            "Dana has been waiting for 3 weeks.",
        ),
        (
            "My email is ana@exmaple.com",
            "typo! ana@example.com",
            "Dana's email is ana@example.com.",
        ),
    ],
)
def test_a_slip_is_put_right_where_it_was_made(said: str, then: str, told: str) -> None:
    for lines in (
        [f"user: {said}", f"user: {then}"],
        [f"user: {said}", "assistant: Noted.", f"user: {then}"],
    ):
        found = both_passes(*lines)
        assert [candidate.content for candidate in found] == [told]
        assert {source.int for source in found[0].message_ids} == {1, len(lines)}


def test_the_fifth_is_a_day_of_the_month_that_was_named() -> None:
    (found,) = extracted("user: My flight is on May 4.", "user: ugh, I meant the 5th")
    assert "May 5, 2026" in found.content


@pytest.mark.parametrize(
    "then",
    [
        "lol jk",
        "not really, just messing with you",
        "haha gotcha, april fools",
        "nah just pulling your leg",
        "obviously not serious",
        "I made that up",
        "lol no I'm not",
        "delete that please",
        "please don't save that",
        "forget I said that",
        "ignore my last message",
    ],
)
def test_what_was_not_meant_or_is_to_be_unsaid_is_not_kept(then: str) -> None:
    said = "user: I'm a professional clown and I have 12 cats."
    assert both_passes(said, f"user: {then}") == []
    assert both_passes(said, "assistant: Oh!", f"user: {then}") == []


@pytest.mark.parametrize("then", ["that was a typo, Gdansk", "Sorry, I meant Gdansk."])
def test_a_slip_of_the_window_before_is_told_as_it_is_right(then: str) -> None:
    said, right = talk("user: I live in Gdanks.", f"user: {then}")
    (found,) = RulesExtractor().extract(messages=[right], context=[said], participants=DANA)
    assert found.content == "Dana lives in Gdansk."
    assert found.message_ids == (right.id,)
    assert found.corrects is not None


def test_only_the_sentence_before_is_unsaid_in_one_message() -> None:
    found = both_passes("user: I live in Gdansk. I have 12 cats. Scratch that.")
    assert [candidate.content for candidate in found] == ["Dana lives in Gdansk."]


def test_what_the_agent_made_may_be_deleted_without_what_was_said() -> None:
    said = "user: I live in Gdansk."
    found = both_passes(said, "assistant: I've drafted a letter to them.", "user: delete that")
    assert [candidate.content for candidate in found] == ["Dana lives in Gdansk."]
    assert both_passes(said, "assistant: I've noted that.", "user: delete that") == []


@pytest.mark.parametrize(
    ("reply", "then"),
    [("Boil it for 8 minutes.", "gotcha"), ("You still owe 40 euros.", "that's not true")],
)
def test_an_answer_to_the_agent_takes_nothing_back(reply: str, then: str) -> None:
    found = both_passes("user: I live in Gdansk.", f"assistant: {reply}", f"user: {then}")
    assert [candidate.content for candidate in found] == ["Dana lives in Gdansk."]


def test_the_truth_behind_a_jest_is_kept() -> None:
    found = both_passes("user: I'm 34.", "assistant: Noted.", "user: I lied, I'm 37")
    assert [candidate.content for candidate in found] == ["Dana is 37."]


@pytest.mark.parametrize("said", ["oops meant 7am", "*Hanna", "typo, Gdansk"])
def test_a_slip_without_what_it_puts_right_is_no_memory(said: str) -> None:
    assert both_passes(f"user: {said}") == []
