"""Returns the counts of an extraction whose first pass gives these proposals and one good one."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory.models import Memory
from memory.understanding.tools import Tools
from memory.writing.jobs import start_extraction
from memory.writing.posting import post_messages
from teams.models import Conversation, Team
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests.support.extraction import conversation, run, town, viewer_of

__all__ = ["conversation", "town"]

# In New York it is half past ten in the evening of the 1st of May.
LATE = datetime(2026, 5, 2, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize(("zone", "day"), [("America/New_York", 2), ("UTC", 3)])
def test_tomorrow_is_that_of_the_team(
    conversation: Conversation, tools: Tools, zone: str, day: int
) -> None:
    viewer = viewer_of(conversation)
    with team_scope(team_ids=[viewer.team_id], actor="test"):
        Team.objects.filter(id=viewer.team_id).update(time_zone=zone)
    said = NewMessage("user", "I have a dentist appointment tomorrow.", created_at=LATE)
    post_messages(viewer=viewer, conversation_id=conversation.pk, messages=[said], now=LATE)

    run(start_extraction(viewer=viewer, conversation_id=conversation.pk), tools)

    with team_scope(team_ids=[viewer.team_id], actor="test"):
        memory = Memory.objects.get(conversation=conversation)
    assert memory.valid_from is not None
    assert memory.valid_from.astimezone(ZoneInfo(zone)).day == day
    assert memory.created_at == LATE
