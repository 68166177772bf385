"""Which model the router chooses, and what it keeps of the choice."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import ProgrammingError, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from routing.domain.budgets import CapKind, Usage
from routing.domain.complexity import DIMENSIONS, Tier
from routing.models import ChatModel, RoutingDecision
from routing.services.cost_guard import BudgetExceededError, reserve, settle
from routing.services.router import (
    NoModelConfiguredError,
    Outcome,
    choose_route,
    hash_of,
    note_outcome,
)
from teams.errors import InvalidError
from teams.models import Agent, EndUser
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.chat_models import make_model, make_models, make_provider, names, route_of

HARD = (
    "Prove that the following lock-free queue is linearizable under the C++11 memory model, derive"
    " the weakest memory orders for each atomic operation step by step, compare it with two"
    " alternative designs, analyse why each fails under ABA, and design a new variant with a formal"
    " argument for its correctness. Give the complete annotated code and a detailed report of at"
    " least 2,000 words, with a table of trade-offs, considering NUMA, false sharing, reclamation"
    " by hazard pointers against epochs, and how the kernel scheduler changes the worst case."
)


def configure(agent: Agent, **config: object) -> None:
    """Give the agent a model configuration."""
    agent.model_config = config
    agent.save(update_fields=["model_config"])


def spend(cast: Cast, amount: str) -> None:
    """Let Sarah's conversations with Kyra have cost so much today."""
    now = timezone.now()
    held = reserve(
        team=cast.team, agent=cast.kyra, end_user=cast.sarah, estimated_usd=Decimal(0), now=now
    )
    settle(
        reservation=held,
        actual_usd=Decimal(amount),
        usage=Usage("swift", "fast", 1, 1),
        now=now,
    )


def test_an_easy_query_goes_to_the_fast_model_and_a_hard_one_higher(acme: Cast) -> None:
    make_models(acme)

    easy, hard = route_of(acme), route_of(acme, HARD)

    assert (easy.tier, easy.model.name) == (Tier.FAST, "swift")
    assert hard.score.weighted > easy.score.weighted
    assert hard.tier is hard.score.tier
    assert easy.reason == f"A score of {easy.score.weighted:.1f} falls in the tier fast."


@pytest.mark.parametrize("tier", list(Tier))
def test_a_forced_tier_holds_whatever_is_asked(acme: Cast, tier: Tier) -> None:
    make_models(acme)
    configure(acme.kyra, force_tier=tier.value)

    easy, hard = route_of(acme), route_of(acme, HARD, force_tier=Tier.BALANCED)

    assert easy.tier is hard.tier is tier
    assert f"force_tier is {tier}" in hard.reason


def test_the_caller_may_ask_for_a_tier_up_to_the_agents_highest(acme: Cast) -> None:
    make_models(acme)

    assert route_of(acme, force_tier=Tier.POWERFUL).model.name == "mighty"
    configure(acme.kyra, max_tier="balanced")
    capped = route_of(acme, force_tier=Tier.POWERFUL)

    assert capped.model.name == "steady"
    assert "max_tier is balanced" in capped.reason
    assert "mighty" not in names(capped.choices)


def test_no_model_above_the_highest_tier_stands_in(acme: Cast) -> None:
    make_models(acme)
    configure(acme.kyra, max_tier="fast")

    assert names(route_of(acme, HARD).choices) == ["swift"]


def test_an_agents_own_tiers_take_the_place_of_the_teams(acme: Cast) -> None:
    make_models(acme)
    own = {"cost_per_1k_input": 0.01, "cost_per_1k_output": 0.02}
    configure(
        acme.kyra,
        custom_tiers=[
            {"name": "fast", "model_name": "steady", **own},
            {"name": "powerful", "model_name": "brand-new", **own},
        ],
    )

    easy = route_of(acme)
    middle = route_of(acme, force_tier=Tier.BALANCED)

    assert names(easy.choices)[0] == "steady"
    assert (easy.tier, easy.model.tier) == (Tier.FAST, Tier.FAST)
    assert (easy.model.input_price, easy.model.output_price) == (Decimal("0.01"), Decimal("0.02"))
    assert {"swift", "mighty"}.isdisjoint(names(easy.choices))
    assert (middle.tier, middle.model.name) == (Tier.POWERFUL, "brand-new")
    assert middle.model.base_url == easy.model.base_url
    assert "No model of the tier balanced" in middle.reason


