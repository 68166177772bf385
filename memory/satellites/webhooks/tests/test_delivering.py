"""A team's events reach its webhooks: signed, in order, and retried until accepted."""

from __future__ import annotations

import socket
import threading
from datetime import datetime, timedelta
from http.server import HTTPServer
from typing import Any

import pytest
from rest_framework.test import APIClient
from standardwebhooks import WebhookVerificationError

from config.embedded import PROJECT_ROOT
from memory.satellites.webhooks import delivering
from memory.satellites.webhooks.calls import new_secret
from memory.satellites.webhooks.models import WebhookDelivery, WebhookEndpoint
from teams.tenancy import database_now
from tests.support.cast import Cast
from tests.support.doc_examples import examples
from tests.support.memories_api import OLD_LIMIT, OTHER_LIMIT, open_ones, post, remember
from tests.support.webhook_receiver import Hook, Receiver, hook_to, receiver

__all__ = ["receiver"]
DAY = timedelta(days=1)


@pytest.fixture
def hook(acme: Cast, api: APIClient, receiver: Receiver) -> Hook:
    """A webhook of Acme for everything."""
    return hook_to(acme, api, receiver.url)


def later(span: timedelta) -> Any:
    """A clock that is so far ahead."""
    return lambda: database_now() + span


def test_a_new_memory_is_told_with_ids_and_without_its_text(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    memory = remember(api, "Sarah lives in Berlin.", user="sarah", agent="kyra")

    assert hook.send() == 1

    (told,) = receiver.verified(hook.secret)
    assert told["type"] == "memory.created"
    assert told["timestamp"].endswith("Z")
    assert datetime.fromisoformat(told["timestamp"]) <= database_now()
    data = told["data"]
    assert (data["memory"], data["version"], data["change"]) == (memory, 1, "created")
    assert (data["user"], data["status"]) == ("sarah", "active")
    assert api.get(data["links"]["memory"]).json()["id"] == memory
    assert b"Berlin" not in receiver.received[0].body
    assert "text" not in data


def test_another_secret_does_not_verify(hook: Hook, api: APIClient, receiver: Receiver) -> None:
    remember(api, "Sarah lives in Berlin.")
    hook.send()

    with pytest.raises(WebhookVerificationError):
        receiver.verified("whsec_" + "A" * 43 + "=")


def test_who_asks_for_texts_gets_them(acme: Cast, api: APIClient, receiver: Receiver) -> None:
    hook = hook_to(acme, api, receiver.url, include_text=True)
    remember(api, "Sarah lives in Berlin.")
    remember(api, "My plan is secret.", memory_type="agent_private", agent="kyra")
    gone = remember(api, "Sarah has a dog.")
    api.delete(f"/v1/memories/{gone}")

    hook.send()

    told = {each["data"]["memory"]: each["data"]["text"] for each in receiver.verified(hook.secret)}
    # What is an agent's own, and what was deleted before it was sent, is told without.
    assert list(told.values()) == ["Sarah lives in Berlin.", None, None]


def test_everything_that_happens_to_a_memory_is_told_in_order(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    old = remember(api, "Sarah lives in Berlin.")
    new = post(api, f"memories/{old}/correct", corrected_content="Sarah lives in Oslo.").json()[
        "id"
    ]
    api.delete(f"/v1/memories/{new}")

    hook.send()

    told = receiver.verified(hook.secret)
    of_old = [each["type"] for each in told if each["data"]["memory"] == old]
    of_new = [each["type"] for each in told if each["data"]["memory"] == new]
    assert of_old == ["memory.created", "memory.superseded"]
    assert of_new == ["memory.created", "memory.deleted"]
    (superseded,) = (each["data"] for each in told if each["type"] == "memory.superseded")
    assert superseded["superseded_by"] == new


def test_a_dispute_and_its_end_are_told(hook: Hook, api: APIClient, receiver: Receiver) -> None:
    one, two = remember(api, OLD_LIMIT), remember(api, OTHER_LIMIT)
    (row,) = open_ones(api)
    post(api, f"contradictions/{row['id']}/resolve", resolution="b_wins")

    hook.send()

    told = receiver.verified(hook.secret)
    disputed = {each["data"]["memory"] for each in told if each["type"] == "memory.disputed"}
    pair = [each for each in told if each["type"].startswith("contradiction.")]
    assert disputed == {one, two}
    assert [each["type"] for each in pair] == ["contradiction.opened", "contradiction.resolved"]
    assert {each["data"]["contradiction"] for each in pair} == {row["id"]}
    assert pair[1]["data"]["resolution"] == "b_wins"


def test_only_the_chosen_events_are_told(acme: Cast, api: APIClient, receiver: Receiver) -> None:
    hook = hook_to(acme, api, receiver.url, events=["memory.deleted"])
    api.delete(f"/v1/memories/{remember(api, 'Sarah lives in Berlin.')}")

    hook.send()

    assert receiver.types == ["memory.deleted"]


def test_what_was_rolled_back_is_not_told(hook: Hook, api: APIClient, receiver: Receiver) -> None:
    facts = [{"content": "Sarah lives in Berlin."}, {"content": ""}]

    assert api.post("/v1/memories", facts, format="json").status_code == 422

    assert hook.send() == 0
    assert hook.deliveries() == []


def test_a_worker_that_dies_after_sending_sends_the_same_message_again(
    hook: Hook, api: APIClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(api, "Sarah lives in Berlin.")
    with monkeypatch.context() as dying:
        dying.setattr(delivering, "_noted", _die)
        with pytest.raises(SystemExit):
            hook.send()

    assert hook.send() == 1

    first, second = receiver.received
    assert first.id == second.id == str(hook.deliveries()[0].id)
    assert first.body == second.body


def _die(*given: object) -> bool:
    raise SystemExit


def test_while_a_memory_s_event_fails_its_later_ones_wait_and_others_go(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    first = remember(api, "Sarah lives in Berlin.")
    receiver.answer = lambda got: 500 if got.json["data"]["memory"] == first else 204
    api.delete(f"/v1/memories/{first}")
    other = remember(api, "The office has a lift.")

    assert hook.send() == 1

    sent = [(each.type, each.json["data"]["memory"]) for each in receiver.received]
    assert sent == [("memory.created", first), ("memory.created", other)]
    receiver.received.clear()
    receiver.answer = lambda _: 204
    assert hook.send() == 0
    assert hook.send(clock=later(timedelta(seconds=10))) == 2
    assert receiver.types == ["memory.created", "memory.deleted"]


def test_pauses_grow_until_it_is_given_up_and_can_be_sent_again(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    remember(api, "Sarah lives in Berlin.")
    receiver.answer = lambda _: 500
    now, pauses = database_now(), []
    for _ in range(16):
        assert hook.send(clock=lambda at=now: at) == 0
        (row,) = hook.deliveries()
        assert row.give_up_at - row.happened_at == pytest.approx(3 * DAY, abs=timedelta(seconds=9))
        pauses.append(row.due_at - now)
        now = row.due_at

    assert all(
        0.8 <= pause / min(timedelta(seconds=5) * 2**n, timedelta(hours=6)) <= 1.2
        for n, pause in enumerate(pauses)
    )
    WebhookDelivery.objects.filter(pk=row.pk).update(give_up_at=database_now())
    assert hook.send(clock=lambda: now) == 0
    (row,) = hook.deliveries()
    assert (row.state, row.attempts, row.error) == ("dead", 17, "It answered HTTP 500.")
    assert len(receiver.received) == 17

    receiver.answer = lambda _: 204
    dead = api.get(f"/v1/webhooks/{hook.id}/deliveries?state=dead").json()["results"]
    assert [each["id"] for each in dead] == [str(row.id)]
    assert post(api, f"webhooks/{hook.id}/replay", since="2026-01-01T00:00:00Z").json() == {
        "replayed": 1
    }
    assert hook.send() == 1
    assert receiver.received[-1].id == str(row.id)


def test_410_disables_it_and_what_waits_is_dead(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 410
    remember(api, "Sarah lives in Berlin.")
    remember(api, "The office has a lift.")

    hook.send()
    remember(api, "Sarah has a dog.")

    shown = api.get(f"/v1/webhooks/{hook.id}").json()
    assert shown["enabled"] is False
    assert "410" in shown["note"]
    assert len(receiver.received) == 1
    assert [each.state for each in hook.deliveries()] == ["dead", "dead"]


def test_three_days_of_failures_disable_it_until_it_is_enabled_again(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    remember(api, "Sarah lives in Berlin.")
    receiver.answer = lambda _: 500
    hook.send()
    failing = WebhookEndpoint.objects.filter(pk=hook.id)
    failing.update(failing_since=database_now() - 3 * DAY)

    hook.send(clock=later(timedelta(minutes=1)))
    assert api.get(f"/v1/webhooks/{hook.id}").json()["enabled"] is True  # two failures
    failing.update(failures=4)
    hook.send(clock=later(timedelta(minutes=2)))

    shown = api.get(f"/v1/webhooks/{hook.id}").json()
    assert (shown["enabled"], "3 days" in shown["note"]) == (False, True)
    receiver.answer = lambda _: 204
    refused = post(api, f"webhooks/{hook.id}/replay", since="2026-01-01T00:00:00Z")
    assert refused.status_code == 409
    changed = api.patch(f"/v1/webhooks/{hook.id}", {"enabled": True}, format="json").json()
    assert (changed["enabled"], changed["note"], changed["failing_since"]) == (True, "", None)
    remember(api, "Sarah has a dog.")
    assert hook.send() == 1


def test_failures_from_before_the_workers_were_away_give_nothing_up(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    remember(api, "Sarah lives in Berlin.")
    receiver.answer = lambda _: 500
    hook.send()
    before = database_now() - 4 * DAY
    WebhookEndpoint.objects.filter(pk=hook.id).update(failing_since=before, failures=9)
    WebhookDelivery.objects.update(
        attempts=9, attempted_at=before, due_at=before, give_up_at=database_now() - DAY
    )

    hook.send()

    (row,) = hook.deliveries()
    assert (row.state, row.attempts) == ("waiting", 10)
    assert row.give_up_at > database_now() + 2 * DAY
    endpoint = WebhookEndpoint.objects.get(pk=hook.id)
    assert (endpoint.is_enabled, endpoint.failures) == (True, 1)
    assert endpoint.failing_since is not None
    assert endpoint.failing_since > before + DAY


@pytest.mark.parametrize("what", ["address", "enabled", "replay"])
def test_what_waits_is_sent_at_once_to_a_repaired_receiver(
    what: str, hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    remember(api, "Sarah lives in Berlin.")
    receiver.answer = lambda _: 503
    hook.send()
    row = hook.deliveries()[0]
    WebhookDelivery.objects.update(due_at=database_now() + DAY / 4, attempts=9)
    receiver.answer = lambda _: 204
    assert hook.send() == 0

    page = f"/v1/webhooks/{hook.id}"
    if what == "address":
        api.patch(page, {"url": f"{receiver.url}/new"}, format="json")
    elif what == "enabled":
        api.patch(page, {"enabled": False}, format="json")
        api.patch(page, {"enabled": True}, format="json")
    else:
        post(api, f"webhooks/{hook.id}/deliveries/{row.id}/replay")

    assert hook.send() == 1
    assert hook.deliveries()[0].seq == row.seq


def test_what_is_replayed_comes_behind_and_holds_up_nothing(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    memory = remember(api, "Sarah lives in Berlin.")
    hook.send()
    (told,) = hook.deliveries()
    api.delete(f"/v1/memories/{memory}")
    receiver.answer = lambda got: 500 if got.type == "memory.created" else 204

    post(api, f"webhooks/{hook.id}/deliveries/{told.id}/replay")

    assert hook.send() == 1
    deleted, again = hook.deliveries()
    assert (deleted.state, again.state, again.id) == ("delivered", "waiting", told.id)
    assert again.seq > deleted.seq > told.seq


@pytest.mark.parametrize("status", [301, 307, 308])
def test_redirects_are_not_followed(
    status: int, hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    receiver.answer = lambda _: status
    receiver.headers["Location"] = receiver.url
    remember(api, "Sarah lives in Berlin.")

    assert hook.send() == 0

    assert len(receiver.received) == 1
    assert "another address" in hook.deliveries()[0].error


def test_an_endpoint_that_does_not_answer_rests_as_a_whole(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 503
    remember(api, "Sarah lives in Berlin.")
    remember(api, "The office has a lift.")

    assert hook.send() == 0
    assert len(receiver.received) == 1
    assert hook.send() == 0
    assert len(receiver.received) == 1
    receiver.answer = lambda _: 204
    assert hook.send(clock=later(timedelta(seconds=10))) == 2


def test_both_secrets_sign_for_a_day_after_a_rotation(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    fresh = post(api, f"webhooks/{hook.id}/rotate-secret").json()["secret"]
    remember(api, "Sarah lives in Berlin.")
    hook.send()

    assert fresh != hook.secret
    assert receiver.verified(hook.secret) == receiver.verified(fresh)

    WebhookEndpoint.objects.filter(pk=hook.id).update(old_secret_until=database_now())
    receiver.received.clear()
    remember(api, "Sarah has a dog.")
    hook.send()
    assert len(receiver.verified(fresh)) == 1
    with pytest.raises(WebhookVerificationError):
        receiver.verified(hook.secret)


def test_a_secret_whose_key_is_gone_sends_nothing(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    WebhookEndpoint.objects.filter(pk=hook.id).update(secret="0000:ab")
    remember(api, "Sarah lives in Berlin.")

    assert hook.send() == 0

    assert receiver.received == []
    assert "rotate" in hook.deliveries()[0].error


def test_a_test_event_is_sent(hook: Hook, api: APIClient, receiver: Receiver) -> None:
    asked = post(api, f"webhooks/{hook.id}/test")

    assert asked.status_code == 202
    assert hook.send() == 1
    assert receiver.received[0].id == asked.json()["id"]
    assert receiver.verified(hook.secret)[0]["type"] == "webhook.test"


def test_old_deliveries_are_removed_and_what_waits_stays(
    hook: Hook, api: APIClient, receiver: Receiver
) -> None:
    remember(api, "Sarah lives in Berlin.")
    hook.send()
    remember(api, "Sarah has a dog.")

    delivering.prune_deliveries(now=database_now() + 34 * DAY)
    assert len(hook.deliveries()) == 2
    delivering.prune_deliveries(now=database_now() + 36 * DAY)

    assert [each.state for each in hook.deliveries()] == ["waiting"]


def test_the_receiver_of_the_docs_takes_what_is_signed_and_nothing_else(
    acme: Cast, api: APIClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = examples(PROJECT_ROOT / "memory/satellites/webhooks/docs.md")
    (code,) = (each.text for each in page if each.language == "python")
    program: dict[str, Any] = {"__name__": "receiver"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    hook = hook_to(acme, api, f"http://127.0.0.1:{port}/")
    monkeypatch.setenv("WEBHOOK_SECRET", hook.secret)
    exec(code, program)
    memory = remember(api, "Sarah lives in Berlin.")
    with HTTPServer(("127.0.0.1", port), program["Receiver"]) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

        assert hook.send() == 1
        WebhookEndpoint.objects.filter(pk=hook.id).update(secret=new_secret())
        post(api, f"webhooks/{hook.id}/test")
        assert hook.send() == 0
        server.shutdown()

    delivered, refused = hook.deliveries()
    assert (delivered.data["memory"], program["seen"]) == (memory, {str(delivered.id)})
    assert refused.status_code == 400
