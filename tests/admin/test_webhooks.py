"""Webhooks in the admin: set up and tested by admins of the team, and dead letters sent again."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from memory.satellites.webhooks.calls import secret_of
from memory.satellites.webhooks.endpoints import MOST_ENDPOINTS, create_endpoint, send_test
from memory.satellites.webhooks.models import WebhookDelivery, WebhookEndpoint
from teams.tenancy import database_now
from tests.support.cast import Cast

ADD = reverse("admin:webhooks_webhookendpoint_add")
LIST = reverse("admin:webhooks_webhookendpoint_changelist")
DELIVERIES = reverse("admin:webhooks_webhookdelivery_changelist")
URL = "https://receiver.example/hook"


def page_of(endpoint: WebhookEndpoint, name: str = "change") -> str:
    """One of the pages of a webhook."""
    page = reverse("admin:webhooks_webhookendpoint_change", args=[endpoint.pk])
    return page.replace("change/", f"{name}/")


def made(inside: Cast) -> WebhookEndpoint:
    """A webhook of the team."""
    events = ["memory.created"]
    return create_endpoint(team_id=inside.team.pk, url=URL, events=events).endpoint


def typed(inside: Cast, **fields: object) -> dict[str, Any]:
    """A form that is filled in."""
    return {
        "team": inside.team.pk,
        "name": "CRM",
        "url": URL,
        "events": ["memory.created", "budget.near"],
        **fields,
    }


def test_a_new_webhook_shows_its_secret_once(inside: Cast, admin_client: Client) -> None:
    answer = admin_client.post(ADD, typed(inside))

    endpoint = WebhookEndpoint.objects.get()
    assert endpoint.events == ["memory.created", "budget.near"]
    shown = re.search(r"whsec_[\w+/]+=*", answer.content.decode())
    assert shown is not None
    assert shown.group() == secret_of(endpoint.secret)
    assert "whsec_" not in admin_client.get(page_of(endpoint)).content.decode()


def test_an_address_of_the_own_network_is_refused(inside: Cast, admin_client: Client) -> None:
    answer = admin_client.post(ADD, typed(inside, url="https://10.0.0.7/hook"))

    assert "private network" in answer.content.decode()
    assert not WebhookEndpoint.objects.exists()


def test_one_more_than_a_team_may_have_is_refused(inside: Cast, admin_client: Client) -> None:
    for _ in range(MOST_ENDPOINTS):
        made(inside)

    answer = admin_client.post(ADD, typed(inside))

    assert "20 webhooks at most" in answer.content.decode()
    assert WebhookEndpoint.objects.count() == MOST_ENDPOINTS


def test_it_is_changed_and_enabled_again(inside: Cast, admin_client: Client) -> None:
    endpoint = made(inside)
    WebhookEndpoint.objects.update(is_enabled=False, note="It answered 410 Gone.", failures=3)
    assert "It answered 410 Gone." in admin_client.get(page_of(endpoint)).content.decode()

    admin_client.post(page_of(endpoint), typed(inside, is_enabled="on", include_text="on"))

    endpoint.refresh_from_db()
    assert (endpoint.is_enabled, endpoint.note, endpoint.failures) == (True, "", 0)
    assert (endpoint.name, endpoint.include_text) == ("CRM", True)


def test_rotating_shows_the_new_secret(inside: Cast, admin_client: Client) -> None:
    endpoint = made(inside)
    before = secret_of(endpoint.secret)

    assert "24 hours" in " ".join(
        admin_client.get(page_of(endpoint, "rotate")).content.decode().split()
    )
    answer = admin_client.post(page_of(endpoint, "rotate"), {"confirmed": "yes"})

    endpoint.refresh_from_db()
    after = secret_of(endpoint.secret)
    assert after != before == secret_of(endpoint.old_secret)
    assert str(after) in answer.content.decode()


def test_dead_deliveries_are_sent_again(inside: Cast, admin_client: Client) -> None:
    endpoint = made(inside)
    one, two = (send_test(endpoint=endpoint, now=database_now()) for _ in range(2))
    WebhookDelivery.objects.update(state="dead", error="It answered HTTP 500.")
    assert "It answered HTTP 500." in admin_client.get(DELIVERIES).content.decode()

    page = reverse("admin:webhooks_webhookdelivery_change", args=[one.pk])
    assert str(one.id) in admin_client.get(page).content.decode()
    admin_client.post(page.replace("change/", "replay/"), {"confirmed": "yes"})
    states = dict(WebhookDelivery.objects.values_list("id", "state"))
    assert states == {one.id: "waiting", two.id: "dead"}

    again = admin_client.post(page_of(endpoint, "replay"), {"confirmed": "yes"}, follow=True)
    assert "1 webhook retried. Failed deliveries queued again: 1." in again.content.decode()
    assert WebhookDelivery.objects.get(id=two.id).state == "waiting"


def test_it_is_tested_and_removed_with_what_waits(inside: Cast, admin_client: Client) -> None:
    endpoint = made(inside)

    admin_client.post(page_of(endpoint, "test"), {"confirmed": "yes"})
    assert WebhookDelivery.objects.get().type == "webhook.test"
    admin_client.post(page_of(endpoint, "remove"), {"confirmed": "yes"})

    assert not WebhookEndpoint.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_a_reviewer_sees_none(inside: Cast, reviewer_client: Client) -> None:
    endpoint = made(inside)

    assert reviewer_client.get(LIST).status_code == 403
    assert reviewer_client.get(page_of(endpoint)).status_code in (302, 403)
    assert reviewer_client.post(ADD, typed(inside)).status_code == 403
