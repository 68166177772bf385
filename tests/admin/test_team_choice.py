"""A login of several teams chooses one in the menu, and then sees no other."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from tests.admin.test_visibility import fill
from tests.support.admin import SignIn
from tests.support.cast import Cast

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
