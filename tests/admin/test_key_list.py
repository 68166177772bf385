"""The page that lists the keys, and the one script that presses them."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import MemoryFactory
from tests.support.admin import page_of, two
from tests.support.cast import Cast
from tests.support.consent import asked_to_move, page_of_request


def keys_on(client: Client, url: str) -> set[str]:
    """The keys that the page offers."""
    return set(re.findall(r'data-key="([^"]+)"', client.get(url).content.decode()))


@pytest.mark.parametrize("name", ["admin:index", "admin:memory_memory_changelist", "time_travel"])
def test_every_page_leads_to_it_by_a_key(name: str, viewer_client: Client) -> None:
    page = viewer_client.get(reverse(name)).content.decode()

    assert f'href="{reverse("key_list")}" data-key="?"' in page
    assert page.count("memory/admin/keys.js") == 1


def test_every_key_that_a_page_offers_is_listed(inside: Cast, reviewer_client: Client) -> None:
    pair = two(inside.team)
    city = MemoryFactory.create(
        team=inside.team,
        content="User lives in Oslo.",
        memory_type="user_profile",
        scope="user",
        end_user=inside.sarah,
    )
    request = asked_to_move(city, "User lives in Bergen.")
    queue = reverse("inbox")

    offered = set()
    for url in (queue, page_of(pair), page_of_request(request)):
        offered |= keys_on(reviewer_client, url)

    page = reviewer_client.get(reverse("key_list")).content.decode()
    assert {"r", "a", "b", "v", "m", "s"} <= offered <= set(re.findall("<kbd>(.+?)</kbd>", page))
