"""The writing constraints of a memory."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.text.sentences import split_sentences
from memory.domain.types import Candidate, MemoryType
from memory.domain.wording import MAX_CHARS, MAX_SENTENCES, check_wording, departures

MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def candidate(text: str, kind: MemoryType = MemoryType.SEMANTIC) -> Candidate:
    return Candidate(
        content=text, memory_type=kind, importance=5, confidence=0.9, message_ids=(uuid4(),)
    )


@pytest.mark.parametrize(
    "text",
    [
        "User prefers trains to planes.",
        "The archive moves to Utrecht on March 9, 2026.",
        "This kiln needs a new belt.",
    ],
)
def test_what_is_well_worded_passes_as_it_is(text: str) -> None:
    given_ = candidate(text)

    wording = check_wording(given_, said_at=MONDAY)

    assert wording.candidate == given_
    assert wording.problems == ()


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("I'm allergic to walnuts.", "User is allergic to walnuts."),
        ("My sister lives in Turin.", "User's sister lives in Turin."),
        ("The archive   moves.", "The archive moves."),
    ],
)
def test_what_rules_can_mend_is_mended(text: str, repaired: str) -> None:
    wording = check_wording(candidate(text), said_at=MONDAY)

    assert wording.candidate is not None
    assert wording.candidate.content == repaired


def test_a_relative_date_is_resolved_against_when_it_was_said() -> None:
    wording = check_wording(candidate("The archive moves tomorrow."), said_at=MONDAY)

    assert wording.candidate is not None
    assert "March 3, 2026" in wording.candidate.content
    assert wording.problems == ("relative date",)


@pytest.mark.parametrize(
    "text",
    [
        "On 14 May 2025 the team chose PostgreSQL.",
        "On 14 May 2025 (Wednesday) the team chose PostgreSQL.",
        "The archive closes on 14 May and 3 June 2025.",
        "The lease runs from June to August 2027.",
        "User's birthday is on 3 March.",
        "IT Systems repairs the kiln.",
    ],
)
def test_an_absolute_date_and_a_name_are_no_fault_of_a_statement(text: str) -> None:
    for kind in (MemoryType.SEMANTIC, MemoryType.EPISODIC):
        assert departures(text=text, memory_type=kind, said_at=MONDAY) == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The archive moves next Friday.", "relative date"),
        ("The archive moved on 14 May 2025 and reopens tomorrow.", "relative date"),
        ("It repairs the kiln.", "a pronoun is its subject"),
    ],
)
def test_a_real_fault_of_a_statement_is_told(text: str, fault: str) -> None:
    assert departures(text=text, memory_type=MemoryType.SEMANTIC, said_at=MONDAY) == (fault,)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The lease runs from June to August 2027.", "The lease runs from June to August 2027."),
        ("The archive moves on 14 May.", "The archive moves on 14 May."),
    ],
)
def test_a_date_keeps_its_words_where_no_year_is_said(text: str, written: str) -> None:
    wording = check_wording(candidate(text), said_at=MONDAY)

    assert wording.candidate is not None
    assert (wording.candidate.content, wording.problems) == (written, ())


@pytest.mark.parametrize("text", ["She is in Turin.", "It's been tough.", "They moved.", "?!", " "])
def test_what_nobody_understands_alone_is_rejected_with_a_reason(text: str) -> None:
    wording = check_wording(candidate(text), said_at=MONDAY)

    assert wording.candidate is None
    assert wording.problems


@pytest.mark.parametrize(
    "text",
    [
        "Does User live in Porto?",
        "Does User live in Porto.",
        "User lives in Porto?",
        "Where does the archive move?",
        "Is the kiln paid for? Yes.",
        "On March 2, 2026, who came?!",
    ],
)
def test_a_question_is_no_memory(text: str) -> None:
    wording = check_wording(candidate(text), said_at=MONDAY)

    assert wording.candidate is None
    assert wording.problems == ("a question",)


def test_a_question_behind_a_fact_is_dropped() -> None:
    wording = check_wording(candidate("Ada leads. Does Bo write?"), said_at=MONDAY)

    assert wording.candidate is not None
    assert wording.candidate.content == "Ada leads."


@pytest.mark.parametrize(
    "text",
    [
        'User\'s motto is "Why not?"',
        "What User drinks is tea.",
        "Will lives in Turin.",
        "User wonders whether the kiln is paid for.",
    ],
)
def test_what_tells_of_a_question_is_none(text: str) -> None:
    given_ = candidate(text)

    assert check_wording(given_, said_at=MONDAY).candidate == given_


def test_a_third_sentence_is_dropped() -> None:
    wording = check_wording(candidate("Ada leads. Bo writes. Cy tests."), said_at=MONDAY)

    assert wording.candidate is not None
    assert wording.candidate.content == "Ada leads. Bo writes."


def test_an_endless_sentence_ends_at_a_clause() -> None:
    text = "The archive holds " + ", ".join(f"box number {n}" for n in range(60)) + "."

    wording = check_wording(candidate(text), said_at=MONDAY)

    assert wording.candidate is not None
    assert len(wording.candidate.content) <= MAX_CHARS
    assert wording.candidate.content.endswith(".")


def test_a_secret_is_masked_and_told() -> None:
    wording = check_wording(
        candidate("The team pays Lund Kilns with card 4111 1111 1111 1111 every month."),
        said_at=MONDAY,
    )

    assert wording.secret_masked
    assert wording.candidate is not None
    assert wording.candidate.content == "The team pays Lund Kilns with card [masked] every month."


@pytest.mark.parametrize(
    "text",
    [
        "The wifi password is Pl4typus-77.",
        "The card of the team is 4111 1111 1111 1111.",
        "The API key for the sandbox is sk-live-abcdefghij0123456789.",
        "password: Pl4typus-77",
        "The PIN isn't 4821, it's 9917.",
        "Dana's password used to be Pl4typus-77, now it's Pl4typus-78.",
    ],
)
def test_what_only_says_that_a_secret_exists_is_rejected_with_a_reason(text: str) -> None:
    wording = check_wording(candidate(text), said_at=MONDAY)

    assert wording.secret_masked
    assert wording.candidate is None
    assert wording.problems == ("nothing but a secret",)


def test_a_fact_beside_a_secret_stays() -> None:
    wording = check_wording(
        candidate("The wifi password is Pl4typus-77, and the router is in the hall."),
        said_at=MONDAY,
    )

    assert wording.candidate is not None
    assert "router is in the hall" in wording.candidate.content
    assert "Pl4typus" not in wording.candidate.content


@pytest.mark.parametrize(
    "text", ["On July 6, 2026, he was shocked.", "For Osprey, they leave.", "In May 2026, it ends."]
)
def test_a_pronoun_behind_a_date_or_topic_is_no_subject_either(text: str) -> None:
    assert check_wording(candidate(text), said_at=MONDAY).candidate is None


@given(st.text(max_size=600))
def test_whatever_passes_keeps_the_limits(text: str) -> None:
    wording = check_wording(candidate(text), said_at=MONDAY)

    if wording.candidate is not None:
        content = wording.candidate.content
        assert 0 < len(content) <= MAX_CHARS
        assert len(split_sentences(content)) <= MAX_SENTENCES


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I live in Ghent.", "User lives in Ghent."),
        ("I'm allergic to nuts.", "User is allergic to nuts."),
        ("I don't eat meat.", "User does not eat meat."),
        ("I work with my wife.", "User works with their wife."),
        ("I put the house on the market in March 2025.", "User put the house on the market"),
        ("My son is called Leo.", "User's son is called Leo."),
        ("On March 2, 2026, I moved to York.", "On March 2, 2026, User moved to York."),
    ],
)
def test_what_is_worded_in_the_first_person_is_repaired(said: str, told: str) -> None:
    wording = check_wording(candidate(said), said_at=MONDAY)

    assert wording.candidate is not None
    assert wording.candidate.content.startswith(told)
    assert wording.problems == ("first person",)


def test_of_an_overlong_text_the_beginning_is_looked_at() -> None:
    text = "Ann lives in Berlin. " * 500 + "She moves tomorrow."
    found = departures(text=text, memory_type=MemoryType.SEMANTIC, said_at=MONDAY)

    assert "more than two sentences" in found
    assert "relative date" not in found
    assert departures(
        text="Ann moves tomorrow.", memory_type=MemoryType.SEMANTIC, said_at=MONDAY
    ) == ("relative date",)
