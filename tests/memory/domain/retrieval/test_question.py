"""What is read out of a question: its telling words, names, and the text that is embedded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.events import Side
from memory.domain.retrieval.question import MAX_TERMS, Asked, Term, read_question

NOW = datetime(2026, 6, 17, 15, tzinfo=UTC)


def ask(text: str) -> Asked:
    return read_question(text, now=NOW)


def words(text: str) -> list[str]:
    return [term.word for term in ask(text).terms]


def term(asked: Asked, word: str) -> Term:
    return next(each for each in asked.terms if each.word == word)


def test_words_that_say_nothing_are_left_out() -> None:
    assert words("What did they paint in the garden?") == ["paint", "garden"]


def test_counted_times_are_no_words_to_look_for_but_names_of_days_are() -> None:
    assert words("Which canoe did Tom paint two weeks ago?") == ["canoe", "tom", "paint"]
    assert words("Which canoe did Tom paint in March?") == ["canoe", "tom", "paint", "march"]


@pytest.mark.parametrize(
    ("question", "dating"),
    [
        ("What did Tom paint in March?", ["march"]),
        ("What did Tom paint since Tuesday?", ["tuesday"]),
        ("What has Ann sold between May and July 2025?", ["may", "july", "2025"]),
        ("In March, what was painted?", ["march"]),
        # What is talked of, what a thing is called after, and a feast that people tell by name.
        ("What did Tom say about March?", []),
        ("What was saved for March?", []),
        ("What did Tom sell in the March sale?", []),
        ("What did Tom cook at Christmas?", []),
        # What happens every Tuesday is told with its name.
        ("What happens on Tuesday?", []),
        ("When is the Tuesday call?", []),
    ],
)
def test_the_name_of_a_day_that_only_dates_what_was_is_known(
    question: str, dating: list[str]
) -> None:
    assert [each.word for each in ask(question).terms if each.of_time] == dating


def test_other_forms_of_an_irregular_verb_count_as_the_word() -> None:
    forms = {each.word: each.form_of for each in ask("What did Ben buy?").terms}

    assert forms == {"ben": "", "buy": "", "bought": "buy"}


def test_a_date_beside_before_is_a_time_and_no_event() -> None:
    asked = ask("Who came before the 3rd of May 2025?")

    assert asked.side is None
    assert len(asked.periods) == 1


def test_a_question_of_nothing_else_keeps_its_words() -> None:
    assert words("Who are you?") == ["who", "are", "you"]


def test_the_owner_of_something_is_found_by_the_bare_name() -> None:
    assert words("Where is Caroline's bike and the kids' tent?") == [
        "caroline",
        "bike",
        "kids",
        "tent",
    ]


def test_a_repeated_word_is_one_term_and_their_number_is_limited() -> None:
    assert words("tea or green tea") == ["tea", "green"]
    assert len(ask(" ".join(f"word{n}" for n in range(100))).terms) == MAX_TERMS


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


def test_words_of_the_event_are_marked() -> None:
    asked = ask("What did the team drop before the second release?")

    assert asked.side is Side.BEFORE
    assert [each.word for each in asked.terms if each.of_event] == ["second", "release"]


def test_the_words_that_name_a_side_are_none_to_look_for() -> None:
    assert words("What was sold prior to the fair?") == ["sold", "fair", "sell"]
    assert words("What was sold following the fair?") == ["sold", "fair", "sell"]


def test_the_times_are_read_against_now() -> None:
    (period,) = ask("What happened yesterday?").periods

    assert period.start == datetime(2026, 6, 16, tzinfo=UTC)


@given(st.text(max_size=200))
def test_any_text_is_a_question(text: str) -> None:
    asked = ask(text)

    found = [each.word for each in asked.terms]
    assert len(found) == len(set(found)) <= MAX_TERMS
    assert asked.text == text


@pytest.mark.parametrize("text", ["", "?!", "   "])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert ask(text).terms == ()


@pytest.mark.parametrize(
    "question",
    ["What does Will like?", "Will's car?", "Will likes what?", "Where will Will live?", "Will?"],
)
def test_a_stop_word_written_as_a_name_may_be_one(question: str) -> None:
    assert term(ask(question), "will").may_name


@pytest.mark.parametrize(
    "question", ["Will it rain?", "Will Anna come?", "How will he go?", "Ask. Will he come?"]
)
def test_a_stop_word_that_opens_a_question_is_none(question: str) -> None:
    assert "will" not in words(question)


def test_a_title_makes_no_names_of_stop_words() -> None:
    assert words("What Will Anna Do About The Car?") == ["anna", "car"]


def test_a_month_in_a_time_is_no_name_but_one_outside_may_be() -> None:
    assert not term(ask("Who called in May?"), "may").may_name
    assert term(ask("When did May call?"), "may").may_name
    assert not term(ask("May I call?"), "may").may_name


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("What did we do last week?", True),
        ("what happened in March 2026", True),
        ("Recap yesterday.", True),
        ("What did we work on in May?", True),
        ("What did Ann do last week?", False),
        ("When did the crane break last week?", False),
        ("What did we do?", False),
    ],
)
def test_who_asks_for_a_time_alone_asks_for_whatever_was_then(text: str, is_alone: bool) -> None:
    assert read_question(text, now=NOW).of_time_alone is is_alone
