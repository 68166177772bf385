"""The fixed cast of the tests: a team with two agents and two people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rest_framework.test import APIClient

from teams.models import Agent, EndUser, Team
from teams.tenancy import team_scope
from tests import factories

# What the fixture `client_of` gives: a client with a new key of a cast's team.
Clients = Callable[..., APIClient]


@dataclass(frozen=True)
class Cast:
    """A team with two agents and two people; a stranger lives in another team."""

    team: Team
    kyra: Agent
    luke: Agent
    sarah: EndUser
    dmitri: EndUser


def make_cast(slug: str) -> Cast:
    """A new team with everybody in it."""
    team = factories.make_team(slug=slug)
    with team_scope(team_ids=[team.id], actor="test"):
        kyra, luke = Agent.objects.bulk_create(
            Agent(team=team, slug=slug, name=slug.title()) for slug in ("kyra", "luke")
        )
        sarah, dmitri = EndUser.objects.bulk_create(
            EndUser(team=team, external_id=name) for name in ("sarah", "dmitri")
        )
        return Cast(team, kyra, luke, sarah, dmitri)


def switch(cast: Cast, **flags: bool) -> None:
    """Override these flags for the team."""
    Team.objects.filter(pk=cast.team.pk).update(feature_flags=flags)
