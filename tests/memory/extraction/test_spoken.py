"""Messages with the names of who said them, and the memories that were made of messages."""

from __future__ import annotations

import pytest

from memory.models import Memory
from memory.selectors.conversations import sources_among, spoken_messages
from teams.models import Conversation, EndUser, Message
from tests import factories
from tests.support.cast import Cast


@pytest.fixture
def talk(acme: Cast) -> Conversation:
    """Kyra talks with Sarah."""
    made: Conversation = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    return made


def said(talk: Conversation, position: int, **fields: str) -> Message:
    made: Message = factories.MessageFactory.create(
        team=talk.team, conversation=talk, position=position, **fields
    )
    return made


def test_a_message_is_its_users_or_its_agents_unless_it_has_a_name(
    acme: Cast, talk: Conversation
) -> None:
    rows = [
        said(talk, 1, role="user", content="Hello."),
        said(talk, 2, role="assistant", content="Hi."),
        said(talk, 3, role="user", content="I am here too.", name="Tom"),
    ]

    found = spoken_messages(team_id=acme.team.pk, ids=[row.pk for row in rows])

    assert [found[row.pk].speaker for row in rows] == [str(acme.sarah), acme.kyra.name, "Tom"]
    assert [found[row.pk].content for row in rows] == ["Hello.", "Hi.", "I am here too."]


def test_a_user_is_called_by_the_name_to_be_shown(acme: Cast, talk: Conversation) -> None:
    EndUser.objects.filter(pk=acme.sarah.pk).update(display_name="Sarah Novak")
    row = said(talk, 1, role="user", content="Hello.")

    found = spoken_messages(team_id=acme.team.pk, ids=[row.pk])

    assert found[row.pk].speaker == "Sarah Novak"


def test_sources_are_those_of_the_memory_and_of_all_that_it_took_the_place_of(
    acme: Cast, talk: Conversation
) -> None:
    said_of = [said(talk, place, role="user", content="So.").pk for place in (1, 2, 3, 4)]
    first, second, lost, other = (
        factories.MemoryFactory.create(team=acme.team, source_message_ids=[message])
        for message in said_of
    )
    new = factories.MemoryFactory.create(team=acme.team, supersedes=second)
    for old, by in ((first, second), (second, new), (lost, new)):
        Memory.objects.filter(pk=old.pk).update(status="superseded", superseded_by=by)

    found = sources_among(
        team_id=acme.team.pk, memory_ids=[new.pk, other.pk], message_ids=said_of[:3]
    )

    made = zip(said_of[:3], (first, second, lost), strict=True)
    assert set(found) == {(new.pk, message, row.content, True) for message, row in made}
