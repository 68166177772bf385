"""Consent requests: listed, approved and rejected."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers
from memory.api.serializers.base import page_schema
from memory.satellites.consent.deciding import approve_request, reject_request
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.selectors import requests_visible_to
from memory.satellites.consent.serializers import (
    ConsentDecisionSerializer,
    ConsentFilterSerializer,
    ConsentRequestSerializer,
)
from memory.satellites.consent.undoing import undo_decision
from memory.understanding.tools import default_tools

ConsentRequestPage = page_schema("ConsentRequestPage", ConsentRequestSerializer)


class ConsentRequestViewSet(ApiViewSet):
    """Changes of people's profiles that wait for a yes."""

    lookup_value_converter = "uuid"
    memory_actions = ("list", "approve", "reject", "undo")
    serializer_class = ConsentRequestSerializer

    @extend_schema(
        parameters=[ConsentFilterSerializer],
        responses=answers(ConsentRequestPage, 403, 422),
    )
    def list(self, request: Request) -> Response:
        """Consent requests, the latest first; those that wait by default.

        A key of one agent sees those of people that it has talked with or of whom it may see a
        memory.
        """
        return self.listed(
            self._rows, filters=ConsentFilterSerializer, shown=ConsentRequestSerializer
        )

    @extend_schema(
        request=ConsentDecisionSerializer,
        responses=answers(ConsentRequestSerializer, 403, 404, 409, 422),
    )
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: UUID) -> Response:
        """Say yes on behalf of the person: the proposed value takes the place of the present one.

        What else a replaced memory says is kept as a memory of its own.

        Whoever proposed it may not (403).
        """
        given = self.body(ConsentDecisionSerializer)
        approve_request(
            viewer=self.viewer,
            request_id=pk,
            tools=default_tools(),
            now=timezone.now(),
            note=given.get("note") or "",
        )
        return self._shown(pk)

    @extend_schema(
        request=ConsentDecisionSerializer,
        responses=answers(ConsentRequestSerializer, 403, 404, 409, 422),
    )
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: UUID) -> Response:
        """Say no: the present value stays, and the same messages do not propose it again.

        Whoever proposed it may not (403).
        """
        given = self.body(ConsentDecisionSerializer)
        reject_request(
            viewer=self.viewer, request_id=pk, now=timezone.now(), note=given.get("note") or ""
        )
        return self._shown(pk)

    @extend_schema(
        request=ConsentDecisionSerializer,
        responses=answers(ConsentRequestSerializer, 403, 404, 409, 422),
    )
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: UUID) -> Response:
        """Undo an approval or rejection: it waits again, and what a yes changed is as before.

        With 409 nothing was changed: it was not decided, or memories changed since.
        """
        given = self.body(ConsentDecisionSerializer)
        undo_decision(
            viewer=self.viewer, request_id=pk, now=timezone.now(), note=given.get("note") or ""
        )
        return self._shown(pk)

    def _rows(self, given: dict[str, str]) -> QuerySet[ConsentRequest, ConsentRequest]:
        rows = requests_visible_to(self.lister(given))
        if given["status"] != "all":
            rows = rows.filter(state=given["status"])
        if given.get("user"):
            rows = rows.filter(end_user__external_id=given["user"])
        return rows

    def _shown(self, pk: UUID) -> Response:
        with self.team_scope():
            row = requests_visible_to(self.viewer).get(pk=pk)
            return Response(ConsentRequestSerializer(row).data)
