"""The model router and the budgets of the cost guard."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.services.events import Event
from memory.api.base import ApiViewSet, refusals
from memory.api.request_events import known_person
from memory.api.serializers.routing import (
    BudgetLeftSerializer,
    BudgetQuerySerializer,
    RouteRequestSerializer,
    RouteSerializer,
)
from memory.domain.viewer import Viewer
from routing.services.cost_guard import budget_left
from routing.services.router import choose_route
from teams.errors import InvalidError
from teams.models import EndUser, Team


class RouteViewSet(ApiViewSet):
    """The model router."""

    serializer_class = RouteSerializer
    operations = {"route": ("hotpath", "route")}

    @extend_schema(
        request=RouteRequestSerializer,
        responses={200: RouteSerializer, **refusals(403, 404, 422)},
    )
    def route(self, request: Request) -> Response:
        """The tier and model for a query, with score, reason, estimated cost and budget left.

        The query is scored in five dimensions; the score gives a tier, which the agent's document
        and the budget may change. No answer is generated: at most the classifier of the server's
        settings is called. The decision is stored.
        """
        given = self.body(RouteRequestSerializer)
        with self.team_scope():
            viewer, agent, _ = self.named_agent(given)
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

    serializer_class = BudgetLeftSerializer

    @extend_schema(
        operation_id="budget",
        parameters=[BudgetQuerySerializer],
        responses={200: BudgetLeftSerializer, **refusals(403, 404, 422)},
    )
    def left(self, request: Request) -> Response:
        """What models may still cost for an agent, and for an end user if one is named.

        Days and months follow the team's time zone. For an unknown user nothing has been spent.
        """
        given = self.params(BudgetQuerySerializer)
        slug = given.get("agent") or self.principal.agent_slug
        if not slug:
            raise InvalidError("Name an agent of the team.", field="agent")
        with self.team_scope():
            viewer, agent, _ = self.named_agent({**given, "agent": slug})
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
