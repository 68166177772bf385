"""Packages of context for agents at work on a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers
from memory.api.request_events import context_event
from memory.clients.token_counters import counter_for
from memory.reading.answers import budget_for, own_weights
from memory.satellites.plans.context_package import (
    ContextPackage,
    PackageItem,
    PackageRequest,
    context_package,
)
from memory.satellites.plans.layouts.package import Tier
from memory.satellites.plans.serializers.package import PackageRequestSerializer, PackageSerializer
from memory.understanding.tools import default_tools
from teams.domain.context_policy import ContextPolicy, shares_of
from teams.models import Agent


class PackageViewSet(ApiViewSet):
    """What an agent needs for a task."""

    serializer_class = PackageSerializer
    operations = {"package": ("context", "context")}
    only_reads = True
    memory_actions = ("package",)

    @extend_schema(
        request=PackageRequestSerializer,
        responses=answers(PackageSerializer, 403, 404, 409, 422),
    )
    def package(self, request: Request) -> Response:
        """What a task, its project, the user and the team bring, within a token budget.

        Each of the three tiers has its share of the budget; what one leaves free goes to the best
        of all. The items of an open task come from working memory: 404 for an unknown task, 409 for
        one that ended, 503 while working memory is away.
        """
        given = self.body(PackageRequestSerializer)
        viewer, agent, _ = self.named_agent(given)
        made = context_package(
            viewer=viewer,
            request=PackageRequest(
                task_id=given["task"],
                token_budget=budget_for(agent, given.get("token_budget")),
                counter=counter_for(agent.model_config),
                policy=_policy(agent, given),
                filters=given["filters"],
                project=given.get("project"),
                of_team=self.principal.agent_id is None,
            ),
            weights=own_weights(agent),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, made.retrieval, found=len(made.items))])
        return Response(PackageSerializer(_shown(made)).data)


def _policy(agent: Agent, given: Mapping[str, Any]) -> ContextPolicy:
    """The agent's own, with what the request says in its place."""
    policy = ContextPolicy.read(agent.context_policy)
    if given.get("shares") is not None:
        policy = replace(policy, shares=shares_of(given["shares"]))
    if given.get("head_tail_preserve") is not None:
        policy = replace(policy, head_tail_preserve=given["head_tail_preserve"])
    return policy


def _shown(made: ContextPackage) -> dict[str, Any]:  # Any: as `PackageSerializer` reads it
    stats = made.retrieval.stats
    return {
        "task": made.task.id,
        "project": made.project or None,
        "text": made.assembly.prompt,
        "items": [_item(each) for each in made.items],
        "tokens": {tier.value: made.assembly.tokens[tier] for tier in Tier},
        "tokens_used": stats.tokens_used,
        "token_budget": stats.token_budget,
        "token_counter": stats.token_counter,
        "compression_ratio": made.compression_ratio,
        "warnings": stats.warnings,
    }


def _item(item: PackageItem) -> dict[str, Any]:  # Any: as above
    entry = item.told.entry
    return {
        "id": entry.key,
        "tier": item.tier,
        "text": item.text,
        "text_level": item.told.level.value,
        "tokens": item.told.tokens,
        "importance": entry.line.importance,
        "score": entry.score,
        "at": entry.line.at,
        "is_kept": item.is_kept,
    }
