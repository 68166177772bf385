"""A staff login sees only its teams' rows, and no row's page changes them."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Memory
from teams.models import ApiKey, Conversation, Membership, Message, StaffUser
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests import factories
from tests.factories import (
    ConversationFactory,
    MemoryFactory,
    MessageFactory,
    ProjectFactory,
)
from tests.support.admin import SignIn
from tests.support.cast import Cast

LISTS = [
    "memory_memory",
    "memory_contradiction",
    "memory_job",
    "teams_team",
    "teams_membership",
    "teams_agent",
    "teams_enduser",
    "teams_project",
    "teams_apikey",
    "teams_conversation",
    "audit_memorylog",
]
HOSTILE = "<script>alert('memory')</script>"


def fill(cast: Cast, mark: str) -> dict[str, UUID | int]:
    """One row of every kind in the cast's team, with `mark` in its words; ids by list."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        conversation = ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah, thread_id=f"{mark}-thread"
        )
        message = MessageFactory.create(
            team=cast.team, conversation=conversation, position=1, content=f"{mark} said {HOSTILE}"
        )
        Conversation.objects.filter(pk=conversation.pk).update(last_position=1)
        first, second = (
            MemoryFactory.create(
                team=cast.team,
                content=f"{mark} memory {number} {HOSTILE}",
                subject=f"{mark}.subject{number}",
                tags=[f"{mark}-tag"],
                agent=cast.kyra,
                end_user=cast.sarah,
                conversation=conversation,
                source_message_ids=[message.pk],
            )
            for number in (1, 2)
        )
        pair = factories.ContradictionFactory.create(
            team=cast.team,
            memory_a=first,
            memory_b=second,
            strategy="same_subject",
            judge="rules",
            verdict="dispute",
            reason=f"{mark} reason",
        )
        job = factories.JobFactory.create(
            team=cast.team,
            conversation=conversation,
            from_position=1,
            to_position=1,
            state="failed",
            error=f"{mark} error",
        )
        project = ProjectFactory.create(team=cast.team, slug=f"{mark}-project")
        key = issue_key(team_id=cast.team.id, name=f"{mark}-key").key
        entry = MemoryLog.objects.filter(memory_id=first.pk).first()
        assert entry is not None
    return {
        "memory_memory": first.pk,
        "memory_contradiction": pair.pk,
        "memory_job": job.pk,
        "teams_team": cast.team.pk,
        "teams_agent": cast.kyra.pk,
        "teams_enduser": cast.sarah.pk,
        "teams_project": project.pk,
        "teams_apikey": key.pk,
        "teams_conversation": conversation.pk,
        "audit_memorylog": entry.pk,
    }


@pytest.mark.parametrize("name", LISTS)
def test_a_list_shows_the_own_team_and_no_other(
    name: str, cast: Cast, others: Cast, viewer_client: Client, sign_in: SignIn
) -> None:
    sign_in((others.team, "admin"), name="stranger-login")
    fill(cast, "acmemark")
    fill(others, "globexmark")

    answer = viewer_client.get(
        reverse(f"admin:{name}_changelist"),
        {"state": "all"} if name == "memory_contradiction" else {},
        follow=True,
    )

    text = answer.content.decode()
    assert answer.status_code == 200
    assert answer.context["cl"].result_count >= 1
    for foreign in ("globexmark", "Globex", "stranger-login", "<script>alert("):
        assert foreign not in text


@pytest.mark.parametrize("name", [each for each in LISTS if each != "teams_membership"])
def test_a_foreign_row_is_not_found(
    name: str, cast: Cast, others: Cast, admin_client: Client
) -> None:
    own, foreign = fill(cast, "acmemark"), fill(others, "globexmark")

    shown = admin_client.get(reverse(f"admin:{name}_change", args=[own[name]]), follow=True)
    hidden = admin_client.get(reverse(f"admin:{name}_change", args=[foreign[name]]))

    assert shown.status_code == 200
    assert "<script>alert(" not in shown.content.decode()
    assert hidden.status_code == 404


@pytest.mark.parametrize("page", ["pin", "unpin", "soft-delete"])
def test_the_action_pages_of_a_foreign_memory_change_nothing(
    page: str, cast: Cast, others: Cast, admin_client: Client
) -> None:
    foreign = fill(others, "globexmark")["memory_memory"]
    url = f"{reverse('admin:memory_memory_change', args=[foreign]).removesuffix('change/')}{page}/"

    for answer in (admin_client.get(url), admin_client.post(url, {"confirmed": "yes"})):
        assert "globexmark" not in answer.content.decode()

    with team_scope(team_ids=[others.team.id], actor="test"):
        memory = Memory.objects.get(pk=str(foreign))
    assert (memory.status, memory.is_pinned) == ("active", False)


@pytest.mark.parametrize("name", ["memory_memory", "memory_contradiction", "audit_memorylog"])
def test_nobody_adds_changes_or_deletes_what_only_services_write(
    name: str, cast: Cast, root_client: Client
) -> None:
    row = fill(cast, "acmemark")[name]
    change = reverse(f"admin:{name}_change", args=[row])

    assert root_client.get(reverse(f"admin:{name}_add")).status_code == 403
    assert root_client.post(change, {"content": "other"}).status_code == 403
    assert root_client.post(reverse(f"admin:{name}_delete", args=[row])).status_code == 403


