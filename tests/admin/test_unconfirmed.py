"""The inbox asks about what a tool or a web page alone says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from memory.domain.types import Source
from memory.models import Memory
from memory.satellites.confirmation.models import Confirmation
from memory.understanding.tools import Tools
from tests.support.admin import decide_several, press
from tests.support.cast import Cast
from tests.support.consent import asked_to_move
from tests.support.judges import NumbersJudge
from tests.support.writing import OLD_LIMIT, OTHER_LIMIT, draft, write


@pytest.fixture
def judged(tools: Tools) -> Tools:
    return replace(tools, judge=NumbersJudge())


@pytest.fixture
def page(inside: Cast, judged: Tools) -> Memory:
    """What a page says, against what a person said."""
    write(inside, judged, draft(inside, OLD_LIMIT, source=Source.PERSON))
    (result,) = write(inside, judged, draft(inside, OTHER_LIMIT, source=Source.WEB))
    return result.memory


def item_of(page: Memory) -> str:
    """The address of its item."""
    row = Confirmation.objects.get(memory=page)
    return reverse("inbox_item", args=["unconfirmed", row.pk])


def test_an_item_stands_beside_what_it_contradicts(page: Memory, reviewer_client: Client) -> None:
    item = item_of(page)

    listed = reviewer_client.get(reverse("inbox"), {"kind": "unconfirmed"}).content.decode()
    shown = reviewer_client.get(item).content.decode()

    assert item in listed
    assert "A web page alone says this." in shown
    assert "Contradicts" in shown


def test_a_reviewer_confirms_it_and_undoes_that(page: Memory, reviewer_client: Client) -> None:
    item = item_of(page)

    press(reviewer_client, item, "confirm", note="asked her")
    page.refresh_from_db()
    assert page.source == "person"

    reviewer_client.post(item, {"undo": "1"})
    page.refresh_from_db()
    assert page.source == "web"


def test_deleting_it_rejects_no_request_that_is_selected_as_well(
    page: Memory, oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    listed = reviewer_client.get(reverse("inbox"))
    ids = [item.pk for item, _, _ in listed.context["items"]]

    decide_several(reviewer_client, "delete", ids)

    assert {"Delete", "Reject"} <= {title for _, title in listed.context["choices"]}
    page.refresh_from_db()
    bergen.refresh_from_db()
    assert (page.status, bergen.state) == ("soft_deleted", "waiting")


def test_left_for_later_it_is_no_longer_listed(page: Memory, reviewer_client: Client) -> None:
    item = item_of(page)

    press(reviewer_client, item, "week")

    for later, is_listed in (("", False), ("1", True)):
        found = reviewer_client.get(reverse("inbox"), {"kind": "unconfirmed", "later": later})
        assert (item in found.content.decode()) is is_listed


def test_the_page_of_the_memory_says_where_it_is_from(
    page: Memory, reviewer_client: Client
) -> None:
    shown = reviewer_client.get(reverse("admin:memory_memory_change", args=[page.pk]))

    assert "web page (unconfirmed)" in shown.content.decode()
