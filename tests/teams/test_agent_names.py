"""An agent answers to its slug and its aliases, and each name means one agent."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from teams.errors import InvalidError
from teams.models import Agent, AgentAlias
from teams.services.agents import agent_of_slug
from teams.services.people import aliases_of, ensure_agent, set_aliases
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast


def test_an_alias_finds_the_agent_and_makes_none(acme: Cast) -> None:
    set_aliases(agent=acme.kyra, names=["kyra-old", "assistant"], actor="test")

    assert ensure_agent(team_id=acme.team.id, slug="kyra-old") == acme.kyra
    assert agent_of_slug(team_id=acme.team.id, slug="assistant") == acme.kyra
    assert Agent.objects.count() == 2


def test_the_aliases_become_those_that_are_given(acme: Cast) -> None:
    set_aliases(agent=acme.kyra, names=["a", "b"], actor="one")
    set_aliases(agent=acme.kyra, names=["b", "c", "c"], actor="two")

    assert aliases_of(agent=acme.kyra) == ["b", "c"]
    assert dict(AgentAlias.objects.values_list("slug", "actor")) == {"b": "one", "c": "two"}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["luke"], "an agent called 'luke' already"),
        (["kyra"], "an agent called 'kyra' already"),
        (["skywalker"], "an agent called 'skywalker' already"),
        (["two words"], "one word without spaces"),
        ([""], "one word without spaces"),
        (["x" * 101], "at most 100 characters"),
        ([f"a{number}" for number in range(21)], "at most 20 aliases"),
    ],
)
def test_a_name_that_cannot_be_an_alias_is_refused(
    acme: Cast, names: list[str], words: str
) -> None:
    set_aliases(agent=acme.luke, names=["skywalker"], actor="test")

    with pytest.raises(InvalidError, match=words):
        set_aliases(agent=acme.kyra, names=names, actor="test")

    assert aliases_of(agent=acme.kyra) == []


def test_the_database_keeps_slugs_and_aliases_apart(acme: Cast) -> None:
    set_aliases(agent=acme.kyra, names=["old"], actor="test")

    with pytest.raises(IntegrityError, match="an agent of that name"), transaction.atomic():
        Agent.objects.create(team=acme.team, slug="old", name="Old")
    with pytest.raises(IntegrityError, match="an agent of that name"), transaction.atomic():
        AgentAlias.objects.create(team=acme.team, agent=acme.kyra, slug="luke", actor="test")


def test_a_slug_that_is_changed_by_sql_stays_as_an_alias(acme: Cast) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(slug="kyra-two")
    assert ensure_agent(team_id=acme.team.id, slug="kyra").pk == acme.kyra.pk

    Agent.objects.filter(pk=acme.kyra.pk).update(slug="kyra")

    assert aliases_of(agent=acme.kyra) == ["kyra-two"]
    assert Agent.objects.count() == 2


def test_another_team_may_use_the_name(acme: Cast) -> None:
    set_aliases(agent=acme.kyra, names=["old"], actor="test")
    other = make_cast("globex")

    with team_scope(team_ids=[other.team.id], actor="test"):
        made = ensure_agent(team_id=other.team.id, slug="old")
        assert made.team_id == other.team.id
        assert not AgentAlias.objects.exists()
