"""Context for work in progress, and the topics that its index points to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, answers
from memory.api.memory_json import MEDIA_TYPE, Json, memory_json, packed_message_json
from memory.api.request_events import context_event
from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.work import Signals
from memory.reading.answers import ScoredMemory, own_weights
from memory.satellites.plans.serializers.working_context import (
    AssembleSerializer,
    ExpandedTopicSerializer,
    ExpandQuerySerializer,
    WorkingContextSerializer,
)
from memory.satellites.plans.working_context import assemble_context, expand_topic
from memory.understanding.tools import default_tools


class WorkingContextViewSet(ApiViewSet):
    """What matters before it is asked for."""

    serializer_class = WorkingContextSerializer
    operations = {"assemble": ("context", "context"), "expand": ("context", "context")}
    only_reads = True
    memory_actions = ("assemble", "expand")

    @extend_schema(
        request=AssembleSerializer, responses=answers(WorkingContextSerializer, 403, 404, 422)
    )
    def assemble(self, request: Request) -> HttpResponse:
        """What matters for the work in progress, in four tiers within a token budget.

        Critical: decisions and failures on the open file, folder or topic, what is known of recent
        errors, and open contradictions. Relevant: what is predicted, what the query retrieves, and
        preferences of the collaborator. Background: conventions, summaries and workflows. Index:
        topics of what is not told; GET /v1/context/expand opens one. What a tier leaves free goes
        to the next. Nothing of a person or project is told that the request does not name.
        """
        given = self.body(AssembleSerializer)
        named = given.get("signals") or {}
        signals = Signals(**{**named, "recent_errors": tuple(named.get("recent_errors") or ())})
        viewer, agent, _ = self.named_agent(given)
        made = assemble_context(
            viewer=viewer,
            signals=signals,
            collaborator_id=self._collaborator(viewer, given, signals.collaborator),
            weights=own_weights(agent),
            token_budget=given["budget"],
            counter=counter_for(agent.model_config),
            tools=default_tools(),
            now=timezone.now(),
        )
        found = made.retrieval
        self.noted([context_event(viewer, found)])
        return _response(
            {
                "context": made.context,
                "token_count": made.token_count,
                "tiers": {tier.value: tokens for tier, tokens in made.tiers.items()},
                "memories": [
                    {**_told(each), "tier": place.tier.value, "why": place.why}
                    for each in found.memories
                    for place in [made.places[each.id]]
                ],
                "messages": [packed_message_json(each) for each in found.messages],
                "index": [{"topic": topic, "count": count} for topic, count in made.index.topics],
                "activity": made.activity,
                "rebalanced": made.is_rebalanced,
                "warnings": list(found.warnings),
            }
        )

    @extend_schema(
        parameters=[ExpandQuerySerializer],
        responses=answers(ExpandedTopicSerializer, 403, 404, 422),
    )
    def expand(self, request: Request) -> HttpResponse:
        """What is known of a topic of the index: a category, tag, subject or folder of files."""
        given = self.params(ExpandQuerySerializer)
        viewer, agent, _ = self.named_agent(given)
        counter = counter_for(agent.model_config)
        found = expand_topic(
            viewer=viewer,
            topic=given["topic"],
            weights=own_weights(agent),
            token_budget=given["budget"],
            counter=counter,
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, found)])
        candidates = len(found.considered.relevant.memories)
        return _response(
            {
                "topic": given["topic"],
                "context": found.formatted_prompt,
                "token_count": counter.count(found.formatted_prompt),
                "memories": [_told(each) for each in found.memories],
                "left_out": candidates - len(found.memories),
            }
        )

    def _collaborator(
        self,
        viewer: Viewer,
        given: Mapping[str, Any],  # Any: checked fields
        name: str,
    ) -> UUID | None:
        """The person of that name, where the request may be told of them."""
        if not name:
            return None
        if given.get("user") is None:
            return self.named_viewer({"user": name}).end_user_id
        return viewer.end_user_id if name == given["user"] else None


def _told(each: ScoredMemory) -> Json:
    return {
        **memory_json(each.memory),
        "level": each.text_level.value,
        "score": each.score,
        "tokens": each.tokens,
    }


def _response(body: Json) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), content_type=MEDIA_TYPE)
