"""Members in the admin: the last admin of a team is not removed, demoted or shut out."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from teams.models import Membership, StaffUser
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import SignIn, join, told
from tests.support.cast import Cast

NEEDED = "This is the last admin of Acme: name another admin first."


def membership(cast: Cast, name: str = "ann") -> Membership:
    """The login's place in the team."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return Membership.objects.get(team=cast.team, user__username=name)


def page(cast: Cast, name: str = "ann", path: str = "change") -> str:
    """The page of a member, or of a button on it."""
    url = reverse("admin:teams_membership_change", args=[membership(cast, name).pk])
    return url.replace("change/", f"{path}/")


def test_the_last_admin_cannot_demote_herself(cast: Cast, admin_client: Client) -> None:
    answer = admin_client.post(page(cast), {"role": "viewer"})

    assert answer.status_code == 200
    assert NEEDED in answer.content.decode()
    assert membership(cast).role == "admin"


def test_the_last_admin_cannot_be_removed(cast: Cast, admin_client: Client) -> None:
    alone = admin_client.post(page(cast, path="remove"), {"confirmed": "yes"})
    in_a_list = admin_client.post(
        reverse("admin:teams_membership_changelist"),
        {
            "action": "remove_selected",
            "_selected_action": [membership(cast).pk],
            "confirmed": "yes",
        },
    )

    assert any(NEEDED in each for each in told(alone) + told(in_a_list))  # type: ignore[arg-type]
    assert membership(cast).role == "admin"


def test_of_two_who_are_chosen_together_one_stays(cast: Cast, root_client: Client) -> None:
    for name in ("ann", "ben"):
        join(StaffUserFactory.create(username=name), cast.team, "admin")

    answer = root_client.post(
        reverse("admin:teams_membership_changelist"),
        {
            "action": "remove_selected",
            "_selected_action": [membership(cast, name).pk for name in ("ann", "ben")],
            "confirmed": "yes",
        },
    )

    assert "1 member removed." in told(answer)  # type: ignore[arg-type]
    assert any(NEEDED in each for each in told(answer))  # type: ignore[arg-type]
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Membership.objects.filter(team=cast.team, role="admin").count() == 1


def test_djangos_own_way_to_delete_members_is_closed(cast: Cast, admin_client: Client) -> None:
    url = reverse("admin:teams_membership_delete", args=[membership(cast).pk])

    assert admin_client.post(url, {"post": "yes"}).status_code == 403
    assert membership(cast).role == "admin"


@pytest.mark.parametrize("field", ["is_active", "is_staff"])
def test_the_login_of_the_last_admin_is_not_shut_out(
    cast: Cast, admin_client: Client, root_client: Client, field: str
) -> None:
    del admin_client
    ann = StaffUser.objects.get(username="ann")
    url = reverse("admin:teams_staffuser_change", args=[ann.pk])
    rights = {name: "on" for name in ("is_active", "is_staff") if name != field}

    refused = root_client.post(url, {"username": "ann", **rights})
    join(StaffUserFactory.create(username="ben"), cast.team, "admin")
    allowed = root_client.post(url, {"username": "ann", **rights})

    assert NEEDED in refused.content.decode()
    assert allowed.status_code == 302
    assert not getattr(StaffUser.objects.get(username="ann"), field)


def test_a_reviewer_removes_nobody(cast: Cast, admin_client: Client, sign_in: SignIn) -> None:
    del admin_client
    rob = sign_in((cast.team, "reviewer"), name="rob")

    assert rob.post(page(cast, path="remove"), {"confirmed": "yes"}).status_code == 403
    assert rob.post(page(cast, "rob"), {"role": "admin"}).status_code == 403
    assert membership(cast, "rob").role == "reviewer"
