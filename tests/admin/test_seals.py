"""The seals of the log in the admin: how far it is sealed, and the button that verifies it."""

from __future__ import annotations

from http import HTTPStatus
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from audit.models import OperationalEvent, Seal
from audit.services.events import Event, record_events
from teams.tenancy import team_scope
from tests.factories import MemoryFactory, StaffUserFactory
from tests.support.admin import join, told
from tests.support.cast import Cast, make_cast

LIST = reverse("admin:audit_memorylog_changelist")
HOME = reverse("admin:index")


def test_an_admin_verifies_the_log_and_the_pages_say_when(committed_db: None) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    user = StaffUserFactory.create(username=f"ann-{uuid4().hex}")
    join(user, town.team, "admin")
    client = Client()
    client.force_login(user)
    with team_scope(team_ids=[town.team.id], actor="test"):
        MemoryFactory.create(team=town.team)
    assert "not sealed yet, not verified" in client.get(LIST).content.decode()
    assert "Log not sealed yet, not verified" in client.get(HOME).content.decode()

    answer = client.post(reverse("admin:audit_memorylog_verify", args=[town.team.pk]))

    (said,) = told(answer)  # type: ignore[arg-type]
    assert said == f"The log of {town.team} is intact: 1 entry verified."
    with team_scope(team_ids=[town.team.id], actor="test"):
        run = OperationalEvent.objects.get(node="log", op="verify")
    assert (run.status, run.meta["findings"]) == ("ok", 0)
    assert f"verified {run.at:%Y-%m-%d %H:%M}" in client.get(LIST).content.decode()


def test_the_latest_seal_and_a_failed_verification_are_shown(
    inside: Cast, admin_client: Client
) -> None:
    sealed = [
        Seal.objects.create(
            team=inside.team,
            number=number,
            after_seq=number - 1,
            last_seq=number,
            rows=1,
            leaves=b"",
            key_id="k",
            digest=b"d",
            sealed_at=f"2026-03-0{number}T12:00:00Z",
        )
        for number in (1, 2)
    ]
    record_events(team_id=inside.team.pk, events=[Event("log", "verify", "error")])

    page = admin_client.get(LIST).content.decode()
    home = admin_client.get(HOME).content.decode()

    assert len(sealed) == 2
    assert "sealed up to 2026-03-02 12:00" in page
    assert "it has been changed" in page
    assert "Log changed" in home


def test_a_reviewer_verifies_nothing(inside: Cast, reviewer_client: Client) -> None:
    answer = reviewer_client.post(reverse("admin:audit_memorylog_verify", args=[inside.team.pk]))

    assert answer.status_code == HTTPStatus.FORBIDDEN
    assert "Verify the log" not in reviewer_client.get(LIST).content.decode()
