"""The absence of unindexed messages is cached for as long as nothing is said in the team."""

from __future__ import annotations

from uuid import uuid4

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.selectors.revisions import team_revision
from memory.selectors.search.message_signals import waiting_messages
from memory.writing.posting import post_messages
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import make_cast


def waiting(viewer: Viewer) -> tuple[int, int]:
    """Returns the number of unindexed messages the viewer finds, and of statements about them."""
    with (
        team_scope(team_ids=[viewer.team_id], actor=viewer.actor),
        CaptureQueriesContext(connection) as queries,
    ):
        revision = team_revision(team_id=viewer.team_id)
        found = waiting_messages(viewer=viewer, most=10, revision=revision)
    asked = [each for each in queries.captured_queries if "memory_messageentry" in each["sql"]]
    return len(found), len(asked)


def test_what_is_said_later_is_found_at_once(committed_db: None) -> None:
    cast = make_cast(f"waiting-{uuid4().hex[:8]}")
    viewer = Viewer(cast.team.pk, "test", cast.kyra.pk, cast.sarah.pk)
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        talk = factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )

    assert waiting(viewer) == (0, 1)
    assert waiting(viewer) == (0, 0)

    post_messages(
        viewer=viewer,
        conversation_id=talk.pk,
        messages=[NewMessage("user", "Biscuit chewed the blue slipper.")],
        now=timezone.now(),
    )
    assert waiting(viewer) == (1, 1)
    assert waiting(viewer) == (1, 1)
