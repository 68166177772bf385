"""Citations of a prompt: by words of one memory alone, and never more than that says."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.chat.citations import Citations, citations_of

TEXTS = [
    "Sarah's dog Biscuit sleeps in the kitchen.",
    "Deployments run through Jenkins every Tuesday evening.",
    "The invoices are archived by the bookkeeping service.",
    "Dmitri repairs violins in his workshop.",
]
DOG, DEPLOY, INVOICES, VIOLINS = KEYS = [UUID(int=number) for number in range(1, 5)]
ALL = list(zip(KEYS, TEXTS, strict=True))
WORDS = st.sampled_from(" ".join([*TEXTS, "and who knows what else"]).split())


def found(
    answer: str, *elsewhere: str, told: list[tuple[UUID, str]] = ALL, chosen: list[UUID] = KEYS
) -> Citations:
    return citations_of(answer=answer, told=told, elsewhere=elsewhere, chosen=chosen)


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Your dog is Biscuit.", {DOG}),
        ("They run with Jenkins.", {DEPLOY}),
        ("Bookkeeping archives the invoices.", {INVOICES}),
        ("Biscuit sleeps while Jenkins deploys in the evening.", {DOG, DEPLOY}),
        ("It will be the evening.", set()),
        ("On Tuesday, I think.", set()),
        ("I cannot say.", set()),
        ("", set()),
    ],
)
def test_words_that_one_memory_alone_has_speak_for_it(answer: str, cited: set[UUID]) -> None:
    assert found(answer).cited == cited


def test_what_the_model_read_elsewhere_speaks_for_no_memory() -> None:
    answer = "Biscuit sleeps in the kitchen."

    assert found(answer).cited == {DOG}
    assert found(answer, "Does Biscuit sleep in the kitchen?").cited == set()


def test_what_two_memories_say_speaks_for_neither() -> None:
    told = [*ALL, (UUID(int=9), "The dog Biscuit sleeps in the kitchen of Sarah.")]

    assert found("Biscuit sleeps in the kitchen.", told=told).cited == set()


def test_ignored_is_what_ranked_above_a_used_one() -> None:
    assert found("Bookkeeping archives the invoices.") == Citations(
        frozenset({INVOICES}), frozenset({DOG, DEPLOY})
    )
    assert found("Your dog is Biscuit.").ignored == set()


def test_ignored_is_nothing_where_nothing_is_cited_nor_what_the_answer_touches() -> None:
    assert found("It sleeps.").ignored == set()
    assert found("Bookkeeping archives the invoices on Tuesday.").ignored == {DOG}


def test_ignored_is_nothing_that_is_always_told() -> None:
    assert found("Bookkeeping archives the invoices.", chosen=[DEPLOY]).ignored == {DEPLOY}


@given(
    st.lists(WORDS, max_size=20).map(" ".join),
    st.lists(WORDS, max_size=10).map(" ".join),
    st.permutations(ALL),
    st.sets(st.sampled_from(KEYS)),
)
def test_what_is_ignored_was_chosen_ranked_above_a_cited_one_and_is_not_cited(
    answer: str, read: str, told: list[tuple[UUID, str]], chosen: set[UUID]
) -> None:
    uses = found(answer, read, told=told, chosen=[*chosen])
    places = {key: place for place, (key, _) in enumerate(told)}

    assert not uses.cited & uses.ignored
    assert uses.ignored <= chosen
    last = max((places[key] for key in uses.cited), default=-1)
    assert all(places[key] < last for key in uses.ignored)


@given(st.lists(WORDS, max_size=20).map(" ".join), st.permutations(ALL))
def test_an_answer_that_says_what_was_read_anyhow_cites_nothing(
    answer: str, told: list[tuple[UUID, str]]
) -> None:
    assert found(answer, answer, told=told) == Citations()
