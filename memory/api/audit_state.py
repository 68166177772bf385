"""The team's memory at any moment, and what changed between two."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from memory.api.audit_serializers import (
    ChangePageSerializer,
    ChangeSerializer,
    PastMemorySerializer,
    StatePageSerializer,
    StateQuerySerializer,
)
from memory.api.base import ApiViewSet, IdPagination, refusals
from memory.api.callers import check_agent, key_viewer
from memory.selectors.looking_back.states import changes_between, state_at
from memory.selectors.memories import MemoryFilters
from teams.tenancy import team_scope

_BAD_CURSOR = "This is no cursor of this list. Follow `next` of a page as it is, or leave it out."


class StateViewSet(ApiViewSet):
    """What was known when."""

    serializer_class = StatePageSerializer

    @extend_schema(
        parameters=[StateQuerySerializer],
        responses={
            200: PolymorphicProxySerializer(
                component_name="StateOrChanges",
                serializers=[StatePageSerializer, ChangePageSerializer],
                resource_type_field_name=None,
                many=False,
            ),
            **refusals(403, 422),
        },
    )
    def state(self, request: Request) -> Response:
        """The memories as they stood at `at`, a page at a time, or what changed up to `diff_to`.

        It is rebuilt from the log and the texts, never from what the memories are now.
        """
        given = self.params(StateQuerySerializer)
        check_agent(principal=self.principal, agent=given.get("agent"))
        at: datetime = given.pop("at")
        to: datetime | None = given.pop("diff_to", None)
        limit: int = given.pop("limit", IdPagination.page_size)
        cursor: str | None = given.pop("cursor", None)
        filters = MemoryFilters(**given)
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            if to is None:
                return Response(self._state(request, at, filters))
            return Response(self._changes(request, at, to, filters, limit, cursor))

    def _state(self, request: Request, at: datetime, filters: MemoryFilters) -> dict[str, Any]:
        state = state_at(viewer=key_viewer(self.principal), at=at, filters=filters)
        page = IdPagination().page_of(state.memories, request, PastMemorySerializer)
        return {
            "at": state.instant.at,
            "position": state.instant.position,
            "changed_at": state.instant.changed_at,
            **page,
        }

    def _changes(
        self,
        request: Request,
        at: datetime,
        to: datetime,
        filters: MemoryFilters,
        limit: int,
        cursor: str | None,
    ) -> Mapping[str, Any]:
        found = changes_between(
            viewer=key_viewer(self.principal),
            at=at,
            to=to,
            filters=filters,
            limit=limit,
            after=_place(cursor) if cursor is not None else None,
        )
        here = request.build_absolute_uri()
        return {
            "at": at,
            "diff_to": to,
            "next": found.next_after and replace_query_param(here, "cursor", found.next_after.hex),
            "results": ChangeSerializer(found.changes, many=True).data,
        }


def _place(cursor: str) -> UUID:
    try:
        return UUID(hex=cursor)
    except ValueError:
        raise serializers.ValidationError({"cursor": [_BAD_CURSOR]}) from None
