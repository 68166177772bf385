"""Every change of an agent's document leaves a version, whoever makes it."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import ProgrammingError, connection, transaction

from teams.domain.agent_document import AgentDocument
from teams.errors import Condition, InvalidError, StaleError
from teams.models import Agent, AgentVersion
from teams.services.agents import model_config_of, save_document, versions_of
from teams.services.people import ensure_agent
from teams.tenancy import team_scope
from tests.support.cast import Cast


def run(statement: str, *params: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def stored_version(agent: Agent) -> int:
    return Agent.objects.get(pk=agent.pk).version


def put(team_id: UUID, slug: str = "kyra", **fields: object) -> tuple[Agent, bool]:
    document = AgentDocument.read({"name": "Kyra", **fields})
    return save_document(team_id=team_id, slug=slug, document=document)


def test_an_agent_begins_with_its_first_version(acme: Cast) -> None:
    agent = ensure_agent(team_id=acme.team.id, slug="mira")

    (version,) = versions_of(agent=agent)

    assert (version.number, version.actor) == (1, "test")
    assert version.document["slug"] == "mira"
    assert version.document["memory_config"]["token_budget"] == 2000


def test_raw_sql_and_bulk_updates_leave_versions_with_who_and_why(acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.id], actor="staff:ann", reason="too talkative"):
        run("UPDATE teams_agent SET rules = '{\"never\": [\"Ramble.\"]}' WHERE slug = 'kyra'")
    Agent.objects.all().update(token_budget=700)

    kyra = list(versions_of(agent=acme.kyra))
    assert [each.number for each in kyra] == [3, 2, 1]
    assert (kyra[1].actor, kyra[1].reason) == ("staff:ann", "too talkative")
    assert kyra[1].document["rules"] == {"never": ["Ramble."]}
    assert kyra[0].document["memory_config"]["token_budget"] == 700
    assert [each.number for each in versions_of(agent=acme.luke)] == [2, 1]
    assert stored_version(acme.kyra) == 3


def test_what_says_the_same_leaves_none(acme: Cast) -> None:
    put(acme.team.id, tagline="calm")
    put(acme.team.id, tagline="calm")
    Agent.objects.filter(slug="kyra").update(name="Kyra")

    assert stored_version(acme.kyra) == 2
    assert versions_of(agent=acme.kyra).count() == 2


def test_the_count_cannot_be_set(acme: Cast) -> None:
    run("UPDATE teams_agent SET version = 99 WHERE slug = 'kyra'")
    assert stored_version(acme.kyra) == 1
    run("UPDATE teams_agent SET version = 99, tagline = 'x' WHERE slug = 'kyra'")
    assert stored_version(acme.kyra) == 2


def test_nobody_writes_versions_by_hand(acme: Cast) -> None:
    statement = (
        "INSERT INTO teams_agentversion (id, team_id, agent_id, number, document, actor, reason,"
        " created_at) VALUES (gen_random_uuid(), %s, %s, 7, '{}', 'me', '', now())"
    )
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        run(statement, acme.team.id, acme.kyra.pk)


def test_a_change_that_is_undone_leaves_none(acme: Cast) -> None:
    with transaction.atomic():
        put(acme.team.id, tagline="calm")
        transaction.set_rollback(True)

    assert [each.number for each in versions_of(agent=acme.kyra)] == [1]


def test_versions_are_seen_in_their_team_alone(acme: Cast, globex: Cast) -> None:
    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert not AgentVersion.objects.filter(agent_id=acme.kyra.pk).exists()
        assert AgentVersion.objects.count() == 2


def test_a_document_in_the_place_of_another_leaves_nothing_of_it(acme: Cast) -> None:
    put(
        acme.team.id,
        tagline="calm",
        rules={"never": ["Guess."]},
        memory_config={"token_budget": 500},
    )

    agent, is_new = put(acme.team.id, personality={"tone": "dry"})

    assert not is_new
    assert (agent.tagline, agent.rules, agent.token_budget) == ("", {}, 2000)
    assert agent.personality == {"tone": "dry"}
    assert agent.summarize_interval == 20


def test_a_condition_that_does_not_hold_changes_nothing(acme: Cast) -> None:
    document = AgentDocument.read({"name": "Other"})
    for slug, condition in [
        ("kyra", Condition(versions=frozenset({2}))),
        ("kyra", Condition(must_be_new=True)),
        ("kyra", Condition(other_than=frozenset({1}))),
        ("mira", Condition(must_exist=True)),
        ("mira", Condition(versions=frozenset({1}))),
    ]:
        with pytest.raises(StaleError):
            save_document(team_id=acme.team.id, slug=slug, document=document, condition=condition)

    assert stored_version(acme.kyra) == 1
    assert not Agent.objects.filter(slug="mira").exists()


def test_a_model_configuration_that_raw_sql_spoiled_is_refused_in_words(acme: Cast) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(model_config={"force_tier": "ultra"})

    with pytest.raises(InvalidError, match=r"agent 'kyra'.*force_tier.*'fast', 'balanced' or"):
        model_config_of(Agent.objects.get(pk=acme.kyra.pk))
