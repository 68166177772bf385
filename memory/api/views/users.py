"""People: taken out of everything, after a second word."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from audit.services.erasure import (
    CONFIRM_SECONDS,
    confirmation_of,
    erase_confirmed,
    plan_erasure,
)
from memory.api.base import ApiViewSet, refusals
from memory.api.serializers.users import (
    ConfirmationSerializer,
    ErasedSerializer,
    ErasureToConfirmSerializer,
)


class UserViewSet(ApiViewSet):
    """The people that a team's agents talk with."""

    @extend_schema(
        operation_id="users_erase",
        parameters=[
            OpenApiParameter("external_id", OpenApiTypes.STR, OpenApiParameter.PATH),
            ConfirmationSerializer,
        ],
        request=None,
        responses={
            200: OpenApiResponse(ErasedSerializer, description="Erased permanently."),
            202: OpenApiResponse(
                ErasureToConfirmSerializer, description="Nothing is erased yet; confirm it."
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    def erase(self, request: Request, external_id: str) -> Response:
        """Make everything stored about a person unreadable, including log and messages.

        The first call changes nothing: it returns what would be erased and a confirmation that is
        valid for ten minutes and the same key. A second call with it erases. Order, counts and
        other people's memories stay. Needs a team key that is bound to no agent.
        """
        self.require_team_key("Erasing a person needs a key of the team, bound to no agent.")
        given = self.params(ConfirmationSerializer)
        team_id, actor = self.principal.team_id, self.principal.actor
        if "confirmation" in given:
            done = erase_confirmed(
                team_id=team_id,
                external_id=external_id,
                actor=actor,
                token=given["confirmation"],
                reason=given.get("reason", ""),
            )
            return Response(ErasedSerializer(done).data)
        plan = plan_erasure(team_id=team_id, external_id=external_id, actor=actor)
        answer = {
            "confirmation": confirmation_of(team_id=team_id, plan=plan, actor=actor),
            "expires_at": timezone.now() + timedelta(seconds=CONFIRM_SECONDS),
            "would_erase": plan,
        }
        return Response(ErasureToConfirmSerializer(answer).data, status=status.HTTP_202_ACCEPTED)
