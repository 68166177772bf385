"""Query complexity judged by the words of the query alone."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.routing_fit import CHECK, FIT, read_items, scored, table_of, weights_json
from routing.domain import complexity
from routing.domain.complexity import (
    DIMENSIONS,
    WEIGHTS,
    ComplexityScore,
    Tier,
    tier_of,
)
from routing.services.complexity import heuristic_score

PASTED = (
    "The committee met on Thursday and discussed the roof, the boiler and the new bicycle shed. "
    "Anna presented three offers, of which the second was the cheapest by far. It was decided to "
    "ask for a guarantee of ten years before anything is signed, and to meet again in May."
)


def tier(query: str, turns: int = 0) -> Tier:
    return heuristic_score(query=query, history_turns=turns).tier


def test_queries_that_nothing_was_fitted_to_reach_their_tier() -> None:
    found = scored(read_items(CHECK))

    assert found.accuracy >= 0.8
    assert found.too_low == 0
    assert found.error < 1.0


def test_the_weights_in_use_are_what_the_labelled_queries_give() -> None:
    in_use = json.loads(files(complexity).joinpath("weights.json").read_text(encoding="utf-8"))

    fitted = json.loads(weights_json(table_of(read_items(FIT))))

    assert fitted["features"].keys() == in_use["features"].keys()
    # The last of three decimals may differ on another processor.
    for name in ("bias", "subject", "vector"):
        np.testing.assert_allclose(fitted[name], in_use[name], atol=0.0021)
    for name, row in in_use["features"].items():
        np.testing.assert_allclose(fitted["features"][name], row, atol=0.0021)


def test_no_query_is_both_fitted_to_and_measured_on() -> None:
    fitted = {item.query for item in read_items(FIT)}

    assert not fitted & {item.query for item in read_items(CHECK)}


@pytest.mark.parametrize("path", [FIT, CHECK], ids=["fit", "check"])
def test_every_label_follows_from_its_judgements(path: Path) -> None:
    wrong = [i.id for i in read_items(path) if i.score.tier is not i.label]

    assert wrong == []


@pytest.mark.parametrize(
    ("weighted", "expected"),
    [
        (0.0, Tier.FAST),
        (3.0, Tier.FAST),
        (3.1, Tier.BALANCED),
        (6.0, Tier.BALANCED),
        (6.1, Tier.POWERFUL),
        (10.0, Tier.POWERFUL),
    ],
)
def test_tiers_begin_where_the_seed_says(weighted: float, expected: Tier) -> None:
    assert tier_of(weighted) is expected


def test_the_score_weighs_the_dimensions_as_the_seed_does() -> None:
    score = ComplexityScore(10, 8, 6, 4, 2)

    assert score.weighted == pytest.approx(0.3 * 10 + 0.25 * 8 + 0.2 * 6 + 0.15 * 4 + 0.1 * 2)
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "query",
    [
        "How are you today?",
        "Why not, do it.",
        "Write the number 12 in words.",
        "Create a folder called Taxes.",
        "What does the debug flag do, in one line?",
        "I will analyse the architecture later, for now just tell me the date.",
        "No need to explain how it works, just say yes or no: is the pool heated?",
        f'Translate this into Dutch, nothing else: "{PASTED}"',
        f"Correct the commas in this text:\n\n{PASTED}\n{PASTED}",
    ],
)
def test_trifles_stay_fast_whatever_words_they_use(query: str) -> None:
    assert tier(query) is Tier.FAST


@pytest.mark.parametrize(
    "query",
    [
        "Debug this race condition.",
        "Debug this race condition: two workers claim the same job.",
        "Prove that the scheduler cannot starve, or give a counterexample.",
        "Why does the estimator stay biased even under randomisation?",
        "Is the reduction still polynomial if weights are asymmetric, and why?",
        "Find an invariant that survives the failover, or show that none can.",
    ],
)
def test_short_hard_queries_are_not_sent_to_a_fast_model(query: str) -> None:
    assert tier(query) is not Tier.FAST


def test_pasted_text_does_not_make_a_trifle_hard() -> None:
    hard = "Prove convergence of the stochastic gradient under asymmetric staleness bounds. " * 4

    assert tier(f'Count the words in this text: "{hard}"') is Tier.FAST


def test_a_reference_to_earlier_turns_counts_only_where_there_are_any() -> None:
    query = "Turn the plan we discussed above into a checklist."

    alone = heuristic_score(query=query)
    after_ten = heuristic_score(query=query, history_turns=10)

    assert alone.context_dependency < 1.5
    assert after_ten.context_dependency > 4


def test_a_follow_up_is_nearly_as_hard_as_what_it_follows() -> None:
    hard = "Prove that the allocator is linearisable under asynchronous reclamation."
    small = "What is the capital of Peru?"

    after_hard = heuristic_score(query="Still wrong, try again.", history_turns=2, history=[hard])
    after_small = heuristic_score(query="Still wrong, try again.", history_turns=2, history=[small])

    assert after_hard.reasoning_depth > 6
    assert after_hard.weighted > after_small.weighted
    assert "harder turn" in after_hard.reasons["reasoning_depth"]


def test_thanks_after_a_hard_turn_are_not_a_follow_up() -> None:
    hard = "Prove that the allocator is linearisable under asynchronous reclamation."

    thanked = heuristic_score(query="Great, thanks a lot!", history_turns=2, history=[hard])

    assert thanked.tier is Tier.FAST


@pytest.mark.parametrize(
    "query",
    [
        "Beweise, dass die Wurzel aus zwei irrational ist.",
        "Diseña un plan de migración para la base de datos sin tiempo de inactividad.",
        "Докажи, что протокол не теряет подтверждённых записей.",
        "请证明素数有无穷多个，并说明每一步。",
    ],
)
def test_what_the_word_lists_cannot_read_is_not_taken_for_easy(query: str) -> None:
    assert tier(query) is not Tier.FAST
    assert "word lists" in heuristic_score(query=query).reasons["reasoning_depth"]


def test_each_dimension_says_why_without_the_words_of_the_query() -> None:
    query = "Derive the posterior for Zanzibar's mangrove kingfishers and justify the prior."

    score = heuristic_score(query=query)

    assert set(score.reasons) == set(DIMENSIONS)
    assert "proof or derivation" in score.reasons["reasoning_depth"]
    told = json.dumps(dict(score.reasons)).lower()
    assert not [
        word for word in ("zanzibar", "mangrove", "kingfisher", "posterior") if word in told
    ]


def test_words_at_the_end_of_a_very_long_query_are_read() -> None:
    filler = "The weather was nice and we went for a walk. " * 2_000

    ending = (
        "Now prove that the protocol is linearisable, derive the bound, and refute the converse."
    )

    assert heuristic_score(query=filler + ending).weighted > heuristic_score(query=filler).weighted


@given(
    query=st.text(max_size=400),
    turns=st.integers(min_value=0, max_value=10_000),
    history=st.lists(st.text(max_size=80), max_size=4),
)
def test_any_text_gets_five_judgements_from_0_to_10(
    query: str, turns: int, history: list[str]
) -> None:
    score = heuristic_score(query=query, history_turns=turns, history=history)

    assert all(0 <= value <= 10 for value in score.dimensions.values())
    assert 0 <= score.weighted <= 10
    assert score == heuristic_score(query=query, history_turns=turns, history=history)
    assert all(score.reasons[name] for name in DIMENSIONS)


CUES = "prove ``` \" : 12 words why design — é , ; ? 9e999 lines SELECT x=1 don't just tell me"


@given(words=st.lists(st.sampled_from(CUES.split()), max_size=60))
def test_any_mixture_of_cues_is_judged(words: list[str]) -> None:
    assert 0 <= heuristic_score(query=" ".join(words), history_turns=3).weighted <= 10
