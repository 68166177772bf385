"""Agents, people and projects that are created when first named."""

from __future__ import annotations

from django.test import override_settings

from teams.models import Agent
from teams.services.people import ensure_agent
from tests.support.cast import Cast


@override_settings(SUMMARIZE_INTERVAL=7)
def test_a_new_agent_takes_the_interval_of_the_settings(acme: Cast) -> None:
    agent = ensure_agent(team_id=acme.team.id, slug="ada")

    assert agent.summarize_interval == 7


@override_settings(SUMMARIZE_INTERVAL=7)
def test_a_known_agent_keeps_its_own_interval(acme: Cast) -> None:
    Agent.objects.filter(slug="kyra").update(summarize_interval=3)

    assert ensure_agent(team_id=acme.team.id, slug="kyra").summarize_interval == 3
