"""Query counts of the admin's pages; benchmarks/admin_pages.py times them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from memory.models import MemoryUsage
from teams.admin.base import TeamAdmin
from teams.models import Project
from tests.factories import (
    ContradictionFactory,
    ConversationFactory,
    JobFactory,
    MemoryFactory,
    MessageFactory,
    ProjectFactory,
)
from tests.support.cast import Cast

_LISTS = sorted(
    model._meta.label_lower
    for model, page in admin.site._registry.items()
    if isinstance(page, TeamAdmin)
)


@pytest.fixture
def busy(inside: Cast) -> Cast:
    """A team with several rows of the kinds that have many."""
    project = ProjectFactory.create(team=inside.team)
    for agent in (inside.kyra, inside.luke):
        talk = ConversationFactory.create(team=inside.team, agent=agent, end_user=inside.sarah)
        MessageFactory.create(team=inside.team, conversation=talk, position=1)
        JobFactory.create(team=inside.team, conversation=talk, state="failed")
        one, other = (
            MemoryFactory.create(
                team=inside.team, agent=agent, end_user=inside.sarah, project=project
            )
            for _ in range(2)
        )
        MemoryUsage.objects.create(team=inside.team, memory=one, retrieved=3)
        ContradictionFactory.create(team=inside.team, memory_a=one, memory_b=other)
    return inside


@pytest.mark.parametrize("label", _LISTS)
def test_a_list_takes_few_statements(
    label: str, busy: Cast, admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    # Any: pytest-django's own
    url = reverse(f"admin:{label.replace('.', '_')}_changelist")
    admin_client.get(url)

    with django_assert_max_num_queries(20):
        assert admin_client.get(url).status_code == 200


@pytest.mark.parametrize("kind", ["person", "agent", "project"])
def test_the_page_about_somebody_takes_few_statements(
    kind: str, busy: Cast, admin_client: Client, django_assert_max_num_queries: Any
) -> None:
    # Any: pytest-django's own
    of_it = {"person": busy.sarah, "agent": busy.kyra}
    url = reverse("about", args=[kind, of_it.get(kind, Project.objects.get()).pk])
    admin_client.get(url)

    with django_assert_max_num_queries(34):
        assert admin_client.get(url).status_code == 200


@pytest.mark.parametrize(
    ("name", "query", "most"),
    [
        ("admin:index", {}, 40),
        ("memory_playground", {}, 18),
        ("time_travel", {}, 24),
        ("time_travel", {"view": "changes"}, 30),
    ],
)
def test_a_page_takes_few_statements(
    name: str,
    query: dict[str, str],
    most: int,
    busy: Cast,
    admin_client: Client,
    django_assert_max_num_queries: Any,
) -> None:
    # Any: pytest-django's own
    admin_client.get(reverse(name), query)

    with django_assert_max_num_queries(most):
        assert admin_client.get(reverse(name), query).status_code == 200
