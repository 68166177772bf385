"""The prompt of an agent as its form stands, shown before anything is saved."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from memory.domain.types import MemoryType
from memory.models import MemoryUsage
from memory.understanding.tools import default_tools
from teams.models import Agent
from teams.tenancy import team_scope
from tests.support.admin import SignIn, agent_form
from tests.support.cast import Cast
from tests.support.writing import store


def preview(cast: Cast) -> str:
    """The page that shows Kyra's prompt."""
    return reverse("admin:teams_agent_preview", args=[cast.kyra.pk])


def test_it_shows_what_is_typed_with_the_memories_and_saves_nothing(
    cast: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        store(
            cast,
            default_tools(),
            "The office is in Oslo.",
            memory_type=MemoryType.SHARED,
            agent_id=None,
            end_user_id=None,
        )
        before = list(MemoryUsage.objects.values_list("retrieved", flat=True))
    form = agent_form(None, name="Kyra", personality__traits=["<i>Curious</i>"])

    answer = admin_client.post(preview(cast), {**form, "preview_question": "Where is the office?"})

    shown = answer.content.decode()
    assert "&lt;i&gt;Curious&lt;/i&gt;" in shown
    assert "The office is in Oslo." in shown
    assert "6 team knowledge" in shown
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Agent.objects.get(pk=cast.kyra.pk).personality == {}
        assert list(MemoryUsage.objects.values_list("retrieved", flat=True)) == before


def test_the_part_alone_comes_to_a_script(cast: Cast, admin_client: Client) -> None:
    form = agent_form(None, name="Kyra", rules__never=["Guess."])

    part = admin_client.post(preview(cast), form, headers={"X-Preview-Part": "yes"})

    assert "- Guess." in part.content.decode()
    assert "<html" not in part.content.decode()


def test_it_says_what_is_wrong_with_the_form(cast: Cast, admin_client: Client) -> None:
    answer = admin_client.post(
        preview(cast), agent_form(None, name="Kyra", memory_config__token_budget=3)
    )

    assert "Must be at least 100" in answer.content.decode()
    assert "Token budget" in answer.content.decode()


def test_a_version_that_somebody_else_made_does_not_stand_in_the_way(
    cast: Cast, admin_client: Client
) -> None:
    form = agent_form(None, name="Kyra", loaded_version=9)

    assert "You are Kyra" in admin_client.post(preview(cast), form).content.decode()


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_only_who_may_write_the_agent_sees_it(cast: Cast, sign_in: SignIn, role: str) -> None:
    member = sign_in((cast.team, role))

    assert member.post(preview(cast), agent_form(None, name="Kyra")).status_code == 403


def test_a_strangers_login_is_not_told_of_the_agent(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    stranger = sign_in((others.team, "admin"), name="eve")

    answer = stranger.post(preview(cast), agent_form(None, name="Kyra"))

    assert answer.status_code == 404
    assert "Kyra" not in answer.content.decode()
