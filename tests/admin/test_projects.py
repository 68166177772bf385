"""A project in the admin: its limit, and clearing it by typing its name."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Memory
from teams.models import Project
from tests.factories import MemoryFactory, ProjectFactory
from tests.support.cast import Cast


@pytest.fixture
def apollo(inside: Cast) -> Project:
    """A project with two memories, beside one of no project."""
    project: Project = ProjectFactory.create(team=inside.team, slug="apollo", name="Apollo")
    for content in ("The port is 5433.", "Apollo ships on Friday."):
        MemoryFactory.create(team=inside.team, project=project, scope="project", content=content)
    MemoryFactory.create(team=inside.team, content="The office closes at six.")
    return project


def address(project: Project, path: str = "change") -> str:
    """Its page, or that of a button on it."""
    return reverse("admin:teams_project_change", args=[project.pk]).replace("change/", f"{path}/")


def live() -> set[str]:
    """Returns the texts of the live memories."""
    return set(Memory.objects.live().values_list("content", flat=True))


def test_a_project_is_cleared_once_its_name_is_typed(admin_client: Client, apollo: Project) -> None:
    page = admin_client.get(address(apollo, "clear")).content.decode()
    empty = admin_client.post(address(apollo, "clear"), {"name": "", "reason": ""})
    wrong = admin_client.post(address(apollo, "clear"), {"name": "zeus", "reason": ""})
    before = live()
    done = admin_client.post(address(apollo, "clear"), {"name": "apollo", "reason": "a trial"})

    assert "deletes 2 memories" in page
    assert "Type the name to confirm." in empty.content.decode()
    assert "nothing was changed" in wrong.content.decode()
    assert len(before) == 3
    assert done["Location"] == reverse("about", args=["project", apollo.pk])
    assert "Memories deleted: 2." in admin_client.get(done["Location"]).content.decode()
    assert live() == {"The office closes at six."}
    rows = MemoryLog.objects.filter(event="soft_deleted")
    assert {(row.actor.split(":")[0], row.reason) for row in rows} == {
        ("staff", "the project 'apollo' was cleared: a trial")
    }


def test_a_reviewer_may_not_clear(reviewer_client: Client, apollo: Project) -> None:
    page = reviewer_client.get(address(apollo)).content.decode()
    tried = reviewer_client.post(address(apollo, "clear"), {"name": "apollo"})

    assert address(apollo, "clear") not in page
    assert tried.status_code == 403
    assert len(live()) == 3


def test_an_admin_sets_the_limit_and_never_the_slug(admin_client: Client, apollo: Project) -> None:
    form = {"slug": "artemis", "name": "Apollo", "max_items": "50"}
    saved = admin_client.post(address(apollo), {**form, "team": apollo.team_id})
    refused = admin_client.post(address(apollo), {**form, "team": apollo.team_id, "max_items": "0"})

    apollo.refresh_from_db()
    assert saved.status_code == 302
    assert refused.status_code == 200
    assert (apollo.slug, apollo.max_items) == ("apollo", 50)
