"""Actions check the role, ask first, call the service and report."""

from __future__ import annotations

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Memory
from memory.writing.windows import TEAM_FACT
from teams.admin.confirm import MAX_ROWS
from teams.models import ApiKey
from teams.services.keys import issue_key, principal_of
from teams.tenancy import team_scope
from tests import factories
from tests.factories import ConversationFactory, MemoryFactory
from tests.support.admin import SignIn
from tests.support.cast import Cast

LIST = "admin:memory_memory_changelist"


def run(
    client: Client, action: str, rows: list[Memory], *, confirmed: bool = True, reason: str = ""
) -> HttpResponse:
    """Send the list's action as the page that asks would."""
    data = {
        "action": action,
        ACTION_CHECKBOX_NAME: [str(row.pk) for row in rows],
        "reason": reason,
    }
    if confirmed:
        data["confirmed"] = "yes"
    return client.post(reverse(LIST), data)  # type: ignore[return-value]


def told(answer: HttpResponse) -> list[str]:
    """Returns the messages that the page will show."""
    return [str(message) for message in get_messages(answer.wsgi_request)]  # type: ignore[attr-defined]


def events(memory: Memory) -> list[tuple[str, str, str]]:
    """The memory's log, newest first."""
    rows = MemoryLog.objects.filter(memory_id=memory.pk).order_by("-seq")
    return [(row.event, row.actor, row.reason) for row in rows]


def test_pinning_asks_first_and_says_what_it_will_do(inside: Cast, reviewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team, content="<b>Likes tea.</b>")

    asked = run(reviewer_client, "pin_selected", [memory], confirmed=False)

    memory.refresh_from_db()
    assert asked.status_code == 200
    assert "&lt;b&gt;Likes tea.&lt;/b&gt;" in asked.content.decode()
    assert "<b>Likes tea." not in asked.content.decode()
    assert not memory.is_pinned


def test_a_reviewer_pins_and_the_log_knows_who_and_why(
    inside: Cast, reviewer_client: Client
) -> None:
    memories = MemoryFactory.create_batch(2, team=inside.team)

    answer = run(reviewer_client, "pin_selected", memories, reason="asked for daily")

    assert told(answer) == ["2 memories pinned."]
    for memory in memories:
        memory.refresh_from_db()
        assert memory.is_pinned
        assert memory.tier == "hot"
        assert events(memory)[0] == ("pinned", "staff:rob", "asked for daily")


def test_unpinning_and_deleting_go_through_the_services(inside: Cast, admin_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team, is_pinned=True, tier="hot")

    run(admin_client, "unpin_selected", [memory])
    memory.refresh_from_db()
    assert (memory.is_pinned, memory.tier) == (False, "warm")

    run(admin_client, "delete_selected_memories", [memory], reason="no longer true")
    memory.refresh_from_db()
    assert (memory.status, memory.tier) == ("soft_deleted", "cold")
    assert [event for event, _, _ in events(memory)] == ["soft_deleted", "unpinned", "created"]


def test_what_cannot_be_pinned_is_counted_and_left(inside: Cast, reviewer_client: Client) -> None:
    live = MemoryFactory.create(team=inside.team)
    gone = MemoryFactory.create(team=inside.team, status="soft_deleted")

    answer = run(reviewer_client, "pin_selected", [live, gone])

    gone.refresh_from_db()
    assert told(answer)[0] == "1 memory pinned."
    assert told(answer)[1].startswith("1 memory not changed:")
    assert not gone.is_pinned


@pytest.mark.parametrize("action", ["pin_selected", "delete_selected_memories"])
def test_a_viewer_has_no_actions(action: str, inside: Cast, viewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team)
    page = reverse("admin:memory_memory_change", args=[memory.pk])

    run(viewer_client, action, [memory])
    direct = viewer_client.post(page.replace("change/", "pin/"), {"confirmed": "yes"})

    memory.refresh_from_db()
    assert direct.status_code == 403
    assert events(memory) == [("created", "test", "")]
    assert "soft-delete/" not in viewer_client.get(page).content.decode()


