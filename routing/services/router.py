"""The model router (seed 000, ModelRouter), and the stored decisions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils.crypto import salted_hmac

from routing.domain.budgets import BudgetLeft
from routing.domain.choices import (
    TIERS,
    Expected,
    Ladder,
    ModelChoice,
    Way,
    at_most,
    choose_way,
    estimate_tokens,
    expected_output,
    holding,
)
from routing.domain.complexity import WEIGHTS, ComplexityScore, Tier
from routing.models import RoutingDecision
from routing.services.complexity import Scored, heuristic_score, score
from routing.services.cost_guard import budget_left
from routing.services.models import Catalogue, catalogue_of
from routing.services.paid_calls import Payer
from teams.domain.agent_document import ModelConfig
from teams.errors import UnavailableError
from teams.ids import new_id
from teams.models import Agent, EndUser, Team
from teams.prepared import run_prepared
from teams.services.agents import model_config_of
from teams.services.team_settings import flags_of
from teams.tenancy import before_commit, team_scope

ACTOR = "routing"
# So many of each team are removed in one transaction.
_BATCH = 1_000

logger = logging.getLogger(__name__)


class NoModelConfiguredError(UnavailableError):
    """No model can be called until somebody configures one; the message says how."""

    retry_after_seconds = None


@dataclass(frozen=True, slots=True)
class Route:
    """The model for a query, the fallbacks if it fails, and the reason.

    `estimated_usd` is the probable cost of the call and `reservation_usd` the most it can cost,
    whichever model answers; `alternatives` is the latter for each cheaper tier. `lower` are the
    models of cheaper tiers that may answer instead; none if the agent or the caller named a tier.
    Unless `is_configured`, no endpoint is known and `call` refuses.
    """

    tier: Tier
    choices: tuple[ModelChoice, ...]
    score: ComplexityScore
    scorer: str
    reason: str
    budget_left: BudgetLeft
    expected: Expected
    decision: RoutingDecision
    alternatives: Mapping[str, Decimal]
    lower: Ladder
    is_configured: bool

    @property
    def team_id(self) -> UUID:
        """The team of the decision."""
        return self.decision.team_id

    @property
    def decision_id(self) -> UUID:
        """The id of the decision, stored or not."""
        return self.decision.pk

    @property
    def model(self) -> ModelChoice:
        """The model that is called first."""
        return self.choices[0]

    @property
    def fallbacks(self) -> tuple[ModelChoice, ...]:
        """The models after it, in the order of calling."""
        return self.choices[1:]

    @property
    def estimated_usd(self) -> Decimal:
        """The probable cost of the call."""
        return self.expected.cost(self.model)

    @property
    def reservation_usd(self) -> Decimal:
        """The most that the call can cost."""
        return max(map(self.expected.most, self.choices))


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
    """Chooses the model for `query` after `history` (texts of earlier turns, oldest first).

    `force_tier` is the caller's wish; the agent's own force_tier goes before it and max_tier over
    both. `prompt_tokens` counts all that will be sent, else query and history are estimated;
    `max_tokens` is the caller's limit on the answer. `catalogue` are the team's models if they are
    known already. The decision is stored unless `is_kept` is False. Call it outside a transaction:
    a classifier model may be asked.

    Raises NoModelConfiguredError if the team's models are all disabled or above max_tier, and
    InvalidError for an agent's invalid model configuration.
    """
    config = model_config_of(agent)
    is_routed = config.enable_model_routing and flags_of(team=team).model_routing
    forced = force_tier or config.force_tier
    # Whoever is not stored yet has a budget, and no name.
    known = None if end_user is None or end_user._state.adding else end_user
    turns = len(history) if history_turns is None else history_turns
    if is_routed and not forced:
        payer = Payer(team, agent, known, lambda: now)
        scored = score(
            team_id=team.pk, query=query, history=history, history_turns=turns, payer=payer
        )
    else:
        # No tier depends on the score, so no classifier is paid for.
        found = heuristic_score(query=query, history_turns=turns, history=history)
        scored = Scored(found, "heuristics", cached=False)
    expected = Expected(
        input_tokens=prompt_tokens or sum(map(estimate_tokens, (query, *history))),
        output_tokens=expected_output(scored.score.output_length),
        output_limit=max_tokens,
    )
    left = budget_left(team=team, agent=agent, end_user=end_user, now=now)
    if catalogue is None:
        with team_scope(team_ids=[team.pk], actor=ACTOR):
            catalogue = catalogue_of(team=team)
    if not catalogue.choices:
        raise NoModelConfiguredError(
            "The team has no enabled model of an enabled provider. A team admin enters or"
            " enables one under Models in the admin."
        )
    if is_routed:
        way = choose_way(
            ladder=holding(_ladder(catalogue, config), expected),
            score=scored.score.weighted,
            expected=expected,
            left_usd=left.left_usd,
            is_nearly_gone=left.advice == "downgrade",
            force_tier=Tier(config.force_tier) if config.force_tier else None,
            wished_tier=force_tier,
            max_tier=Tier(config.max_tier) if config.max_tier else None,
        )
    else:
        way = _single(catalogue, config)
    below = TIERS[: TIERS.index(way.tier)]
    lower = {tier: way.ladder[tier] for tier in below if tier in way.ladder}
    decision = RoutingDecision(
        team=team,
        agent=agent,
        end_user=known,
        query_hash=hash_of(team_id=team.pk, query=query),
        scores=told_scores(scored.score),
        score=scored.score.weighted,
        scorer=scored.scorer,
    )
    route = Route(
        tier=way.tier,
        choices=way.choices,
        score=scored.score,
        scorer=scored.scorer,
        reason=way.reason,
        budget_left=left,
        expected=expected,
        decision=decision,
        alternatives={tier.value: expected.most(models[0]) for tier, models in lower.items()},
        lower={} if forced else lower,
        is_configured=catalogue.is_configured,
    )
    _describe(decision, route, now)
    if is_kept:
        keep_by_itself(decision)
    return route


def cheapest_within(*, route: Route, left_usd: Decimal, now: datetime) -> Route | None:
    """The route of the cheapest tier that `left_usd` pays for; None if nothing cheaper fits."""
    for tier, choices in route.lower.items():
        if max(map(route.expected.most, choices)) > left_usd:
            continue
        decision = copy(route.decision)
        decision.pk, decision._state.adding = new_id(), True
        cheaper = replace(
            route,
            tier=tier,
            choices=tuple(choices),
            reason=f"{route.reason} Others hold what is left of the budget, so {tier} does.",
            decision=decision,
            alternatives={},
            lower={},
        )
        _describe(decision, cheaper, now)
        return cheaper
    return None


def _describe(decision: RoutingDecision, route: Route, now: datetime) -> None:
    decision.tier, decision.reason, decision.at = route.tier.value, route.reason, now
    decision.model, decision.provider = route.model.name, route.model.provider
    decision.estimated_usd = route.estimated_usd


def _single(catalogue: Catalogue, config: ModelConfig) -> Way:
    """The agent's one model; without a name the one that a query of middling score would get."""
    if not config.model_name:
        ladder = _ladder(catalogue, config)
        usual = _middle(ladder)
        words = f"Routing is off and the agent names no model: {usual} is used."
        return Way(usual, tuple(ladder[usual]), words)
    words = "Routing is off: the agent's model_name is used."
    for tier, choices in catalogue.customised(config.custom_tiers).items():
        if choices[0].name == config.model_name:
            return Way(tier, choices, words)
    usual = _middle(catalogue.ladder())
    known = next((each.tier for each in catalogue.choices if each.name == config.model_name), usual)
    return Way(known, catalogue.named(config.model_name, tier=known), words)


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


