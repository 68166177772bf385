"""Statements about the team belong to the team, and none about a person does."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from memory.domain.types import MemoryType
from memory.models import Memory
from memory.understanding.tools import Tools
from teams.models import Agent, EndUser, Team
from tests.support.cast import Cast, switch
from tests.support.learning import Desk, desk, extract, filed, tell, told

__all__ = ["desk"]

CLOSES = "The office closes at three on Fridays."
QUESTION = "When does the office close?"


def owners() -> list[tuple[object, object, str]]:
    """Agent, person and scope of each memory."""
    rows = Memory.objects.order_by("id")
    return [(row.agent_id, row.end_user_id, row.scope) for row in rows]


@pytest.fixture(autouse=True)
def of_members(acme: Cast) -> None:
    """The people of the team work for it, unless a test makes one a guest."""
    Team.objects.filter(pk=acme.team.pk).update(person_role="member")


def test_what_is_said_of_the_team_all_of_the_team_are_told(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, CLOSES))

    assert owners() == [(None, None, "team")]
    for client, agent, user in (
        (desk.kyra, "kyra", "dmitri"),
        (desk.luke, "luke", "dmitri"),
        (desk.luke, "luke", "sarah"),
    ):
        assert any("three" in each for each in told(client, QUESTION, agent=agent, user=user))
    assert not told(desk.stranger, QUESTION, agent="kyra")


def test_what_a_guest_says_of_the_team_is_the_guests(desk: Desk, tools: Tools) -> None:
    EndUser.objects.filter(pk=desk.cast.sarah.pk).update(role="guest")

    filed(desk.kyra, tools, CLOSES, audience="team")

    assert owners() == [(None, desk.cast.sarah.pk, "user")]
    assert not told(desk.kyra, QUESTION, agent="kyra", user="dmitri")
    assert any("three" in each for each in told(desk.luke, QUESTION, agent="luke"))


def test_a_guest_is_not_told_what_members_said_of_the_team(desk: Desk, tools: Tools) -> None:
    filed(desk.kyra, tools, CLOSES, audience="team")
    EndUser.objects.filter(pk=desk.cast.dmitri.pk).update(role="guest")

    assert not told(desk.kyra, QUESTION, agent="kyra", user="dmitri")
    assert any("three" in each for each in told(desk.kyra, QUESTION, agent="kyra"))


@pytest.mark.parametrize("audience", ["person", ""])
def test_what_is_of_a_person_stays_with_the_person(desk: Desk, tools: Tools, audience: str) -> None:
    filed(desk.kyra, tools, CLOSES, audience=audience)

    assert owners() == [(None, desk.cast.sarah.pk, "user")]
    assert not told(desk.luke, CLOSES, agent="luke", user="dmitri")


def test_a_private_matter_is_read_as_the_persons(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, "Our kitchen at home gets a new floor in May 2027."))

    assert all(user == desk.cast.sarah.pk for _, user, _ in owners())


def test_what_is_told_of_the_team_in_confidence_stays_with_the_agent(
    desk: Desk, tools: Tools
) -> None:
    filed(desk.kyra, tools, CLOSES, audience="agent")

    closes = Memory.objects.get(content=CLOSES)
    assert (closes.memory_type, closes.agent_id) == ("agent_private", desk.cast.kyra.pk)


@pytest.mark.parametrize(
    "memory_type", [MemoryType.EPISODIC, MemoryType.SHARED, MemoryType.PROCEDURAL]
)
def test_events_and_procedures_of_the_team_are_the_teams(
    desk: Desk, tools: Tools, memory_type: MemoryType
) -> None:
    filed(desk.kyra, tools, CLOSES, memory_type=memory_type, audience="team")

    assert owners() == [(None, None, "team")]


def test_a_team_may_keep_such_facts_with_the_person(desk: Desk, tools: Tools) -> None:
    switch(desk.cast, team_facts=False)

    filed(desk.kyra, tools, CLOSES, audience="team")

    assert owners() == [(None, desk.cast.sarah.pk, "user")]
    assert "team-fact" in Memory.objects.get().tags


def test_the_installation_may_do_so_for_all(desk: Desk, tools: Tools, settings: Settings) -> None:
    settings.ENABLE_TEAM_FACTS = False

    filed(desk.kyra, tools, CLOSES, audience="team")

    assert owners() == [(None, desk.cast.sarah.pk, "user")]


def test_an_agent_that_keeps_to_itself_gives_the_team_nothing(desk: Desk, tools: Tools) -> None:
    Agent.objects.filter(pk=desk.cast.kyra.pk).update(keeps_to_itself=True)

    filed(desk.kyra, tools, CLOSES, audience="team")

    assert owners() == [(desk.cast.kyra.pk, desk.cast.sarah.pk, "user")]


def test_a_persons_wish_pins_nothing_for_all(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, "Remember that the office closes at three on Fridays."))

    (memory,) = Memory.objects.filter(content__contains="three")
    assert (memory.end_user_id, memory.is_pinned) == (None, False)
