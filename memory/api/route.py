"""Which model a query is worth, without asking one that costs money."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.services.events import Event
from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_agent
from memory.api.operations import known_person
from memory.api.route_serializers import RouteRequestSerializer, RouteSerializer, route_answer
from memory.domain.viewer import Viewer
from routing.services.router import choose_route
from teams.models import EndUser, Team
from teams.tenancy import team_scope


class RouteViewSet(ApiViewSet):
    """The model router."""

    serializer_class = RouteSerializer
    operations = {"route": ("hotpath", "route")}

    @extend_schema(
        request=RouteRequestSerializer,
        responses={200: RouteSerializer, **refusals(403, 404, 422)},
    )
    def route(self, request: Request) -> Response:
        """The tier and model for a query, with the score, the reason, the cost and the budget left.

        The query is scored in five dimensions; the score stands for a tier, which the agent's
        document and the budget may change. No large model is called: at most the classifier of the
        server's settings, and nothing is spent on the answer itself. The decision is kept.
        """
        given = self.body(RouteRequestSerializer)
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            viewer, agent, _ = named_agent(
                principal=self.principal,
                agent=given["agent"],
                user=given.get("user"),
                project=None,
            )
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
        return Response(route_answer(route))


def _person(viewer: Viewer) -> EndUser | None:
    """Whom the query is from; one the team has never seen has a budget and has spent nothing."""
    if viewer.end_user_id is None:
        return None
    known = EndUser.objects.filter(team_id=viewer.team_id, pk=viewer.end_user_id).first()
    return known or EndUser(id=viewer.end_user_id, team_id=viewer.team_id)
