"""A login of another team learns nothing of a team, wherever it looks or asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from django.contrib import admin
from django.db.models import ForeignKey
from django.test import Client
from django.urls import reverse

from memory.models import Category
from routing.models import SpendEntry
from teams.services.people import set_aliases
from teams.tenancy import team_scope
from tests.admin.test_visibility import fill
from tests.factories import StaffUserFactory
from tests.support.admin import SignIn, join
from tests.support.cast import Cast
from tests.support.chat_models import make_models, route_of

MARK = "acmemark"
WORDS = (MARK, "Acme", "kyra-of-acme", "sarah-of-acme", "swift-of-acme", "acme-login")
ROLES = ("admin", "viewer")


def searchable() -> Iterator[tuple[str, str, str]]:
    """Every choice that completes what is typed: the app, the model and its field."""
    for model in admin.site._registry:
        for field in model._meta.get_fields():
            if not isinstance(field, ForeignKey):
                continue
            other = admin.site._registry.get(field.related_model)
            if other is not None and other.search_fields:
                yield model._meta.app_label, str(model._meta.model_name), field.name


@pytest.fixture
def filled(cast: Cast) -> Cast:
    """Acme with rows of every kind, its people and agents by names that nobody else has."""
    fill(cast, MARK)
    join(StaffUserFactory.create(username="acme-login"), cast.team, "admin")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        type(cast.kyra).objects.filter(pk=cast.kyra.pk).update(slug="kyra-of-acme")
        type(cast.sarah).objects.filter(pk=cast.sarah.pk).update(external_id="sarah-of-acme")
        set_aliases(agent=cast.luke, names=[f"{MARK}-alias"], actor="test")
        Category.objects.create(team=cast.team, name=f"{MARK}-category")
        provider = make_models(cast, name=f"{MARK}-provider")
        provider.chat_models.filter(name="swift").update(name="swift-of-acme")
        route_of(cast)
        assert not SpendEntry.objects.exists()
    return cast


@pytest.fixture(params=ROLES)
def stranger(others: Cast, sign_in: SignIn, request: pytest.FixtureRequest) -> Client:
    """Eve of Globex."""
    return sign_in((others.team, request.param), name="eve")


def test_every_list_is_silent_with_its_filters_and_counts(filled: Cast, stranger: Client) -> None:
    looked = 0
    for model in admin.site._registry:
        url = reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")
        for query in ("", "?q=acmema", "?q=kyra-of-acm", "?state=all", "?validity=all"):
            answer = stranger.get(f"{url}{query}")
            if answer.status_code in (302, 403):
                # A filter that this list does not have, or a list for superusers.
                continue
            text = answer.content.decode()
            assert [word for word in WORDS if word in text] == [], url
            looked += 1
    assert looked > 30


def test_every_choice_that_completes_what_is_typed_is_silent(
    filled: Cast, stranger: Client
) -> None:
    asked = 0
    for app, model, field in searchable():
        for term in ("", "a"):
            answer = stranger.get(
                reverse("admin:autocomplete"),
                {"app_label": app, "model_name": model, "field_name": field, "term": term},
            )
            assert answer.status_code in (200, 403)
            if answer.status_code == 200:
                found = json.loads(answer.content)
                assert [word for word in WORDS if word in json.dumps(found)] == []
                asked += 1
    assert asked > 10


def test_every_form_to_add_a_row_offers_nothing_of_it(filled: Cast, stranger: Client) -> None:
    for model in admin.site._registry:
        answer = stranger.get(reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_add"))
        assert [word for word in WORDS if word in answer.content.decode()] == []


def test_the_first_page_and_the_search_are_silent(filled: Cast, stranger: Client) -> None:
    for url in (reverse("admin:index"), f"{reverse('admin:search')}?s=acmema"):
        text = stranger.get(url).content.decode()
        assert [word for word in WORDS if word in text] == []


def test_whether_a_row_exists_elsewhere_makes_no_difference(
    filled: Cast, others: Cast, stranger: Client
) -> None:
    """A slug that another team uses is free here, and its rows are no more there than none."""
    form = {"team": others.team.pk, "slug": f"{MARK}-project", "name": "Mine"}
    used = stranger.post(reverse("admin:teams_project_add"), form)
    free = stranger.post(reverse("admin:teams_project_add"), {**form, "slug": "free"})
    known = stranger.get(reverse("admin:teams_agent_change", args=[filled.kyra.pk]))
    unknown = stranger.get(reverse("admin:teams_agent_change", args=[others.team.pk]))

    assert used.status_code == free.status_code
    assert known.status_code == unknown.status_code == HTTPStatus.NOT_FOUND
    assert filled.team.name not in known.content.decode()
