"""What somebody corrects in a later conversation takes the place of what it corrects."""

from __future__ import annotations

import pytest

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.extraction.waiting import extract_now
from tests.support.cast import Cast
from tests.support.extraction import talk
from tests.support.writing import live


def tell(viewer: Viewer, tools: Tools, said: str) -> None:
    """Say it in a conversation of its own, and have it remembered."""
    extract_now(viewer=viewer, conversation_id=talk(viewer, said).pk, tools=tools)


CORRECTIONS = [
    ("My flight is on June 3, 2031.", "Correction: my flight is on June 5, 2031, not June 3."),
    ("The budget is 5k.", "Actually the budget is 6k, not 5k."),
    ("We use Redis 6.", "Correction: we use Redis 7, not 6."),
    ("The office is on Oak Street.", "Sorry, I was wrong: the office is on Mill Street."),
    ("My son is 7.", "My son is 8, not 7."),
    ("My rate is 80 euros an hour.", "I misspoke: my rate is 90 euros an hour."),
]


def test_half_of_the_corrections_retire_or_dispute_what_they_correct(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    seen = 0
    for first, then in CORRECTIONS:
        tell(viewer, tools, first)
        (old,) = Memory.objects.filter(team=acme.team).order_by("-id")[:1]
        tell(viewer, tools, then)
        (new,) = Memory.objects.filter(team=acme.team).order_by("-id")[:1]
        # The memory stands by itself: what said that it was a correction is not in it.
        assert not new.content.startswith(("Correction", "Actually", "Sorry", "No wait"))
        old.refresh_from_db()
        seen += old.status in ("superseded", "disputed")

    assert seen >= len(CORRECTIONS) / 2


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Please remember that I like ramen.", "Actually, please remember that I like sushi."),
        ("Tom leads the design team.", "Sorry, Olga leads the sales team."),
    ],
)
def test_a_marker_alone_corrects_nothing_else(
    acme: Cast, viewer: Viewer, tools: Tools, first: str, then: str
) -> None:
    tell(viewer, tools, first)
    tell(viewer, tools, then)

    assert len(live(acme)) == 2
