"""A team's page shows what its settings were and who changed them."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from teams.models import Team, TeamVersion
from teams.tenancy import team_scope
from tests.support.cast import Cast


def test_extraction_instructions_are_kept_as_a_version_and_name_their_condition(
    cast: Cast, admin_client: Client
) -> None:
    page = reverse("admin:teams_team_change", args=[cast.team.pk])
    shown = admin_client.get(page).content.decode()
    given = {"name": "Acme", "extraction_instructions": "Look for allergies."}

    refused = admin_client.post(page, {**given, "extraction_instructions": "x" * 2_001})
    saved = admin_client.post(page, given)

    assert "set EXTRACTION_MODEL" in shown
    assert (refused.status_code, saved.status_code) == (200, 302)
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        last = TeamVersion.objects.filter(team=cast.team).order_by("-number").first()
    assert last is not None
    assert last.document["extraction_instructions"] == "Look for allergies."


def test_the_page_of_a_team_tells_its_last_changes(cast: Cast, admin_client: Client) -> None:
    page = reverse("admin:teams_team_change", args=[cast.team.pk])
    answer = admin_client.post(
        page, {"name": "Acme", "time_zone": "Europe/Oslo", "monthly_budget_usd": "20"}
    )
    assert answer.status_code == 302

    with team_scope(team_ids=[cast.team.pk], actor="test"):
        last = TeamVersion.objects.filter(team=cast.team).order_by("-number").first()
        assert last is not None
        assert Team.objects.get(pk=cast.team.pk).time_zone == "Europe/Oslo"
    shown = admin_client.get(page).content.decode()

    assert last.actor.startswith("staff:")
    assert "ann (staff)" in shown
    assert "monthly_budget_usd" in shown
    read = admin_client.get(reverse("admin:teams_teamversion_change", args=[last.pk]))
    assert "Europe/Oslo" in read.content.decode()
