"""Agents' documents in the admin: held to the API's rules, versions shown, nothing overwritten."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from teams.admin.agents import DOCUMENTS
from teams.models import Agent, AgentVersion
from teams.tenancy import team_scope
from tests.support.admin import agent_form
from tests.support.cast import Cast


def page(cast: Cast) -> str:
    """Kyra's page."""
    return reverse("admin:teams_agent_change", args=[cast.kyra.pk])


def stored(cast: Cast) -> Agent:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return Agent.objects.get(pk=cast.kyra.pk)


def test_a_change_leaves_a_version_with_who_and_why(cast: Cast, admin_client: Client) -> None:
    form = agent_form(
        None, slug="kyra", name="Kyra", rules='{"never": "Guess."}', reason="a complaint"
    )

    answer = admin_client.post(page(cast), {**form, "loaded_version": 1})

    assert answer.status_code == 302
    assert stored(cast).rules == {"never": ["Guess."]}
    with team_scope(team_ids=[cast.team.id], actor="test"):
        version = AgentVersion.objects.get(agent=cast.kyra, number=2)
    assert (version.actor, version.reason) == ("staff:ann", "a complaint")
    shown = admin_client.get(page(cast)).content.decode()
    assert "ann (staff)" in shown
    assert "rules.never" in shown
    assert "a complaint" in shown
    assert reverse("admin:teams_agentversion_change", args=[version.pk]) in shown


def test_each_part_of_the_document_says_how_it_is_written(cast: Cast, admin_client: Client) -> None:
    fields = admin_client.get(page(cast)).context["adminform"].form.fields
    examples = {
        name: re.sub(r"^.*? as in (.*?)[.;][^\]}]*$", r"\1", str(fields[name].help_text))
        for name in DOCUMENTS
    }

    answer = admin_client.post(page(cast), agent_form(None, slug="kyra", name="Kyra", **examples))

    assert answer.status_code == 302
    agent = stored(cast)
    assert agent.personality == {"traits": ["Curious"], "tone": "warm"}
    assert {name: getattr(agent, name) for name in DOCUMENTS} == {
        name: json.loads(example) for name, example in examples.items()
    }


def test_what_somebody_changed_meanwhile_is_not_overwritten(
    cast: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Agent.objects.filter(pk=cast.kyra.pk).update(tagline="by the API")

    answer = admin_client.post(
        page(cast), agent_form(None, slug="kyra", name="Mine", loaded_version=1)
    )

    assert answer.status_code == 200
    assert "you loaded version 1, and the latest is 2" in answer.content.decode()
    assert (stored(cast).name, stored(cast).tagline) == ("Kyra", "by the API")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("model_config", '{"force_tier": "ultra"}', "force_tier: Must be one of fast"),
        ("model_config", '{"custom_tiers": [{"name": "fast"}]}', "It is missing"),
        ("retrieval_weights", '{"semantics": 1}', "There is no such field"),
        ("personality", '{"traits": ["a", 3]}', "traits[1]: Must be a text"),
        ("allowed_categories", '["a", ""]', "It is missing"),
        ("token_budget", "50", "Must be from 100"),
        ("skills", '{"own": []}', "own: There is no such field"),
    ],
)
def test_a_document_is_held_to_the_rules_of_the_api(
    field: str, value: str, said: str, cast: Cast, admin_client: Client
) -> None:
    answer = admin_client.post(
        page(cast), agent_form(None, slug="kyra", name="Kyra", **{field: value})
    )

    assert answer.status_code == 200
    assert field in answer.context["adminform"].form.errors
    assert said in answer.content.decode()
    assert stored(cast).version == 1


def test_a_part_older_than_the_rules_does_not_stand_in_the_way(
    cast: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Agent.objects.filter(pk=cast.kyra.pk).update(skills={"maps": "draws them"})
    form = agent_form(None, slug="kyra", name="Kyra II", skills='{"maps": "draws them"}')

    answer = admin_client.post(page(cast), form)

    assert answer.status_code == 302
    assert (stored(cast).name, stored(cast).skills) == ("Kyra II", {"maps": "draws them"})


def test_versions_are_read_and_never_changed(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        Agent.objects.filter(pk=cast.kyra.pk).update(tagline="<script>alert('x')</script>")
        own = AgentVersion.objects.get(agent=cast.kyra, number=2)
        foreign = AgentVersion.objects.get(agent=others.kyra, number=1)
    url = reverse("admin:teams_agentversion_change", args=[own.pk])

    listed = admin_client.get(reverse("admin:teams_agentversion_changelist"))
    shown = admin_client.get(url)
    hidden = admin_client.get(reverse("admin:teams_agentversion_change", args=[foreign.pk]))

    assert listed.context["cl"].result_count == 3
    assert "tagline" in shown.content.decode()
    assert "<script>alert('x')" not in shown.content.decode()
    assert hidden.status_code == 302
    assert admin_client.post(url, {"actor": "nobody"}).status_code == 403
    assert admin_client.get(reverse("admin:teams_agentversion_add")).status_code == 403


def test_who_may_only_look_sees_the_versions_too(cast: Cast, viewer_client: Client) -> None:
    answer = viewer_client.get(page(cast))

    assert answer.status_code == 200
    assert "latest versions" in answer.content.decode().lower()
    assert "loaded_version" not in answer.content.decode()
