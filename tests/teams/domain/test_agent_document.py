"""An identity document as a person writes it: what is taken, and what is refused where."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.personality import Document, effective_skills, personality_text
from memory.domain.scoring import Weights
from teams.domain.agent_document import (
    LEAST_TOKEN_BUDGET,
    SIGNALS,
    AgentDocument,
    ContextPolicy,
    MemoryConfig,
    ModelConfig,
    RetrievalWeights,
)
from teams.domain.documents import DocumentError, changed_places
from teams.domain.team_settings import Flags
from teams.services.agents import columns_of
from tests.support.agent_documents import WHOLE

OWN: dict[str, Any] = {
    "name": "balanced",
    "model_name": "m",
    "cost_per_1k_input": 0,
    "cost_per_1k_output": 0,
}


def problems(document: object) -> dict[str, list[str]]:
    """Returns the validation errors of the document, by place."""
    with pytest.raises(DocumentError) as caught:
        AgentDocument.read(document)
    return caught.value.problems


def as_json(document: AgentDocument) -> dict[str, Any]:
    """The document as it is stored and sent again."""
    columns = columns_of(document)
    memory = {name: columns.pop(name) for name in MemoryConfig.model_fields}
    if document.memory.summarize_interval is None:
        del memory["summarize_interval"]
    written = {**columns, "memory_config": memory}
    found: dict[str, Any] = json.loads(json.dumps(written))
    return found


def test_a_whole_document_is_read_part_by_part() -> None:
    document = AgentDocument.read(WHOLE)

    assert document.personality.traits == ["Curious", "Patient"]
    assert document.personality.model_extra == {"response_length": "short"}
    assert [skill.name for skill in document.skills.shared] == ["search", "code-review"]
    (tier,) = document.model.custom_tiers
    assert (tier.name, tier.cost_per_1k_input) == ("fast", Decimal("0.0008"))
    assert document.model.daily_budget_usd == Decimal("2.5")
    assert document.model.enable_model_routing is True
    assert document.memory.allowed_categories == ["profile", "goals"]
    assert as_json(document) == WHOLE


def test_what_is_left_out_has_its_default() -> None:
    document = AgentDocument.read({"name": "Mira"})

    assert document == AgentDocument(name="Mira")
    assert document.model == ModelConfig()
    assert document.memory.token_budget == 2000
    assert document.memory.summarize_interval is None


def test_the_prompt_says_what_the_document_says() -> None:
    document = AgentDocument.read(WHOLE)
    stored = as_json(document)
    written = Document(
        name=stored["name"],
        tagline=stored["tagline"],
        personality=stored["personality"],
        rules=stored["rules"],
        skills=stored["skills"],
    )

    text = personality_text(written)

    for said in ("Curious", "warm", "brief, casual", "Here is what I found.", "Cite sources."):
        assert said in text
    assert "WHEN UNSURE:\n- Ask." in text
    listed = [skill.render() for skill in effective_skills(written)]
    assert listed == ["- search", "- charts: draws"]


def test_other_spellings_of_the_same_are_taken_and_stored_in_one() -> None:
    given_so = {
        "name": " Kyra ",
        "personality": {"personality_traits": "Curious", "examples": ["Hi."]},
        "skills": {
            "custom": {"charts": "draws", "maps": ""},
            "disabled": " code-review ",
            "shared": "",
        },
    }

    assert as_json(AgentDocument.read(given_so)) == {
        **as_json(AgentDocument(name="Kyra")),
        "personality": {"traits": ["Curious"], "voice_examples": ["Hi."]},
        "skills": {
            "custom": [{"name": "charts", "description": "draws"}, "maps"],
            "disabled": ["code-review"],
        },
    }


@pytest.mark.parametrize(
    ("part", "place", "said"),
    [
        ({"name": None}, "name", "missing"),
        ({"name": "  "}, "name", "missing"),
        ({"name": 5}, "name", "a text"),
        ({"name": "x" * 201}, "name", "at most 200"),
        ({"name": "x" * 200 + " "}, "name", "at most 200"),
        ({"name": "a\nb"}, "name", "one line"),
        ({"tagline": "\ud800"}, "tagline", "Unicode"),
        ({"nmae": "Kyra"}, "nmae", "known are: name"),
        ({"personality": ["calm"]}, "personality", "an object"),
        ({"personality": {"tonne": "warm"}}, "personality.tonne", "mean 'tone'"),
        ({"personality": {"tone": {"a": 1}}}, "personality.tone", "a text"),
        ({"personality": {"traits": ["a", 3]}}, "personality.traits[1]", "a text"),
        ({"personality": {"mood": {"a": 1}}}, "personality.mood", "a list of texts"),
        (
            {"personality": {"examples": ["a"], "voice_examples": ["b"]}},
            "personality.examples",
            "one of them",
        ),
        ({"rules": {"always": "x" * 2001}}, "rules.always[0]", "at most 2000"),
        ({"rules": {"nevr": ["x"]}}, "rules.nevr", "mean 'never'"),
        ({"skills": {"shared": [7]}}, "skills.shared[0]", "Give a name"),
        ({"skills": {"shared": ["a", "A"]}}, "skills.shared[1]", "twice"),
        ({"skills": {"own": []}}, "skills.own", "no such field"),
        (
            {"skills": {"custom": [{"name": "a", "description": 5}]}},
            "skills.custom[0].description",
            "a text",
        ),
        ({"model_config": {"force_tier": "ultra"}}, "model_config.force_tier", "powerful"),
        (
            {"model_config": {"force_tier": "powerful", "max_tier": "fast"}},
            "model_config.force_tier",
            "above max_tier",
        ),
        ({"model_config": {"daily_budget_usd": -1}}, "model_config.daily_budget_usd", "at least 0"),
        ({"model_config": {"daily_budget_usd": "5"}}, "model_config.daily_budget_usd", "a number"),
        (
            {"model_config": {"monthly_budget_usd": float("nan")}},
            "model_config.monthly_budget_usd",
            "finite",
        ),
        (
            {"model_config": {"enable_model_routing": "yes"}},
            "model_config.enable_model_routing",
            "true or false",
        ),
        (
            {"model_config": {"custom_tiers": [{**OWN, "cost_per_1k_input": None}]}},
            "model_config.custom_tiers[0].cost_per_1k_input",
            "missing",
        ),
        ({"memory_config": {"token_budget": 99}}, "memory_config.token_budget", "at least 100"),
        (
            {"memory_config": {"context_policy": {"shares": {"task": 0.7, "global": 0.4}}}},
            "memory_config.context_policy.shares",
            "more than 1",
        ),
        (
            {"memory_config": {"context_policy": {"shares": {"team": 0.1}}}},
            "memory_config.context_policy.shares.team",
            "known are: task, project, global",
        ),
        (
            {"memory_config": {"context_policy": {"shares": {"task": float("nan")}}}},
            "memory_config.context_policy.shares.task",
            "finite",
        ),
        (
            {"memory_config": {"context_policy": {"head_tail_preserve": 101}}},
            "memory_config.context_policy.head_tail_preserve",
            "100",
        ),
        ({"memory_config": {"token_budget": 1.5}}, "memory_config.token_budget", "whole number"),
        ({"memory_config": {"token_budget": True}}, "memory_config.token_budget", "whole number"),
        (
            {"memory_config": {"retrieval_weights": {"semantics": 1}}},
            "memory_config.retrieval_weights.semantics",
            "known are: semantic",
        ),
        (
            {"memory_config": {"retrieval_weights": dict.fromkeys(SIGNALS, 0)}},
            "memory_config.retrieval_weights",
            "all be zero",
        ),
        (
            {"memory_config": {"allowed_categories": " " * 101}},
            "memory_config.allowed_categories[0]",
            "may have at most 100",
        ),
        (
            {"memory_config": {"allowed_categories": [["goals"]]}},
            "memory_config.allowed_categories[0]",
            "a text",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(part: dict[str, Any], place: str, said: str) -> None:
    found = problems({"name": "Kyra", **part})

    assert list(found) == [place]
    assert said in found[place][0]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    found = problems(
        {"personality": {"tone": 1}, "model_config": {"max_tier": 1}, "memory_config": []}
    )

    assert set(found) == {"name", "personality.tone", "model_config.max_tier", "memory_config"}


@pytest.mark.parametrize("value", [None, [], "Kyra", 5, True])
def test_what_is_no_object_is_no_document(value: object) -> None:
    assert problems(value)


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"force_tier": "fast"}, "model_config.force_tier"),
        ({"max_tier": "fast"}, "model_config.max_tier"),
    ],
)
def test_a_choice_among_own_tiers_must_be_possible(config: dict[str, str], place: str) -> None:
    own = [OWN]

    assert list(problems({"name": "Kyra", "model_config": {**config, "custom_tiers": own}})) == [
        place
    ]
    twice = problems({"name": "Kyra", "model_config": {"custom_tiers": own * 2}})
    assert twice == {"model_config.custom_tiers": ["The tier 'balanced' stands there twice."]}


def test_a_stored_model_configuration_is_read_or_refused_in_words() -> None:
    assert ModelConfig.read({}) == ModelConfig()
    assert ModelConfig.read({"force_tier": "fast"}).force_tier == "fast"
    with pytest.raises(DocumentError, match=r"model_config\.force_tier: Must be one of"):
        ModelConfig.read({"force_tier": "ultra"}, at="model_config")
    with pytest.raises(DocumentError, match="model_config: Must be an object"):
        ModelConfig.read([1], at="model_config")


def test_stored_settings_are_read_without_what_is_not_valid() -> None:
    stored = {"head_tail_preserve": 5, "shares": {"task": 2}, "other": 1}

    assert ContextPolicy.usable(stored) == ContextPolicy(head_tail_preserve=5)
    assert ContextPolicy.usable([1]) == ContextPolicy()
    assert Flags().overridden({"memory": False, "insights": "no"}) == Flags(memory=False)


def test_the_bounds_are_those_of_the_memory() -> None:
    assert asdict(Weights()) == RetrievalWeights().model_dump()
    assert LEAST_TOKEN_BUDGET == MINIMUM_BUDGET


def test_changes_are_told_by_place() -> None:
    other = {**WHOLE["memory_config"], "token_budget": 1}
    after = {**WHOLE, "tagline": "x", "memory_config": other}

    assert changed_places(WHOLE, WHOLE) == []
    assert changed_places(WHOLE, after) == ["memory_config.token_budget", "tagline"]
    assert changed_places({**WHOLE, "rules": [1]}, WHOLE) == ["rules"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=8)
            | st.sampled_from(["name", "always", "traits", "shared", "force_tier", "token_budget"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
documents = st.dictionaries(st.sampled_from([*WHOLE, "other"]), json_values, max_size=7)


def read(document: object) -> AgentDocument | dict[str, list[str]]:
    """The document, or what is wrong with it."""
    try:
        return AgentDocument.read(document)
    except DocumentError as error:
        return error.problems


@given(document=documents | json_values)
def test_any_json_is_refused_with_words_or_stays_what_it_was_read_as(document: object) -> None:
    found = read(document)

    if isinstance(found, dict):
        assert found
        assert all(said and all(said) for said in found.values())
    else:
        stored = as_json(found)
        assert as_json(AgentDocument.read(stored)) == stored
        words = Document(name=found.name, personality=stored["personality"], rules=stored["rules"])
        assert personality_text(words).startswith("You are ")