@dataclass(frozen=True, slots=True)
class Attempt:
    """A model that did not answer, and why; the reason holds no prompt, answer or key."""

    model: str
    provider: str
    failure: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a decision; `choice` is the model that answered, if one did."""

    team_id: UUID
    decision_id: UUID
    outcome: Literal["answered", "cut", "failed"]
    choice: ModelChoice | None
    attempts: Sequence[Attempt]
    cost_usd: Decimal | None


Keep = Callable[[Outcome], None]


def hash_of(*, team_id: UUID, query: str) -> str:
    """A keyed digest, equal for equal queries of a team."""
    return salted_hmac("routing.query", f"{team_id}:{query}", algorithm="sha256").hexdigest()


def told_scores(score: ComplexityScore) -> dict[str, dict[str, object]]:
    """The score, weight and reason of each dimension, for answers and rows."""
    return {
        name: {"score": value, "weight": WEIGHTS[name], "reason": score.reasons.get(name, "")}
        for name, value in score.dimensions.items()
    }


def keep_by_itself(decision: RoutingDecision) -> None:
    """Stores the decision in a transaction of its own."""
    with team_scope(team_ids=[decision.team_id], actor=ACTOR):
        decision.save(force_insert=True)


def write_outcome(told: Outcome) -> None:
    """Stores an outcome unless the decision has one; call it in the team's scope."""
    waiting = RoutingDecision.objects.filter(
        team_id=told.team_id, pk=told.decision_id, outcome="advised"
    )
    waiting.update(
        outcome=told.outcome,
        answered_by=told.choice.name if told.choice else "",
        attempts=[asdict(each) for each in told.attempts],
        cost_usd=told.cost_usd,
    )


def note_outcome(told: Outcome) -> None:
    """Stores an outcome in a transaction of its own; if the database is down it is only logged."""
    try:
        with before_commit(None), team_scope(team_ids=[told.team_id], actor=ACTOR):
            write_outcome(told)
    except (DatabaseError, InterfaceError):
        logger.warning("The outcome %s of a decision was not kept.", told.outcome, exc_info=True)


def prune_decisions(*, now: datetime) -> int:
    """Removes the decisions older than DECISION_DAYS, none if that is 0; returns how many."""
    if not settings.DECISION_DAYS:
        return 0
    before, removed = now - timedelta(days=settings.DECISION_DAYS), 0
    while True:
        ((batch,),) = run_prepared("SELECT palimpsest_prune_decisions($1, $2)", [before, _BATCH])
        removed += int(batch)
        if not batch:
            return removed
