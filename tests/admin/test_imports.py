"""Imports in the admin: how far each got, and one that is ended."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.imports import start_import
from memory.satellites.transfer.models import ImportBatch, ImportRun
from teams.admin.suggestions import MOST
from teams.models import Agent, EndUser
from teams.tenancy import team_scope
from tests.factories import ConversationFactory, EndUserFactory
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


def test_the_form_suggests_a_bounded_number_of_the_latest_people_and_agents(
    inside: Cast, admin_client: Client
) -> None:
    EndUser.objects.bulk_create(
        EndUser(team=inside.team, external_id=f"a{number:04}") for number in range(MOST + 50)
    )
    Agent.objects.bulk_create(
        Agent(team=inside.team, slug=f"a{number:04}") for number in range(MOST + 50)
    )
    last = EndUserFactory.create(team=inside.team, external_id="zoe", display_name="Zoe Moe")
    ConversationFactory.create(team=inside.team, agent=inside.luke, end_user=last)

    form = admin_client.get(reverse("admin:transfer_importrun_add")).context["adminform"].form

    people, agents = (form.fields[each].widget.suggestions for each in ("user", "agent"))
    assert people[0] == ("zoe", "Zoe Moe")
    assert agents[0][0] == "luke"
    assert len(people) == len(agents) == MOST


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


ADD = reverse("admin:transfer_importrun_add")
TWO = b'{"content": "Likes tea."}\n{"content": "Sails."}\n'


def uploaded(cast: Cast, client: Client, text: bytes = TWO, **changes: object) -> HttpResponse:
    """The answer to a file sent by the form."""
    file = SimpleUploadedFile("facts.jsonl", text)
    fields = {"team": cast.team.pk, "upload": file, "user": "sarah", "does_extract": "on"}
    return client.post(ADD, {**fields, **changes})  # type: ignore[return-value]


def imports_of(cast: Cast) -> list[ImportRun]:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return list(ImportRun.objects.all())


def test_an_admin_uploads_a_file_and_sees_its_progress(cast: Cast, admin_client: Client) -> None:
    answer = uploaded(cast, admin_client)

    (run,) = imports_of(cast)
    assert (run.total, run.actor, run.format) == (2, "staff:ann", "jsonl")
    page = reverse("admin:transfer_importrun_change", args=[run.pk])
    assert answer["Location"] == page
    waiting = admin_client.get(page).content.decode()
    with team_scope(team_ids=[cast.team.id], actor="test"):
        ImportRun.objects.update(done=2, new=1, state="done")
    ended = admin_client.get(page).content.decode()
    assert "Queued: 0 of 2 items, 0 new, 0 failed." in waiting
    assert 'hx-trigger="every 2s"' in waiting
    assert "Done: 2 of 2 items, 1 new, 0 failed." in ended
    assert 'hx-trigger="every 2s"' not in ended


@pytest.mark.parametrize(
    ("text", "changes", "words"),
    [
        (b"", {}, "The submitted file is empty."),
        (b"\n", {"file_format": "jsonl"}, "The file holds nothing to import."),
        (b'{"content": "Likes tea."}\n{"content": 5}\n', {}, "line 2"),
        (TWO, {"file_format": "docx"}, "Select a valid choice."),
        (TWO, {"upload": ""}, "This field is required."),
    ],
)
def test_a_file_that_cannot_be_imported_is_refused_at_its_field(
    cast: Cast, admin_client: Client, text: bytes, changes: dict[str, object], words: str
) -> None:
    answer = uploaded(cast, admin_client, text, **changes)

    assert answer.status_code == 200
    assert words in answer.content.decode()
    assert imports_of(cast) == []


def test_nobody_uploads_into_a_team_of_others(
    cast: Cast, others: Cast, admin_client: Client, reviewer_client: Client
) -> None:
    answer = uploaded(others, admin_client)

    assert "Select a valid choice." in answer.content.decode()
    assert uploaded(cast, reviewer_client).status_code == 403
    assert imports_of(others) == imports_of(cast) == []
