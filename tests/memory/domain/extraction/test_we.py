"""Whom "we" means: the team at work, and the user where two people live together."""

from __future__ import annotations

import pytest

from .conversation import texts


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My wife and I live in Utrecht.", "Dana and their wife live in Utrecht."),
        (
            "My husband and I've been together since 2009.",
            "Dana and their husband have been together since 2009.",
        ),
        ("We're expecting a baby in June.", "Dana is expecting a baby in June 2026."),
        ("We got engaged in Venice.", "Dana got engaged in Venice."),
        ("We bought a house in Porto in 2021.", "Dana bought a house in Porto in 2021."),
        ("Our son is allergic to eggs.", "Dana's son is allergic to eggs."),
        ("We broke up in 2021.", "Dana and their partner broke up in 2021."),
        ("We both work from home.", "Dana works from home."),
        ("Anna and I run a bakery in Cork.", "Dana and Anna run a bakery in Cork."),
        ("We use Terraform.", "The team uses Terraform."),
        ("Our team uses Notion.", "The team uses Notion."),
        ("We deploy on Fridays.", "The team deploys on Fridays."),
    ],
)  # fmt: skip
def test_a_sentence_tells_whom_we_means(said: str, told: str) -> None:
    assert texts(f"user: {said}") == [told]


def test_a_team_stays_one_after_a_word_of_home() -> None:
    found = texts("user: My wife likes the job. We use Terraform.")
    assert found[-1] == "The team uses Terraform."


def test_a_couple_stays_one_in_the_next_message() -> None:
    found = texts("user: My girlfriend and I met in 2019.", "user: We live in a flat in Gent.")
    assert found[-1] == "Dana lives in a flat in Gent."


def test_a_couple_is_one_amid_talk_of_work() -> None:
    found = texts("user: Our sprint ends on Friday.", "user: We got married last weekend.")
    assert found[0].startswith("The team's sprint")
    assert found[1].startswith("Dana got married")
