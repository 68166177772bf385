"""A team's admin chooses how its facts are told as read-only context."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from memory.models import Category
from teams.models import Team, TeamVersion
from tests.support.cast import Cast

FORM = {"name": "Acme", "time_zone": "UTC"}
EMPTY = {
    "context_settings__scope_priority": [""],
    "context_settings__confidence_threshold": "",
    "context_settings__read_only_marker": "",
    "context_settings__categories__coding": [""],
}


def test_the_options_are_fields_of_the_team_and_leave_a_version(
    inside: Cast, admin_client: Client
) -> None:
    page = reverse("admin:teams_team_change", args=[inside.team.pk])

    admin_client.post(
        page,
        {
            **FORM,
            "context_settings__scope_priority": ["project", "user"],
            "context_settings__confidence_threshold": "0.8",
            "context_settings__read_only_marker": "off",
            "context_settings__categories__coding": ["owners", "technical facts", ""],
        },
    )

    stored = Team.objects.get().context_settings
    assert stored == {
        "scope_priority": ["project", "user"],
        "confidence_threshold": 0.8,
        "read_only_marker": False,
        "categories": {"coding": ["owners", "technical facts"]},
    }
    latest = TeamVersion.objects.filter(team=inside.team).first()
    assert latest is not None
    assert latest.document["context_settings"] == stored
    shown = admin_client.get(page).content.decode()
    assert 'value="technical facts"' in shown
    admin_client.post(page, FORM)
    assert Team.objects.get().context_settings == stored
    admin_client.post(page, {**FORM, **EMPTY})
    assert Team.objects.get().context_settings == {}


def test_the_teams_categories_are_suggested(inside: Cast, admin_client: Client) -> None:
    Category.objects.create(team=inside.team, name="harbours")

    page = admin_client.get(reverse("admin:teams_team_change", args=[inside.team.pk]))

    field = page.context["adminform"].form["context_settings__categories__coding"]
    assert set(field.field.widget.suggestions) >= {"harbours", "decision"}
    assert '<option value="harbours">' in str(field)
    assert f'list="suggestions-{field.html_name}"' in str(field)


def test_what_cannot_be_is_refused_at_its_field(inside: Cast, admin_client: Client) -> None:
    page = reverse("admin:teams_team_change", args=[inside.team.pk])

    for field, value, words in (
        ("context_settings__scope_priority", "galaxy", "Must be one of"),
        ("context_settings__confidence_threshold", "7", "at most 1"),
        ("context_settings__max_chars", "3", "at least 400"),
    ):
        refused = admin_client.post(page, {**FORM, field: value})
        assert refused.status_code == 200
        assert words in str(refused.context["adminform"].form.errors[field])

    assert Team.objects.get().context_settings == {}


def test_a_viewer_reads_them(inside: Cast, viewer_client: Client) -> None:
    Team.objects.filter(pk=inside.team.pk).update(context_settings={"max_chars": 900})
    page = reverse("admin:teams_team_change", args=[inside.team.pk])

    shown = viewer_client.get(page).content.decode()

    assert "Maximum characters: 900" in shown
    assert "context_settings__max_chars" not in shown
