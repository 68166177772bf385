"""Events are written in the transaction of the change, and disclose no more than they may."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from pytest_django import Settings
from rest_framework.test import APIClient

from memory.satellites.consent.models import ConsentRequest
from memory.satellites.webhooks.delivering import deliver_waiting
from memory.satellites.webhooks.endpoints import delete_endpoint
from memory.satellites.webhooks.models import WebhookEndpoint
from memory.understanding.tools import Tools
from routing.services.cost_guard import BudgetExceededError
from teams.errors import NotFoundError
from teams.tenancy import team_scope
from tests import factories
from tests.support.budgets import OwnRedis, make_till, own_redis
from tests.support.cast import Cast, Clients, make_cast
from tests.support.consent import BERGEN, OSLO, talk
from tests.support.erasure import NEEDLE, erase, found_in_tables
from tests.support.learning import Desk, desk
from tests.support.memories_api import remember
from tests.support.webhook_receiver import Receiver, hook_to, receiver, serve

__all__ = ["desk", "receiver"]
URL = "https://receiver.example/hook"


@pytest.fixture
def town(committed_db: None) -> Iterator[Cast]:
    """A committed team."""
    town = make_cast(f"town-{uuid4().hex}")
    yield town
    with suppress(NotFoundError):
        erase(town, "sarah")


def test_an_erasure_takes_what_waits_and_tells_that_it_is_gone(
    town: Cast, client_of: Clients, receiver: Receiver
) -> None:
    api = client_of(town)
    hook = hook_to(town, api, receiver.url, include_text=True)
    told = remember(api, f"Sarah drives a {NEEDLE}.", user="sarah")
    assert hook.send() == 1
    assert NEEDLE in receiver.received[0].json["data"]["text"]
    waits = remember(api, f"Sarah lives at {NEEDLE} road 7.", user="sarah", check=False)
    receiver.received.clear()

    erase(town, "sarah")

    assert found_in_tables(NEEDLE) == {}
    hook.send()
    assert all(NEEDLE.encode() not in each.body for each in receiver.received)
    assert all(b'"sarah"' not in each.body for each in receiver.received)
    created = [e.json["data"] for e in receiver.received if e.type == "memory.created"]
    deleted = {e.json["data"]["memory"] for e in receiver.received if e.type == "memory.deleted"}
    assert [(each["memory"], each["text"]) for each in created] == [(waits, None)]
    assert deleted == {told, waits}


def test_while_an_endpoint_hangs_its_run_serves_the_others_and_no_second_run_begins(
    town: Cast, client_of: Clients, receiver: Receiver, settings: Settings
) -> None:
    api, released = client_of(town), threading.Event()
    served = {"slow": threading.Event(), "other": threading.Event()}
    settings.WEBHOOK_TIMEOUT_SECONDS = 120

    def take(_: object) -> int:
        served["other"].set()
        return 204

    def hang(_: object) -> int:
        served["slow"].set()
        released.wait(120)
        return 204

    with serve() as slow:
        slow.answer, receiver.answer = hang, take
        stuck = hook_to(town, api, slow.url, events=["memory.created"])
        hook_to(town, api, receiver.url, events=["memory.created"])
        remember(api, "Sarah lives in Berlin.")
        worker = threading.Thread(target=deliver_waiting, kwargs={"seconds": 30})
        worker.start()
        assert all(each.wait(30) for each in served.values())
        fresh = hook_to(town, api, receiver.url, events=["memory.created"])
        remember(api, "The office has a lift.")

        assert deliver_waiting(seconds=30) == 0

        assert [each.state for each in fresh.deliveries()] == ["waiting"]
        assert len(slow.received) == 1
        time.sleep(1.1)  # so that it took longer than a message may that another one follows
        released.set()
        worker.join(60)
        assert [each.state for each in stuck.deliveries()] == ["delivered", "waiting"]
        deliver_waiting(seconds=30)
        assert [each.state for each in stuck.deliveries()] == ["delivered"] * 2
        assert [each.state for each in fresh.deliveries()] == ["delivered"]


def test_two_workers_send_nothing_twice_and_keep_the_order(
    town: Cast, client_of: Clients, receiver: Receiver
) -> None:
    api = client_of(town)
    hook = hook_to(town, api, receiver.url)
    for number in range(8):
        memory = remember(api, f"Fact number {number} is known.", check=False)
        api.delete(f"/v1/memories/{memory}")

    workers = [threading.Thread(target=deliver_waiting, kwargs={"seconds": 30}) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len({each.id for each in receiver.received}) == len(receiver.received) == 16
    assert [each.id for each in receiver.received] == [str(e.id) for e in hook.deliveries()]


def test_removing_an_endpoint_makes_no_writer_fail(town: Cast, client_of: Clients) -> None:
    """A writer that announces while it is being removed waits, and leaves it out."""
    api = client_of(town)
    hook = hook_to(town, api, URL)
    made: list[object] = []

    def write() -> None:
        made.append(api.post("/v1/memories", {"content": "Sarah has a dog."}, format="json"))
        connection.close()

    with team_scope(team_ids=[town.team.pk], actor="test"):
        delete_endpoint(endpoint=WebhookEndpoint.objects.get(pk=hook.id))
        writer = threading.Thread(target=write)
        writer.start()
        writer.join(1)
    writer.join(30)

    (answer,) = made
    assert answer.status_code == 201  # type: ignore[attr-defined]


def test_a_change_by_raw_sql_is_announced_with_it_or_not_at_all(acme: Cast, api: APIClient) -> None:
    hook = hook_to(acme, api, URL)
    memory = factories.MemoryFactory.create(team=acme.team)

    with transaction.atomic():
        _delete(memory.pk)
        transaction.set_rollback(True)
    assert [each.type for each in hook.deliveries()] == ["memory.created"]
    _delete(memory.pk)
    assert [each.type for each in hook.deliveries()] == ["memory.created", "memory.deleted"]


def _delete(memory_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_memory SET status = 'soft_deleted' WHERE id = %s", [memory_id]
        )


def test_what_waits_in_the_outbox_holds_no_text(acme: Cast, api: APIClient) -> None:
    hook = hook_to(acme, api, URL, include_text=True)
    remember(api, f"Sarah lives in {NEEDLE}.", user="sarah", subject="user.city", tags=["home"])

    (row,) = hook.deliveries()
    assert NEEDLE not in json.dumps(row.data)
    assert "sarah" not in json.dumps(row.data)
    assert "user.city" not in json.dumps(row.data)


def test_a_request_for_a_yes_is_told(desk: Desk, receiver: Receiver, client_of: Clients) -> None:
    hook = hook_to(desk.cast, client_of(desk.cast), receiver.url, events=["consent.requested"])
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)

    hook.send()

    (told,) = receiver.verified(hook.secret)
    request = ConsentRequest.objects.get()
    assert told["data"]["consent_request"] == str(request.pk)
    assert (told["data"]["user"], told["data"]["kind"]) == ("sarah", "profile_field")
    assert b"Bergen" not in receiver.received[0].body


def test_the_end_of_a_consolidation_is_told(
    acme: Cast, api: APIClient, receiver: Receiver, tools: Tools
) -> None:
    hook = hook_to(acme, api, receiver.url, events=["consolidation.finished"])
    asked = api.post("/v1/consolidate", {"dry_run": True, "wait": True}, format="json")

    hook.send()

    (told,) = receiver.verified(hook.secret)
    data = told["data"]
    assert (data["run"], data["state"], data["dry_run"]) == (asked.json()["id"], "done", True)
    assert api.get(data["links"]["run"]).status_code == 200


@pytest.fixture(scope="module")
def server() -> Iterator[OwnRedis]:
    """The Redis of the budgets."""
    with own_redis() as running:
        yield running


def test_budgets_are_told_once_when_they_are_near_their_end_and_at_it(
    committed_db: None, server: OwnRedis, client_of: Clients, receiver: Receiver
) -> None:
    till = make_till(server, month="100", user_day="5")
    chosen = ["budget.near", "budget.exhausted"]
    hook = hook_to(till.cast, client_of(till.cast), receiver.url, events=chosen)

    till.spend("4.4")
    assert hook.deliveries() == []
    till.spend("0.2")
    till.spend("0.1")
    assert [each.type for each in hook.deliveries()] == ["budget.near"]
    for _ in range(2):
        with pytest.raises(BudgetExceededError):
            till.reserve("1")
    till.spend("0.3")
    hook.send()

    near, exhausted = (each["data"] for each in receiver.verified(hook.secret))
    assert receiver.types == ["budget.near", "budget.exhausted"]
    assert (near["cap"], near["user"]) == ("user_day", "sarah")
    assert Decimal(near["limit_usd"]) == 5
    assert Decimal(near["spent_usd"]) == Decimal("4.6")
    assert Decimal(exhausted["spent_usd"]) == Decimal("4.7")
