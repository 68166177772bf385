"""Words such as "today" and "tomorrow" in messages follow the clock of the team."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.domain.types import MemoryType
from memory.models import MessageEntry
from memory.understanding.tools import Tools
from memory.writing.indexing.message_index import index_team
from memory.writing.waiting import extract_now
from teams.models import Agent, Conversation, EndUser
from tests.support.extraction import viewer_of
from tests.support.learning import Desk, Filing, desk, tell
from tests.support.memories_api import post

__all__ = ["desk"]

VALVE = "The valve of the kiln sticks a little when it rains."
LATER = "The lamp over the bench flickers now and then."
QUESTION = "What about the valve of the kiln?"


def heard(
    client: APIClient, *, agent: str = "luke", user: str | None = "sarah", **more: Any
) -> list[str]:
    """The messages that an answer quotes; Any: fields of the request."""
    asked = {"query": QUESTION, "agent": agent, "include_raw": True, **more}
    if user is not None:
        asked["user"] = user
    return [each["content"] for each in post(client, "retrieve", **asked).json()["messages"]]


def said(desk: Desk, *texts: str, is_closed: bool = True, extracts: bool = True) -> Conversation:
    """A conversation of Kyra's with Sarah in which nothing becomes a memory; indexed."""
    talk = Conversation.objects.get(pk=tell(desk.kyra, *texts))
    if is_closed:
        Conversation.objects.filter(pk=talk.pk).update(closed_at=timezone.now())
    if extracts:
        distil(desk, talk)
    return talk


def distil(desk: Desk, talk: Conversation, memory_type: MemoryType | None = None) -> None:
    """Extract what is left of it: nothing, or each message as a memory of the type."""
    kind = memory_type or MemoryType.SEMANTIC
    extractor = Filing(kind) if memory_type else Silent(kind)
    extract_now(
        viewer=viewer_of(talk),
        conversation_id=talk.pk,
        tools=replace(_TOOLS[0], extractor=extractor),
    )
    index_team(team_id=talk.team_id, tools=_TOOLS[0])


def say(desk: Desk, talk: Conversation, *texts: str, role: str = "user") -> None:
    """Say more in it."""
    messages = [{"role": role, "content": each} for each in texts]
    path = f"conversations/{talk.pk}/messages"
    assert post(desk.kyra, path, messages=messages).status_code < 300
    index_team(team_id=talk.team_id, tools=_TOOLS[0])


class Silent(Filing):
    """Makes no memory of anything."""

    def extract(self, **_: Any) -> list[Any]:
        return []


_TOOLS: list[Tools] = []


@pytest.fixture(autouse=True)
def the_tools(tools: Tools) -> Any:
    _TOOLS.append(tools)
    yield
    _TOOLS.clear()


# -- who finds it --------------------------------------------------------------------------------


def test_another_agent_finds_what_became_no_memory_for_the_same_person(desk: Desk) -> None:
    said(desk, VALVE)

    assert heard(desk.luke) == [VALVE]
    assert heard(desk.kyra, agent="kyra") == [VALVE]


@pytest.mark.parametrize("user", ["dmitri", None])
def test_not_for_another_person_nor_for_nobody(desk: Desk, user: str | None) -> None:
    said(desk, VALVE)

    assert heard(desk.luke, user=user) == []
    assert heard(desk.stranger, agent="kyra") == []
    assert heard(desk.luke, include_raw=False) == []


def test_a_common_word_is_looked_up_among_what_is_shared(desk: Desk) -> None:
    said(desk, VALVE)

    path = "/v1/memories/search?query=valve&user=sarah&include_raw=true"
    found = desk.luke.get(path).json()["results"]
    assert [each["content"] for each in found] == [VALVE]


def test_nothing_is_shared_before_it_is_extracted(desk: Desk) -> None:
    talk = said(desk, VALVE, extracts=False)
    index_team(team_id=talk.team_id, tools=_TOOLS[0])

    assert heard(desk.luke) == []
    assert heard(desk.kyra, agent="kyra") == [VALVE]
    distil(desk, talk)
    assert heard(desk.luke) == [VALVE]


def test_a_conversation_of_another_project_is_not_found(desk: Desk) -> None:
    made = post(desk.kyra, "conversations", agent="kyra", user="sarah", project="apollo").json()
    talk = Conversation.objects.get(pk=made["id"])
    say(desk, talk, VALVE, LATER)
    distil(desk, talk)

    assert heard(desk.luke, project="gemini") == []
    assert heard(desk.luke, project="apollo") == [VALVE]


def test_the_conversation_itself_stays_its_agents(desk: Desk) -> None:
    talk = said(desk, VALVE)

    assert desk.luke.get(f"/v1/conversations/{talk.pk}/messages").status_code == 404


def test_an_agent_with_an_allowlist_finds_its_own_messages_alone(desk: Desk) -> None:
    said(desk, VALVE)
    assert heard(desk.luke) == [VALVE]

    Agent.objects.filter(slug="luke").update(allowed_categories=["tasks"])
    assert heard(desk.luke) == []


# -- agents that keep to themselves --------------------------------------------------------------


