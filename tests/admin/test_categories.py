"""Categories in the admin: kept by a team's admins, read by its other members."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory.models import Category
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory
from tests.support.admin import SignIn
from tests.support.cast import Cast

LIST = "admin:memory_category_changelist"
ADD = "admin:memory_category_add"
CHANGE = "admin:memory_category_change"
DELETE = "admin:memory_category_delete"


def form(team: Team, **changes: object) -> dict[str, object]:
    """The fields of a category's form."""
    fields = {"team": team.pk, "name": "goals", "description": "Aims.", "context": "all"}
    return {**fields, "length": "", **changes}


def stored(cast: Cast) -> list[tuple[str, str, int | None]]:
    """The team's categories."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return list(Category.objects.values_list("name", "context", "length"))


def make(cast: Cast, name: str = "goals") -> Category:
    """A category of the team with one memory."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        MemoryFactory.create(team=cast.team, category=name)
        return Category.objects.create(team=cast.team, name=name)


def test_an_admin_adds_changes_and_removes_a_category(cast: Cast, sign_in: SignIn) -> None:
    admin = sign_in((cast.team, "admin"))

    admin.post(reverse(ADD), form(cast.team))
    assert stored(cast) == [("goals", "all", None)]

    with team_scope(team_ids=[cast.team.id], actor="test"):
        page = [Category.objects.get().pk]
    admin.post(reverse(CHANGE, args=page), form(cast.team, name="other", context="rag", length=3))
    assert stored(cast) == [("goals", "rag", 3)]

    admin.post(reverse(DELETE, args=page), {"post": "yes"})
    assert stored(cast) == []


def test_the_page_counts_its_memories_once(cast: Cast, sign_in: SignIn) -> None:
    page = reverse(CHANGE, args=[make(cast).pk])
    admin = sign_in((cast.team, "admin"))

    with CaptureQueriesContext(connection) as asked:
        admin.get(page)
        texts = [each["sql"] for each in asked.captured_queries]

    assert len([text for text in texts if '"memory_memory"."category" =' in text]) == 1


def test_the_page_says_how_many_memories_name_it(cast: Cast, sign_in: SignIn) -> None:
    category = make(cast)

    page = sign_in((cast.team, "viewer")).get(reverse(CHANGE, args=[category.pk]))

    assert page.status_code == 200
    shown = re.sub(r"<[^>]*>|\s+", " ", page.content.decode())
    assert re.search(r"[Mm]emories:?\s+1\s", shown)


def test_a_name_stands_once_and_a_length_is_positive(cast: Cast, sign_in: SignIn) -> None:
    make(cast)
    admin = sign_in((cast.team, "admin"))

    for wrong in ({"name": "goals"}, {"name": "new", "length": 0}, {"name": ""}):
        assert admin.post(reverse(ADD), form(cast.team, **wrong)).status_code == 200
    assert stored(cast) == [("goals", "rag", None)]


@pytest.mark.parametrize("role", ["reviewer", "viewer"])
def test_other_members_only_read(cast: Cast, sign_in: SignIn, role: str) -> None:
    category = make(cast)
    member = sign_in((cast.team, role))

    assert member.get(reverse(LIST)).status_code == 200
    assert member.get(reverse(ADD)).status_code == 403
    change = reverse(CHANGE, args=[category.pk])
    assert member.post(change, form(cast.team, context="all")).status_code == 403
    delete = reverse(DELETE, args=[category.pk])
    assert member.post(delete, {"post": "yes"}).status_code == 403
    assert stored(cast) == [("goals", "rag", None)]


def test_another_teams_categories_are_not_there(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    theirs = make(others, "secret")
    admin: Client = sign_in((cast.team, "admin"))

    assert "secret" not in admin.get(reverse(LIST)).content.decode()
    assert admin.get(reverse(CHANGE, args=[theirs.pk])).status_code in (302, 404)
    admin.post(reverse(DELETE, args=[theirs.pk]), {"post": "yes"})
    assert stored(others) == [("secret", "rag", None)]
