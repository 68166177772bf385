"""What somebody corrects in a later conversation takes the place of what it corrects."""

from __future__ import annotations

import pytest

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.services.extracting.waiting import extract_now
from teams.tenancy import team_scope
from tests.conftest import Cast
from tests.memory.extraction.test_daily_cap import talk
from tests.memory.writing.test_write_path import live


def tell(viewer: Viewer, tools: Tools, said: str) -> None:
    """Say it in a conversation of its own, and have it remembered."""
    extract_now(viewer=viewer, conversation_id=talk(viewer, said).pk, tools=tools)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("My flight is on June 3, 2031.", "Correction: my flight is on June 5, 2031, not June 3."),
        ("The budget is 5k.", "Actually the budget is 6k, not 5k."),
        ("We use Redis 6.", "No wait, we use Redis 7, not 6."),
        ("The office is on Oak Street.", "Sorry, I was wrong: the office is on Mill Street."),
        ("My son is 7.", "My son is 8, not 7."),
        ("My rate is 80 euros an hour.", "I misspoke: my rate is 90 euros an hour."),
    ],
)
def test_a_correction_supersedes_what_an_earlier_conversation_said(
    acme: Cast, viewer: Viewer, tools: Tools, first: str, then: str
) -> None:
    tell(viewer, tools, first)
    (old,) = live(acme)

    tell(viewer, tools, then)

    (new,) = live(acme)
    assert new != old
    # The memory stands by itself: what said that it was a correction is not in it.
    assert not new.startswith(("Correction", "Actually", "Sorry", "No wait"))
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert not Contradiction.objects.filter(resolved_at=None).exists()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I like ramen.", "Actually, I like sushi."),
        ("Tom leads the design team.", "Sorry, Olga leads the sales team."),
    ],
)
def test_a_marker_alone_corrects_nothing_else(
    acme: Cast, viewer: Viewer, tools: Tools, first: str, then: str
) -> None:
    tell(viewer, tools, first)
    tell(viewer, tools, then)

    assert len(live(acme)) == 2
