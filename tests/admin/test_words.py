"""Actors, events and changes are told in words, not in codes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from gettext import GNUTranslations
from pathlib import Path
from uuid import UUID

import django
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst

from audit.admin.history import EVENT_WORDS, change_words, reason_words
from audit.models import EVENTS, MemoryLog
from memory.admin.home import navigation
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.lifecycle.models import ConsolidationChange
from teams.admin.display import actor_words, actors_called
from teams.models import AgentVersion, StaffUser, TeamVersion
from teams.tenancy import team_scope
from tests.factories import ContradictionFactory, MemoryFactory
from tests.support.admin import page_of
from tests.support.cast import Cast
from tests.support.chat_models import make_provider

CATALOGUE = settings.LOCALE_PATHS[0] / "en/LC_MESSAGES/django.po"


def words_in_place_of_others() -> dict[str, str]:
    """Returns the words of the compiled catalogue, by those of Django or its theme."""
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        stored: dict[str, str] = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return {given: put for given, put in stored.items() if given}


def joined(text: str) -> str:
    """Returns a text of Python or of a catalogue with strings over several lines made one."""
    return re.sub(r"""["']\s*\n\s*["']""", "", text).replace('\\"', '"')


def test_the_catalogue_is_compiled_and_replaces_words_that_are_there() -> None:
    roots = [Path(apps.get_app_config("unfold").path), Path(django.__file__).parent / "contrib"]
    files = [
        *(path for kind in ("py", "html") for path in roots[0].rglob(f"*.{kind}")),
        *(roots[1] / app / "locale/en/LC_MESSAGES/django.po" for app in ("admin", "auth")),
    ]
    theirs = joined("\n".join(path.read_text(encoding="utf-8") for path in files))
    source = joined(CATALOGUE.read_text(encoding="utf-8"))

    words = words_in_place_of_others()

    assert [given for given in words if given not in theirs] == []
    assert [put for pair in words.items() for put in pair if put not in source] == []
    assert len(words) == source.count("msgid ") - 1


def test_no_page_speaks_of_machinery(cast: Cast, admin_client: Client, root_client: Client) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        provider = make_provider(cast)
    ann = StaffUser.objects.get(username="ann")
    pages = [
        admin_client.get(reverse(f"admin:{name}", args=args)).content.decode()
        for name, args in (
            ("routing_provider_change", [provider.pk]),
            ("routing_provider_delete", [provider.pk]),
            ("routing_provider_changelist", []),
            ("routing_provider_add", []),
            ("teams_membership_changelist", []),
            ("password_change", []),
            ("app_list", ["memory"]),
        )
    ] + [
        root_client.get(reverse(f"admin:{name}", args=[ann.pk])).content.decode()
        for name in ("teams_staffuser_change", "auth_user_password_change")
    ]

    whole = "".join(pages)

    replaced = [each for each in words_in_place_of_others() if " " in each and "%" not in each]
    assert [each for each in replaced if each in whole] == []
    assert "Edit provider" in whole
    assert "Select this row" in whole
    assert "Memory administration" not in whole


@pytest.mark.parametrize(
    ("actor", "words"),
    [
        ("task:extract", "extraction"),
        ("staff:rob", "rob (staff)"),
        ("agent:kyra", "kyra (agent)"),
        ("key:pk_12", "API key pk 12"),
        ("judge:rules", "the judge (rules)"),
        ("command:issue_key", "issue_key (command)"),
        ("task:renew_things", "renew things"),
        ("staff:", "staff:"),
        ("somebody", "somebody"),
        ("", "–"),
    ],
)
def test_an_actor_has_a_name(actor: str, words: str) -> None:
    assert actor_words(actor) == words


def test_an_actor_is_found_by_that_name() -> None:
    assert "task:extract" in actors_called("Extraction")
    assert actors_called(" ") == []


def test_every_event_of_the_log_has_words() -> None:
    assert set(EVENT_WORDS) == set(EVENTS)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"importance": 4}, {"importance": 7}, ["importance 4 to 7"]),
        ({"confidence": 0.5}, {"confidence": 0.75}, ["confidence 0.5 to 0.75"]),
        ({"status": "active"}, {"status": "soft_deleted"}, ["status active to deleted"]),
        ({"is_pinned": False}, {"is_pinned": True}, []),
        ({"category": ""}, {"category": "home"}, ["category none to home"]),
        ({"tags": ["a", "b"]}, {"tags": ["b", "c"]}, ["tag c added", "tag a removed"]),
        ({"end_user_id": "1"}, {"end_user_id": None}, ["person Sarah to none"]),
        ({"superseded_by_id": None}, {"superseded_by_id": "2"}, ["replaced by “Lisbon”"]),
        ({"contradicts": []}, {"contradicts": ["2"]}, ["in dispute with “Lisbon”"]),
        ({"contradicts": ["2"]}, {"contradicts": []}, ["no longer in dispute with “Lisbon”"]),
        (
            {"valid_to": None},
            {"valid_to": "2026-05-01T10:00:00+00:00"},
            ["valid until none to 2026-05-01 12:00"],
        ),
        (
            {"valid_to": "2026-05-01T23:30:00+00:00"},
            {"valid_to": datetime(2026, 12, 1, 10, tzinfo=UTC)},
            ["valid until 2026-05-02 01:30 to 2026-12-01 11:00"],
        ),
        ({"dedupe_key": "x", "category": None}, {"dedupe_key": "y", "category": ""}, []),
    ],
)
def test_a_change_is_a_sentence(
    before: dict[str, object], after: dict[str, object], words: list[str]
) -> None:
    with timezone.override("Europe/Oslo"):
        assert change_words(before, after, names={"1": "Sarah", "2": "“Lisbon”"}) == words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "contradiction resolved: a_wins (she said so)",
            "settled: the earlier one was kept (she said so)",
        ),
        ("settlement undone: merged", "decision undone: merged into one text"),
        ("report resolved: b_wins (moved)", "settled: it was deleted (moved)"),
        ("report reopened: a_wins", "decision undone: it was kept"),
        ("pinned for staff:rob.", "pinned for rob (staff)."),
        (f"consolidation: link, run {UUID(int=7)}", "link"),
        (f"consolidation undone, run {UUID(int=7)}", "run undone"),
        ("feedback: wrong (moved)", "reported as wrong (moved)"),
        ("read the lease", "read the lease"),
    ],
)
def test_a_reason_is_told_without_codes(reason: str, words: str) -> None:
    assert reason_words(reason) == words


