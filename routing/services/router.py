"""The model router: the cheapest model that can answer a query (seed 000, ModelRouter)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from routing.domain.budgets import BudgetLeft, TierEstimate
from routing.domain.choices import Expected, ModelChoice, estimate_tokens, expected_output
from routing.domain.complexity import ComplexityScore, Tier
from routing.domain.ladder import Ladder, Means, Rules, at_most, choose_tier, holding, in_order
from routing.models import RoutingDecision
from routing.services.budgets import budget_left
from routing.services.complexity import Scored, heuristic_score, score
from routing.services.decisions import ACTOR, hash_of, keep_by_itself, told_scores
from routing.services.models import Catalogue, catalogue_of
from routing.services.paid_calls import Payer
from routing.services.routes import NoModelConfiguredError, Route
from teams.domain.agent_document import ModelConfig
from teams.models import Agent, EndUser, Team
from teams.services.agents import model_config_of
from teams.services.team_settings import flags_of
from teams.tenancy import team_scope


@dataclass(frozen=True, slots=True)
class _Way:
    """The models in their order, and what led to it."""

    tier: Tier
    choices: tuple[ModelChoice, ...]
    reason: str
    ladder: Ladder


def choose_route(
    *,
    team: Team,
    agent: Agent,
    end_user: EndUser | None,
    query: str,
    history: Sequence[str] = (),
    now: datetime,
    force_tier: Tier | None = None,
    history_turns: int | None = None,
    prompt_tokens: int | None = None,
    max_tokens: int | None = None,
    catalogue: Catalogue | None = None,
    is_kept: bool = True,
) -> Route:
    """Choose the model for `query` after `history` (texts of earlier turns, oldest first).

    `force_tier` is the caller's wish; the agent's own force_tier goes before it and max_tier over
    both. `prompt_tokens` counts all that will be sent where that is known, else query and history
    are estimated; `max_tokens` is the caller's limit on the answer. `catalogue` are the team's
    models where they are known already. The decision is kept, unless the caller does it, with
    `is_kept` False. Call it outside a transaction: a classifier model may be asked.

    Raises NoModelConfiguredError where the team's models are all disabled or above max_tier, and
    InvalidError for an agent whose model configuration cannot be read.
    """
    config = model_config_of(agent)
    is_routed = config.enable_model_routing and flags_of(team=team).model_routing
    is_scored = is_routed and not (force_tier or config.force_tier)
    # Who is not stored yet has a budget, and no name.
    known = None if end_user is None or end_user._state.adding else end_user
    payer = Payer(team, agent, known, lambda: now)
    scored = _scored(payer, query, history, history_turns, ask_model=is_scored)
    expected = Expected(
        input_tokens=prompt_tokens or sum(map(estimate_tokens, (query, *history))),
        output_tokens=expected_output(scored.score.output_length),
        output_limit=max_tokens,
    )
    left = budget_left(team=team, agent=agent, end_user=end_user, now=now, is_checked=False)
    if catalogue is None:
        with team_scope(team_ids=[team.pk], actor=ACTOR):
            catalogue = catalogue_of(team=team)
    if not catalogue.choices:
        raise NoModelConfiguredError(
            "The team has no enabled model of an enabled provider. A team admin enters or"
            " enables one under Models in the admin."
        )
    if is_routed:
        way = _routed(catalogue, config, force_tier, scored.score, expected, left)
    else:
        way = _single(catalogue, config)
    model, *fallbacks = way.choices
    estimated = expected.cost(model)
    decision = RoutingDecision(
        team=team,
        agent=agent,
        end_user=known,
        query_hash=hash_of(team_id=team.pk, query=query),
        scores=told_scores(scored.score),
        score=scored.score.weighted,
        scorer=scored.scorer,
        tier=way.tier.value,
        model=model.name,
        provider=model.provider,
        reason=way.reason,
        estimated_usd=estimated,
        at=now,
    )
    if is_kept:
        keep_by_itself(decision)
    return Route(
        tier=way.tier,
        model=model,
        fallbacks=tuple(fallbacks),
        score=scored.score,
        scorer=scored.scorer,
        reason=way.reason,
        estimated_usd=estimated,
        reservation_usd=max(map(expected.most, way.choices)),
        alternatives=_cheaper(way, expected),
        budget_left=left,
        expected=expected,
        decision=decision,
        lower={} if force_tier or config.force_tier else _below(way),
        is_configured=catalogue.is_configured,
    )


def _scored(
    payer: Payer, query: str, history: Sequence[str], history_turns: int | None, *, ask_model: bool
) -> Scored:
    """The score; where no tier depends on it, no classifier is paid for it."""
    if ask_model:
        return score(
            team_id=payer.team.pk,
            query=query,
            history=history,
            history_turns=history_turns,
            payer=payer,
        )
    turns = len(history) if history_turns is None else history_turns
    found = heuristic_score(query=query, history_turns=turns, history=history)
    return Scored(score=found, scorer="heuristics", cached=False)


def _routed(
    catalogue: Catalogue,
    config: ModelConfig,
    wish: Tier | None,
    score: ComplexityScore,
    expected: Expected,
    left: BudgetLeft,
) -> _Way:
    rules = Rules(
        force_tier=Tier(config.force_tier) if config.force_tier else None,
        wished_tier=wish,
        max_tier=Tier(config.max_tier) if config.max_tier else None,
    )
    ladder = holding(_ladder(catalogue, config), expected)
    means = Means(left.left_usd, is_nearly_gone=left.advice == "downgrade")
    chosen = choose_tier(
        ladder=ladder,
        score=score.weighted,
        asked=score.tier,
        rules=rules,
        means=means,
        expected=expected,
    )
    choices = in_order(ladder=ladder, chosen=chosen, means=means, expected=expected)
    return _Way(chosen.tier, choices, chosen.reason, ladder)


def _single(catalogue: Catalogue, config: ModelConfig) -> _Way:
    """The agent's one model; without a name the one that a query of middling score would get."""
    if not config.model_name:
        ladder = _ladder(catalogue, config)
        usual = _middle(ladder)
        words = f"Routing is off and the agent names no model: {usual} is used."
        return _Way(usual, tuple(ladder[usual]), words, {})
    words = "Routing is off: the agent's model_name is used."
    for tier, choices in catalogue.customised(config.custom_tiers).items():
        if choices[0].name == config.model_name:
            return _Way(tier, choices, words, {})
    usual = _middle(catalogue.ladder())
    known = next((each.tier for each in catalogue.choices if each.name == config.model_name), usual)
    return _Way(known, catalogue.named(config.model_name, tier=known), words, {})


def _ladder(catalogue: Catalogue, config: ModelConfig) -> Ladder:
    """The models that may answer for the agent: its own or the team's, up to its max_tier."""
    whole = catalogue.customised(config.custom_tiers) if config.custom_tiers else catalogue.ladder()
    ladder = at_most(whole, Tier(config.max_tier) if config.max_tier else None)
    if not ladder:
        raise NoModelConfiguredError(
            f"Every model of the team is above the agent's max_tier, {config.max_tier}. Raise it in"
            " the agent's document, or enter a cheaper model under Models in the admin."
        )
    return ladder


def _middle(ladder: Ladder) -> Tier:
    return next(tier for tier in (Tier.BALANCED, Tier.FAST, Tier.POWERFUL) if tier in ladder)


def _cheaper(way: _Way, expected: Expected) -> tuple[TierEstimate, ...]:
    return tuple(
        TierEstimate(tier.value, expected.most(choices[0])) for tier, choices in _below(way).items()
    )


def _below(way: _Way) -> Ladder:
    order = tuple(Tier)
    top = order.index(way.tier)
    return {tier: models for tier, models in way.ladder.items() if order.index(tier) < top}