def test_with_routing_off_the_agents_model_answers_alone(acme: Cast) -> None:
    make_models(acme)
    configure(acme.kyra, enable_model_routing=False, model_name="mighty", max_tier="fast")

    route = route_of(acme, force_tier=Tier.FAST)

    assert names(route.choices) == ["mighty"]
    assert route.tier is Tier.POWERFUL
    assert "Routing is off" in route.reason
    assert set(route.score.dimensions) == set(DIMENSIONS)


def test_the_teams_flag_and_the_servers_switch_routing_off(acme: Cast, settings: Any) -> None:
    make_models(acme)
    configure(acme.kyra, model_name="some-model")
    assert route_of(acme).model.name == "swift"

    acme.team.feature_flags = {"model_routing": False}
    assert names(route_of(acme, HARD).choices) == ["some-model"]
    acme.team.feature_flags = {}
    settings.ENABLE_MODEL_ROUTING = False
    assert names(route_of(acme, HARD).choices) == ["some-model"]
    acme.team.feature_flags = {"model_routing": True}
    assert route_of(acme).model.name == "swift"


def test_with_routing_off_and_no_model_named_the_middle_tier_answers(acme: Cast) -> None:
    make_models(acme)
    configure(acme.kyra, enable_model_routing=False)

    assert names(route_of(acme, HARD).choices) == ["steady"]
    configure(acme.kyra, enable_model_routing=False, max_tier="fast")
    assert names(route_of(acme, HARD).choices) == ["swift"]


def test_with_routing_off_an_agents_own_tiers_still_take_the_place_of_the_teams(acme: Cast) -> None:
    make_models(acme)
    own = {"cost_per_1k_input": 0.01, "cost_per_1k_output": 0.02}
    tiers = [
        {"name": "fast", "model_name": "mine", **own},
        {"name": "powerful", "model_name": "mighty", **own},
    ]

    configure(acme.kyra, enable_model_routing=False, custom_tiers=tiers)
    unnamed = route_of(acme, HARD)
    configure(acme.kyra, enable_model_routing=False, custom_tiers=tiers, model_name="mighty")
    named = route_of(acme)

    assert names(unnamed.choices) == ["mine"]
    assert names(named.choices) == ["mighty"]
    assert {unnamed.model.input_price, named.model.input_price} == {Decimal("0.01")}


