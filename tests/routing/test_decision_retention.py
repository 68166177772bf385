"""Decisions are kept for DECISION_DAYS, and by nobody removed before."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import ProgrammingError, transaction
from django.utils import timezone
from pytest_django import Settings

from routing.models import RoutingDecision
from routing.services.router import prune_decisions
from teams.prepared import run_prepared
from tests.support.cast import Cast
from tests.support.chat_models import make_models, route_of


def test_old_decisions_go_and_young_ones_stay(acme: Cast, globex: Cast, settings: Settings) -> None:
    settings.DECISION_DAYS = 30
    now = timezone.now()
    make_models(acme)
    old = route_of(acme, now=now - timedelta(days=31))
    young = route_of(acme, now=now - timedelta(days=29))

    removed = prune_decisions(now=now)

    kept = set(RoutingDecision.objects.filter(team=acme.team).values_list("pk", flat=True))
    assert removed == 1
    assert young.decision_id in kept
    assert old.decision_id not in kept


def test_without_a_limit_they_are_kept_for_ever(acme: Cast, settings: Settings) -> None:
    settings.DECISION_DAYS = 0
    make_models(acme)
    old = route_of(acme, now=timezone.now() - timedelta(days=4_000))

    assert prune_decisions(now=timezone.now()) == 0
    assert RoutingDecision.objects.filter(pk=old.decision_id).exists()


def test_nobody_removes_what_was_decided_within_a_day(acme: Cast) -> None:
    make_models(acme)
    kept = route_of(acme)

    with pytest.raises(ProgrammingError, match="a day at least"), transaction.atomic():
        run_prepared("SELECT palimpsest_prune_decisions($1, $2)", [timezone.now(), 10])

    assert RoutingDecision.objects.filter(pk=kept.decision_id).exists()
    before = timezone.now() - timedelta(days=2)
    assert run_prepared("SELECT palimpsest_prune_decisions($1, $2)", [before, 10]) == [(0,)]
