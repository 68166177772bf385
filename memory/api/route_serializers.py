"""What a route is asked for, and how it is answered."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.budget_output import BudgetLeftSerializer
from memory.api.fields import NameField, OneOfField, QuestionField, TextField
from memory.api.input import PER_REQUEST, StrictSerializer
from routing.domain.choices import ModelChoice
from routing.domain.complexity import DIMENSIONS, Tier
from routing.services.decisions import told_scores
from routing.services.routes import Route
from teams.models.conversations import ROLES

_TURNS = {"user", "assistant"}
_TIERS = [tier.value for tier in Tier]
_SCORERS = ["heuristics", "model"]


class TurnSerializer(StrictSerializer):
    """An earlier message of the conversation."""

    role = OneOfField(choices=ROLES)
    content = TextField(max_length=32_000, allow_blank=True)


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {
                    "role": {"type": "string", "enum": [role for role, _ in ROLES]},
                    "content": {"type": "string", "maxLength": 32_000},
                },
                "required": ["role", "content"],
            },
        ]
    }
)
class TurnField(serializers.Field[str, Any, Any, Any]):
    """An earlier message: its text, or an object of role and content."""

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        if isinstance(data, str):
            data = {"role": "user", "content": data}
        turn = TurnSerializer(data=data)
        turn.is_valid(raise_exception=True)
        # Instructions and the results of tools are no turns of the talk.
        return str(turn.validated_data["content"]) if turn.validated_data["role"] in _TURNS else ""


class RouteRequestSerializer(StrictSerializer):
    """The query that is to be answered, by whom, for whom and after what."""

    query = QuestionField()
    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    history = serializers.ListField(
        child=TurnField(),
        required=False,
        max_length=PER_REQUEST,
        help_text="The conversation so far, oldest first: texts, or objects of role and content.",
    )


class DimensionSerializer(serializers.Serializer[Any]):
    """One judgement of the query."""

    score = serializers.FloatField(min_value=0, max_value=10)
    weight = serializers.FloatField(help_text="What it counts in the score.")
    reason = serializers.CharField()


ScoresSerializer = type(
    "ScoresSerializer",
    (serializers.Serializer,),
    {"__doc__": "The five judgements.", **{name: DimensionSerializer() for name in DIMENSIONS}},
)


class RoutedModelSerializer(serializers.Serializer[Any]):
    """A model that is asked when those before it fail."""

    model = serializers.CharField()
    provider = serializers.CharField()
    tier = serializers.ChoiceField(choices=_TIERS)


class RouteSerializer(serializers.Serializer[Any]):
    """Which model answers the query best for the least money, and why."""

    tier = serializers.ChoiceField(choices=_TIERS)
    model = serializers.CharField()
    provider = serializers.CharField()
    configured = serializers.BooleanField(
        help_text="false: no endpoint is known yet, so no model could be called."
    )
    fallbacks = RoutedModelSerializer(many=True)
    score = serializers.FloatField(min_value=0, max_value=10, help_text="The weighted sum.")
    scores = ScoresSerializer()
    scorer = serializers.ChoiceField(choices=_SCORERS)
    reason = serializers.CharField()
    estimated_cost_usd = serializers.FloatField()
    budget_left = BudgetLeftSerializer()
    decision = serializers.UUIDField(help_text="The row that was kept of it.")


def route_answer(route: Route) -> dict[str, Any]:
    """The route as RouteSerializer describes it."""
    return {
        "tier": route.tier.value,
        "model": route.model.name,
        "provider": route.model.provider,
        "configured": route.is_configured,
        "fallbacks": [_model(choice) for choice in route.fallbacks],
        "score": route.score.weighted,
        "scores": told_scores(route.score),
        "scorer": route.scorer,
        "reason": route.reason,
        "estimated_cost_usd": float(route.estimated_usd),
        "budget_left": BudgetLeftSerializer(route.budget_left).data,
        "decision": str(route.decision_id),
    }


def _model(choice: ModelChoice) -> dict[str, str]:
    return {"model": choice.name, "provider": choice.provider, "tier": choice.tier.value}
