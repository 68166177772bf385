"""Owners of memories from talk: the person, or an agent that keeps its memories to itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rest_framework.test import APIClient

from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.waiting import extract_now
from teams.models import Agent, Conversation, EndUser, Role
from tests.support.cast import switch
from tests.support.extraction import viewer_of
from tests.support.learning import Desk, Filing, desk, extract, filed, tell, told
from tests.support.memories_api import post

__all__ = ["desk"]

DOG = "The dog is called Rex."


# -- what an agent learns about a person ---------------------------------------------------------


def test_what_one_agent_learned_of_a_person_another_finds(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, DOG))

    assert any("Rex" in each for each in told(desk.luke, "What is the dog called?", agent="luke"))


def test_no_other_person_and_no_other_team_finds_it(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, DOG))

    for client, agent in ((desk.kyra, "kyra"), (desk.luke, "luke"), (desk.stranger, "kyra")):
        others = told(client, "What is the dog called?", agent=agent, user="dmitri")
        assert not any("Rex" in each for each in others)
    assert not told(desk.stranger, "What is the dog called?", agent="kyra")


@pytest.mark.parametrize(
    ("memory_type", "stays"),
    [
        (MemoryType.SEMANTIC, False),
        (MemoryType.EPISODIC, False),
        (MemoryType.USER_PROFILE, False),
        (MemoryType.SHARED, False),
        (MemoryType.PROCEDURAL, True),
        (MemoryType.AGENT_PRIVATE, True),
    ],
)
def test_only_private_and_procedural_memories_stay_with_the_agent(
    desk: Desk, tools: Tools, memory_type: MemoryType, stays: bool
) -> None:
    filed(desk.kyra, tools, DOG, memory_type=memory_type)

    memory = Memory.objects.get()
    assert memory.memory_type == memory_type
    assert memory.end_user_id == desk.cast.sarah.pk
    assert memory.agent_id == (desk.cast.kyra.pk if stays else None)
    assert any(DOG in each for each in told(desk.luke, DOG, agent="luke")) is not stays


@pytest.mark.parametrize("memory_type", [MemoryType.SEMANTIC, MemoryType.USER_PROFILE])
def test_an_agent_that_keeps_to_itself_shares_nothing(
    desk: Desk, tools: Tools, memory_type: MemoryType
) -> None:
    Agent.objects.filter(pk=desk.cast.kyra.pk).update(keeps_to_itself=True)
    filed(desk.kyra, tools, DOG, memory_type=memory_type)

    memory = Memory.objects.get()
    assert (memory.memory_type, memory.agent_id) == ("semantic", desk.cast.kyra.pk)
    assert any(DOG in each for each in told(desk.kyra, DOG, agent="kyra"))
    assert not any(DOG in each for each in told(desk.luke, DOG, agent="luke"))


def test_an_agents_document_says_that_it_keeps_to_itself(api: APIClient) -> None:
    document = {"name": "Kyra", "memory_config": {"keeps_to_itself": True}}
    made = api.put("/v1/agents/kyra", document, format="json")
    refused = api.put(
        "/v1/agents/kyra", {"name": "K", "memory_config": {"keeps_to_itself": "no"}}, format="json"
    )

    assert made.json()["memory_config"]["keeps_to_itself"] is True
    assert refused.status_code == 422
    assert Agent.objects.get(slug="kyra").keeps_to_itself
    (latest,) = api.get("/v1/agents/kyra/versions", {"limit": 1}).json()["results"]
    assert latest["document"]["memory_config"]["keeps_to_itself"] is True


# -- two agents, one person ----------------------------------------------------------------------


def test_what_two_agents_hear_is_one_memory(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, DOG))
    extract(desk.luke, tell(desk.luke, DOG, agent="luke"))

    memory = Memory.objects.get(status="active")
    assert memory.corroboration == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The studio opens at 8:00.", "The studio opens at 9:30 from now on."),
        ("The rent of the studio is 900 euros.", "The rent of the studio is 1,100 euros."),
    ],
)
def test_conflicting_statements_to_two_agents_are_noticed(
    desk: Desk, tools: Tools, first: str, second: str
) -> None:
    filed(desk.kyra, tools, first)
    filed(desk.luke, tools, second, agent="luke")

    assert Contradiction.objects.count() == 1
    assert Memory.objects.get(content=first).status in ("superseded", "disputed")


def test_conflicting_statements_of_two_people_are_not(desk: Desk, tools: Tools) -> None:
    filed(desk.kyra, tools, "The studio is in Ghent.", user="sarah")
    filed(desk.kyra, tools, "The studio is in Graz.", user="dmitri")

    assert not Contradiction.objects.exists()
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}


# -- in confidence -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        ("Between us, the new job at Northwind starts in May.",),
        ("The new job at Northwind starts in May.", "Please don't tell the others."),
        ("Can I tell you something in confidence?", "The new job at Northwind starts in May."),
        (
            "Nobody here knows yet: the new job at Northwind starts in May."
            " It should stay like that.",
        ),
    ],
)
@pytest.mark.parametrize("memory_type", [MemoryType.SEMANTIC, MemoryType.USER_PROFILE])
def test_what_is_told_in_confidence_stays_with_the_agent_that_was_told(
    desk: Desk, tools: Tools, said: tuple[str, ...], memory_type: MemoryType
) -> None:
    filed(desk.kyra, tools, *said, memory_type=memory_type)

    memory = Memory.objects.get(content__contains="Northwind")
    assert (memory.memory_type, memory.agent_id) == ("agent_private", desk.cast.kyra.pk)
    question = "Where does the new job start?"
    assert any("Northwind" in each for each in told(desk.kyra, question, agent="kyra"))
    for client, agent, user in (
        (desk.luke, "luke", "sarah"),
        (desk.kyra, "kyra", "dmitri"),
        (desk.stranger, "kyra", "sarah"),
    ):
        assert "Northwind" not in str(told(client, question, agent=agent, user=user))


def test_what_is_said_after_a_confidence_is_the_persons_again(desk: Desk, tools: Tools) -> None:
    said = (
        "The new job starts in May.",
        "Keep that between us.",
        "Thanks!",
        "What time is it?",
        DOG,
    )
    filed(desk.kyra, tools, *said)

    assert Memory.objects.get(content=DOG).agent_id is None
    assert Memory.objects.get(content__contains="job").memory_type == "agent_private"


def test_a_confidence_asked_for_later_takes_back_what_was_stored(desk: Desk) -> None:
    talk = tell(desk.kyra, "My salary is 6,300 euros.")
    extract(desk.kyra, talk)
    assert told(desk.luke, "What is the salary?", agent="luke")

    again = [{"role": "user", "content": "Please keep that between us."}]
    post(desk.kyra, f"conversations/{talk}/messages", messages=again)
    extract(desk.kyra, talk)

    assert not told(desk.luke, "What is the salary?", agent="luke")
    assert told(desk.kyra, "What is the salary?", agent="kyra")
    memory = Memory.objects.get()
    assert (memory.memory_type, memory.agent_id) == ("agent_private", desk.cast.kyra.pk)
    assert memory.end_user_id == desk.cast.sarah.pk


def ask_for_silence(desk: Desk, talk: str) -> None:
    again = [{"role": "user", "content": "Please keep that between us."}]
    post(desk.kyra, f"conversations/{talk}/messages", messages=again)
    extract(desk.kyra, talk)


def test_a_profile_field_is_taken_back_too(desk: Desk) -> None:
    talk = tell(desk.kyra, "I work at Northwind now.")
    extract(desk.kyra, talk)
    memory = Memory.objects.get()
    assert (memory.memory_type, memory.agent_id) == ("user_profile", None)

    ask_for_silence(desk, talk)

    assert not told(desk.luke, "Where does Sarah work?", agent="luke")
    memory.refresh_from_db()
    assert (memory.memory_type, memory.agent_id) == ("agent_private", desk.cast.kyra.pk)


def test_a_fact_of_the_team_is_its_persons_again(desk: Desk, tools: Tools) -> None:
    switch(desk.cast, team_facts=True)
    EndUser.objects.filter(pk=desk.cast.sarah.pk).update(role=Role.MEMBER)
    conversation = Conversation.objects.get(pk=tell(desk.kyra, "Northwind is for sale."))
    extract_now(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=Filing(MemoryType.SEMANTIC, "team")),
    )
    memory = Memory.objects.get()
    assert (memory.end_user_id, memory.agent_id) == (None, None)

    ask_for_silence(desk, str(conversation.pk))

    question = "What is for sale?"
    assert told(desk.kyra, question, agent="kyra")
    assert not told(desk.kyra, question, agent="kyra", user="dmitri")
    assert not told(desk.luke, question, agent="luke")
    memory.refresh_from_db()
    assert (memory.end_user_id, memory.agent_id) == (desk.cast.sarah.pk, desk.cast.kyra.pk)


def test_what_its_agent_knows_already_is_deleted_for_the_others(desk: Desk, tools: Tools) -> None:
    salary = "My salary is 6,300 euros."
    filed(desk.kyra, tools, salary, memory_type=MemoryType.AGENT_PRIVATE)
    talk = tell(desk.kyra, salary)
    extract(desk.kyra, talk)
    assert told(desk.luke, "What is the salary?", agent="luke")

    ask_for_silence(desk, talk)

    assert not told(desk.luke, "What is the salary?", agent="luke")
    assert told(desk.kyra, "What is the salary?", agent="kyra")