def test_a_reviewer_of_one_team_only_looks_at_the_other(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    client = sign_in((cast.team, "reviewer"), (others.team, "viewer"))
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        own = MemoryFactory.create(team=cast.team)
        other = MemoryFactory.create(team=others.team)

    answer = run(client, "pin_selected", [own, other])

    assert told(answer) == [
        "1 memory pinned.",
        "1 memory not changed: Your role in the team does not allow this.",
    ]
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        pinned = Memory.objects.filter(is_pinned=True)
        assert [row.pk for row in pinned] == [own.pk]
        assert [event for event, _, _ in events(other)] == ["created"]


def test_more_than_the_limit_changes_nothing(inside: Cast, root_client: Client) -> None:
    memories = MemoryFactory.create_batch(MAX_ROWS + 1, team=inside.team)

    answer = run(root_client, "pin_selected", memories)

    assert "Nothing was changed" in told(answer)[0]
    assert not Memory.objects.filter(is_pinned=True).exists()


def test_the_memory_page_offers_what_would_change_something(
    inside: Cast, reviewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team)
    page = reverse("admin:memory_memory_change", args=[memory.pk])
    pin = page.replace("change/", "pin/")

    before = reviewer_client.get(page).content.decode()
    asked = reviewer_client.get(pin)
    done = reviewer_client.post(pin, {"confirmed": "yes", "reason": "yes"})
    after = reviewer_client.get(page).content.decode()

    assert pin in before
    assert asked.status_code == 200
    assert done["Location"] == page
    assert pin not in after
    assert page.replace("change/", "unpin/") in after
    assert events(memory)[0] == ("pinned", "staff:rob", "yes")


@pytest.mark.parametrize("state", ["failed", "set_aside"])
def test_a_failed_job_is_queued_again_and_others_are_left(
    inside: Cast, reviewer_client: Client, state: str
) -> None:
    conversation = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah
    )
    failed, done = (
        factories.JobFactory.create(
            team=inside.team,
            conversation=conversation,
            from_position=position,
            to_position=position,
            state=state,
            attempts=5,
        )
        for position, state in enumerate([state, "done"], start=1)
    )

    answer = reviewer_client.post(
        f"{reverse('admin:memory_job_changelist')}?state=all",
        {
            "action": "run_again_selected",
            ACTION_CHECKBOX_NAME: [str(failed.pk), str(done.pk)],
            "confirmed": "yes",
        },
    )

    failed.refresh_from_db()
    done.refresh_from_db()
    assert (failed.state, failed.attempts, done.state) == ("queued", 0, "done")
    assert told(answer) == [  # type: ignore[arg-type]
        "1 job queued.",
        "1 job not changed: Only a job that failed or was skipped can be run again.",
    ]


def test_revoking_a_key_ends_it(inside: Cast, admin_client: Client) -> None:
    issued = issue_key(team_id=inside.team.id, agent=inside.kyra)
    page = reverse("admin:teams_apikey_change", args=[issued.key.pk])

    asked = admin_client.get(page.replace("change/", "revoke/"))
    assert asked.status_code == 200
    assert principal_of(issued.token) is not None

    admin_client.post(page.replace("change/", "revoke/"), {"confirmed": "yes"})

    assert principal_of(issued.token) is None
    assert "REVOKED" in admin_client.get(page).content.decode().upper()


def test_a_reviewer_revokes_nothing(inside: Cast, reviewer_client: Client) -> None:
    issued = issue_key(team_id=inside.team.id)
    page = reverse("admin:teams_apikey_change", args=[issued.key.pk])

    refused = reviewer_client.post(page.replace("change/", "revoke/"), {"confirmed": "yes"})

    assert refused.status_code == 403
    assert ApiKey.objects.get(pk=issued.key.pk).revoked_at is None


def test_what_talk_told_of_the_team_waits_in_the_list_and_is_given_to_the_team(
    inside: Cast, reviewer_client: Client
) -> None:
    of = {"team": inside.team, "end_user": inside.sarah, "tags": [TEAM_FACT]}
    waiting = MemoryFactory.create(content="The office closes at three on Fridays.", **of)
    MemoryFactory.create(team=inside.team, content="Likes tea.", end_user=inside.sarah)

    listed = reviewer_client.get(reverse(LIST), {"team_fact": "waiting"}).content.decode()
    answer = run(reviewer_client, "give_selected", [waiting], reason="it is on the door")
    left = reviewer_client.get(reverse(LIST), {"team_fact": "waiting"}).content.decode()
    given = reviewer_client.get(reverse(LIST), {"team_fact": "given"}).content.decode()

    assert "closes at three" in listed
    assert "Likes tea." not in listed
    assert told(answer) == ["1 memory shared with the team."]
    assert "closes at three" not in left
    assert "closes at three" in given
    waiting.refresh_from_db()
    assert (waiting.end_user_id, waiting.scope) == (None, "team")
    assert events(waiting)[0][1:] == ("staff:rob", "it is on the door")