def test_what_an_agent_heard_that_keeps_to_itself_stays_with_it(desk: Desk) -> None:
    Agent.objects.filter(pk=desk.cast.kyra.pk).update(keeps_to_itself=True)
    said(desk, VALVE)

    assert heard(desk.luke) == []
    assert heard(desk.kyra, agent="kyra") == [VALVE]


def test_an_agent_that_comes_to_keep_to_itself_takes_back_what_it_shared(desk: Desk) -> None:
    said(desk, VALVE)
    assert heard(desk.luke) == [VALVE]

    Agent.objects.filter(pk=desk.cast.kyra.pk).update(keeps_to_itself=True)
    assert heard(desk.luke) == []
    Agent.objects.filter(pk=desk.cast.kyra.pk).update(keeps_to_itself=False)
    assert heard(desk.luke) == []


# -- in confidence -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        (VALVE, "Please don't tell the others."),
    ],
)
def test_what_is_told_in_confidence_is_not_found(desk: Desk, texts: tuple[str, ...]) -> None:
    said(desk, *texts)

    assert heard(desk.luke) == []
    assert VALVE in str(heard(desk.kyra, agent="kyra"))


def test_the_last_message_of_open_talk_waits_for_what_follows(desk: Desk) -> None:
    talk = said(desk, LATER, VALVE, is_closed=False)
    assert VALVE not in heard(desk.luke)

    say(desk, talk, "The shelf is new.")
    distil(desk, talk)
    assert VALVE in heard(desk.luke)


def test_a_confidence_asked_for_in_the_next_range_holds(desk: Desk) -> None:
    talk = said(desk, LATER, VALVE, is_closed=False)
    say(desk, talk, "Please don't tell the others.", LATER)
    distil(desk, talk)

    assert LATER in str(
        MessageEntry.objects.filter(audience="person").values_list("message__content")
    )
    assert VALVE not in heard(desk.luke)


def test_a_confidence_asked_for_afterwards_takes_back_what_was_shared(desk: Desk) -> None:
    talk = said(desk, VALVE)
    assert heard(desk.luke) == [VALVE]

    say(desk, talk, "Keep that between us, please.")
    assert heard(desk.luke) == []
    distil(desk, talk)
    assert heard(desk.luke) == []


def test_the_answer_to_a_confidence_is_not_found_another_one_is(desk: Desk) -> None:
    talk = said(
        desk,
        "Between us, the kiln in the cellar cracked on Monday.",
        extracts=False,
        is_closed=False,
    )
    say(desk, talk, "So the valve of the kiln sticks.", role="assistant")
    say(desk, talk, "The kiln is red.")
    say(desk, talk, "A red kiln with a valve.", role="assistant")
    say(desk, talk, LATER)
    distil(desk, talk)

    found = heard(desk.luke)
    assert "A red kiln with a valve." in found
    assert "So the valve of the kiln sticks." not in found


def test_closing_shares_what_waited_for_the_next_message(desk: Desk) -> None:
    talk = said(desk, LATER, VALVE, is_closed=False)
    assert post(desk.kyra, f"conversations/{talk.pk}/close").status_code < 300

    assert VALVE in heard(desk.luke)


def test_the_sources_of_a_private_memory_are_not_found(desk: Desk) -> None:
    talk = said(desk, VALVE, extracts=False)
    distil(desk, talk, MemoryType.AGENT_PRIVATE)

    assert heard(desk.luke) == []


def test_a_memory_that_becomes_private_takes_its_messages_along(desk: Desk) -> None:
    talk = said(desk, VALVE)
    message = MessageEntry.objects.get(conversation=talk).pk
    stated = {"content": "The kiln is odd.", "memory_type": "agent_private", "agent": "kyra"}
    made = post(desk.kyra, "memories", **stated, message_ids=[str(message)])
    assert made.status_code < 300, made.content

    assert heard(desk.luke) == []


# -- what else happens to it ---------------------------------------------------------------------


def test_a_kept_answer_is_made_anew_when_something_is_shared(desk: Desk) -> None:
    talk = said(desk, VALVE, extracts=False)
    index_team(team_id=talk.team_id, tools=_TOOLS[0])
    assert heard(desk.luke) == heard(desk.luke) == []
    distil(desk, talk)
    assert heard(desk.luke) == heard(desk.luke) == [VALVE]


def test_what_is_given_to_somebody_else_is_not_shared_with_their_agents(desk: Desk) -> None:
    talk = said(desk, VALVE)
    dmitri = EndUser.objects.get(pk=desk.cast.dmitri.pk)
    Conversation.objects.filter(pk=talk.pk).update(end_user=dmitri)

    assert heard(desk.luke) == []
    assert heard(desk.luke, user="dmitri") == []
    assert heard(desk.kyra, agent="kyra", user="dmitri") == [VALVE]


def test_what_a_tool_said_is_not_shared(desk: Desk) -> None:
    talk = said(desk, LATER, extracts=False, is_closed=False)
    say(desk, talk, VALVE, role="tool")
    say(desk, talk, VALVE, role="system")
    say(desk, talk, LATER)
    distil(desk, talk)

    assert VALVE not in heard(desk.luke)
