"""The model-free judge: laws, plain cases, and the least it reaches on each labelled file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.contradictions import CONFLICTS, read_pairs, score
from memory.clients.tools import fallback_judge
from memory.domain.ports import Judge
from memory.domain.types import Judgement, Statement, Verdict
from memory.fallback.judgement.reading import MAX_TOKENS, read

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LABELLED = Path("benchmarks/labelled/contradictions")
NAMES = st.sampled_from(["Karim", "Leonie", "Noor", "Ravi", "Greta", "Tomas"])
PREDICATES = st.sampled_from(
    ["is allergic to nuts", "lives in Graz", "works as a nurse", "has two cats", "was born in May"]
)


def judged(judge: Judge, existing: str, new: str, subject: str = "") -> Judgement:
    return judge.judge(
        existing=Statement(existing, NOON, subject),
        new=Statement(new, NOON + timedelta(days=30), subject),
    )


@given(NAMES, NAMES, PREDICATES, PREDICATES)
def test_strangers_stand_side_by_side_in_either_order(a: str, b: str, p: str, q: str) -> None:
    if a == b:
        return
    judge, one, other = fallback_judge(), f"{a} {p}.", f"{b} {q}."

    assert judged(judge, one, other).verdict is Verdict.COEXIST
    assert judged(judge, other, one).verdict is Verdict.COEXIST


@given(NAMES, PREDICATES, PREDICATES)
def test_nothing_is_retired_without_words_of_a_change(name: str, p: str, q: str) -> None:
    judgement = judged(fallback_judge(), f"{name} {p}.", f"{name} {q}.")

    assert judgement.verdict is not Verdict.SUPERSEDE or q.startswith("was ")


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=40)
def test_any_two_texts_get_a_verdict_with_a_reason(one: str, other: str) -> None:
    judgement = judged(fallback_judge(), one, other)

    assert judgement.reason
    assert 0.0 <= judgement.confidence <= 1.0


@given(st.text(min_size=1, max_size=80))
def test_the_same_words_are_a_duplicate(text: str) -> None:
    assert judged(fallback_judge(), text, f" {text} ").verdict is Verdict.DUPLICATE


@pytest.mark.parametrize("pattern", ["May 5, ", "not ", "a ", "Anna's ", "twenty ", "is open, "])
def test_of_a_long_text_a_bounded_part_is_compared(pattern: str) -> None:
    text = pattern * (32_000 // len(pattern))
    vectors = fallback_judge()._word_vectors

    reading = read(text, word_vectors=vectors)

    assert len(reading.tokens) <= MAX_TOKENS
    assert not reading.is_whole
    assert judged(fallback_judge(), text, f"{text} indeed").verdict is not Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("existing", "new", "verdict"),
    [
        ("The office is in Oslo.", "The office moved from Oslo to Bergen.", Verdict.SUPERSEDE),
        ("Standups begin at 9:15.", "Standups now begin at 10:00.", Verdict.SUPERSEDE),
        ("The customer pays by invoice.", "Correction: the customer pays by card, not by invoice.",
         Verdict.SUPERSEDE),
        ("Backups are kept for 30 days.", "Backups are kept for 14 days.", Verdict.DISPUTE),
        ("Releases go out every two weeks.", "Releases go out fortnightly.", Verdict.DUPLICATE),
        ("The user lives in Graz.", "I live in Graz.", Verdict.DUPLICATE),
        ("Room 204 seats 12 people.", "Room 310 seats 30 people.", Verdict.COEXIST),
        ("Karim's birthday is on 2 May.", "Leonie's birthday is on 9 July.", Verdict.COEXIST),
        ("Emil plays the trumpet.", "The printer is on the second floor.", Verdict.COEXIST),
    ],
)  # fmt: skip
def test_plain_cases(judge: Judge, existing: str, new: str, verdict: Verdict) -> None:
    assert judged(judge, existing, new).verdict is verdict


def test_a_reason_names_what_parts_the_two(judge: Judge) -> None:
    dispute = judged(judge, "Backups are kept for 30 days.", "Backups are kept for 14 days.")
    change = judged(judge, "Standups begin at 9:15.", "Standups now begin at 10:00.")

    assert "30 days / 14 days" in dispute.reason
    assert "now" in change.reason


@pytest.mark.parametrize(
    ("existing", "new", "is_replaced"),
    [
        ("User's locker number is 14.", "User's new locker number is 41.", True),
        ("The entry fee is 8 euros.", "The current entry fee is 9 euros.", True),
        ("The entry fee is 8 euros.", "The new boat costs 900 euros.", False),
        ("Piet's locker number is 14.", "User's new locker number is 41.", False),
        ("The new entry fee is 9 euros.", "The new entry fee is 8 euros.", False),
    ],
)
def test_a_new_value_replaces_the_old_one_of_the_same_thing(
    judge: Judge, existing: str, new: str, is_replaced: bool
) -> None:
    verdict = judged(judge, existing, new).verdict

    assert (verdict is Verdict.SUPERSEDE) is is_replaced


@pytest.mark.parametrize(
    ("name", "recall", "precision", "accuracy"),
    [
        ("dev", 0.9, 0.81, 0.78),
        ("train", 0.94, 0.67, 0.71),
        ("work", 0.93, 0.73, 0.75),
        ("home", 0.92, 0.72, 0.71),
        ("work2", 0.96, 0.81, 0.75),
        ("home2", 0.82, 0.84, 0.66),
        ("frames", 0.86, 0.68, 0.74),
        ("pairs", 0.86, 0.78, 0.72),
        ("hard_pairs", 0.84, 0.71, 0.63),
        ("blind", 0.93, 0.84, 0.83),
        ("blind2", 0.86, 0.79, 0.72),
    ],
)
def test_floors_on_labelled_pairs(
    judge: Judge, name: str, recall: float, precision: float, accuracy: float
) -> None:
    pairs = read_pairs(path=LABELLED / f"{name}.jsonl")

    verdicts = [judge.judge(existing=pair.existing, new=pair.new).verdict for pair in pairs]

    found = score(labels=[pair.label for pair in pairs], verdicts=verdicts)
    assert found.recall >= recall
    assert found.precision >= precision
    assert found.accuracy >= accuracy
    frames = [verdict for pair, verdict in zip(pairs, verdicts, strict=True) if pair.frame]
    assert sum(verdict in CONFLICTS for verdict in frames) <= len(frames) * 0.1
