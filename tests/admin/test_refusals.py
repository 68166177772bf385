"""Errors in the admin are pages of the admin that say what to do."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from teams.models import StaffUser
from tests.support.admin import page_of, states, two
from tests.support.cast import Cast


def test_who_may_not_act_is_told_so_on_a_page_with_a_way_back(
    inside: Cast, viewer_client: Client
) -> None:
    pair = two(inside.team)

    answer = viewer_client.post(page_of(pair), {"choice": "a"})

    page = answer.content.decode()
    assert answer.status_code == 403
    assert "Your role in the team does not allow this" in page
    assert f'href="{reverse("admin:index")}"' in page
    assert "Inbox" in page


def test_an_address_that_leads_nowhere_is_a_page_too(cast: Cast, viewer_client: Client) -> None:
    answer = viewer_client.get("/admin/nope/<b>")

    page = answer.content.decode()
    assert answer.status_code == 404
    assert "Page not found" in page
    assert "/admin/nope/&lt;b&gt;" in page


def test_outside_the_admin_it_is_a_problem_document_still(client: Client) -> None:
    answer = client.get("/nope")

    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("is_logged_in", [True, False])
def test_a_page_of_a_lost_session_shows_what_was_typed(
    is_logged_in: bool, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    strict = Client(enforce_csrf_checks=True)
    if is_logged_in:
        strict.force_login(StaffUser.objects.get(username="rob"))

    answer = strict.post(
        page_of(pair),
        {"choice": "merge", "content": "Bergen <b>since</b> May.", "note": "asked"},
    )

    page = answer.content.decode()
    assert answer.status_code == 403
    assert "This page has expired" in page
    assert "Bergen &lt;b&gt;since&lt;/b&gt; May." in page
    assert "asked" in page
    assert states(pair) == ["disputed", "disputed"]
