"""Relevance: bounded, growing with every signal, blind to order, and about what was asked."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memory.domain.retrieval.fusion import (
    MENTIONED,
    SHARES,
    WEIGHTS,
    Candidates,
    Rarity,
    Relevance,
    evidence_of,
    fuse,
    people_among,
)
from memory.domain.retrieval.question import Asked, read_question
from memory.domain.scoring import Parts

PARTS = [part.name for part in fields(Parts)]
NOW = datetime(2026, 6, 17, tzinfo=UTC)
NAN = float("nan")
QUESTIONS = st.sampled_from(
    [
        "What did Melanie paint with the kids?",
        "What did Melanie paint in May 2023?",
        "What did we do in May 2023?",
        "Who called Ann after the long trip?",
        "where is the blue key",
        "Who is Melanie?",
        "",
    ]
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Asked, Rarity, Candidates]:
    """A question, how rare its terms are, and candidates of any kind."""
    asked = read_question(draw(QUESTIONS), now=NOW)
    rows, columns = draw(st.integers(1, 12)), len(asked.terms)
    total = draw(st.integers(rows, 1000))
    times = st.one_of(st.just(NAN), st.floats(1.6e9, 1.8e9))
    counts = st.integers(0, total)

    def flags() -> np.ndarray:
        return draw(arrays(np.bool_, (rows, columns)))

    def column(values: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=rows, max_size=rows)))

    return (
        asked,
        Rarity(
            total,
            np.array(draw(st.lists(counts, min_size=columns, max_size=columns)), dtype=np.int64),
            np.array(draw(st.lists(counts, min_size=columns, max_size=columns)), dtype=np.int64),
        ),
        Candidates(
            matches=flags(),
            names=flags(),
            cosine=column(st.one_of(st.just(NAN), st.floats(-1, 1))),
            conversation=column(st.integers(-1, 2)),
            position=column(st.integers(0, 10)),
            said_at=column(times),
            held_from=column(times),
            held_until=column(times),
            is_episode=column(st.booleans()),
            evidence=column(st.floats(0.5, 1)),
        ),
    )


@given(cases())
def test_what_the_parts_add_makes_up_the_whole(case: tuple[Asked, Rarity, Candidates]) -> None:
    asked, rarity, candidates = case

    found = fuse(asked=asked, rarity=rarity, candidates=candidates)

    assert found.shares.sum(axis=0) == pytest.approx(found.score)
    if not asked.periods:
        assert not found.shares[PARTS.index("time")].any()


def test_what_neighbours_lend_is_told_apart_from_what_a_text_says_itself() -> None:
    asked = read_question("blue key", now=NOW)
    candidates = Candidates(
        matches=np.array([[True, True], [False, False], [False, False]]),
        names=np.zeros((3, 2), dtype=bool),
        cosine=np.array([0.8, 0.0, 0.0]),
        conversation=np.array([1, 1, 2]),
        position=np.array([4, 5, 5]),
        said_at=np.full(3, NAN),
        held_from=np.full(3, NAN),
        held_until=np.full(3, NAN),
        is_episode=np.zeros(3, dtype=bool),
        evidence=np.ones(3),
    )

    rarity = Rarity(9, np.ones(2, dtype=np.int64), np.zeros(2, dtype=np.int64))
    found = fuse(asked=asked, rarity=rarity, candidates=candidates)

    own = [PARTS.index("words"), PARTS.index("meaning")]
    whole = (WEIGHTS["words"] + 0.8 * WEIGHTS["meaning"]) / (WEIGHTS["words"] + WEIGHTS["meaning"])
    assert found.shares[own].sum(axis=0).tolist() == pytest.approx([whole, 0.0, 0.0])
    lent = found.shares[PARTS.index("neighbours")]
    assert lent.tolist() == pytest.approx([0.0, found.score[1], 0.0])
    assert 0 < lent[1] < found.score[0]


@given(cases())
def test_all_parts_and_the_whole_are_between_0_and_1(
    case: tuple[Asked, Rarity, Candidates],
) -> None:
    asked, rarity, candidates = case

    found = fuse(asked=asked, rarity=rarity, candidates=candidates)

    for part in fields(Relevance):
        values = getattr(found, part.name)
        assert values.shape[-1:] == candidates.cosine.shape
        assert ((values >= 0) & (values <= 1)).all()


@given(cases(), st.data())
def test_the_order_of_the_candidates_does_not_matter(
    case: tuple[Asked, Rarity, Candidates], data: st.DataObject
) -> None:
    asked, rarity, candidates = case
    order = np.array(data.draw(st.permutations(range(len(candidates.cosine)))))
    shuffled = Candidates(
        **{each.name: getattr(candidates, each.name)[order] for each in fields(Candidates)}
    )

    straight = fuse(asked=asked, rarity=rarity, candidates=candidates)
    turned = fuse(asked=asked, rarity=rarity, candidates=shuffled)

    assert turned.score == pytest.approx(straight.score[order])


@given(cases(), st.data())
def test_a_stronger_signal_never_lowers_a_score(
    case: tuple[Asked, Rarity, Candidates], data: st.DataObject
) -> None:
    asked, rarity, candidates = case
    row = data.draw(st.integers(0, len(candidates.cosine) - 1), label="row")
    signal = data.draw(st.sampled_from(["matches", "names", "cosine"]), label="signal")
    values = getattr(candidates, signal).copy()
    if signal == "cosine":
        values[row] = data.draw(st.floats(np.nan_to_num(values[row], nan=-1.0), 1.0))
    else:
        assume(values.shape[1])
        values[row, data.draw(st.integers(0, values.shape[1] - 1))] = True

    before = fuse(asked=asked, rarity=rarity, candidates=candidates)
    after = fuse(asked=asked, rarity=rarity, candidates=replace(candidates, **{signal: values}))

    assert after.score[row] >= before.score[row] - 1e-9


def candidates_of(asked: Asked, texts: list[str], **given_columns: object) -> Candidates:
    """Memories of one message each in one conversation; "Name: text" is by that person."""
    count = len(texts)
    by = [text.partition(":")[0].lower() if ":" in text else "" for text in texts]
    said = [text.partition(":")[2] if ":" in text else text for text in texts]
    columns: dict[str, object] = {
        "matches": np.array(
            [[term.word in text.lower().split() for term in asked.terms] for text in said]
        ),
        "names": np.array([[term.word == name for term in asked.terms] for name in by]),
        "cosine": np.full(count, 0.2),
        "conversation": np.zeros(count, dtype=np.int64),
        "position": np.arange(count) * 10,
        "said_at": np.full(count, NAN),
        "held_from": np.full(count, NAN),
        "held_until": np.full(count, NAN),
        "is_episode": np.zeros(count, dtype=bool),
        "evidence": np.ones(count),
    }
    return Candidates(**{**columns, **given_columns})  # type: ignore[arg-type]


def relevance(question: str, texts: list[str], **columns: object) -> Relevance:
    asked = read_question(question, now=NOW)
    candidates = candidates_of(asked, texts, **columns)
    rarity = Rarity(100, candidates.matches.sum(axis=0), candidates.names.sum(axis=0))
    return fuse(asked=asked, rarity=rarity, candidates=candidates)


def best(found: Relevance) -> int:
    return int(np.argmax(found.score))


def test_a_rare_word_says_more_than_common_ones() -> None:
    texts = ["the garden", "a violin", "my garden", "garden"]

    assert best(relevance("garden violin", texts)) == 1


def test_an_answer_next_to_the_question_is_found() -> None:
    texts = ["ann: Which instrument do you play", "bob: Piano for years", "ann: I like tea"]

    found = relevance("instrument", texts, position=np.array([1, 2, 9]))

    assert found.words.tolist() == pytest.approx([1.0, SHARES[1], 0.0])


def test_who_is_asked_about_comes_first() -> None:
    found = relevance(
        "What does Ann cook?", ["bob: I cook rice", "ann: I cook rice", "bob: We cook with ann"]
    )

    assert best(found) == 1
    assert found.person.tolist() == pytest.approx([0.0, 1.0, MENTIONED])


def test_a_capital_that_nobody_is_called_by_is_a_word_like_others() -> None:
    found = relevance("Paris?", ["bob: back in paris", "bob: back in rome"])

    assert found.words.tolist() == [1.0, 0.0]
    assert found.person.tolist() == [0.0, 0.0]


def test_a_name_alone_is_searched_for_in_the_text_too() -> None:
    found = relevance("Ann?", ["ann: hello", "bob: hello ann", "bob: hello"])

    assert found.words[1] > found.words[2]
    assert found.score.argmin() == 2


def test_what_happened_when_asked_comes_first_whenever_it_was_said() -> None:
    told = np.array([datetime(2024, 1, 9, tzinfo=UTC).timestamp()] * 2)
    held = np.array([datetime(2023, 5, 9, tzinfo=UTC).timestamp(), NAN])

    found = relevance("What broke in May 2023?", ["pump", "pump"], said_at=told, held_from=held)

    assert found.time.tolist() == pytest.approx([1.0, 0.0], abs=1e-6)
    assert best(found) == 0


def test_a_name_lifts_nothing_where_everything_is_of_that_person() -> None:
    texts = ["ann: a blue boat", "ann: a red door"]

    named, plain = relevance("Which boat has Ann?", texts), relevance("Which boat?", texts)

    share = PARTS.index("person")
    assert named.shares[share].max() < 0.1
    assert best(named) == best(plain) == 0


def test_the_fewer_are_of_the_person_the_more_their_name_is_worth() -> None:
    few = relevance("What of Ann?", ["ann: tea", *["bob: tea"] * 9])
    half = relevance("What of Ann?", [*["ann: tea"] * 5, *["bob: tea"] * 5])

    share = PARTS.index("person")
    assert few.shares[share, 0] > half.shares[share, 0] > 0


def test_short_messages_and_an_agents_are_worth_less_as_evidence() -> None:
    assert evidence_of(words=0, is_of_agent=False) == 0.5
    assert evidence_of(words=1, is_of_agent=False) < evidence_of(words=3, is_of_agent=False) < 1
    assert evidence_of(words=4, is_of_agent=False) == evidence_of(words=40, is_of_agent=False) == 1
    assert evidence_of(words=40, is_of_agent=True) < 1


def test_without_a_vector_the_words_still_count() -> None:
    found = relevance("violin", ["a violin", "a door"], cosine=np.full(2, NAN))

    assert best(found) == 0


def test_only_names_that_somebody_bears_are_people() -> None:
    asked = read_question("Did Ann visit the Louvre?", now=NOW)

    borne = np.array([2 if term.word in {"ann", "visit"} else 0 for term in asked.terms])
    people = people_among(asked.terms, Rarity(9, np.ones(len(borne), dtype=np.int64), borne))

    named = {term.word for term, is_one in zip(asked.terms, people, strict=True) if is_one}
    assert named == {"ann"}


def test_whatever_was_done_then_is_told_by_the_episode_of_that_time() -> None:
    may, june = datetime(2023, 5, 9, tzinfo=UTC).timestamp(), datetime(2023, 6, 20, tzinfo=UTC)
    texts = ["ann: we did it", "a long day", "another long day"]
    said_at = np.array([may, may, june.timestamp()])
    is_episode = np.array([False, True, True])

    found = relevance("May 2023", texts, said_at=said_at, is_episode=is_episode)

    assert best(found) == 1
    assert found.score[1] == pytest.approx(1.0)
    assert found.score[2] < 0.6


def test_to_any_other_question_an_episode_says_less_than_a_statement_of_the_same_words() -> None:
    texts = ["the blue key", "the blue key"]

    found = relevance("where is the blue key", texts, is_episode=np.array([True, False]))

    assert found.score[0] == pytest.approx(0.8 * found.score[1])