def test_messages_and_conversations_cannot_be_written(cast: Cast, root_client: Client) -> None:
    row = fill(cast, "acmemark")["teams_conversation"]
    change = reverse("admin:teams_conversation_change", args=[row])

    assert root_client.post(change, {"thread_id": "other"}).status_code == 403
    assert root_client.get(reverse("admin:teams_conversation_add")).status_code == 403
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Message.objects.count() == 1


@pytest.mark.parametrize("name", LISTS)
def test_a_list_asks_the_same_number_of_questions_for_many_rows(
    name: str, cast: Cast, root_client: Client
) -> None:
    def add_member(name: str) -> None:
        user = StaffUser.objects.create(username=name, is_staff=True)
        Membership.objects.create(team=cast.team, user=user, role="viewer")

    fill(cast, "one")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        # An empty list asks for less.
        add_member("first")
    url = reverse(f"admin:{name}_changelist") + (
        "?state=all" if name in {"memory_job", "memory_contradiction"} else ""
    )
    root_client.get(url)
    with CaptureQueriesContext(
        connection,
    ) as few:
        root_client.get(url)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        for number in range(6):
            add_member(f"member{number}")
    for number in range(5):
        fill(cast, f"more{number}")

    with CaptureQueriesContext(connection) as many:
        answer = root_client.get(url)

    assert answer.status_code == 200
    assert len(many) <= len(few)


def test_a_login_without_a_team_sees_no_rows(cast: Cast, sign_in: SignIn) -> None:
    fill(cast, "acmemark")
    client = sign_in(name="nobody")

    index = client.get(reverse("admin:index"))

    assert "You are not a member of a team yet" in index.content.decode()
    for name in LISTS:
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 403


def test_the_first_page_counts_what_waits(cast: Cast, others: Cast, viewer_client: Client) -> None:
    fill(cast, "acmemark")
    fill(others, "globexmark")

    answer = viewer_client.get(reverse("admin:index"))

    shown = [*answer.context["waiting"], *answer.context["figures"]]
    counts = {each.title: each.count for each in shown}
    assert counts["Contradictions"] == 1
    assert counts["Failed jobs"] == 1
    assert counts["Active memories"] == 2
    assert "globexmark" not in answer.content.decode()


def test_the_memory_page_tells_the_whole_story(cast: Cast, viewer_client: Client) -> None:
    row = fill(cast, "acmemark")["memory_memory"]

    text = viewer_client.get(reverse("admin:memory_memory_change", args=[row])).content.decode()

    assert "acmemark said &lt;script&gt;" in text
    assert "#message-1" in text
    assert "acmemark memory 2" in text
    assert "acmemark reason" in text
    assert "History, newest first" in text


def test_version_links_lead_both_ways(inside: Cast, viewer_client: Client) -> None:
    old = MemoryFactory.create(team=inside.team, content="Lives in Porto.", status="superseded")
    new = MemoryFactory.create(
        team=inside.team, content="Lives in Lisbon.", supersedes=old, version=2
    )
    Memory.objects.filter(pk=old.pk).update(superseded_by=new)

    for here, there in ((old, new), (new, old)):
        answer = viewer_client.get(reverse("admin:memory_memory_change", args=[here.pk]))
        assert reverse("admin:memory_memory_change", args=[there.pk]) in answer.content.decode()
        shown = answer.context["memory_page"]["versions"]
        assert [(each.number, each.memory.pk) for each in shown] == [(1, old.pk), (2, new.pk)]


def test_a_long_conversation_is_paged(inside: Cast, viewer_client: Client) -> None:
    conversation = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah, last_position=120
    )
    for position in range(1, 121):
        MessageFactory.create(
            team=inside.team,
            conversation=conversation,
            position=position,
            content=f"word{position}.",
        )
    url = reverse("admin:teams_conversation_change", args=[conversation.pk])

    first = viewer_client.get(url).content.decode()
    last = viewer_client.get(f"{url}?page=3").content.decode()
    beyond = viewer_client.get(f"{url}?page=99").content.decode()

    assert "word50." in first
    assert "word51." not in first
    assert "word120." in last
    assert "word100." not in last
    assert "word120." in beyond
    assert viewer_client.get(f"{url}?page=-1%27").status_code == 200


def test_keys_never_show_their_digest(cast: Cast, admin_client: Client) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        key = issue_key(team_id=cast.team.id, name="nightly").key
        digest = bytes(ApiKey.objects.get(pk=key.pk).digest).hex()

    page = admin_client.get(reverse("admin:teams_apikey_change", args=[key.pk]))
    listed = admin_client.get(reverse("admin:teams_apikey_changelist"))
    probed = admin_client.get(reverse("admin:teams_apikey_changelist"), {"digest__gt": "a"})

    assert key.prefix in listed.content.decode()
    assert digest not in page.content.decode() + listed.content.decode()
    assert probed.status_code in {302, 400}
