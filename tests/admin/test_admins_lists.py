"""Checkpoints and operational events: for the admins of a team, to read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import URLPattern, reverse
from django.utils import timezone

from audit.admin.log import NODES, OPS
from audit.models import OperationalEvent
from memory.api.urls import router, urlpatterns
from teams.models import Checkpoint
from teams.tenancy import team_scope
from tests.support.admin import SignIn
from tests.support.cast import Cast

LISTS = ["teams_checkpoint", "audit_operationalevent"]
HOSTILE = "<script>alert('state')</script>"


def checkpoint(cast: Cast, thread: str, data: str = "{}") -> Checkpoint:
    """A saved state of Sarah's."""
    return Checkpoint.objects.create(
        team=cast.team,
        end_user=cast.sarah,
        agent=cast.kyra,
        thread_id=thread,
        version=1,
        data=data,
        size=len(data),
        actor="key:pal",
    )


def event(cast: Cast, op: str, **more: object) -> OperationalEvent:
    """Something that was done for Sarah."""
    given = {"node": "hotpath", "status": "ok", "end_user_id": cast.sarah.pk, **more}
    return OperationalEvent.objects.create(team=cast.team, op=op, **given)


def shown(client: Client, name: str, **query: str) -> list[str]:
    """Returns the thread id of each checkpoint or the operation of each event in the list."""
    answer = client.get(reverse(f"admin:{name}_changelist"), query)
    assert answer.status_code == 200
    return [
        row.thread_id if isinstance(row, Checkpoint) else row.op
        for row in answer.context["cl"].result_list
    ]


@pytest.mark.parametrize("name", LISTS)
def test_only_an_admin_of_the_team_looks(
    name: str, cast: Cast, others: Cast, reviewer_client: Client, sign_in: SignIn
) -> None:
    rows = {}
    for each, mark in ((cast, "ours"), (others, "theirs")):
        with team_scope(team_ids=[each.team.id], actor="test"):
            pair = {"teams_checkpoint": checkpoint(each, mark)}
            rows[mark] = {**pair, "audit_operationalevent": event(each, mark)}[name]
    # An admin of one team who only looks at another.
    client = sign_in((cast.team, "admin"), (others.team, "viewer"), name="ann")

    assert shown(client, name) == ["ours"]
    assert reviewer_client.get(reverse(f"admin:{name}_changelist")).status_code == 403
    own = client.get(reverse(f"admin:{name}_change", args=[rows["ours"].pk]))
    foreign = client.get(reverse(f"admin:{name}_change", args=[rows["theirs"].pk]))
    assert (own.status_code, foreign.status_code) == (200, 404)


@pytest.mark.parametrize("name", LISTS)
def test_nobody_writes_them_there(name: str, inside: Cast, root_client: Client) -> None:
    row = checkpoint(inside, "t") if name == "teams_checkpoint" else event(inside, "search")
    change = reverse(f"admin:{name}_change", args=[row.pk])

    assert root_client.get(reverse(f"admin:{name}_add")).status_code == 403
    assert root_client.post(change, {"op": "other"}).status_code == 403
    assert root_client.post(reverse(f"admin:{name}_delete", args=[row.pk])).status_code == 403


def test_the_sidebar_names_them_for_admins_alone(
    cast: Cast, admin_client: Client, reviewer_client: Client
) -> None:
    links = [reverse(f"admin:{name}_changelist") for name in LISTS]

    for_admin = admin_client.get(reverse("admin:index")).content.decode()
    for_reviewer = reviewer_client.get(reverse("admin:index")).content.decode()

    assert all(link in for_admin for link in links)
    assert not any(link in for_reviewer for link in links)


def test_events_open_on_the_last_day_and_are_narrowed(inside: Cast, admin_client: Client) -> None:
    event(inside, "search", similarity=0.75, meta={"found": 3})
    event(inside, "context", node="context", status="skipped")
    event(inside, "extract", node="worker", at=timezone.now() - timedelta(days=3))
    name = "audit_operationalevent"

    assert shown(admin_client, name) == ["context", "search"]
    assert shown(admin_client, name, time="week") == ["context", "search", "extract"]
    assert shown(admin_client, name, op="search") == ["search"]
    assert shown(admin_client, name, status="skipped") == ["context"]
    assert shown(admin_client, name, time="all", node="worker") == ["extract"]
    text = admin_client.get(reverse(f"admin:{name}_changelist")).content.decode()
    assert inside.sarah.external_id in text
    assert "0.75" in text


def test_events_of_every_request_can_be_asked_for() -> None:
    routes = [each.callback for each in urlpatterns if isinstance(each, URLPattern)]
    views = [route.cls for route in routes if hasattr(route, "cls")]
    views += [view for _, view, _ in router.registry]

    left = {event for view in views for event in view.operations.values()}

    assert left
    assert {node for node, _ in left} <= set(NODES)
    assert {op for _, op in left} <= set(OPS)


def test_a_checkpoint_is_found_by_thread_and_person(inside: Cast, admin_client: Client) -> None:
    checkpoint(inside, "plan-1")
    checkpoint(inside, "talk-2")

    assert shown(admin_client, "teams_checkpoint", q="plan") == ["plan-1"]
    assert shown(admin_client, "teams_checkpoint", q="nobody") == []
    assert len(shown(admin_client, "teams_checkpoint", q=inside.sarah.external_id)) == 2


def test_a_state_is_shown_as_data_and_a_large_one_in_part(
    inside: Cast, admin_client: Client
) -> None:
    small = checkpoint(inside, "t", f'{{"said": "{HOSTILE}"}}')
    large = checkpoint(inside, "u", f'{{"said": "{"x" * 50_000}"}}')

    pages = [
        admin_client.get(reverse("admin:teams_checkpoint_change", args=[row.pk])).content.decode()
        for row in (small, large)
    ]

    assert "&quot;said&quot;" in pages[0]
    assert HOSTILE not in pages[0]
    assert "and 30012 more" in pages[1]
    assert "x" * 20_001 not in pages[1]
