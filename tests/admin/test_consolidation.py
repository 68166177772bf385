"""Runs in the admin, and the settings by which a team is consolidated."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import start_run
from memory.understanding.tools import Tools
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.writing import live, store

FORM = {"name": "Acme", "time_zone": "UTC"}
SETTINGS = "lifecycle_settings__"
TEA = "Sarah drinks her green tea in the morning."
TEA_AGAIN = "Sarah drinks green tea in the morning."


def consolidated(cast: Cast, tools: Tools) -> ConsolidationRun:
    store(cast, tools, TEA, TEA_AGAIN)
    run = start_run(viewer=Viewer(team_id=cast.team.id, actor="test"), now=timezone.now())
    run_consolidation(team_id=cast.team.id, run_id=run.pk, tools=tools)
    return run


def test_a_run_shows_its_changes_and_is_taken_back(
    inside: Cast, tools: Tools, reviewer_client: Client
) -> None:
    run = consolidated(inside, tools)
    page = reverse("admin:lifecycle_consolidationrun_change", args=[run.pk])
    changes = f"{reverse('admin:lifecycle_consolidationchange_changelist')}?run={run.pk}"

    shown = reviewer_client.get(page).content.decode()
    listed = reviewer_client.get(changes)
    reviewer_client.post(page.replace("change/", "undo/"), {"confirmed": "yes"})

    assert changes in shown
    assert "deduplicate: 2 checked, 1 planned, 1 made" in shown
    assert listed.status_code == 200
    assert "says the same" in listed.content.decode()
    assert sorted(live(inside)) == sorted([TEA, TEA_AGAIN])
    assert page.replace("change/", "undo/") not in reviewer_client.get(page).content.decode()


def test_a_stranger_sees_no_run(
    inside: Cast, others: Cast, tools: Tools, reviewer_client: Client
) -> None:
    with team_scope(team_ids=[others.team.id], actor="test"):
        run = consolidated(others, tools)

    page = reverse("admin:lifecycle_consolidationrun_change", args=[run.pk])
    assert reviewer_client.get(page).status_code in (302, 404)
    changes = reverse("admin:lifecycle_consolidationchange_changelist")
    assert "says the same" not in reviewer_client.get(changes).content.decode()


def test_the_settings_are_fields_of_the_team(inside: Cast, admin_client: Client) -> None:
    page = reverse("admin:teams_team_change", args=[inside.team.pk])

    admin_client.post(
        page,
        {**FORM, f"{SETTINGS}off": ["link", "team_facts"], f"{SETTINGS}expire_after_days": "120"},
    )

    stored = {"off": ["link", "team_facts"], "expire_after_days": 120}
    assert Team.objects.get().lifecycle_settings == stored
    for field, value in ((f"{SETTINGS}off", "sleep"), (f"{SETTINGS}expire_below", "9")):
        refused = admin_client.post(page, {**FORM, field: value})
        assert refused.context["adminform"].form.errors[field]
    assert Team.objects.get().lifecycle_settings == stored
