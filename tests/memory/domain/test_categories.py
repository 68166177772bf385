"""A team's category file: read whole, or refused with everything that is wrong with it."""

from __future__ import annotations

import pytest

from memory.domain.categories import (
    CategoryFileError,
    CategoryRule,
    Context,
    read_category_file,
)

SEED = {
    "categories": {
        "system": [
            {"name": "profile", "context": "all"},
            {"name": "event", "context": "rag", "rag_length": 30},
            {"name": "activity", "context": "rag", "rag_length": 50},
        ],
        "custom": [],
    },
    "allowlists": {"planner": ["goals", "event"], "boss": "all"},
}


def test_the_file_of_the_seed_is_read() -> None:
    file = read_category_file(SEED)

    assert file.categories == [
        CategoryRule(name="profile", context=Context.ALL),
        CategoryRule(name="event", length=30),
        CategoryRule(name="activity", length=50),
    ]
    assert file.allowlists == {"planner": ("goals", "event"), "boss": ()}
    assert file.undefined == ("goals",)


def test_a_plain_list_will_do() -> None:
    file = read_category_file(
        {"categories": [{"name": "goals", "description": "Aims.", "context": "all", "length": 3}]}
    )

    assert file.categories == [
        CategoryRule(name="goals", description="Aims.", context=Context.ALL, length=3)
    ]
    assert file.allowlists == {}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "the file:"),
        ([], "the file:"),
        ({}, "categories:"),
        ({"categories": [], "colours": 1}, "colours:"),
        ({"categories": 5}, "categories:"),
        ({"categories": {"mine": []}}, "categories:"),
        ({"categories": {"system": {"name": "x"}}}, "categories:"),
        ({"categories": ["goals"]}, "categories[0]:"),
        ({"categories": [{}]}, "categories[0].name:"),
        ({"categories": [{"name": ""}]}, "categories[0].name:"),
        ({"categories": [{"name": " x"}]}, "categories[0].name:"),
        ({"categories": [{"name": "a\nb"}]}, "categories[0].name:"),
        ({"categories": [{"name": "x" * 101}]}, "categories[0].name:"),
        ({"categories": [{"name": 5}]}, "categories[0].name:"),
        ({"categories": [{"name": "x", "colour": 1}]}, "categories[0].colour:"),
        ({"categories": [{"name": "x", "context": "llm"}]}, "categories[0].context:"),
        ({"categories": [{"name": "x", "length": 0}]}, "categories[0].length:"),
        ({"categories": [{"name": "x", "length": True}]}, "categories[0].length:"),
        ({"categories": [{"name": "x", "rag_length": "3"}]}, "categories[0].length:"),
        ({"categories": [{"name": "x", "length": 1, "rag_length": 1}]}, "categories[0]:"),
        (
            {"categories": [{"name": "x", "context": "all", "rag_length": 1}]},
            "categories[0]: rag_length is for the context rag",
        ),
        ({"categories": [{"name": "x"}, {"name": "x"}]}, "the file:"),
        ({"categories": [{"name": str(n)} for n in range(501)]}, "categories:"),
        ({"categories": [], "allowlists": ["x"]}, "allowlists:"),
        ({"categories": [], "allowlists": {"kyra": []}}, "allowlists.kyra:"),
        ({"categories": [], "allowlists": {"kyra": "some"}}, "allowlists.kyra:"),
        ({"categories": [], "allowlists": {"kyra": [5]}}, "allowlists.kyra[0]:"),
        ({"categories": [], "allowlists": {"": ["x"]}}, "allowlists."),
    ],
)
def test_a_mistake_is_named(data: object, problem: str) -> None:
    with pytest.raises(CategoryFileError) as refused:
        read_category_file(data)

    assert any(each.startswith(problem) for each in refused.value.problems), refused.value.problems


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(CategoryFileError) as refused:
        read_category_file(
            {"categories": [{"name": "x", "context": "?"}, {}], "allowlists": {"kyra": []}}
        )

    assert len(refused.value.problems) == 3
