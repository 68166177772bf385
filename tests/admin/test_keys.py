"""API keys in the admin: limits, rotation, and which of them are still valid."""

from __future__ import annotations

import re
from datetime import timedelta

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from teams.models import ApiKey
from teams.services.keys import issue_key, principal_of
from tests.support.cast import Cast

LIST = reverse("admin:teams_apikey_changelist")


def test_a_key_is_issued_with_its_limits(inside: Cast, admin_client: Client) -> None:
    answer = admin_client.post(
        reverse("admin:teams_apikey_add"),
        {
            "team": inside.team.pk,
            "name": "nightly",
            "is_read_only": "on",
            "expires_at_0": "2099-01-01",
            "expires_at_1": "00:00:00",
        },
    )

    assert answer.status_code == 200
    key = ApiKey.objects.get()
    assert key.is_read_only
    assert key.expires_at is not None
    assert key.expires_at.year in (2098, 2099)


def test_a_form_saved_empty_issues_no_key(inside: Cast, admin_client: Client) -> None:
    answer = admin_client.post(reverse("admin:teams_apikey_add"), {"team": inside.team.pk})

    assert "Name the key after the program that uses it." in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_key_that_has_expired_already_is_not_issued(inside: Cast, admin_client: Client) -> None:
    ended = {"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}

    answer = admin_client.post(
        reverse("admin:teams_apikey_add"), {"team": inside.team.pk, "name": "nightly", **ended}
    )

    assert answer.context["adminform"].form.errors == {
        "expires_at": ["Choose a time in the future."]
    }
    assert not ApiKey.objects.exists()


def test_rotating_shows_the_new_key_once_and_keeps_the_old_one_for_a_day(
    inside: Cast, admin_client: Client
) -> None:
    old = issue_key(team_id=inside.team.id, agent=inside.kyra)
    page = reverse("admin:teams_apikey_change", args=[old.key.pk]).replace("change/", "rotate/")

    asked = admin_client.get(page)
    assert "24 hours" in asked.content.decode()
    assert ApiKey.objects.count() == 1
    answer = admin_client.post(page, {"confirmed": "yes"})

    shown = re.search(r"pal_[0-9a-f]{8}_[\w-]+", answer.content.decode())
    assert shown is not None
    assert principal_of(shown.group()) is not None
    assert principal_of(old.token) is not None
    ends = ApiKey.objects.get(pk=old.key.pk).expires_at
    assert ends is not None
    assert timedelta(hours=23) < ends - timezone.now() <= timedelta(hours=24)


def test_a_reviewer_rotates_nothing(inside: Cast, reviewer_client: Client) -> None:
    old = issue_key(team_id=inside.team.id)
    page = reverse("admin:teams_apikey_change", args=[old.key.pk]).replace("change/", "rotate/")

    assert reviewer_client.post(page, {"confirmed": "yes"}).status_code == 403
    assert ApiKey.objects.count() == 1


def test_the_list_opens_on_valid_keys_and_an_expired_one_can_only_be_revoked(
    inside: Cast, admin_client: Client
) -> None:
    valid = issue_key(team_id=inside.team.id).key
    ended = issue_key(team_id=inside.team.id, expires_at=timezone.now() - timedelta(1)).key

    opened = admin_client.get(LIST).content.decode()
    expired = admin_client.get(LIST, {"validity": "expired"}).content.decode()
    page = admin_client.get(reverse("admin:teams_apikey_change", args=[ended.pk])).content.decode()

    assert valid.prefix in opened
    assert ended.prefix not in opened
    assert ended.prefix in expired
    assert valid.prefix not in expired
    assert "/revoke/" in page
    assert "/rotate/" not in page
