"""A fact stated by several people becomes the team's with a yes, and rests on who is left."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from audit.services.erasure import plan_erasure
from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryRelation
from memory.satellites.consent.deciding import approve_request, reject_request, withdraw
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import requests_visible_to
from memory.satellites.consent.team_facts import hour_of, propose_due_team_facts, propose_team_facts
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory
from teams.errors import ConflictError, ForbiddenError
from teams.models import Conversation, EndUser, Team
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, Clients, switch
from tests.support.erasure import ERASED, erase
from tests.support.judges import NumbersJudge
from tests.support.writing import draft, write

LIMIT = "The API limit is 500 requests per minute."
SAME = "The API limit is 500 requests per minute!"
NOW = "The API limit is now 500 requests per minute."
OTHER = "The API limit is 100 requests per minute."


@pytest.fixture(autouse=True)
def members(acme: Cast) -> None:
    """People of Acme are colleagues."""
    Team.objects.filter(pk=acme.team.pk).update(person_role="member")


def say(cast: Cast, tools: Tools, person: EndUser, content: str = LIMIT, **fields: Any) -> Memory:
    """A memory of the person."""
    (result,) = write(cast, tools, draft(cast, content, end_user_id=person.pk, **fields))
    return result.memory


def propose(cast: Cast) -> list[ConsentRequest]:
    return propose_team_facts(team_id=cast.team.id, now=timezone.now())


def team_facts(cast: Cast) -> list[Memory]:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return list(Memory.objects.live().filter(end_user=None))


def approve(cast: Cast, request: ConsentRequest, tools: Tools) -> Memory:
    viewer = Viewer(team_id=cast.team.id, actor="staff:rob")
    done = approve_request(viewer=viewer, request_id=request.pk, tools=tools, now=timezone.now())
    assert done.memory is not None
    return done.memory


def parts_of(fact: Memory) -> set[Any]:
    with team_scope(team_ids=[fact.team_id], actor="test"):
        edges = MemoryRelation.objects.filter(from_memory=fact, relation_type="derived_from")
        return set(edges.values_list("to_memory_id", flat=True))


def test_what_two_people_state_is_the_teams_with_a_yes(
    acme: Cast, globex: Cast, tools: Tools
) -> None:
    first = say(acme, tools, acme.sarah)
    second = say(acme, tools, acme.dmitri, "the API limit is 500 requests per minute")
    say(globex, tools, globex.sarah)

    (request,) = propose(acme)
    assert (request.kind, request.people, request.content) == ("team_fact", 2, LIMIT)
    assert team_facts(acme) == []
    assert propose(acme) == [], "one request waits"

    fact = approve(acme, request, tools)

    assert [each.pk for each in team_facts(acme)] == [fact.pk]
    assert (fact.content, fact.end_user_id, fact.extractor) == (LIMIT, None, "team_facts")
    assert parts_of(fact) == {first.pk, second.pk}
    assert propose(acme) == []
    assert team_facts(globex) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_type": MemoryType.USER_PROFILE},
        {"memory_type": MemoryType.INSIGHT},
        {"category": "preferences"},
        {"category": "profile"},
        {"subject": "user.city"},
        {"memory_type": MemoryType.AGENT_PRIVATE, "agent_id": "kyra"},
        {"agent_id": "kyra"},
    ],
)
def test_what_is_private_is_never_proposed(
    acme: Cast, tools: Tools, fields: dict[str, Any]
) -> None:
    if "agent_id" in fields:
        fields = {**fields, "agent_id": acme.kyra.pk}
    say(acme, tools, acme.sarah, **fields)
    say(acme, tools, acme.dmitri, **fields)

    assert propose(acme) == []


@pytest.mark.parametrize(
    "content",
    [
        "User works from home on Fridays.",
        "Sarah works in the Oslo office.",
        "Rob Grant approves all invoices.",
        "I am allergic to nuts.",
    ],
)
def test_what_tells_of_a_person_is_not_proposed(acme: Cast, tools: Tools, content: str) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        factories.EndUserFactory.create(team=acme.team, display_name="Rob Grant")
    say(acme, tools, acme.sarah, content)
    say(acme, tools, acme.dmitri, content)

    assert propose(acme) == []


def test_what_a_guest_states_is_not_counted(acme: Cast, tools: Tools) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    EndUser.objects.filter(pk=acme.dmitri.pk).update(role="guest")

    assert propose(acme) == []


@pytest.mark.parametrize("other", [OTHER, "The API limit is not 500 requests per minute."])
def test_other_words_or_one_person_twice_are_no_fact(acme: Cast, tools: Tools, other: str) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.sarah, SAME, check=False)
    say(acme, tools, acme.dmitri, other)

    assert propose(acme) == []


def test_a_team_that_switched_it_off_is_not_asked(acme: Cast, tools: Tools) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    switch(acme, team_facts=False)
    assert propose(acme) == []
    switch(acme)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        acme.team.refresh_from_db()
        acme.team.lifecycle_settings = {"off": ["team_facts"]}
        acme.team.save()
    assert propose(acme) == []


def test_a_no_is_final_and_an_expired_one_is_asked_again_by_more_people(
    acme: Cast, tools: Tools
) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    (request,) = propose(acme)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        ConsentRequest.objects.update(state="expired", decided_at=timezone.now())
        third = factories.EndUserFactory.create(team=acme.team, external_id="noor")
    assert propose(acme) == []
    say(acme, tools, third)

    (again,) = propose(acme)
    assert again.people == 3
    viewer = Viewer(team_id=acme.team.id, actor="staff:rob")
    reject_request(viewer=viewer, request_id=again.pk, now=timezone.now())

    assert propose(acme) == []
    assert request.pk != again.pk


def test_agents_neither_see_nor_decide_it(acme: Cast, tools: Tools, client_of: Clients) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    (request,) = propose(acme)

    agent = Viewer(team_id=acme.team.id, actor="agent:kyra", agent_id=acme.kyra.pk)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert not requests_visible_to(agent).exists()
    listed = client_of(acme).get("/v1/consent-requests").json()["results"]
    assert [(each["id"], each["people"], each["user"]) for each in listed] == [
        (str(request.pk), 2, None)
    ]
    own = Viewer(team_id=acme.team.id, actor="task:team_facts")
    with pytest.raises(ForbiddenError):
        approve_request(viewer=own, request_id=request.pk, tools=tools, now=timezone.now())


def test_it_is_not_written_when_only_one_still_states_it(acme: Cast, tools: Tools) -> None:
    first = say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    (request,) = propose(acme)
    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=first.pk)

    with pytest.raises(ConflictError, match="Fewer than two"):
        approve(acme, request, tools)

    assert team_facts(acme) == []


def test_a_yes_retires_and_disputes_nothing_else(acme: Cast, tools: Tools) -> None:
    (known,) = write(acme, tools, draft(acme, OTHER))
    say(acme, tools, acme.sarah, NOW)
    say(acme, tools, acme.dmitri, NOW)
    (request,) = propose(acme)

    fact = approve(acme, request, replace(tools, judge=NumbersJudge()))

    assert fact.status == "active"
    assert {each.pk for each in team_facts(acme)} == {known.memory.pk, fact.pk}
    with team_scope(team_ids=[acme.team.id], actor="test"):
        known.memory.refresh_from_db()
    assert known.memory.status == "active"


def test_who_states_it_later_is_one_more_whom_it_rests_on(acme: Cast, tools: Tools) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    (request,) = propose(acme)
    fact = approve(acme, request, tools)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        third = factories.EndUserFactory.create(team=acme.team, external_id="noor")
    later = say(acme, tools, third)

    assert propose(acme) == []

    assert later.pk in parts_of(fact)
    assert len(parts_of(fact)) == 3


def test_it_stands_on_who_is_left_and_falls_with_the_last(acme: Cast, tools: Tools) -> None:
    first = say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    (request,) = propose(acme)
    fact = approve(acme, request, tools)

    plan = plan_erasure(team_id=acme.team.id, external_id="sarah", actor="test")
    erase(acme, "sarah")

    assert fact.pk in plan.kept
    with team_scope(team_ids=[acme.team.id], actor="test"):
        first.refresh_from_db()
        fact.refresh_from_db()
        assert (first.content, fact.content) == (ERASED, LIMIT)
        assert not ConsentRequest.objects.exists(), "her words stood in the request"

    erase(acme, "dmitri")

    with team_scope(team_ids=[acme.team.id], actor="test"):
        fact.refresh_from_db()
        assert (fact.content, fact.status) == (ERASED, "soft_deleted")


def test_what_the_team_knew_from_elsewhere_does_not_fall_with_a_person(
    acme: Cast, tools: Tools
) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    (request,) = propose(acme)
    (known,) = write(acme, tools, draft(acme, LIMIT))

    assert approve(acme, request, tools).pk == known.memory.pk

    assert parts_of(known.memory) == set()


def test_each_team_is_looked_at_in_its_hour(acme: Cast, tools: Tools) -> None:
    say(acme, tools, acme.sarah)
    say(acme, tools, acme.dmitri)
    hour = timezone.now().replace(minute=5)
    hour += timedelta(hours=(hour_of(team_id=acme.team.id) - hour.hour) % 24)

    assert propose_due_team_facts(now=hour + timedelta(hours=1)) == 0
    assert propose_due_team_facts(now=hour) == 1


def test_a_fact_stands_while_enough_others_state_what_one_told_in_confidence(
    acme: Cast, tools: Tools
) -> None:
    people = [acme.sarah, acme.dmitri, EndUser.objects.create(team=acme.team, external_id="lena")]
    messages = [uuid4() for _ in people]
    parts = [
        say(acme, tools, person, message_ids=(message,))
        for person, message in zip(people, messages, strict=True)
    ]
    (request,) = propose(acme)
    fact = approve(acme, request, tools)
    talk = Conversation(team=acme.team, agent=acme.kyra, end_user=acme.sarah)
    sent: dict[str, Any] = {"conversation": talk, "actor": "test", "now": timezone.now()}

    assert set(withdraw(message_ids=messages[:1], **sent)) == {fact.pk}
    assert [each.pk for each in team_facts(acme)] == [fact.pk]

    viewer = Viewer(team_id=acme.team.id, actor="test")
    delete_memory(viewer=viewer, memory_id=parts[0].pk)
    withdraw(message_ids=messages[1:2], **sent)
    assert team_facts(acme) == []
