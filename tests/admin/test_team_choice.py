"""A login of several teams chooses one in the menu, and then sees no other."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import OperationalEvent
from teams.tenancy import team_scope
from tests.admin.test_visibility import fill
from tests.factories import MemoryFactory
from tests.support.admin import SignIn
from tests.support.cast import Cast, make_cast

CHOOSE = reverse("choose_team")
HOME = reverse("admin:index")
LIST = reverse("admin:memory_memory_changelist")
SEARCH = reverse("admin:search")


def shown(client: Client) -> str:
    """Returns what Home, a list and the search show."""
    pages = (HOME, LIST, f"{SEARCH}?s=memory")
    return "".join(client.get(page).content.decode() for page in pages)


def test_the_chosen_team_stays_chosen_everywhere(
    cast: Cast, others: Cast, root_client: Client
) -> None:
    fill(cast, "acmemark")
    fill(others, "globexmark")
    everything = shown(root_client)

    assert root_client.post(CHOOSE, {"team": str(cast.team.pk)})["Location"] == HOME
    chosen = shown(root_client)
    figures = {each.title: each.count for each in root_client.get(HOME).context["figures"]}
    root_client.post(CHOOSE, {"team": ""})

    assert "acmemark" in everything
    assert "globexmark" in everything
    assert "acmemark" in chosen
    assert "globexmark" not in chosen
    assert figures["Active memories"] == 2
    assert "globexmark" in shown(root_client)


def test_the_menu_names_the_chosen_team_and_the_page_its_others(
    cast: Cast, others: Cast, root_client: Client
) -> None:
    before = root_client.get(HOME).content.decode()
    root_client.post(CHOOSE, {"team": str(others.team.pk)})
    page = root_client.get(CHOOSE)

    assert "All teams" in before
    assert page.context["team_choice"] == others.team.name
    assert [name for _, name, is_chosen in page.context["choices"] if is_chosen] == [
        others.team.name
    ]
    assert len(page.context["choices"]) == 3
    assert (
        "column-team"
        not in root_client.get(reverse("admin:teams_agent_changelist")).content.decode()
    )


def test_nobody_chooses_a_team_that_is_not_theirs(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    fill(others, "globexmark")

    assert admin_client.post(CHOOSE, {"team": str(others.team.pk)}).status_code == 404
    session = admin_client.session
    session["team"] = str(others.team.pk)
    session.save()

    assert "globexmark" not in shown(admin_client)
    assert CHOOSE not in admin_client.get(HOME).content.decode()


def test_a_new_team_is_the_chosen_one(cast: Cast, others: Cast, root_client: Client) -> None:
    root_client.post(CHOOSE, {"team": str(cast.team.pk)})

    made = root_client.post(
        reverse("admin:teams_team_add"), {"name": "Initech", "slug": "initech", "_continue": "yes"}
    )

    assert root_client.get(made["Location"]).status_code == 200
    assert "Initech" in root_client.get(HOME).content.decode()


def test_a_member_of_two_teams_chooses_too(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    fill(cast, "acmemark")
    fill(others, "globexmark")
    both = sign_in((cast.team, "viewer"), (others.team, "viewer"), name="bo")

    both.post(CHOOSE, {"team": str(others.team.pk)})

    assert "acmemark" not in shown(both)
    assert "globexmark" in shown(both)


def pages_of(cast: Cast) -> dict[str, str]:
    """Returns addresses of pages about rows of the team, of each kind of address."""
    rows = fill(cast, "globexmark")
    change = reverse("admin:memory_memory_change", args=[rows["memory_memory"]])
    return {
        "row": f"{change}?_changelist_filters=q%3Dx",
        "number": reverse("admin:audit_memorylog_change", args=[rows["audit_memorylog"]]),
        "button": change.replace("change/", "pin/"),
        "about": reverse("about", args=["person", cast.sarah.pk]),
        "inbox": reverse("inbox_item", args=["contradiction", rows["memory_contradiction"]]),
        "team": reverse("admin:teams_team_change", args=[cast.team.pk]),
    }


@pytest.mark.parametrize("kind", ["row", "number", "button", "about", "inbox", "team"])
def test_a_page_of_another_own_team_is_offered_with_a_switch_to_it(
    kind: str, cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    page = pages_of(others)[kind]
    both = sign_in((cast.team, "viewer"), (others.team, "admin"), name="bo")
    both.post(CHOOSE, {"team": str(cast.team.pk)})

    offered = both.get(page)
    form = {"team": str(offered.context["team"].pk), "next": offered.context["next"]}
    switched = both.post(CHOOSE, form)

    assert offered.status_code in (403, 404)
    assert "This belongs to Globex" in offered.content.decode()
    assert "globexmark" not in offered.content.decode()
    assert switched["Location"] == page
    assert both.get(page).status_code == 200


def test_a_page_of_a_team_of_others_is_nowhere(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    third = make_cast("initech")
    pages = pages_of(others)
    two = sign_in((cast.team, "admin"), (third.team, "admin"), name="bo")
    two.post(CHOOSE, {"team": str(cast.team.pk)})

    for page in pages.values():
        answer = two.get(page)
        assert answer.status_code in (403, 404)
        assert "Globex" not in answer.content.decode()
        assert "belongs to" not in answer.content.decode()


def test_what_the_role_in_the_other_team_does_not_show_is_not_offered(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    with team_scope(team_ids=[others.team.id], actor="test"):
        event = OperationalEvent.objects.create(
            team=others.team, node="x", op="extract", status="ok"
        )
    both = sign_in((cast.team, "admin"), (others.team, "viewer"), name="bo")
    both.post(CHOOSE, {"team": str(cast.team.pk)})

    answer = both.get(reverse("admin:audit_operationalevent_change", args=[event.pk]))

    assert answer.status_code == 404
    assert "Globex" not in answer.content.decode()


def test_a_decision_sent_after_a_switch_says_that_nothing_was_changed(
    cast: Cast, others: Cast, root_client: Client
) -> None:
    with team_scope(team_ids=[others.team.id], actor="test"):
        memory = MemoryFactory.create(team=others.team)
    root_client.post(CHOOSE, {"team": str(cast.team.pk)})
    change = reverse("admin:memory_memory_change", args=[memory.pk])

    answer = root_client.post(change.replace("change/", "correct/"), {"content": "My new text."})

    assert "Nothing was changed." in answer.content.decode()
    assert "My new text." in answer.content.decode()
    assert answer.context["next"] == change


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example/admin/", "/v1/", ""])
def test_a_switch_leads_nowhere_outside_the_admin(to: str, cast: Cast, root_client: Client) -> None:
    answer = root_client.post(CHOOSE, {"team": str(cast.team.pk), "next": to})

    assert answer["Location"] == HOME
