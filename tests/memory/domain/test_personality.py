"""The agent's document in the words of the personality template."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.personality import Document, effective_skills, personality_text

KYRA = Document(
    name="Kyra",
    tagline="a friendly research assistant",
    personality={
        "traits": ["Curious", "Names her sources"],
        "tone": "warm and exact",
        "verbosity": "detailed",
        "formality": "casual",
        "voice_examples": ["Great question!", "Here is what I found."],
        "custom_instructions": "Answer in British English.\nNever use tables.",
        "humour": "dry",
        "response_lengths": ["short emails", "long reports"],
    },
    rules={"always": ["Quote figures with their source."], "never": ["Publish without approval."]},
)
TEXTS = st.text(max_size=20)
FIELDS = st.dictionaries(
    st.text(max_size=8) | st.sampled_from(["traits", "always", "never"]),
    st.lists(TEXTS, max_size=3) | TEXTS | st.integers() | st.booleans(),
    max_size=5,
)
SKILLS = st.dictionaries(
    st.sampled_from(["shared", "custom", "disabled"]),
    st.lists(TEXTS | st.fixed_dictionaries({"name": TEXTS, "description": TEXTS}), max_size=3),
)


def test_a_whole_document_fills_the_template() -> None:
    assert personality_text(KYRA) == (
        "You are Kyra, a friendly research assistant.\n\n"
        "## Who You Are\n- Curious\n- Names her sources\n- Humour: dry\n"
        "- Response lengths: short emails; long reports\n\n"
        "## How You Communicate\n- Tone: warm and exact\n- Style: detailed, casual\n"
        'You sound like this:\n- "Great question!"\n- "Here is what I found."\n\n'
        "## Your Rules\nALWAYS:\n- Quote figures with their source.\n\n"
        "NEVER:\n- Publish without approval.\n\n"
        "Answer in British English.\nNever use tables."
    )


def test_an_agent_without_a_document_has_its_name() -> None:
    assert personality_text(Document(name="Kyra")) == "You are Kyra."


def test_other_kinds_of_rules_come_after_always_and_never() -> None:
    rules = {"when_unsure": "Ask.", "never": "Guess."}

    assert personality_text(Document("Kyra", rules=rules)).endswith(
        "## Your Rules\nNEVER:\n- Guess.\n\nWHEN UNSURE:\n- Ask."
    )


@given(FIELDS, FIELDS, SKILLS, TEXTS)
def test_no_document_fails_or_holds_control_characters(
    personality: dict[str, Any], rules: dict[str, Any], skills: dict[str, Any], tagline: str
) -> None:
    document = Document("Kyra", tagline, personality, rules, skills)

    text = personality_text(document) + "".join(
        each.render() for each in effective_skills(document)
    )
    assert text.startswith("You are Kyra")
    assert all(char == "\n" or char.isprintable() or char in "\u200c\u200d" for char in text)


@given(st.lists(st.from_regex(r"[A-Za-z]{3,9}", fullmatch=True), min_size=1, max_size=6))
def test_every_trait_is_said(traits: list[str]) -> None:
    text = personality_text(Document("Kyra", personality={"traits": traits}))

    assert [each for each in text.splitlines() if each.startswith("- ")] == [
        f"- {trait}" for trait in traits
    ]


@pytest.mark.parametrize(
    ("skills", "expected"),
    [
        ({}, []),
        (
            {
                "shared": ["search", "charts"],
                "custom": [{"name": "notes", "description": "writes release notes"}],
                "disabled": ["Charts"],
            },
            ["- search", "- notes: writes release notes"],
        ),
        (
            {"shared": ["search"], "custom": [{"name": "Search", "description": "finds more"}]},
            ["- Search: finds more"],
        ),
    ],
)
def test_skills_are_the_shared_and_own_ones_without_the_disabled(
    skills: dict[str, Any], expected: list[str]
) -> None:
    found = effective_skills(Document("Kyra", skills=skills))

    assert [each.render() for each in found] == expected
