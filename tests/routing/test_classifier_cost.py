"""A classifier model's cost is reserved before and counted after the call, as for any call."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from routing.domain.complexity import DIMENSIONS, ComplexityScore
from routing.models import SpendEntry, SpendReservation
from routing.services.complexity import Classifier, classified
from routing.services.paid_calls import Payer
from routing.services.router import Route
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.chat_models import make_models, route_of
from tests.support.openai_server import FakeOpenAI, answer, error

JUDGED = {name: {"why": "plain", "score": 1} for name in DIMENSIONS}


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.CLASSIFIER_MODEL = f"judge-{uuid4().hex[:8]}"
        settings.CLASSIFIER_INPUT_PRICE = Decimal("0.5")
        settings.CLASSIFIER_OUTPUT_PRICE = Decimal("2")
        yield fake


@pytest.fixture
def cast(committed_db: None) -> Cast:
    """A team with models, whose rows others see."""
    made = make_cast(f"judged-{uuid4().hex[:8]}")
    with team_scope(team_ids=[made.team.pk], actor="test"):
        make_models(made)
        Team.objects.filter(pk=made.team.pk).update(daily_user_budget_usd=Decimal(1_000))
        made.team.refresh_from_db()
    return made


def spent(cast: Cast) -> list[SpendEntry]:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return list(SpendEntry.objects.filter(team=cast.team))


def held(cast: Cast) -> int:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return SpendReservation.objects.filter(team=cast.team).count()


def asked(cast: Cast) -> Route:
    return route_of(cast, now=timezone.now())


def test_its_tokens_are_paid_for_by_whose_query_it_judges(
    cast: Cast, server: FakeOpenAI, settings: Settings
) -> None:
    server.will(answer(JUDGED))

    route = asked(cast)

    (entry,) = spent(cast)
    assert route.scorer == "model"
    assert (entry.model, entry.tier) == (settings.CLASSIFIER_MODEL, "classifier")
    assert entry.end_user_id == cast.sarah.pk
    expected = entry.input_tokens * Decimal("0.5") + entry.output_tokens * Decimal(2)
    assert entry.cost_usd == expected / 1000 > 0
    assert held(cast) == 0


def test_no_connection_is_held_while_it_is_waited_for(cast: Cast) -> None:
    held_then: list[bool] = []

    class Waiting(Classifier):
        """Looks whether its caller holds a connection, and answers nothing of use."""

        def __init__(self) -> None:
            self.name = "waiting"

        def classify(self, **asked: object) -> ComplexityScore:
            held_then.append(connection.connection is not None)
            return ComplexityScore(1, 1, 0, 0, 1)

    payer = Payer(cast.team, cast.kyra, cast.sarah)
    classified(classifier=Waiting(), query="So?", history=[], history_turns=0, payer=payer)

    assert held_then == [False]


def test_an_answer_asked_for_twice_costs_both_times(cast: Cast, server: FakeOpenAI) -> None:
    server.will(answer("no scores"), answer(JUDGED), answer(JUDGED))

    asked(cast)
    route_of(cast, query="What time was it?", end_user=cast.dmitri)

    cost = {entry.end_user_id: entry for entry in spent(cast)}
    once, twice = cost[cast.dmitri.pk], cost[cast.sarah.pk]
    assert len(server.chats) == 3
    assert twice.input_tokens > 1.5 * once.input_tokens
    assert twice.output_tokens > once.output_tokens


def test_a_score_that_is_kept_costs_nothing(cast: Cast, server: FakeOpenAI) -> None:
    server.will(answer(JUDGED))

    asked(cast)
    asked(cast)

    assert len(spent(cast)) == 1


def test_a_model_that_does_not_answer_costs_nothing(cast: Cast, server: FakeOpenAI) -> None:
    server.will(error(500))

    route = asked(cast)

    assert route.scorer == "heuristics"
    assert spent(cast) == []
    assert held(cast) == 0


def test_without_money_for_it_the_heuristics_speak(cast: Cast, server: FakeOpenAI) -> None:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        Team.objects.filter(pk=cast.team.pk).update(daily_user_budget_usd=Decimal("0.000001"))
        cast.team.refresh_from_db()

    route = asked(cast)

    assert route.scorer == "heuristics"
    assert server.chats == []
    assert spent(cast) == []


def test_one_without_a_price_is_asked_and_not_counted(
    cast: Cast, server: FakeOpenAI, settings: Settings
) -> None:
    settings.CLASSIFIER_INPUT_PRICE = settings.CLASSIFIER_OUTPUT_PRICE = Decimal(0)
    server.will(answer(JUDGED))

    assert asked(cast).scorer == "model"
    assert spent(cast) == []
