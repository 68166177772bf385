"""Parts read out of a question: its telling words, names, and the text that is embedded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.question import MAX_TERMS, Asked, Term, read_question

NOW = datetime(2026, 6, 17, 15, tzinfo=UTC)


def ask(text: str) -> Asked:
    return read_question(text, now=NOW)


def words(text: str) -> list[str]:
    return [term.word for term in ask(text).terms]


def term(asked: Asked, word: str) -> Term:
    return next(each for each in asked.terms if each.word == word)


def test_every_word_is_a_term_as_its_rarity_says_what_it_is_worth() -> None:
    assert words("What did Tom paint in March?") == ["what", "did", "tom", "paint", "in", "march"]


def test_the_words_of_a_time_are_known() -> None:
    timed = [
        each.word for each in ask("Which canoe did Tom paint two weeks ago?").terms if each.of_time
    ]

    assert timed == ["two", "weeks", "ago"]


def test_a_word_that_also_stands_outside_of_the_time_is_none_of_it() -> None:
    assert not term(ask("Who is called March since March?"), "march").of_time


def test_the_owner_of_something_is_found_by_the_bare_name() -> None:
    found = words("Where is Caroline's bike and the kids' tent?")

    assert {"caroline", "bike", "kids", "tent"} <= set(found)


def test_a_repeated_word_is_one_term_and_their_number_is_limited() -> None:
    assert words("tea or green tea") == ["tea", "or", "green"]
    assert len(ask(" ".join(f"word{n}" for n in range(100))).terms) == MAX_TERMS


def test_of_too_many_words_the_longest_are_looked_for() -> None:
    short = " ".join(f"a{n}" for n in range(100))

    assert "refrigerator" in words(f"{short} refrigerator")


def test_capitals_inside_a_sentence_may_be_names() -> None:
    asked = ask("Did Melanie fix the VPN?")

    assert term(asked, "melanie").may_name
    assert not term(asked, "fix").may_name
    assert not term(asked, "vpn").may_name


def test_the_first_word_may_be_a_name_too_but_is_not_taken_out_of_the_meaning() -> None:
    asked = ask("Melanie painted what?")

    assert term(asked, "melanie").may_name
    assert asked.meaning == "Melanie painted what"


def test_without_any_capitals_any_word_may_be_a_name() -> None:
    assert term(ask("when did mark call"), "mark").may_name
    assert not term(ask("When did Ann mark the page?"), "mark").may_name


def test_only_a_capitalised_beginning_of_three_letters_may_be_a_nickname() -> None:
    asked = ask("What did Mel and Jo tell the melon seller?")

    assert term(asked, "mel").may_shorten
    assert not term(asked, "jo").may_shorten
    assert not term(asked, "melon").may_shorten


def test_the_meaning_is_what_is_asked_of_the_named() -> None:
    assert ask("What does Melanie think of LGBTQ rights?").meaning == (
        "What does think of LGBTQ rights"
    )


def test_a_question_of_names_alone_keeps_its_meaning() -> None:
    assert ask("Who is Melanie?").meaning == "Who is Melanie?"


def test_the_times_are_read_against_now() -> None:
    (period,) = ask("What happened yesterday?").periods

    assert period.start == datetime(2026, 6, 16, tzinfo=UTC)


def test_a_weekday_is_the_last_and_the_next_one() -> None:
    starts = {each.start for each in ask("What is due on Friday?").periods}

    assert starts == {datetime(2026, 6, 12, tzinfo=UTC), datetime(2026, 6, 19, tzinfo=UTC)}


@given(st.text(max_size=200))
def test_any_text_is_a_question(text: str) -> None:
    asked = ask(text)

    found = [each.word for each in asked.terms]
    assert len(found) == len(set(found)) <= MAX_TERMS
    assert asked.text == text


@pytest.mark.parametrize("text", ["", "?!", "   "])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert ask(text).terms == ()


def test_a_word_is_written_as_a_name_only_inside_a_sentence() -> None:
    assert term(ask("Where will Will live?"), "will").is_written_name
    assert not term(ask("Will it rain?"), "will").is_written_name
    assert not term(ask("Ask. Will he come?"), "will").is_written_name


def test_a_month_in_a_time_is_no_name_but_one_outside_may_be() -> None:
    assert not term(ask("Who called in May?"), "may").may_name
    assert term(ask("When did May call?"), "may").may_name
