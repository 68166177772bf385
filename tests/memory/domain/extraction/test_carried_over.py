"""What a sentence takes from the one before it, and what nothing before it explains."""

from __future__ import annotations

import pytest

from .conversation import texts


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("We got the dog in August 2021. He died in October.", "The dog died in October 2021."),
        ("I started at Shell in March 2019. I left in November.", "Dana left in November 2019."),
        ("Ewa moved to Lyon in June 2015. She came back in May.", "Ewa came back in May 2016."),
        ("Ewa was born in June 1990. She moved in May.", "Ewa moved in May 2025."),
        ("The hall was built in June 1990. We bought it in May.", "in May 2025"),
    ],
)
def test_a_year_goes_on_to_the_next_sentence_of_the_same_telling(said: str, last: str) -> None:
    assert last in texts(f"user: {said}")[-1]


def test_what_was_to_be_on_a_day_before_is_of_the_same_year() -> None:
    assert texts("user: The fair is on June 20. It was June 13 before.") == [
        "The fair is on June 20, 2026.",
        "The fair was June 13, 2026 before.",
    ]
    assert texts("user: It was June 13 before.") == []


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("My sister works at Ikea. Her husband works there too.", "husband works at Ikea too."),
        ("My cousin works at the harbour. Piet works there too.", "Piet works at the harbour too."),
        ("My son Jef was a tree. He works there as an usher now.", "Jef works as an usher now."),
    ],
)
def test_there_is_the_place_before_or_is_left_out(said: str, last: str) -> None:
    assert texts(f"user: {said}")[-1].endswith(last)


def test_there_that_nothing_explains_makes_no_memory() -> None:
    assert texts("user: Ursula works there.") == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("takes ballet on Mondays, I mean judo.", "takes judo on Mondays."),
        ("studies physics in Delft, sorry, chemistry.", "studies chemistry in Delft."),
        ("plays tennis at school, I mean squash.", "plays squash at school."),
        ("plays tennis at school, I mean at university.", "plays tennis at university."),
    ],
)
def test_a_bare_noun_puts_the_object_right_and_not_the_place(said: str, meant: str) -> None:
    assert texts(f"user: Lena {said}") == [f"Lena {meant}"]


def test_a_condition_of_the_weather_stays_with_what_it_governs() -> None:
    assert texts("user: When it rains, Lena takes the bus to work.") == [
        "When it rains, Lena takes the bus to work."
    ]


def test_he_is_whom_the_question_names_and_no_plural_that_was_said_before() -> None:
    assert (
        texts(
            "user: Members get in free.",
            "assistant: Nice. Who is Tariq?",
            "user: He's a dentist from Genk.",
        )[-1]
        == "Tariq is a dentist from Genk."
    )


def test_two_days_of_a_week_are_no_verb_left_out() -> None:
    assert texts("user: Joris works Mondays and Thursdays only.") == [
        "Joris works Mondays and Thursdays only."
    ]


def test_two_relatives_of_the_user_are_both_the_users() -> None:
    assert texts("user: My parents and my aunt live in Ghent.") == [
        "Dana's parents and Dana's aunt live in Ghent."
    ]


def test_a_birth_is_not_of_the_day_it_is_told() -> None:
    assert texts("user: My grandmother was born in Riga and speaks Latvian.") == [
        "Dana's grandmother was born in Riga.",
        "Dana's grandmother speaks Latvian.",
    ]