def test_a_nearly_spent_budget_means_the_cheapest_tier(
    acme: Cast, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make_models(acme)
    configure(acme.kyra, max_tier="powerful")
    acme.team.daily_user_budget_usd = Decimal(1)
    acme.team.save()
    before = route_of(acme, HARD)
    with django_capture_on_commit_callbacks(execute=True):
        spend(acme, "0.95")

    after = route_of(acme, HARD)
    forced = route_of(acme, HARD, force_tier=Tier.POWERFUL)
    someone_else = route_of(acme, HARD, end_user=acme.dmitri)

    assert before.tier is someone_else.tier is not Tier.FAST
    assert after.tier is Tier.FAST
    assert names(after.choices) == ["swift"]
    assert "budget is nearly used up" in after.reason
    assert forced.tier is Tier.POWERFUL
    assert after.budget_left.left_in(CapKind.USER_DAY) == Decimal("0.05")


def test_a_tier_that_the_budget_does_not_pay_for_is_left_for_a_cheaper_one(acme: Cast) -> None:
    make_models(acme)
    acme.team.daily_user_budget_usd = Decimal("0.06")
    acme.team.save()

    route = route_of(acme, HARD, force_tier=None, max_tokens=1_000)

    # 1,000 tokens of mighty may cost 0.075 USD, of steady 0.015.
    assert route.tier is not Tier.POWERFUL
    assert route.reservation_usd <= Decimal("0.06")


def test_what_is_reserved_covers_every_model_that_may_answer(acme: Cast) -> None:
    make_models(acme)

    route = route_of(acme, prompt_tokens=2_000, max_tokens=100)

    paid = [c.cost(input_tokens=2_000, output_tokens=100) for c in route.choices]
    assert route.reservation_usd == max(paid)
    assert route.estimated_usd <= paid[0]
    held = reserve(
        team=acme.team,
        agent=acme.kyra,
        end_user=acme.sarah,
        estimated_usd=route.reservation_usd,
        now=timezone.now(),
    )
    assert held.estimated_usd == route.reservation_usd


def test_an_exhausted_budget_suggests_what_still_fits(acme: Cast) -> None:
    make_models(acme)
    acme.team.daily_user_budget_usd = Decimal("0.02")
    acme.team.save()

    route = route_of(acme, force_tier=Tier.POWERFUL, prompt_tokens=100)

    with pytest.raises(BudgetExceededError) as caught:
        reserve(
            team=acme.team,
            agent=acme.kyra,
            end_user=acme.sarah,
            estimated_usd=route.reservation_usd,
            alternatives=route.alternatives,
            now=timezone.now(),
        )
    assert caught.value.suggested_tier == "balanced"


def test_cheaper_tiers_stand_in_first_and_dearer_ones_while_there_is_money(acme: Cast) -> None:
    make_models(acme)

    assert names(route_of(acme).choices) == ["swift", "steady", "mighty"]
    assert names(route_of(acme, force_tier=Tier.BALANCED).choices) == ["steady", "swift"]
    acme.team.daily_user_budget_usd = Decimal("0.5")
    acme.team.save()
    assert names(route_of(acme).choices) == ["swift", "steady"]


def test_a_model_too_small_for_the_prompt_is_passed_over(acme: Cast) -> None:
    provider = make_provider(acme)
    make_model(provider, "fast", context_window=2_000)
    make_model(provider, "balanced", context_window=100_000)

    assert route_of(acme).model.name == "swift"
    long = route_of(acme, prompt_tokens=50_000)

    assert names(long.choices) == ["steady"]
    assert "No model of the tier fast can take it, so balanced does." in long.reason


def test_priority_orders_a_tier_and_what_is_disabled_is_left_out(acme: Cast) -> None:
    provider = make_provider(acme)
    make_model(provider, "fast", name="second", priority=20)
    make_model(provider, "fast", name="first", priority=10)
    make_model(provider, "fast", name="off", priority=1, is_enabled=False)
    gone = make_provider(acme, name="gone", is_enabled=False)
    make_model(gone, "fast", name="unreachable", priority=1)

    assert names(route_of(acme).choices) == ["first", "second"]


def test_disabled_models_do_not_fall_back_to_the_servers(acme: Cast, settings: Any) -> None:
    settings.OPENAI_BASE_URL = "https://models.example/v1"
    make_models(acme)
    ChatModel.objects.update(is_enabled=False)

    with pytest.raises(NoModelConfiguredError, match="enables one"):
        route_of(acme)


def test_models_all_above_the_highest_tier_are_named_as_the_problem(acme: Cast) -> None:
    make_model(make_provider(acme), "powerful")
    configure(acme.kyra, max_tier="fast")

    with pytest.raises(NoModelConfiguredError, match="max_tier, fast"):
        route_of(acme)


def test_without_rows_the_settings_stand_with_the_seeds_prices(acme: Cast) -> None:
    route = route_of(acme)

    assert names(route.choices) == [
        "anthropic/claude-haiku-4.5",
        "anthropic/claude-sonnet-4.5",
    ]
    assert (route.model.input_price, route.model.output_price) == (
        Decimal("0.0008"),
        Decimal("0.004"),
    )
    assert not route.is_configured


def test_another_teams_models_are_not_seen(acme: Cast, globex: Cast) -> None:
    with team_scope(team_ids=[globex.team.id], actor="test"):
        make_models(globex)

    assert route_of(acme).model.provider == "settings"


def test_a_configuration_that_cannot_be_read_is_named(acme: Cast) -> None:
    configure(acme.kyra, force_tier="gigantic")

    with pytest.raises(InvalidError, match="force_tier"):
        route_of(acme)


# -- what is kept ----------------------------------------------------------------------------


def test_every_decision_is_kept_without_the_words(acme: Cast) -> None:
    make_models(acme)

    route = route_of(acme, "Where does Sarah live?")

    kept = RoutingDecision.objects.get(pk=route.decision_id)
    assert (kept.agent, kept.end_user, kept.tier, kept.model, kept.provider) == (
        acme.kyra,
        acme.sarah,
        "fast",
        "swift",
        "local",
    )
    assert kept.scorer == route.scorer
    assert kept.score == route.score.weighted
    assert {name: part["score"] for name, part in kept.scores.items()} == route.score.dimensions
    assert all(part["reason"] for part in kept.scores.values())
    assert kept.estimated_usd == route.estimated_usd > 0
    assert kept.reason == route.reason
    assert (kept.outcome, kept.cost_usd) == ("advised", None)
    assert kept.query_hash == hash_of(team_id=acme.team.pk, query="Where does Sarah live?")
    assert "Sarah live" not in str(kept.__dict__)


def test_a_hash_tells_equal_queries_of_one_team_alone(acme: Cast, globex: Cast) -> None:
    same = {hash_of(team_id=acme.team.pk, query="x") for _ in range(2)}
    others = {hash_of(team_id=globex.team.pk, query="x"), hash_of(team_id=acme.team.pk, query="y")}

    assert len(same) == 1
    assert len(same | others) == 3


def test_an_outcome_is_kept_once(acme: Cast) -> None:
    make_models(acme)
    route = route_of(acme)
    for outcome, cost in (("answered", Decimal("0.1")), ("failed", None)):
        told = Outcome(acme.team.pk, route.decision_id, outcome, route.model, (), cost)  # type: ignore[arg-type]
        note_outcome(told)

    kept = RoutingDecision.objects.get(pk=route.decision_id)
    assert (kept.outcome, kept.cost_usd) == ("answered", Decimal("0.1"))


@pytest.mark.parametrize("changes", [{"tier": "fast"}, {"query_hash": ""}, {"reason": "none"}])
def test_what_was_decided_is_not_changed_afterwards(acme: Cast, changes: dict[str, str]) -> None:
    route_of(acme)

    with pytest.raises(ProgrammingError), transaction.atomic():
        RoutingDecision.objects.update(**changes)
    with pytest.raises(ProgrammingError), transaction.atomic():
        RoutingDecision.objects.all().delete()


def test_who_is_erased_leaves_no_digest_of_a_question(acme: Cast) -> None:
    mine, other = route_of(acme), route_of(acme, end_user=acme.dmitri)

    EndUser.objects.filter(pk=acme.sarah.pk).update(external_id=f"erased-{acme.sarah.pk}")

    forgotten = RoutingDecision.objects.get(pk=mine.decision_id)
    assert (forgotten.query_hash, forgotten.scores) == ("", {})
    assert forgotten.model == mine.model.name
    assert RoutingDecision.objects.get(pk=other.decision_id).query_hash


def test_a_route_needs_no_end_user(acme: Cast) -> None:
    route = choose_route(
        team=acme.team, agent=acme.kyra, end_user=None, query="Hello", now=timezone.now()
    )

    assert route.budget_left.left_in(CapKind.USER_DAY) is None
    assert RoutingDecision.objects.get(pk=route.decision_id).end_user is None