def test_an_entry_of_the_log_says_what_changed(inside: Cast, viewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team, importance=4)
    memory.importance = 7
    memory.save(update_fields=["importance"])
    entry = MemoryLog.objects.filter(memory_id=memory.pk).latest("seq")

    page = viewer_client.get(reverse("admin:audit_memorylog_change", args=[entry.pk]))
    listed = viewer_client.get(reverse("admin:audit_memorylog_changelist")).content.decode()

    text = page.content.decode()
    assert "importance 4 to 7" in text
    assert "<details><summary>Show state</summary>" in text
    assert "changed" in listed


def test_the_log_is_searched_by_the_words_for_an_actor(inside: Cast, viewer_client: Client) -> None:
    with team_scope(team_ids=[inside.team.id], actor="task:extract"):
        memory = MemoryFactory.create(team=inside.team)
    MemoryFactory.create(team=inside.team)

    answer = viewer_client.get(reverse("admin:audit_memorylog_changelist"), {"q": "extraction"})

    assert [row.memory_id for row in answer.context["cl"].result_list] == [memory.pk]


def test_the_menu_calls_a_list_as_its_page_does(inside: Cast, admin_client: Client) -> None:
    request = admin_client.get(reverse("admin:index")).wsgi_request
    lists = {
        str(item["link"]): item["title"] for group in navigation(request) for item in group["items"]
    }

    # Their lists are linked from the pages of what they belong to.
    elsewhere = {AgentVersion, TeamVersion, ConsolidationChange}

    for model in set(admin.site._registry) - elsewhere:
        link = reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")
        assert lists[link] == capfirst(model._meta.verbose_name_plural)
        answer = admin_client.get(link)
        if answer.status_code == 200:
            assert f"<title>{lists[link]}" in " ".join(answer.content.decode().split()).replace(
                "<title> ", "<title>"
            )


def test_somebody_with_a_name_is_called_by_it(inside: Cast, reviewer_client: Client) -> None:
    StaffUser.objects.filter(username="rob").update(first_name="Rob", last_name="Moe")
    memory = MemoryFactory.create(team=inside.team, actor="staff:rob")

    page = reviewer_client.get(reverse("admin:memory_memory_change", args=[memory.pk]))

    assert "Rob Moe (staff)" in page.content.decode()


def test_the_menu_has_at_most_fourteen_entries_and_folds_the_rest(
    inside: Cast, admin_client: Client
) -> None:
    request = admin_client.get(reverse("admin:index")).wsgi_request

    *shown, folded = navigation(request)

    assert sum(len(group["items"]) for group in shown) <= 14
    assert (folded["title"], folded["collapsible"]) == ("Advanced", True)


def test_a_side_that_somebody_stated_names_them(inside: Cast, reviewer_client: Client) -> None:
    stated = MemoryFactory.create(team=inside.team, status="disputed", actor="key:3b80a5af")
    pair = ContradictionFactory.create(team=inside.team, memory_a=stated, judge="staff:rob")

    page = reviewer_client.get(page_of(pair)).content.decode()

    assert "written by API key 3b80a5af" in page
    assert "rob (staff) reported it as wrong." in page


def test_a_version_and_a_consent_request_have_names(inside: Cast) -> None:
    version = AgentVersion(team=inside.team, agent=inside.kyra, number=3)
    request = ConsentRequest(
        team=inside.team, end_user=inside.sarah, field="preferred_name", content="Sally"
    )

    assert str(version) == "Version 3 of kyra"
    assert str(TeamVersion(team=inside.team, number=2)) == "Version 2 of Acme"
    assert str(request) == "preferred name of sarah"
