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

    assert file.categories == (
        CategoryRule("profile", context=Context.ALL),
        CategoryRule("event", length=30),
        CategoryRule("activity", length=50),
    )
    assert file.allowlists == {"planner": ("goals", "event"), "boss": ()}
    assert file.undefined == ("goals",)


def test_a_plain_list_will_do() -> None:
    file = read_category_file(
        {"categories": [{"name": "goals", "description": "Aims.", "context": "all", "length": 3}]}
    )

    assert file.categories == (CategoryRule("goals", "Aims.", Context.ALL, 3),)
    assert file.allowlists == {}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "the file must be a mapping"),
        ([], "the file must be a mapping"),
        ({}, "categories is missing"),
        ({"categories": [], "colours": 1}, "the file has no field 'colours'"),
        ({"categories": 5}, "categories must be a mapping"),
        ({"categories": {"mine": []}}, "categories has no field 'mine'"),
        ({"categories": {"system": {"name": "x"}}}, "categories.system must be a list"),
        ({"categories": ["goals"]}, "categories[0] must be a mapping"),
        ({"categories": [{}]}, "categories[0].name must be a text"),
        ({"categories": [{"name": ""}]}, "categories[0].name must be a text"),
        ({"categories": [{"name": " x"}]}, "categories[0].name must not begin"),
        ({"categories": [{"name": "a\nb"}]}, "categories[0].name must be a text"),
        ({"categories": [{"name": "x" * 101}]}, "categories[0].name must be a text"),
        ({"categories": [{"name": 5}]}, "categories[0].name must be a text"),
        ({"categories": [{"name": "x", "colour": 1}]}, "categories[0] has no field 'colour'"),
        ({"categories": [{"name": "x", "context": "llm"}]}, "categories[0].context must be all"),
        ({"categories": [{"name": "x", "length": 0}]}, "categories[0].length must be a whole"),
        ({"categories": [{"name": "x", "length": True}]}, "categories[0].length must be a whole"),
        ({"categories": [{"name": "x", "rag_length": "3"}]}, "categories[0].rag_length must be"),
        ({"categories": [{"name": "x", "length": 1, "rag_length": 1}]}, "categories[0] has both"),
        (
            {"categories": [{"name": "x", "context": "all", "rag_length": 1}]},
            "categories[0].rag_length is for the context rag",
        ),
        ({"categories": [{"name": "x"}, {"name": "x"}]}, "categories names 'x' twice"),
        ({"categories": [{"name": str(n)} for n in range(501)]}, "categories has more than 500"),
        ({"categories": [], "allowlists": ["x"]}, "allowlists must be a mapping"),
        ({"categories": [], "allowlists": {"kyra": []}}, "allowlists.kyra must be a list"),
        ({"categories": [], "allowlists": {"kyra": "some"}}, "allowlists.kyra must be a list"),
        ({"categories": [], "allowlists": {"kyra": [5]}}, "allowlists.kyra[0] must be a text"),
        ({"categories": [], "allowlists": {"": ["x"]}}, "allowlists. must be a text"),
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
