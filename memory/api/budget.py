"""What models may still cost: for an agent, and for one person it talks with."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.budget_output import BudgetLeftSerializer
from memory.api.callers import named_viewer
from memory.api.fields import NameField
from memory.api.input import StrictSerializer
from routing.services.cost_guard import budget_left
from teams.errors import InvalidError
from teams.models import Agent, EndUser, Team
from teams.tenancy import team_scope


class BudgetQuerySerializer(StrictSerializer):
    """Whose budget is asked for."""

    agent = NameField(required=False, help_text="May be left out with a key of one agent.")
    user = NameField(required=False, max_length=200)


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
