"""Contradictions to settle in the admin, and what its pages say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from memory.models import Contradiction
from teams.models import Membership, StaffUser, Team
from teams.tenancy import team_scope
from tests import factories
from tests.factories import MemoryFactory


def dispute(team: Team, first: str = "Office is in Oslo.", second: str = "") -> Contradiction:
    """An open one: two memories that name each other, or one that was said to be wrong."""
    a = MemoryFactory.create(team=team, content=first, status="disputed", importance=4)
    b = None
    if second:
        b = MemoryFactory.create(
            team=team, content=second, status="disputed", importance=7, contradicts=[a.pk]
        )
        a.contradicts = [b.pk]
        a.save(update_fields=["contradicts"])
    return factories.ContradictionFactory.create(
        team=team,
        memory_a=a,
        memory_b=b,
        strategy="same_subject" if b else "feedback",
        judge="rules",
        verdict="dispute",
    )


def two(team: Team) -> Contradiction:
    """Oslo against Bergen."""
    return dispute(team, "Office is in Oslo.", "Office is in Bergen.")


def page_of(pair: Contradiction) -> str:
    """The address of its page in the inbox."""
    return reverse("inbox_item", args=["contradiction", pair.pk])


def decide(client: Client, pair: Contradiction, choice: str, **fields: object) -> HttpResponse:
    """Send what the buttons of its page send: a, b, both, merge, correct, wrong, day or week."""
    return press(client, page_of(pair), choice, **fields)


def press(client: Client, address: str, choice: str, **fields: object) -> HttpResponse:
    """Open the page of an item and send what its button sends."""
    sent = {"shown": shown_by(client, address), "choice": choice, **fields}
    return client.post(address, sent)  # type: ignore[return-value]


def shown_by(client: Client, address: str) -> str:
    """Returns the fingerprint in the form of an item's page; empty where there is no such page."""
    context = client.get(address).context
    return str(context.get("fingerprint", "")) if context else ""


def decide_several(
    client: Client, choice: str, ids: Sequence[str], *, confirmed: bool = True, reason: str = ""
) -> HttpResponse:
    """Press a button of the list, and confirm it on the page that asks."""
    address = reverse("inbox")
    asked = client.post(address, {"choice": choice, "item": list(ids)})
    if not confirmed or not asked.context:
        return asked  # type: ignore[return-value]
    context = asked.context
    sent = {"shown": context["fingerprint"], "action": context["action"], "reason": reason}
    rows = [row.pk for row, _ in [*context["allowed"], *context["refused"]]]
    return client.post(address, {**sent, "item": rows, "confirmed": "yes"})  # type: ignore[return-value]


def undo(client: Client, pair: Contradiction) -> HttpResponse:
    """Send what "Undo this decision" on its page sends."""
    return client.post(page_of(pair), {"undo": "1"})  # type: ignore[return-value]


def told(answer: HttpResponse) -> list[str]:
    """Returns the messages that the page will show."""
    return [str(message) for message in get_messages(answer.wsgi_request)]  # type: ignore[attr-defined]


def states(pair: Contradiction) -> list[str]:
    """Returns the status of each side."""
    pair.refresh_from_db()
    return [side.status for side in (pair.memory_a, pair.memory_b) if side is not None]


def agent_form(team: Team | None, **changes: object) -> dict[str, object]:
    """The fields of the form of an agent without a document beyond its name."""
    fields: dict[str, object] = {
        "slug": "mira",
        "name": "Mira",
        "memory_config__token_budget": 2000,
        "memory_config__summarize_interval": 20,
    }
    return {**fields, **({"team": team.pk} if team else {}), **changes}


SignIn = Callable[..., Client]


def join(user: StaffUser, team: Team, role: str) -> None:
    """Make the login a member of the team."""
    with team_scope(team_ids=[team.id], actor="test"):
        Membership.objects.create(team=team, user=user, role=role)
