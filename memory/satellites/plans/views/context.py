"""Read-only context for a request, the facts in it, and the conflicts among what is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, answers
from memory.api.memory_json import MEDIA_TYPE, Json, memory_json
from memory.api.request_events import context_event
from memory.domain.audience import Viewer
from memory.domain.clashes import Conflict
from memory.domain.scoring import Weights
from memory.domain.types import Scope
from memory.reading.answers import own_weights
from memory.reading.conflicts import ConflictGroup, conflict_groups
from memory.reading.ranking import Question
from memory.satellites.plans.context import ContextRequest, ReadOnlyContext, read_only_context
from memory.satellites.plans.serializers.context import (
    ConflictGroupsSerializer,
    ConflictsQuerySerializer,
    ContextQuerySerializer,
    ContextSerializer,
    SelectionSerializer,
    SelectSerializer,
)
from memory.selectors.conversations import conversation_with, viewer_in
from memory.services.categories import check_allowed
from memory.understanding.tools import default_tools


class ContextViewSet(ApiViewSet):
    """Facts that are authoritative."""

    serializer_class = ContextSerializer
    operations = {"context": ("context", "context"), "select": ("context", "context")}
    only_reads = True
    memory_actions = ("context", "select", "conflicts")

    @extend_schema(
        parameters=[ContextQuerySerializer],
        responses=answers(ContextSerializer, 403, 404, 422),
    )
    def context(self, request: Request) -> HttpResponse:
        """The facts that a request needs, as a block that is marked as read-only.

        They are of the categories that the kind of the request needs, at least as certain as asked,
        each once, and of the narrowest scopes that give enough: session, project, user, team. Of
        facts that contradict each other the more certain is told, else the newer, else all of
        them, flagged. Nothing that is told changes a memory.
        """
        given = self.params(ContextQuerySerializer)
        made = self._made(given, is_written=True)
        return _response(
            {
                "context": made.context,
                **_selection(made),
                "chars": len(made.context),
                "truncated": made.is_truncated,
            }
        )

    @extend_schema(
        request=SelectSerializer,
        responses=answers(SelectionSerializer, 403, 404, 422),
    )
    def select(self, request: Request) -> HttpResponse:
        """The facts that a request needs, with the reason for each; nothing is written as text."""
        return _response(_selection(self._made(self.body(SelectSerializer), is_written=False)))

    @extend_schema(
        parameters=[ConflictsQuerySerializer],
        responses=answers(ConflictGroupsSerializer, 403, 404, 422),
    )
    def conflicts(self, request: Request) -> HttpResponse:
        """Groups of facts that contradict each other, with the recommended resolution and why.

        They are the open contradictions of which the key may see both sides. Nothing is resolved:
        POST /v1/contradictions/{id}/resolve does that.
        """
        given = self.params(ConflictsQuerySerializer)
        groups = conflict_groups(viewer=self.named_lister(given), limit=given["limit"])
        return _response({"conflicts": [_group(each) for each in groups]})

    def _made(self, given: Mapping[str, Any], *, is_written: bool) -> ReadOnlyContext:
        viewer, conversation_id, weights = self._asker(given)
        categories = tuple(dict.fromkeys(given.get("category_filter") or ()))
        check_allowed(allowed=viewer.allowed_categories, names=categories, field="category_filter")
        made = read_only_context(
            viewer=viewer,
            request=ContextRequest(
                question=Question(given["user_request"], conversation_id),
                threshold=given.get("confidence_threshold"),
                max_chars=given.get("max_chars"),
                scopes=tuple(map(Scope, given.get("scope_filter") or ())),
                categories=categories,
            ),
            weights=weights,
            tools=default_tools(),
            now=timezone.now(),
            is_written=is_written,
        )
        self.noted([context_event(viewer, made.retrieval, found=len(made.facts))])
        return made

    def _asker(self, given: Mapping[str, Any]) -> tuple[Viewer, UUID | None, Weights]:
        """Who asks, in which conversation, and by which weights."""
        if given.get("agent") is not None:
            viewer, agent, _ = self.named_agent(given)
            weights = own_weights(agent)
        else:
            viewer, weights = self.named_viewer(given), Weights()
        named = given.get("conversation")
        if named is None:
            return viewer, None, weights
        with self.team_scope():
            conversation = conversation_with(viewer=viewer, conversation_id=named)
        if viewer.agent_id is None:
            agent = conversation.agent
            viewer = replace(
                viewer, agent_id=agent.pk, allowed_categories=tuple(agent.allowed_categories)
            )
            weights = own_weights(agent)
        return viewer_in(viewer, conversation), conversation.pk, weights


def _selection(made: ReadOnlyContext) -> Json:
    """What `SelectionSerializer` describes."""
    return {
        "facts": [
            {
                **memory_json(each.memory),
                "scope": each.scope.value,
                "reason": each.reason,
                "is_flagged": each.is_flagged,
            }
            for each in made.facts
        ],
        "left_out": [
            {"id": str(each.key), "cause": each.cause.value, "reason": each.reason}
            for each in made.left_out
        ],
        "conflicts": [_conflict(each) for each in made.conflicts],
        "request_type": made.request_type.value,
        "categories": list(made.categories),
        "confidence_threshold": made.threshold,
        "scopes": {"asked": [scope.value for scope in made.asked], "reason": made.enough},
        "warnings": list(made.retrieval.warnings),
    }


def _conflict(conflict: Conflict) -> Json:
    return {
        "ids": [str(key) for key in conflict.keys],
        "keep": [str(key) for key in conflict.standing],
        "resolution": conflict.resolution.value,
        "reason": conflict.reason,
    }


def _group(group: ConflictGroup) -> Json:
    return {
        "key": group.key,
        "facts": [memory_json(each) for each in group.facts],
        "recommended": _conflict(group.conflict),
        "contradictions": [str(each) for each in group.contradictions],
    }


def _response(body: Json) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), content_type=MEDIA_TYPE)
