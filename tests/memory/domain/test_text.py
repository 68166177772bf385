"""Equal facts compare equal, however they are written; different ones do not."""

from __future__ import annotations

import unicodedata
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.audience import Owner
from memory.domain.rendering import estimate_tokens
from memory.domain.text.words import dedupe_key, is_blank, normalise_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
WORDS = st.lists(
    st.sampled_from(["Sarah", "lives", "in", "Berlin", "née", "O'Neill", "3.5", "日本"]), min_size=1
)
IDS = st.none() | st.uuids()


def key(content: str, memory_type: str = "semantic", /, **owner: UUID | None) -> bytes:
    """The key of a fact of nobody unless told otherwise."""
    ids: dict[str, UUID | None] = {"agent_id": None, "end_user_id": None, "project_id": None}
    of = Owner.of(team_id=UUID(int=1), memory_type=memory_type, **{**ids, **owner})
    return dedupe_key(content, of)


@given(TEXTS)
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise_text(text)

    assert normalise_text(once) == once


@given(WORDS, st.sampled_from([" ", "  ", "\n", "\t ", ", ", " - "]))
def test_case_spacing_and_punctuation_do_not_make_another_fact(
    words: list[str], between: str
) -> None:
    plain = " ".join(words)

    assert normalise_text(between.join(words).upper() + "!") == normalise_text(plain)


@given(TEXTS)
def test_the_form_of_an_accent_does_not_make_another_fact(text: str) -> None:
    assert normalise_text(unicodedata.normalize("NFD", text)) == normalise_text(
        unicodedata.normalize("NFC", text)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 1.5", "The limit is 15"),
        ("The limit is 1.5", "The limit is 1 5"),
        ("Sarah likes tea", "Sarah likes teas"),
        ("tea, not coffee", "coffee, not tea"),
        ("🎉", "🎂"),
        ("!!!", "???"),
        ("C++ is used", "C is used"),
        ("The offset is -5", "The offset is 5"),
        ("a != b", "a == b"),
        ("Use C#", "Use C"),
    ],
)
def test_other_words_make_another_fact(one: str, other: str) -> None:
    assert key(one) != key(other)


@given(TEXTS)
def test_a_key_has_32_bytes_and_is_always_the_same(text: str) -> None:
    assert len(key(text)) == 32
    assert key(text) == key(text)


@given(TEXTS, IDS, IDS)
def test_the_same_words_about_another_owner_are_another_fact(
    text: str, one: UUID | None, other: UUID | None
) -> None:
    for role in ("agent_id", "end_user_id", "project_id"):
        assert (key(text, **{role: one}) == key(text, **{role: other})) == (one == other)
    if one is not None:
        assert len({key(text, **{role: one}) for role in ("agent_id", "end_user_id")}) == 2


@given(TEXTS, st.uuids())
def test_what_an_agent_keeps_to_itself_is_another_fact_than_what_is_shared(
    text: str, agent: UUID
) -> None:
    kinds = ("agent_private", "identity", "shared", "semantic")

    assert len({key(text, kind, agent_id=agent) for kind in kinds}) == 4


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "\u200b\u2060", "\u00a0", "\u2028"])
def test_what_cannot_be_read_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " . ", "🎉", "日", "\n-\n"])
def test_what_can_be_read_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@given(TEXTS, TEXTS)
def test_tokens_are_never_fewer_for_more_text(one: str, two: str) -> None:
    together = estimate_tokens(one + two)

    assert together >= max(estimate_tokens(one), estimate_tokens(two))
    assert together <= estimate_tokens(one) + estimate_tokens(two)


def test_tokens_are_characters_by_three_and_a_half() -> None:
    assert [estimate_tokens("x" * n) for n in (0, 1, 3, 4, 7, 8)] == [0, 1, 1, 2, 2, 3]
