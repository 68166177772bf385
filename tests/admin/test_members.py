"""Members in the admin: the last admin of a team is not removed, demoted or shut out."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.db.models.signals import pre_save
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


INVITE = reverse("admin:teams_membership_add")


def link_in(answer: object) -> str:
    """Returns the path of the one-time link on a page."""
    shown = re.search(r"/admin/invitation/[\w-]+/[\w-]+/", answer.content.decode())  # type: ignore[attr-defined]
    assert shown is not None
    return shown.group()


def invited(cast: Cast, client: Client, **changes: object) -> str:
    """Returns the path of the link that an invitation shows."""
    fields = {"team": cast.team.pk, "username": "nora", "role": "reviewer", **changes}
    answer = client.post(INVITE, fields)
    assert "no-store" in answer["Cache-Control"]
    return link_in(answer)


def test_a_team_admin_invites_a_colleague_who_sets_a_password_once(
    cast: Cast, admin_client: Client
) -> None:
    link = invited(cast, admin_client, first_name="Nora", email="nora@acme.example")
    nora = StaffUser.objects.get(username="nora")
    assert membership(cast, "nora").role == "reviewer"
    assert (nora.get_full_name(), nora.is_staff, nora.is_superuser) == ("Nora", True, False)
    assert not nora.has_usable_password()

    browser = Client()
    form = browser.get(link, follow=True)
    twice = {"new_password1": "a long passphrase", "new_password2": "a long passphrase"}
    saved = browser.post(form.request["PATH_INFO"], twice, follow=True)
    again = Client().get(link, follow=True)

    assert "Your password is set." in saved.content.decode()
    assert "This link has been used or has expired." in again.content.decode()
    sign_in = {"username": "nora", "password": "a long passphrase"}
    browser.post(reverse("admin:login"), sign_in)
    assert browser.get(reverse("admin:memory_memory_changelist")).status_code == 200
    assert browser.get(INVITE).status_code == 403


def test_a_weak_first_password_is_refused(cast: Cast, admin_client: Client) -> None:
    browser = Client()
    form = browser.get(invited(cast, admin_client), follow=True)

    refused = browser.post(
        form.request["PATH_INFO"], {"new_password1": "12345", "new_password2": "12345"}
    )

    assert "too short" in refused.content.decode()
    assert not StaffUser.objects.get(username="nora").has_usable_password()


def test_an_existing_login_joins_and_no_link_to_its_account_is_made(
    cast: Cast, others: Cast, admin_client: Client, sign_in: SignIn
) -> None:
    invited(others, sign_in((others.team, "admin"), name="eve"))
    join(StaffUser.objects.get(username="ann"), others.team, "viewer")
    admin_client.post(reverse("choose_team"), {"team": str(cast.team.pk)})
    fields = {"team": cast.team.pk, "username": "nora", "role": "viewer", "first_name": "Mallory"}

    answer = admin_client.post(INVITE, fields)

    assert answer.status_code == 302
    assert membership(cast, "nora").role == "viewer"
    assert StaffUser.objects.get(username="nora").first_name == ""
    again = admin_client.post(INVITE, fields)
    assert again.context["adminform"].form.errors == {
        "username": ["This login is already a member of the team."]
    }


def test_a_login_made_by_the_admin_of_another_team_does_not_join(
    cast: Cast, others: Cast, admin_client: Client, root_client: Client, sign_in: SignIn
) -> None:
    invited(others, sign_in((others.team, "admin"), name="eve"))
    fields = {"team": cast.team.pk, "username": "nora", "role": "viewer"}

    refused = [
        admin_client.post(INVITE, {**fields, "username": name}).content.decode()
        for name in ("nora", "\N{FULLWIDTH LATIN SMALL LETTER N}ora")
    ]

    assert all("taken by a login outside your teams" in each for each in refused)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert not Membership.objects.filter(user__username="nora").exists()
    assert root_client.post(INVITE, fields).status_code == 302
    assert membership(cast, "nora").role == "viewer"


def test_of_two_who_invite_the_same_name_at_once_the_second_is_told(
    cast: Cast, admin_client: Client
) -> None:
    def rival(instance: StaffUser, **_: object) -> None:
        StaffUser.objects.bulk_create([StaffUser(username=instance.username)])

    pre_save.connect(rival, sender=StaffUser)
    try:
        fields = {"team": cast.team.pk, "username": "nora", "role": "viewer"}
        answer = admin_client.post(INVITE, fields)
    finally:
        pre_save.disconnect(rival, sender=StaffUser)

    assert (answer.status_code, answer["Location"]) == (302, INVITE)
    assert "somebody else has just used this username" in told(answer)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"username": "no ra"}, "Enter a valid username."),
        ({"username": "gone"}, "This login cannot sign in."),
        ({"email": "nora"}, "Enter a valid email address."),
        ({"role": "owner"}, "Select a valid choice."),
    ],
)
def test_an_invitation_that_cannot_be_is_refused(
    cast: Cast, admin_client: Client, changes: dict[str, object], words: str
) -> None:
    StaffUserFactory.create(username="gone", is_active=False)
    fields = {"team": cast.team.pk, "username": "nora", "role": "viewer", **changes}

    answer = admin_client.post(INVITE, fields)

    assert words in answer.content.decode()
    assert not StaffUser.objects.filter(username__in=["nora", "no ra"]).exists()


def test_nobody_invites_into_a_team_of_others(
    cast: Cast, others: Cast, admin_client: Client, sign_in: SignIn
) -> None:
    fields = {"team": others.team.pk, "username": "nora", "role": "admin"}

    refused = admin_client.post(INVITE, fields)
    rob = sign_in((cast.team, "reviewer"), name="rob")

    assert "Select a valid choice." in refused.content.decode()
    assert rob.post(INVITE, {**fields, "team": cast.team.pk}).status_code == 403
    assert not StaffUser.objects.filter(username="nora").exists()


def test_an_expired_invitation_is_shown_and_sent_again(cast: Cast, admin_client: Client) -> None:
    first = invited(cast, admin_client)
    members = reverse("admin:teams_membership_changelist")
    assert "INVITATION EXPIRED" not in admin_client.get(members).content.decode().upper()
    StaffUser.objects.filter(username="nora").update(invited_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert "INVITATION EXPIRED" in admin_client.get(members).content.decode().upper()

    assert "Invite again" in admin_client.get(page(cast, "nora")).content.decode()
    second = link_in(admin_client.post(page(cast, "nora", "invite-again"), {"confirmed": "yes"}))

    assert "has expired" in Client().get(first, follow=True).content.decode()
    browser = Client()
    form = browser.get(second, follow=True)
    twice = {"new_password1": "a long passphrase", "new_password2": "a long passphrase"}
    browser.post(form.request["PATH_INFO"], twice)
    assert StaffUser.objects.get(username="nora").check_password("a long passphrase")
    assert "Invite again" not in admin_client.get(page(cast, "nora")).content.decode()
    late = admin_client.post(page(cast, "nora", "invite-again"), {"confirmed": "yes"})
    assert any("never had a password" in each for each in told(late))  # type: ignore[arg-type]


def test_a_login_of_a_team_of_others_is_not_invited_again(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    first = invited(cast, admin_client)
    join(StaffUser.objects.get(username="nora"), others.team, "admin")

    answer = admin_client.post(page(cast, "nora", "invite-again"), {"confirmed": "yes"})

    assert answer.status_code == 302
    assert any("belongs to other teams too" in each for each in told(answer))  # type: ignore[arg-type]
    assert "new_password1" in Client().get(first, follow=True).content.decode()


def test_only_an_admin_invites_again(cast: Cast, admin_client: Client, sign_in: SignIn) -> None:
    invited(cast, admin_client)
    rob = sign_in((cast.team, "reviewer"), name="rob")

    assert rob.post(page(cast, "nora", "invite-again"), {"confirmed": "yes"}).status_code == 403


def test_a_member_who_left_is_invited_back(
    cast: Cast, others: Cast, admin_client: Client, sign_in: SignIn
) -> None:
    join(StaffUserFactory.create(username="nora"), cast.team, "viewer")
    admin_client.post(page(cast, "nora", "remove"), {"confirmed": "yes"})
    fields = {"username": "nora", "role": "reviewer"}

    elsewhere = sign_in((others.team, "admin"), name="eve").post(
        INVITE, {**fields, "team": others.team.pk}
    )
    back = admin_client.post(INVITE, {**fields, "team": cast.team.pk})

    assert "taken by a login outside your teams" in elsewhere.content.decode()
    assert back.status_code == 302
    assert membership(cast, "nora").role == "reviewer"
