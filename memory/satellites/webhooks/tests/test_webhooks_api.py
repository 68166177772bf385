"""Webhooks over HTTP: set up by a team's key, refused with a reason, and each team's own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from rest_framework.test import APIClient

from memory.satellites.webhooks.endpoints import MOST_ENDPOINTS
from memory.satellites.webhooks.models import WebhookDelivery, WebhookEndpoint
from teams.models import IdempotentRequest
from teams.prepared import run_prepared
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post, remember
from tests.support.webhook_receiver import hook_to

URL = "https://receiver.example/hook"
NO_ROW = "0198c0de-0000-7000-8000-000000000000"


def webhooks(api: APIClient) -> list[dict[str, Any]]:
    """The listed ones."""
    return list(api.get("/v1/webhooks").json()["results"])


def test_it_is_made_listed_changed_and_removed(acme: Cast, api: APIClient) -> None:
    hook = hook_to(acme, api, URL, events=["memory.deleted", "memory.created"], name="CRM")

    (listed,) = webhooks(api)
    assert listed == api.get(f"/v1/webhooks/{hook.id}").json()
    assert listed["events"] == ["memory.created", "memory.deleted"]
    assert (listed["name"], listed["enabled"], listed["include_text"]) == ("CRM", True, False)
    assert hook.secret.startswith("whsec_")
    assert "secret" not in listed

    change = {"url": f"{URL}/2?key=1", "events": ["budget.near"], "include_text": True}
    changed = api.patch(f"/v1/webhooks/{hook.id}", change, format="json").json()
    assert {name: changed[name] for name in change} == change
    assert changed["name"] == "CRM"
    remember(api, "Sarah lives in Berlin.")
    assert hook.deliveries() == []

    post(api, f"webhooks/{hook.id}/test")
    assert api.delete(f"/v1/webhooks/{hook.id}").status_code == 204
    assert api.get(f"/v1/webhooks/{hook.id}").status_code == 404
    assert (webhooks(api), hook.deliveries()) == ([], [])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "https://10.0.0.1/"),
        ("url", "http://receiver.example/"),
        ("url", "receiver"),
        ("url", "https://a/" + "x" * 2_000),
        ("url", 7),
        ("events", []),
        ("events", ["memory.read"]),
        ("events", ["webhook.test"]),
        ("events", "memory.created"),
        ("events", ["memory.created"] * 11),
        ("include_text", "yes"),
        ("name", "x" * 201),
        ("secret", "whsec_mine"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_cannot_be_is_refused_by_its_field(
    field: str, value: object, acme: Cast, api: APIClient
) -> None:
    hook = hook_to(acme, api, URL)
    before = webhooks(api)
    given = {"url": URL, "events": ["memory.created"], field: value}

    made = api.post("/v1/webhooks", given, format="json")
    changed = api.patch(f"/v1/webhooks/{hook.id}", {field: value}, format="json")

    for refused in (made, changed):
        assert refused.status_code == 422
        assert [name.partition("[")[0] for name in refused.json()["errors"]] == [field]
    assert webhooks(api) == before


def test_a_team_has_so_many_at_most(acme: Cast, api: APIClient) -> None:
    for _ in range(MOST_ENDPOINTS):
        hook_to(acme, api, URL)

    assert post(api, "webhooks", url=URL, events=["budget.near"]).status_code == 409
    assert len(webhooks(api)) == MOST_ENDPOINTS


ADDRESSES = [
    ("get", "/v1/webhooks"), ("post", "/v1/webhooks"), ("get", "/v1/webhooks/{}"),
    ("patch", "/v1/webhooks/{}"), ("delete", "/v1/webhooks/{}"), ("post", "/v1/webhooks/{}/test"),
    ("post", "/v1/webhooks/{}/rotate-secret"), ("get", "/v1/webhooks/{}/deliveries"),
    ("post", "/v1/webhooks/{}/replay"),
    ("post", "/v1/webhooks/{}/deliveries/" + NO_ROW + "/replay"),
]  # fmt: skip
BODIES = {"/v1/webhooks": {"url": URL, "events": ["budget.near"]}}
SINCE = {"since": "2026-01-01T00:00:00Z"}


def ask(client: APIClient, method: str, address: str, hook_id: object) -> Any:
    """The answer to a request that would be right."""
    body = BODIES.get(address) or (SINCE if address.endswith("{}/replay") else {})
    return client.generic(
        method.upper(),
        address.format(hook_id),
        "" if method in ("get", "delete") else json.dumps(body),
        content_type="application/json",
    )


@pytest.mark.parametrize(("method", "address"), ADDRESSES, ids=lambda each: str(each))
def test_who_may_not_is_refused(
    method: str, address: str, acme: Cast, globex: Cast, api: APIClient, client_of: Clients
) -> None:
    hook = hook_to(acme, api, URL)
    reading = APIClient()
    token = issue_key(team_id=acme.team.pk, is_read_only=True).token
    reading.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")

    assert ask(APIClient(), method, address, hook.id).status_code == 401
    assert ask(client_of(acme, acme.kyra), method, address, hook.id).status_code == 403
    assert (ask(reading, method, address, hook.id).status_code == 403) is (method != "get")
    if "{}" in address:
        assert ask(client_of(globex), method, address, hook.id).status_code == 404
        assert ask(api, method, address, NO_ROW).status_code == 404
    assert [each["id"] for each in webhooks(api)] == [hook.id]


def test_deliveries_are_paged_and_filtered(acme: Cast, api: APIClient) -> None:
    hook = hook_to(acme, api, URL)
    made = [post(api, f"webhooks/{hook.id}/test").json()["id"] for _ in range(5)]
    WebhookDelivery.objects.filter(id__in=made[:2]).update(state="dead", status_code=500)

    first = api.get(f"/v1/webhooks/{hook.id}/deliveries?limit=3").json()
    second = api.get(first["next"]).json()
    assert [each["id"] for each in first["results"] + second["results"]] == made[::-1]
    dead = api.get(f"/v1/webhooks/{hook.id}/deliveries?state=dead").json()["results"]
    assert [each["id"] for each in dead] == made[1::-1]
    assert dead[0]["status_code"] == 500
    assert api.get(f"/v1/webhooks/{hook.id}/deliveries?state=lost").status_code == 422
    assert api.get(f"/v1/webhooks/{hook.id}/deliveries?cursor=x").status_code == 422


def test_what_is_sent_again_is_chosen_by_time_or_by_id(acme: Cast, api: APIClient) -> None:
    hook = hook_to(acme, api, URL)
    old, new = (post(api, f"webhooks/{hook.id}/test").json() for _ in range(2))
    one = f"webhooks/{hook.id}/deliveries/{old['id']}/replay"
    assert post(api, one).json() == {"replayed": 1}
    WebhookDelivery.objects.update(state="dead", attempts=9)

    again = post(api, f"webhooks/{hook.id}/replay", since=new["happened_at"])
    assert again.json() == {"replayed": 1}
    states = {str(each.id): (each.state, each.attempts) for each in hook.deliveries()}
    assert states == {old["id"]: ("dead", 9), new["id"]: ("waiting", 0)}
    assert post(api, one).json() == {"replayed": 1}
    assert post(api, f"webhooks/{hook.id}/replay", since="2026-01-01").status_code == 422


def test_a_repeated_request_shows_the_secret_again_and_none_is_kept(
    acme: Cast, api: APIClient
) -> None:
    given = {"url": URL, "events": ["budget.near"]}

    def ask_twice(path: str, body: object) -> Any:
        once, again = (
            api.post(path, body, format="json", HTTP_IDEMPOTENCY_KEY=path) for _ in range(2)
        )
        assert again["Idempotent-Replay"] == "true"
        assert (once.status_code, once.json()) == (again.status_code, again.json())
        return again.json()

    made = ask_twice("/v1/webhooks", given)
    rotated = ask_twice(f"/v1/webhooks/{made['webhook']['id']}/rotate-secret", {})

    assert made["secret"].startswith("whsec_")
    assert made["secret"] != rotated["secret"]
    assert len(webhooks(api)) == 1
    kept = [each.body for each in IdempotentRequest.objects.all()]
    assert len(kept) == 2
    assert not any("whsec_" in each for each in kept)


def test_a_disabled_one_is_told_nothing_and_sends_no_test(acme: Cast, api: APIClient) -> None:
    hook = hook_to(acme, api, URL)
    api.patch(f"/v1/webhooks/{hook.id}", {"enabled": False}, format="json")

    remember(api, "Sarah lives in Berlin.")

    assert post(api, f"webhooks/{hook.id}/test").status_code == 409
    assert hook.deliveries() == []


def test_other_teams_are_told_nothing_and_see_nothing(
    acme: Cast, globex: Cast, api: APIClient, client_of: Clients
) -> None:
    ours = hook_to(acme, api, URL)
    theirs = hook_to(globex, client_of(globex), URL)

    remember(api, "Sarah lives in Berlin.")

    assert [each.type for each in ours.deliveries()] == ["memory.created"]
    assert theirs.deliveries() == []
    with team_scope(team_ids=[globex.team.pk], actor="test"):
        assert [str(each.pk) for each in WebhookEndpoint.objects.all()] == [theirs.id]
        assert not WebhookDelivery.objects.exists()


def test_nobody_announces_for_another_team(acme: Cast, globex: Cast) -> None:
    call = "SELECT palimpsest_announce($1, 'budget.near', $1, '{}', NULL)"

    with pytest.raises(DatabaseError, match="outside"), transaction.atomic():
        run_prepared(call, [globex.team.pk])
    run_prepared(call, [acme.team.pk])
