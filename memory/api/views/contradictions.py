"""Contradictions: listed and settled."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers
from memory.api.pagination import IdPagination
from memory.api.request_events import write_event
from memory.api.serializers.base import page_schema
from memory.api.serializers.contradictions import (
    ContradictionFilterSerializer,
    ContradictionSerializer,
    ResolutionSerializer,
    SettledContradictionSerializer,
    UndoneSettlementSerializer,
    UndoSerializer,
)
from memory.api.serializers.memories import warnings_of
from memory.selectors.contradictions import contradictions_visible_to
from memory.services.decisions.disputes import resolve_contradiction
from memory.services.decisions.undoing import undo_settlement
from memory.understanding.tools import default_tools
from teams.errors import NotFoundError

ContradictionPage = page_schema("ContradictionPage", ContradictionSerializer)


class ContradictionViewSet(ApiViewSet):
    """Pairs of memories that conflict."""

    lookup_value_converter = "uuid"
    operations = {"resolve": ("hotpath", "update"), "undo": ("hotpath", "update")}
    memory_actions = ("list", "retrieve", "resolve", "undo")
    serializer_class = ContradictionSerializer

    @extend_schema(
        parameters=[ContradictionFilterSerializer],
        responses=answers(ContradictionPage, 403, 422),
    )
    def list(self, request: Request) -> Response:
        """Contradictions whose two sides the key may see, newest first; open ones by default."""
        given = self.params(ContradictionFilterSerializer)
        with self.team_scope():
            rows = contradictions_visible_to(self.lister(given))
            if given["state"] != "all":
                rows = rows.filter(resolved_at__isnull=given["state"] == "open")
            if given.get("verdict"):
                rows = rows.filter(verdict=given["verdict"])
            if given.get("memory"):
                rows = rows.filter(Q(memory_a_id=given["memory"]) | Q(memory_b_id=given["memory"]))
            return Response(IdPagination().page_of(rows, request, ContradictionSerializer))

    @extend_schema(responses=answers(ContradictionSerializer, 403, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One contradiction."""
        return Response(self._shown(pk))

    @extend_schema(
        request=ResolutionSerializer,
        responses=answers(SettledContradictionSerializer, 403, 404, 409, 422),
    )
    @action(detail=True, methods=["post"])
    def resolve(self, request: Request, pk: UUID) -> Response:
        """Resolve it: one side wins, both are valid, or a merged text replaces both."""
        given = self.body(ResolutionSerializer)
        settled = resolve_contradiction(
            viewer=self.viewer,
            contradiction_id=pk,
            resolution=given["resolution"],
            note=given.get("note") or "",
            merged_content=given.get("merged_content") or "",
            tools=default_tools(),
            now=timezone.now(),
        )
        merged = settled.merged
        if merged is not None:
            self.noted([write_event(merged, op="merge")])
        told = {
            "outcome": merged.outcome.value if merged else None,
            "warnings": warnings_of(merged) if merged else [],
        }
        return Response({**self._shown(pk), **told})

    @extend_schema(
        request=UndoSerializer,
        responses=answers(UndoneSettlementSerializer, 403, 404, 409, 422),
    )
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: UUID) -> Response:
        """Take its resolution back: it is open again, and all that it changed stands as before.

        A merged text is deleted, and contradictions that ended with this one are open again. With
        409 nothing was changed: it is open, or memories changed since; `memories` lists these.
        """
        given = self.body(UndoSerializer)
        undone = undo_settlement(
            viewer=self.viewer,
            contradiction_id=pk,
            now=timezone.now(),
            note=given.get("note") or "",
        )
        return Response({**self._shown(pk), "reopened": [str(each) for each in undone.reopened]})

    def _shown(self, contradiction_id: UUID) -> dict[str, Any]:
        with self.team_scope():
            row = contradictions_visible_to(self.viewer).filter(pk=contradiction_id).first()
            if row is None:
                raise NotFoundError("There is no such contradiction.")
            return dict(ContradictionSerializer(row).data)
