"""The page of a person, an agent or a project."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.admin.home import navigation
from memory.models import Contradiction, Memory
from memory.satellites.consent.models import ConsentRequest
from routing.models import SpendEntry
from teams.models import EndUser, Message, Project
from tests.admin.test_visibility import fill
from tests.factories import ConversationFactory, MemoryFactory, MessageFactory, ProjectFactory
from tests.support.admin import SignIn
from tests.support.cast import Cast


def page(kind: str, row: object) -> str:
    """The address of the page."""
    return reverse("about", args=[kind, row.pk])  # type: ignore[attr-defined]


@pytest.fixture
def apollo(inside: Cast) -> Project:
    """A project."""
    project: Project = ProjectFactory.create(team=inside.team, slug="apollo", name="Apollo")
    return project


@pytest.fixture
def known(inside: Cast, apollo: Project) -> Cast:
    """Sarah with memories current, private and past, in talk with kyra about Apollo."""
    of_sarah = {"team": inside.team, "end_user": inside.sarah}
    MemoryFactory.create(**of_sarah, content="Sarah sails.", project=apollo)
    MemoryFactory.create(
        **of_sarah, content="Sarah is unwell.", memory_type="agent_private", agent=inside.kyra
    )
    MemoryFactory.create(**of_sarah, content="Sarah rowed.", status="archived")
    old, new = (
        MemoryFactory.create(
            **of_sarah,
            content=f"Lives in {city}.",
            memory_type="user_profile",
            subject="user.city",
            status=status,
            agent=None,
        )
        for city, status in (("Porto", "superseded"), ("Lisbon", "active"))
    )
    Memory.objects.filter(pk=old.pk).update(superseded_by=new)
    talk = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah, project=apollo
    )
    for position, content in ((1, "Ahoy there."), (2, "Until tomorrow.")):
        MessageFactory.create(
            team=inside.team, conversation=talk, position=position, content=content
        )
    return inside


def test_a_persons_page_tells_what_is_known(known: Cast, viewer_client: Client) -> None:
    answer = viewer_client.get(page("person", known.sarah))
    text = answer.content.decode()
    shown = {memory.content: marks for memory, marks in answer.context["memories"]}

    assert set(shown) == {"Sarah sails.", "Sarah is unwell.", "Lives in Lisbon."}
    assert shown["Sarah is unwell."] == ["private to kyra"]
    assert "project apollo" in shown["Sarah sails."]
    assert "Ahoy there." in text
    assert "Until tomorrow." not in text
    # The heading leads back to the list, which the menu marks.
    assert f'href="{reverse("admin:teams_enduser_changelist")}"' in text
    [marked] = [
        item["title"]
        for group in navigation(answer.wsgi_request)
        for item in group["items"]
        if item.get("active")
    ]
    assert marked == "People"
    [(field, values)] = answer.context["profile"]
    assert field == "city"
    assert [(memory.content, status) for memory, status, _ in values] == [
        ("Lives in Lisbon.", "active"),
        ("Lives in Porto.", "superseded"),
    ]
    past = viewer_client.get(answer.context["past_url"]).context["cl"]
    assert {row.content for row in past.result_list} == {"Sarah rowed.", "Lives in Porto."}


@pytest.mark.parametrize("kind", ["agent", "project"])
def test_agents_and_projects_have_the_same_page(
    kind: str, known: Cast, apollo: Project, viewer_client: Client
) -> None:
    answer = viewer_client.get(page(kind, known.kyra if kind == "agent" else apollo))
    shown = {memory.content for memory, _ in answer.context["memories"]}

    assert shown == {"Sarah is unwell." if kind == "agent" else "Sarah sails."}
    assert "Ahoy there." in answer.content.decode()
    assert viewer_client.get(answer.context["talks_url"]).context["cl"].result_count == 1


def test_what_waits_for_the_person_is_listed(known: Cast, viewer_client: Client) -> None:
    sails = Memory.objects.get(content="Sarah sails.")
    rows = MemoryFactory.create(team=known.team, content="Sarah rows.", end_user=known.sarah)
    Contradiction.objects.create(
        team=known.team,
        memory_a=sails,
        memory_b=rows,
        strategy="same_subject",
        judge="rules",
        verdict="dispute",
    )
    for person in (known.sarah, known.dmitri):
        ConsentRequest.objects.create(
            team=known.team,
            end_user=person,
            field="city",
            content="Lives in Oslo.",
            value_key=b"x" * 32,
            proposed_by="task:extract",
            expires_at=timezone.now() + timedelta(days=7),
        )
    MemoryFactory.create(team=known.team, end_user=known.sarah, source="web")

    answer = viewer_client.get(page("person", known.sarah))
    waiting = {title: (count, shown) for title, count, shown in answer.context["waiting"]}

    assert {title: count for title, (count, _) in waiting.items()} == {
        "Contradictions": 1,
        "Consent requests": 1,
        "Unconfirmed memories": 1,
    }
    assert waiting["Consent requests"][1][0][0] == "City of sarah: “Lives in Oslo.”"
    [(_, settle)] = waiting["Contradictions"][1]
    assert page("person", known.sarah) in viewer_client.get(settle, follow=True).content.decode()
    [(_, confirm)] = waiting["Unconfirmed memories"][1]
    assert viewer_client.get(confirm).status_code == 200


def test_the_cost_is_that_of_the_last_30_days(known: Cast, viewer_client: Client) -> None:
    now = timezone.now()
    for days, usd in ((0, "1.25"), (29, "0.25"), (30, "9")):
        SpendEntry.objects.create(
            team=known.team,
            agent=known.kyra,
            end_user=known.sarah,
            reservation_id=uuid4(),
            model="m",
            tier="fast",
            input_tokens=1,
            output_tokens=1,
            cost_usd=Decimal(usd),
            day=now.date() - timedelta(days=days),
            at=now,
        )

    text = viewer_client.get(page("person", known.sarah)).content.decode()

    assert "1.50 USD for 2 calls in the last 30 days" in text


def test_long_knowledge_is_paged(inside: Cast, viewer_client: Client) -> None:
    for number in range(30):
        MemoryFactory.create(team=inside.team, end_user=inside.sarah, content=f"Fact {number}.")

    first = viewer_client.get(page("person", inside.sarah)).context["memories"]
    second = viewer_client.get(f"{page('person', inside.sarah)}?page=2").context["memories"]

    assert (len(first), len(second)) == (25, 5)


def test_names_lead_to_the_page(known: Cast, viewer_client: Client) -> None:
    memory = Memory.objects.get(content="Sarah sails.")
    sarah = page("person", known.sarah)

    for url in (
        reverse("admin:memory_memory_changelist"),
        reverse("admin:memory_memory_change", args=[memory.pk]),
        reverse("admin:teams_enduser_changelist"),
        reverse("admin:teams_conversation_changelist"),
    ):
        assert sarah in viewer_client.get(url).content.decode(), url


def test_nobody_sees_the_page_of_another_team(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    fill(others, "globexmark")

    for name in ("about", "erase_person", "export_person"):
        kind = ["person"] if name == "about" else []
        answer = admin_client.get(reverse(name, args=[*kind, others.sarah.pk]))
        assert answer.status_code == 404
        assert "globexmark" not in answer.content.decode()
    assert admin_client.get(reverse("about", args=["team", cast.team.pk])).status_code == 404


def test_a_person_is_erased_once_the_id_is_typed(known: Cast, admin_client: Client) -> None:
    sarah, name = known.sarah, known.sarah.external_id
    erase = reverse("erase_person", args=[sarah.pk])
    asked = admin_client.get(erase).content.decode()
    admin_client.post(erase, {"name": "dmitri"})
    before = EndUser.objects.get(pk=sarah.pk).is_erased
    done = admin_client.post(erase, {"name": name, "reason": "asked to be forgotten"})

    assert "5 memories" in asked
    assert not before
    assert done["Location"] == page("person", sarah)
    assert EndUser.objects.get(pk=sarah.pk).is_erased
    assert not Message.objects.filter(content="Ahoy there.").exists()
    text = admin_client.get(page("person", sarah)).content.decode()
    assert "Sarah sails." not in text
    assert erase not in text


def test_an_admin_exports_a_person(known: Cast, admin_client: Client) -> None:
    answer = admin_client.get(reverse("export_person", args=[known.sarah.pk]))

    lines = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert "Sarah sails." in lines
    assert '"kind": "end"' in lines


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_only_admins_export_and_erase(role: str, known: Cast, sign_in: SignIn) -> None:
    client = sign_in((known.team, role), name="vi")
    urls = [reverse(name, args=[known.sarah.pk]) for name in ("erase_person", "export_person")]
    text = client.get(page("person", known.sarah)).content.decode()

    for url in urls:
        assert url not in text
        assert client.get(url).status_code == 403
    assert client.post(urls[0], {"name": known.sarah.external_id}).status_code == 403
    assert not EndUser.objects.get(pk=known.sarah.pk).is_erased
