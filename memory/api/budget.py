"""What models may still cost: for an agent, and for one person it talks with."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_viewer
from memory.api.fields import NameField
from routing.domain.budgets import BudgetLeft, CapKind, CapLeft
from routing.services.cost_guard import budget_left
from teams.errors import InvalidError
from teams.models import Agent, EndUser, Team
from teams.tenancy import team_scope


class BudgetQuerySerializer(serializers.Serializer[Any]):
    """Whose budget is asked for."""

    agent = NameField(required=False, help_text="May be left out with a key of one agent.")
    user = NameField(required=False, max_length=200)


class BudgetCapSerializer(serializers.Serializer[CapLeft]):
    """One budget, in USD."""

    limit_usd = serializers.FloatField(source="cap.limit_usd")
    spent_usd = serializers.FloatField(source="balance.spent_usd")
    held_usd = serializers.FloatField(
        source="balance.held_usd", help_text="For calls under way, at most."
    )
    left_usd = serializers.FloatField()
    resets_at = serializers.DateTimeField(source="cap.resets_at")


class BudgetLeftSerializer(serializers.Serializer[BudgetLeft]):
    """What is left of each budget; null where none holds."""

    left_usd = serializers.FloatField(help_text="Of the tightest one: what a call may cost.")
    tightest = serializers.ChoiceField(
        source="tightest.cap.account.kind.value", choices=[kind.value for kind in CapKind]
    )
    advice = serializers.ChoiceField(
        choices=["go", "downgrade"],
        help_text="downgrade: one is nearly used up, and the router takes cheaper models.",
    )
    user_day = BudgetCapSerializer(allow_null=True)
    team_month = BudgetCapSerializer(allow_null=True)
    agent_day = BudgetCapSerializer(allow_null=True)
    agent_month = BudgetCapSerializer(allow_null=True)


class BudgetProblemSerializer(serializers.Serializer[Any]):
    """That a call may cost more than a budget has left; nothing was called."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    cap = serializers.ChoiceField(choices=[kind.value for kind in CapKind])
    limit = serializers.FloatField(help_text="Of that budget, in USD, as all amounts.")
    remaining = serializers.FloatField()
    estimated = serializers.FloatField(help_text="What the call may cost.")
    resets_at = serializers.DateTimeField()
    suggested_tier = serializers.CharField(
        allow_null=True, help_text="A tier that still fits; null where none does."
    )


class BudgetViewSet(ApiViewSet):
    """The cost guard."""

    serializer_class = BudgetLeftSerializer

    @extend_schema(
        operation_id="budget",
        parameters=[BudgetQuerySerializer],
        responses={200: BudgetLeftSerializer, **refusals(403, 404, 422)},
    )
    def left(self, request: Request) -> Response:
        """What models may still cost for an agent of the team, and for the end user named.

        Days and months are those of the team's time zone. Nobody has spent anything for a user the
        team has never seen.
        """
        given = self.params(BudgetQuerySerializer)
        slug = given.get("agent") or self.principal.agent_slug
        if not slug:
            raise InvalidError("Name an agent of the team.", field="agent")
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            viewer = named_viewer(
                principal=self.principal, agent=slug, user=given.get("user"), project=None
            )
            team = Team.objects.get(pk=viewer.team_id)
            agent = Agent.objects.get(team_id=viewer.team_id, slug=slug)
        end_user = None
        if viewer.end_user_id is not None:
            end_user = EndUser(id=viewer.end_user_id, team_id=viewer.team_id)
        left = budget_left(team=team, agent=agent, end_user=end_user, now=timezone.now())
        return Response(BudgetLeftSerializer(left).data)
