"""What the rules-based judge says of pairs of statements, and what it never does."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.judging import RulesJudge
from memory.domain.types import Judgement, Statement, Verdict

EARLIER = datetime(2026, 1, 5, 9, tzinfo=UTC)
LATER = datetime(2026, 2, 5, 9, tzinfo=UTC)
CONFLICTS = {Verdict.SUPERSEDE, Verdict.DISPUTE}


def judge(existing: str, new: str, path: str = "") -> Judgement:
    return RulesJudge().judge(
        existing=Statement(existing, EARLIER, path), new=Statement(new, LATER, path)
    )


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The choir rehearses on Mondays.", "The choir no longer rehearses on Mondays."),
        ("The kiosk opens at 7:00.", "The kiosk's opening was moved to 8:00."),
        ("The day rate is EUR 600.", "The day rate was raised by ten percent."),
        ("Quota: 40 visits.", "Correction: the quota is 45 visits."),
        ("Signe works for Havnlys.", "Signe left Havnlys and joined Brink."),
        ("A permit costs 30 euros.", "As of May a permit costs 35 euros."),
    ],
)
def test_an_explicit_change_supersedes(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The ferry has room for 90 cars.", "The ferry has room for 120 cars."),
        ("The cache listens on port 6379.", "The cache listens on port 6380."),
        ("Oda approved the new logo.", "Oda rejected the new logo."),
        ("The archive is open to the public.", "The archive is closed to the public."),
        ("Halvor speaks Polish.", "Halvor does not speak Polish."),
        ("The guarantee covers two years.", "The guarantee covers 36 months."),
    ],
)
def test_a_conflict_without_a_word_of_change_is_disputed(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Production runs on four nodes.", "Staging runs on two nodes."),
        ("Tuva lives in Arendal.", "Tuva's brother moved to Bodø last week."),
        ("User likes oranges.", "User also likes plums."),
        ("Jarle drives a tram.", "Signe no longer drives a tram."),
        ("User lives in Narvik.", "User is thinking about moving to Molde."),
        ("The free plan has 2 seats.", "The enterprise plan has 80 seats."),
    ],
)
def test_another_subject_or_scope_coexists(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The tank holds 1.5 litres.", "The tank holds 1,500 ml."),
        ("Oda is the CTO of Brink.", "Brink's chief technology officer is Oda."),
        ("The audit takes two weeks.", "The audit takes 14 days."),
        ("The gate is closed on Sundays.", "The gate is not open on Sundays."),
        ("The fair is on 2026-06-03.", "The fair is on the third of June 2026."),
    ],
)
def test_the_same_fact_in_other_words_is_a_duplicate(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.DUPLICATE


def test_the_reason_names_the_attribute_and_both_values() -> None:
    reason = judge("The cache listens on port 6379.", "The cache listens on port 6380.").reason

    assert "port" in reason
    assert "6379" in reason
    assert "6380" in reason
    assert "nothing says which holds" in reason


def test_the_reason_quotes_the_word_of_change() -> None:
    assert "no longer" in judge("Rolf chairs the club.", "Rolf no longer chairs the club.").reason


def test_one_subject_path_alone_makes_no_conflict() -> None:
    verdict = judge("User has a canoe.", "User collects old maps.", "user.hobbies").verdict

    assert verdict is Verdict.COEXIST


def test_a_change_dated_before_the_existing_statement_does_not_supersede_it() -> None:
    verdict = judge("Signe has been with Brink since 2016.", "Signe joined Brink in 2016.").verdict

    assert verdict is not Verdict.SUPERSEDE


def test_long_texts_with_one_beginning_are_no_duplicates() -> None:
    opening = "The minutes of the meeting run on. " * 200

    assert judge(opening + "Oda agreed.", opening + "Oda left.").verdict is Verdict.COEXIST


# -- laws -----------------------------------------------------------------------------------------

VOCABULARY = [
    *(
        "user",
        "lives",
        "moved",
        "to",
        "Oslo",
        "no",
        "longer",
        "not",
        "never",
        "now",
        "12",
        "12,000",
    ),
    *(
        "EUR",
        "%",
        "$",
        "3",
        "March",
        "2026-05-04",
        "09:30",
        "half",
        "past",
        "nine",
        "quarter",
        "of",
    ),
    *("second", "twice", "day", "every", "other", "week", "since", "until", "'s", "n't", "by", "a"),
    *(
        "third",
        "doubled",
        "more",
        "only",
        "also",
        "Correction",
        ":",
        ",",
        ";",
        ".",
        "(",
        ")",
        "v2.1",
    ),
    *(
        "Redis",
        "7",
        "q3",
        "one",
        "two",
        "hundred",
        "and",
        "unpaid",
        "mid-May",
        "5-6",
        "1/2",
        "km/h",
    ),
    *("@", "#", "https://a.example/b", "x@y.example", "-", "—", "’", "\u00a0", "𝔘", "ß", "İ", "un"),
]
texts = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(VOCABULARY), max_size=40).map(" ".join),
)
paths = st.sampled_from(["", "user.profile.city", "a", "..", "team.lead"])


@given(texts, texts, paths)
@settings(max_examples=300)
def test_no_text_makes_it_fail_and_every_judgement_has_a_reason(
    existing: str, new: str, path: str
) -> None:
    judgement = judge(existing, new, path)

    assert judgement.reason
    assert 0.0 <= judgement.confidence <= 1.0


@given(texts)
def test_identical_texts_are_duplicates(text: str) -> None:
    assert judge(text, text).verdict is Verdict.DUPLICATE


@given(texts, texts)
def test_the_same_pair_gets_the_same_judgement(existing: str, new: str) -> None:
    assert judge(existing, new) == judge(existing, new)


NAMES = ["Anneke", "Bartosz", "Chidi", "Dagny", "Eskil", "Farida", "Gaspard", "Hilma"]
PREDICATES = [
    "lives in Oslo",
    "moved to Turin last week",
    "works for Norhaven",
    "no longer drives a car",
    "earns 3,000 euros a month",
    "is allergic to nuts",
    "is not allergic to nuts",
    "prefers tea",
    "hates tea",
    "was promoted in January",
    "is 41 years old",
    "has two children",
]


@given(
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True),
    st.sampled_from(PREDICATES),
    st.sampled_from(PREDICATES),
)
@settings(max_examples=200)
def test_two_people_never_contradict_each_other(names: list[str], first: str, then: str) -> None:
    assert judge(f"{names[0]} {first}.", f"{names[1]} {then}.").verdict not in CONFLICTS


@given(
    st.sampled_from(["depot", "orchard", "quarry"]),
    st.sampled_from(["EUR", "USD", "kg", "GB", "minutes", "people"]),
    st.lists(st.integers(2, 90_000), min_size=2, max_size=2, unique=True),
)
def test_two_figures_for_one_thing_always_conflict(thing: str, unit: str, pair: list[int]) -> None:
    first, then = (f"The limit of the {thing} is {number} {unit}." for number in pair)
    assert judge(first, then).verdict in CONFLICTS


@pytest.mark.parametrize(
    "unit",
    ["a", ".", "'", "-", "1", "1,", "not ", "without ", "A", "a-", "no one but ", "1 March ", "5 "],
)
def test_hostile_lengths_are_read_in_no_time(unit: str) -> None:
    text = (unit * 32_000)[:32_000]
    started = time.process_time()

    judge(text, text + "x")

    # Far above what it takes, far below what a quadratic step would take.
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Order 77 was refunded.", "Order 78 was refunded on Monday."),
        ("Shelf 3 holds nine boxes.", "Shelf 4 holds twelve boxes."),
        ("RMA-3391 was approved.", "RMA-3392 was turned down."),
    ],
)
def test_numbers_that_name_different_things_make_no_conflict(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST
