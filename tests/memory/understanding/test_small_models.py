"""The small models: plain cases, and laws that hold whatever was trained."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import psutil  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.types import MemoryType, Participants, Role, SourceMessage, Statement, Verdict
from memory.understanding import quoting
from memory.understanding.encoder import Encoder
from memory.understanding.judging import small_judge
from memory.understanding.quoting import QuotingExtractor, Said, confided, own_sentences
from tests.support.examples import examples

MONDAY = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
WHO = Participants(user="Sarah", agent="kyra")


def message(number: int, text: str, role: Role = Role.USER) -> SourceMessage:
    return SourceMessage(UUID(int=number), number, role, text, MONDAY)


def statement(text: str) -> Statement:
    return Statement(text, MONDAY)


def test_the_encoder_gives_unit_vectors_by_meaning() -> None:
    texts = ["Any drug allergies?", "Penicillin gives me hives.", "The port is 5432."]

    vectors = Encoder("search.onnx", max_tokens=64).run(texts)

    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


@settings(max_examples=examples(5))
@given(st.lists(st.text(max_size=80), min_size=1, max_size=20))
def test_a_vector_hardly_depends_on_the_batch_it_was_made_in(texts: list[str]) -> None:
    encoder = Encoder("search.onnx", max_tokens=64)

    together, alone = encoder.run(texts), encoder.run(texts[:1])

    assert float(together[0] @ alone[0]) > 0.97


@pytest.mark.parametrize(
    ("existing", "new", "verdict"),
    [
        ("Paula drives a Volvo.", "Paula's Volvo was repaired in Ghent.", Verdict.COEXIST),
        ("User works at St Lucas hospital.", "User now works at UZ Gent.", Verdict.SUPERSEDE),
        ("The deadline is May 5.", "The deadline is May 9.", Verdict.DISPUTE),
        (
            "Attachments may be up to 25 MB.",
            "The limit for attachments is 25 MB.",
            Verdict.DUPLICATE,
        ),
    ],
)
def test_the_judge_tells_plain_pairs(existing: str, new: str, verdict: Verdict) -> None:
    judgement = small_judge().judge(existing=statement(existing), new=statement(new))

    assert judgement.verdict is verdict


@settings(max_examples=examples(5))
@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=6))
def test_the_judge_is_bounded_and_in_order(texts: list[tuple[str, str]]) -> None:
    pairs = [(statement(one), statement(other)) for one, other in texts]

    judged = small_judge().judge_all(pairs)
    chances = small_judge().conflict_chances(pairs)

    assert len(judged) == len(chances) == len(pairs)
    assert all(0 <= each.confidence <= 1 for each in judged)
    assert all(0 <= each <= 1.001 for each in chances)


def test_the_extractor_keeps_facts_as_they_were_said_and_leaves_chat() -> None:
    messages = [
        message(1, "Hi there! I always prefer TypeScript for anything with a UI."),
        message(2, "Noted, thanks for telling me.", Role.ASSISTANT),
        message(3, "Thanks, bye!"),
    ]

    found = QuotingExtractor().extract(messages=messages, context=[], participants=WHO)

    assert [each.content for each in found] == [
        "I always prefer TypeScript for anything with a UI."
    ]
    assert found[0].message_ids == (UUID(int=1),)
    assert found[0].is_verbatim


def test_a_short_answer_carries_its_question() -> None:
    messages = [
        message(1, "Which city do you live in?", Role.ASSISTANT),
        message(2, "Rotterdam."),
    ]

    found = QuotingExtractor().extract(messages=messages, context=[], participants=WHO)

    assert [each.content for each in found] == ["Which city do you live in? Rotterdam."]
    assert found[0].message_ids == (UUID(int=1), UUID(int=2))


def test_what_is_asked_to_be_remembered_is_pinned_with_the_highest_importance() -> None:
    said = message(1, "Please remember that I am allergic to penicillin.")

    (found,) = QuotingExtractor().extract(messages=[said], context=[], participants=WHO)

    assert (found.importance, found.is_pinned) == (10, True)


def test_a_confidence_is_the_agents_alone_and_never_pinned() -> None:
    text = "Between us, I am looking for another job. Please don't tell anyone."

    found = QuotingExtractor().extract(messages=[message(1, text)], context=[], participants=WHO)

    assert {each.memory_type for each in found} == {MemoryType.AGENT_PRIVATE}
    assert not any(each.is_pinned for each in found)


def test_an_answer_to_a_confidence_belongs_to_it() -> None:
    secret = "Between us, I'm looking for another job. Please don't tell anyone."
    said = [
        Said(UUID(int=1), secret, is_persons=True),
        Said(UUID(int=2), "I'll keep it to myself.", is_persons=False),
    ]

    assert confided(said) == {UUID(int=1), UUID(int=2)}


def test_a_date_stands_beside_the_quote() -> None:
    said = message(1, "I have a dentist appointment on Thursday at nine.")

    (found,) = QuotingExtractor().extract(messages=[said], context=[], participants=WHO)

    assert found.content == "I have a dentist appointment on Thursday at nine."
    assert found.valid_from is not None
    assert found.valid_from.date() == datetime(2026, 3, 19).date()  # noqa: DTZ001 - a day


def test_code_quoted_lines_and_rendered_memory_are_not_the_persons_words() -> None:
    text = "> Please pay by Friday\nI pay by card.\n```\nprice = 3\n```\n[FACT]: Sarah likes tea."

    assert own_sentences(text) == ["I pay by card."]


def test_a_hostile_message_is_read_in_bounded_time() -> None:
    assert len(own_sentences("May 5. " * 5_000)) <= 50


def test_only_the_ends_of_a_long_message_are_searched_for_a_confidence() -> None:
    pasted = " ".join(f"Ticket {number} was closed on Tuesday." for number in range(900))
    said = [
        Said(UUID(int=1), "I applied for a job at another company.", is_persons=True),
        Said(UUID(int=2), f"Please keep that to yourself. {pasted}", is_persons=True),
    ]
    quoting._cached.clear()

    assert confided(said) == {UUID(int=1), UUID(int=2)}
    assert 0 < len(quoting._cached) < 50


def test_two_long_texts_are_judged_in_little_memory() -> None:
    long = "On Monday 3 March 2025 I moved to Berlin with Ann. I like tea. " * 500
    small_judge().judge(existing=statement("I live in Oslo."), new=statement("I live in Rome."))
    before = psutil.Process().memory_info().rss

    small_judge().judge(existing=statement(f"{long} A."), new=statement(f"{long} B."))

    assert psutil.Process().memory_info().rss - before < 300 * 2**20
