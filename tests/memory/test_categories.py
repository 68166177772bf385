"""Categories: loaded from a file, all or nothing, and held to by what is stated."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from rest_framework.test import APIClient

from memory.models import Category, Memory
from teams.models import Agent, Team
from teams.services.people import team_id_of_slug
from tests import factories
from tests.support.cast import Cast, make_cast

SEED = """
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - {name: activity, context: rag, rag_length: 50}
  custom: []
allowlists:
  kyra: [profile, goals, event]
  planner: [goals, tasks]
"""


@pytest.fixture
def load(acme: Cast, tmp_path: Path) -> object:
    """Loads a text as Acme's file; returns what the command printed."""

    def run(text: str | bytes, team: str = "acme") -> str:
        file = tmp_path / "categories.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        printed = StringIO()
        call_command("load_categories", str(file), team=team, stdout=printed, stderr=printed)
        return printed.getvalue()

    return run


def stored() -> dict[str, tuple[str, int | None]]:
    """The team's categories."""
    return {row.name: (row.context, row.length) for row in Category.objects.all()}


def allowlists() -> dict[str, list[str]]:
    """Returns the categories that each agent may read."""
    return dict(Agent.objects.values_list("slug", "allowed_categories"))


def test_the_file_of_the_seed_is_loaded(load) -> None:  # type: ignore[no-untyped-def]
    printed = load(SEED)

    assert stored() == {"profile": ("all", None), "event": ("rag", 30), "activity": ("rag", 50)}
    assert allowlists() == {
        "kyra": ["profile", "goals", "event"],
        "planner": ["goals", "tasks"],
        "luke": [],
    }
    assert "added event: rag, at most 30" in printed
    assert "allowed planner: goals, tasks" in printed
    assert "'tasks' stands in an allowlist and is no category" in printed


def test_loading_it_again_changes_nothing(load) -> None:  # type: ignore[no-untyped-def]
    load(SEED)
    before = list(Category.objects.values_list("id", "created_at"))

    printed = load(SEED)

    assert "no changes" in printed
    assert list(Category.objects.values_list("id", "created_at")) == before


def test_a_changed_file_says_what_changed(load) -> None:  # type: ignore[no-untyped-def]
    load(SEED)

    printed = load(
        "categories: [{name: profile, context: all, length: 5}, {name: goals, description: Aims.}]"
        "\nallowlists: {kyra: all}"
    )

    assert stored() == {"profile": ("all", 5), "goals": ("rag", None)}
    assert allowlists()["kyra"] == []
    assert allowlists()["planner"] == ["goals", "tasks"]
    for line in (
        "changed profile: all, any number → all, at most 5",
        "added goals: rag, any number",
        "removed event",
        "removed activity",
        "allowed kyra: everything",
        "5 changes",
    ):
        assert line in printed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "categories: [",
        "categories: [{name: new}, {name: other, context: sometimes}]",
        "categories: [{name: new}]\nallowlists: {kyra: []}",
        "categories: [{name: new}]\ncategories: [{name: other}]",
        "categories: [{name: new}]\nallowlists: {kyra: [new], kyra: [other]}",
        "categories: [{name: !!python/object/apply:os.getcwd []}]",
        "categories: " + "[" * 3000,
        b"categories: [{name: \xff}]",
        "categories: [{name: new}] #" + "x" * 1_000_000,
    ],
)
def test_a_file_with_a_mistake_changes_nothing(  # type: ignore[no-untyped-def]
    load, text: str | bytes
) -> None:
    load(SEED)
    before = (stored(), allowlists())

    with pytest.raises(CommandError, match=r"categories\.yaml: "):
        load(text)

    assert (stored(), allowlists()) == before


def test_an_allowlist_of_a_new_agent_of_several_words_changes_nothing(  # type: ignore[no-untyped-def]
    load,
) -> None:
    agents = allowlists()

    with pytest.raises(CommandError, match=r"Nothing was changed.*such as 'trip-planner'"):
        load(SEED.replace("planner:", "Trip Planner:"))

    assert (stored(), allowlists()) == ({}, agents)


def test_a_bad_file_makes_no_team(load) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(CommandError):
        load("categories: 5", team="brand-new")

    assert team_id_of_slug("brand-new") is None


def test_a_missing_file_is_named(acme: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        call_command("load_categories", str(tmp_path / "none.yaml"), team="acme")


def test_another_teams_categories_are_its_own(  # type: ignore[no-untyped-def]
    load, globex: Cast
) -> None:
    load(SEED, team="globex")

    assert stored() == {}
    assert allowlists() == {"kyra": [], "luke": []}


@pytest.mark.parametrize(
    "fields",
    [{"name": ""}, {"name": "x", "context": "llm"}, {"name": "x", "length": 0}, {"name": "there"}],
)
def test_the_database_holds_the_rules_too(acme: Cast, fields: dict[str, object]) -> None:
    Category.objects.create(team=acme.team, name="there")

    with pytest.raises(IntegrityError), transaction.atomic():
        Category.objects.create(team=acme.team, **fields)


def test_loads_at_the_same_time_take_turns(committed_db: None, tmp_path: Path) -> None:
    make_cast("crowded")
    file = tmp_path / "categories.yaml"
    file.write_text(SEED)

    def load_once(number: int) -> str:
        printed = StringIO()
        try:
            call_command(
                "load_categories",
                str(file),
                team="crowded",
                create_team=True,
                stdout=printed,
                stderr=printed,
            )
        finally:
            connection.close()
        return printed.getvalue()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(load_once, range(6)))

    assert sorted("added profile" in each for each in answers) == [False] * 5 + [True]
    assert sum("no changes" in each for each in answers) == 5


# -- what is stated --------------------------------------------------------------------------


def test_without_a_list_any_category_goes(api: APIClient) -> None:
    body = {"content": "We deploy on Fridays.", "category": "whatever"}

    assert api.post("/v1/memories", body, format="json").json()["category"] == "whatever"


def test_with_a_list_only_its_words_go(load, api: APIClient) -> None:  # type: ignore[no-untyped-def]
    load(SEED)
    bodies = [
        {"content": "We met on Monday.", "category": "event"},
        {"content": "We deploy on Fridays.", "category": "whatever", "agent": "brand-new"},
    ]

    refused = api.post("/v1/memories", bodies, format="json")

    assert refused.status_code == 422
    message = refused.json()["errors"]["[1].category"][0]
    assert message == ("There is no category 'whatever'; known are: activity, event, profile.")
    assert Memory.objects.count() == 0
    assert "brand-new" not in allowlists()
    assert api.post("/v1/memories", bodies[0], format="json").status_code == 201
    plain = {"content": "Nothing in particular."}
    assert api.post("/v1/memories", plain, format="json").status_code == 201


def test_memories_keep_a_category_that_was_removed(  # type: ignore[no-untyped-def]
    load, acme: Cast
) -> None:
    load(SEED)
    memory = factories.MemoryFactory.create(team=acme.team, category="event")

    load("categories: [{name: goals}]")

    memory.refresh_from_db()
    assert memory.category == "event"


def test_a_mistyped_team_is_not_made(acme: Cast, tmp_path: Path) -> None:
    file = tmp_path / "categories.yaml"
    file.write_text(SEED)

    with pytest.raises(CommandError, match=r"There is no team 'acmee'.*'acme'.*--create-team"):
        call_command("load_categories", str(file), team="acmee")

    assert not Team.objects.filter(slug="acmee").exists()
