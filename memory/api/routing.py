"""The model router and the budgets of the cost guard."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from audit.services.events import Event
from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import NameField, OneOfField, QuestionField, TextField
from memory.api.request_events import known_person
from memory.api.schemas import PER_REQUEST, ApiSerializer, QuerySerializer, StrictSerializer
from memory.domain.audience import Viewer
from routing.domain.budgets import BudgetLeft, Cap, CapKind
from routing.domain.complexity import DIMENSIONS, Tier
from routing.services.cost_guard import budget_left
from routing.services.router import Route, choose_route, told_scores
from teams.errors import InvalidError
from teams.models import EndUser, Team
from teams.models.conversations import ROLES

CAPS = [kind.value for kind in CapKind]
_TURNS = {"user", "assistant"}
_TIERS = [tier.value for tier in Tier]
_SCORERS = ["heuristics", "model"]


class BudgetQuerySerializer(QuerySerializer):
    """The agent and the end user of the budgets."""

    agent = NameField(required=False, help_text="Optional with a key of one agent.")
    user = NameField(required=False, max_length=200)


class BudgetCapSerializer(ApiSerializer):
    """One budget, in USD."""

    limit_usd = serializers.FloatField()
    spent_usd = serializers.FloatField(source="balance.spent_usd")
    held_usd = serializers.FloatField(source="balance.held_usd", help_text="For calls in progress.")
    left_usd = serializers.FloatField()
    resets_at = serializers.DateTimeField()

    def get_attribute(self, instance: BudgetLeft) -> Cap | None:
        return instance.of(CapKind(self.field_name))


class BudgetLeftSerializer(ApiSerializer):
    """The amount left of each budget; null for a budget that is not set."""

    left_usd = serializers.FloatField(help_text="Of the tightest budget: what a call may cost.")
    tightest = serializers.ChoiceField(source="tightest.account.kind.value", choices=CAPS)
    advice = serializers.ChoiceField(
        choices=["go", "downgrade"],
        help_text="downgrade: a budget is nearly used up, and the router chooses cheaper models.",
    )
    user_day = BudgetCapSerializer(allow_null=True)
    team_month = BudgetCapSerializer(allow_null=True)
    agent_day = BudgetCapSerializer(allow_null=True)
    agent_month = BudgetCapSerializer(allow_null=True)


_CONTENT = {"type": "string", "maxLength": 32_000, "pattern": f"{TextField.pattern}|^$"}


class TurnSerializer(StrictSerializer):
    """An earlier message of the conversation."""

    role = OneOfField(choices=ROLES)
    content = TextField(max_length=32_000, allow_blank=True)


@extend_schema_field(
    {
        "oneOf": [
            _CONTENT,
            {
                "type": "object",
                "properties": {
                    "role": {"type": "string", "enum": [role for role, _ in ROLES]},
                    "content": _CONTENT,
                },
                "required": ["role", "content"],
                "additionalProperties": False,
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
    """A query to route: who answers it, for whom, and the conversation so far."""

    example = {
        "agent": "kyra",
        "user": "sarah",
        "query": "Which of our two suppliers is cheaper in the long run?",
        "history": ["We compare two suppliers."],
    }

    query = QuestionField()
    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    history = serializers.ListField(
        child=TurnField(),
        required=False,
        max_length=PER_REQUEST,
        help_text="The conversation so far, oldest first: texts, or objects of role and content.",
    )


class DimensionSerializer(ApiSerializer):
    """The query's score in one dimension."""

    score = serializers.FloatField(min_value=0, max_value=10)
    weight = serializers.FloatField(help_text="Its weight in the score.")
    reason = serializers.CharField()


class _ScoresBase(ApiSerializer):
    def to_representation(self, instance: Route) -> dict[str, Any]:
        return dict(told_scores(instance.score))


ScoresSerializer = type(
    "ScoresSerializer",
    (_ScoresBase,),
    {
        "__doc__": "The score of the query in each of five dimensions.",
        **{name: DimensionSerializer() for name in DIMENSIONS},
    },
)


class RoutedModelSerializer(ApiSerializer):
    """A model that is called if those before it fail."""

    model = serializers.CharField(source="name")
    provider = serializers.CharField()
    tier = serializers.ChoiceField(choices=_TIERS)


class RouteSerializer(ApiSerializer):
    """The model chosen for a query, and why."""

    tier = serializers.ChoiceField(choices=_TIERS)
    model = serializers.CharField(source="model.name")
    provider = serializers.CharField(source="model.provider")
    configured = serializers.BooleanField(
        source="is_configured",
        help_text="false: no endpoint is configured, so no model could be called.",
    )
    fallbacks = RoutedModelSerializer(many=True)
    score = serializers.FloatField(
        source="score.weighted",
        min_value=0,
        max_value=10,
        help_text="The weighted sum of the dimensions.",
    )
    scores = ScoresSerializer(source="*")
    scorer = serializers.ChoiceField(choices=_SCORERS)
    reason = serializers.CharField()
    estimated_cost_usd = serializers.FloatField(source="estimated_usd")
    budget_left = BudgetLeftSerializer()
    decision = serializers.UUIDField(source="decision_id", help_text="Id of the recorded decision.")


class RouteViewSet(ApiViewSet):
    """The model router."""

    operations = {"route": ("hotpath", "route")}

    @operation(body=RouteRequestSerializer, answer=RouteSerializer)
    def route(self, given: Given) -> Response:
        """The tier and model for a query, with score, reason, estimated cost and budget left.

        The query is scored in five dimensions; the score gives a tier, which the agent's document
        and the budget may change. No answer is generated: at most the classifier of the server's
        settings is called. The decision is stored.
        """
        with self.team_scope():
            viewer, agent = self.named_agent(given)
            team = Team.objects.get(pk=viewer.team_id)
            end_user = _person(viewer)
        route = choose_route(
            team=team,
            agent=agent,
            end_user=end_user,
            query=given["query"],
            history=[turn for turn in given.get("history", []) if turn],
            now=timezone.now(),
        )
        self.noted([Event(node="hotpath", op="route", end_user_id=known_person(viewer))])
        return Response(RouteSerializer(route).data)


class BudgetViewSet(ApiViewSet):
    """The cost guard."""

    @operation("budget", query=BudgetQuerySerializer, answer=BudgetLeftSerializer)
    def left(self, given: Given) -> Response:
        """The budget left for model calls of an agent, and of an end user if one is named.

        Days and months follow the team's time zone. For an unknown user nothing has been spent.
        """
        slug = given.get("agent") or self.principal.agent_slug
        if not slug:
            raise InvalidError("Name an agent of the team.", field="agent")
        with self.team_scope():
            viewer, agent = self.named_agent({**given, "agent": slug})
            team = Team.objects.get(pk=viewer.team_id)
            end_user = _person(viewer)
        left = budget_left(team=team, agent=agent, end_user=end_user, now=timezone.now())
        return Response(BudgetLeftSerializer(left).data)


def _person(viewer: Viewer) -> EndUser | None:
    """Whom the query is from; one the team has never seen has a budget and has spent nothing."""
    if viewer.end_user_id is None:
        return None
    known = EndUser.objects.filter(team_id=viewer.team_id, pk=viewer.end_user_id).first()
    return known or EndUser(id=viewer.end_user_id, team_id=viewer.team_id)
