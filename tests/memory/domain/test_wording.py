"""The writing constraints of a memory: accepted, refused with a reason, or masked, never edited."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.secrets import mask_secrets
from memory.domain.talk import MAX_CHARS, MAX_SENTENCES, check_wording, departures
from memory.domain.text.words import split_sentences
from memory.domain.types import Candidate, MemoryType

CARD = "4111 1111 1111 1111"


def candidate(text: str, *, is_verbatim: bool = False) -> Candidate:
    return Candidate(
        content=text,
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        confidence=0.9,
        message_ids=(uuid4(),),
        is_verbatim=is_verbatim,
    )


@pytest.mark.parametrize(
    "text",
    [
        "Sarah prefers trains to planes.",
        "Sarah attended a first-aid training. Mr. Holt was there too.",
        "I moved tomorrow.",
        'Sarah\'s motto is "Why not?"',
        "サラは東京に住んでいる。",
    ],
)
def test_what_breaks_no_constraint_is_accepted_unchanged(text: str) -> None:
    stated = candidate(text)

    wording = check_wording(stated)

    assert wording.candidate == stated
    assert (wording.refused, wording.secret_masked) == ("", False)


REFUSED = [
    ("x" * (MAX_CHARS + 1), "too long"),
    ("Ada leads. Bo writes. Cy tests.", "more than two sentences"),
    ("Where does Sarah live?", "a question"),
    ("Ada leads. Does Bo write?!", "a question"),
    ("サラはどこに住んでいますか？", "a question"),
]


@pytest.mark.parametrize(
    ("text", "why"), [*REFUSED, ("", "empty"), (" \n", "empty"), ("?!", "empty")]
)
def test_what_breaks_a_constraint_is_refused_with_its_reason(text: str, why: str) -> None:
    wording = check_wording(candidate(text))

    assert (wording.candidate, wording.refused) == (None, why)


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_a_quotation_is_held_to_no_form(text: str, why: str) -> None:
    quoted = candidate(text, is_verbatim=True)

    assert check_wording(quoted).candidate == quoted
    assert departures(text=text, memory_type=MemoryType.SEMANTIC) == (why,)


@pytest.mark.parametrize("is_verbatim", [True, False], ids=["quoted", "written"])
def test_a_secret_is_masked_and_nothing_else_is_changed(is_verbatim: bool) -> None:
    text = f"The team pays  Lund Kilns with card {CARD} every month."

    wording = check_wording(candidate(text, is_verbatim=is_verbatim))

    assert wording.secret_masked
    assert wording.candidate is not None
    assert wording.candidate.content == text.replace(CARD, "[masked]")


@pytest.mark.parametrize("is_verbatim", [True, False], ids=["quoted", "written"])
@pytest.mark.parametrize(
    "text",
    [
        "The wifi password is Pl4typus-77.",
        f"The card of the team is {CARD}.",
        "The API key for the sandbox is sk-live-abcdefghij0123456789.",
        "password: Pl4typus-77",
    ],
)
def test_what_only_says_that_a_secret_exists_is_refused(text: str, is_verbatim: bool) -> None:
    wording = check_wording(candidate(text, is_verbatim=is_verbatim))

    assert wording.secret_masked
    assert (wording.candidate, wording.refused) == (None, "nothing but a secret")


@given(st.text(max_size=600), st.booleans())
def test_whatever_passes_keeps_the_limits_and_its_words(text: str, is_verbatim: bool) -> None:
    stated = candidate(text, is_verbatim=is_verbatim)

    accepted = check_wording(stated).candidate

    if accepted is not None:
        assert accepted == replace(stated, content=mask_secrets(text=text))
        if not is_verbatim:
            assert len(accepted.content) <= MAX_CHARS
            assert len(split_sentences(accepted.content)) <= MAX_SENTENCES


def test_identity_memories_and_sound_texts_depart_from_nothing() -> None:
    long = "Ada leads. " * 50

    assert departures(text=long, memory_type=MemoryType.IDENTITY) == ()
    assert departures(text="Ada leads.", memory_type=MemoryType.SEMANTIC) == ()


def test_each_departure_is_named() -> None:
    found = departures(text="Ada leads. " * 50 + "Who asks?", memory_type=MemoryType.SEMANTIC)

    assert found == ("too long", "more than two sentences", "a question")


def test_of_an_overlong_text_the_beginning_is_looked_at() -> None:
    found = departures(text="Ada leads. " * 5_000 + "Who asks?", memory_type=MemoryType.SEMANTIC)

    assert "a question" not in found
