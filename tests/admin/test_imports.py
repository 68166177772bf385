"""Imports in the admin: how far each got, and one that is ended."""

from __future__ import annotations

from io import BytesIO

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.imports import start_import
from memory.satellites.transfer.models import ImportBatch, ImportRun
from tests.support.cast import Cast

LIST = reverse("admin:transfer_importrun_changelist")


def begun(inside: Cast) -> ImportRun:
    """An import of two memories that waits."""
    return start_import(
        viewer=Viewer(team_id=inside.team.pk, actor="test"),
        source=BytesIO(b'{"content": "Likes tea."}\n{"content": "Sails."}\n'),
        names=Names(user="sarah"),
        now=timezone.now(),
    )


def test_the_list_tells_how_far_each_got(inside: Cast, admin_client: Client) -> None:
    begun(inside)
    ImportRun.objects.update(done=1)

    shown = admin_client.get(LIST).content.decode()

    assert "1 of 2" in shown
    assert "jsonl" in shown


def test_one_is_cancelled_after_a_confirmation(inside: Cast, admin_client: Client) -> None:
    run = begun(inside)
    page = reverse("admin:transfer_importrun_change", args=[run.pk])
    cancel = page.replace("change/", "cancel/")

    asked = admin_client.get(cancel, follow=True).content.decode()
    admin_client.post(cancel, {"confirmed": "yes"}, follow=True)

    assert "Items that are not imported yet are skipped." in asked
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not ImportBatch.objects.exists()
    assert "/cancel/" not in admin_client.get(page).content.decode()


def test_who_is_no_admin_of_the_team_sees_none(inside: Cast, reviewer_client: Client) -> None:
    begun(inside)

    assert reviewer_client.get(LIST).status_code == 403
