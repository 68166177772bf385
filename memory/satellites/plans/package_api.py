"""The API of context packages (seed 003)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import FilterField, NameField, OneOfField, PartField, StrictIntegerField
from memory.api.found import TEXT_LEVELS
from memory.api.request_events import context_event
from memory.api.schemas import MAX_TOKEN_BUDGET, ApiSerializer, StrictSerializer
from memory.clients.token_counters import counter_for
from memory.domain.filters import All
from memory.domain.packing import MINIMUM_BUDGET
from memory.reading.answers import budget_for, own_weights
from memory.satellites.plans.package import (
    ORDERS,
    USUAL_ORDER,
    PackageRequest,
    Tier,
    context_package,
)
from memory.satellites.tasks.api import TaskIdField
from memory.understanding.tools import default_tools
from teams.domain.agent_document import MOST_PRESERVED, ContextPolicy, Shares
from teams.models import Agent


class PackageRequestSerializer(StrictSerializer):
    """For which task a package is made, and how."""

    example = {"agent": "kyra", "project": "apollo", "task": "release-7", "token_budget": 4000}

    aliases = {"budget_tokens": "token_budget"}

    task = TaskIdField(help_text="An open task of the agent, or of the team with a team's key.")
    agent = NameField(help_text="Who works on it; only what this agent may read is told.")
    project = NameField(
        required=False,
        allow_null=True,
        help_text="That of the task if omitted; one of a task's own must be the same.",
    )
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="For whom; without one nothing is told that belongs to a person.",
    )
    token_budget = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text="Tokens that the package may take; the agent's own budget if omitted."
        " budget_tokens is another name of it.",
    )
    shares = PartField(
        Shares, required=False, allow_null=True, help_text="In place of those of the agent."
    )
    head_tail_preserve = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST_PRESERVED,
        help_text="So many of the first and of the last items are packed before all others; the"
        " agent's own number if omitted.",
    )
    filters = FilterField(
        required=False,
        allow_null=True,
        help_text="Narrows memories; the items of the task come all the same.",
    )

    order_by = OneOfField(
        choices=[(name, name) for name in ORDERS],
        required=False,
        default=USUAL_ORDER,
        help_text="In which order items and lines stand; of equal importance the older first.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A missing or null filter holds for everything."""
        return {**attrs, "filters": attrs.get("filters") or All()}


class PackageItemSerializer(ApiSerializer):
    """An item of the task or a memory, as it is told."""

    id = serializers.UUIDField(
        source="told.entry.key", help_text="Of the item of the task, or else of the memory."
    )
    tier = serializers.ChoiceField(choices=[(tier.value, tier.value) for tier in Tier])
    text = serializers.CharField(help_text="Its line.")
    text_level = serializers.ChoiceField(
        source="told.level",
        choices=TEXT_LEVELS,
        help_text="How much of its text the line tells: what does not fit whole is told by its"
        " summary or its compressed text.",
    )
    tokens = serializers.IntegerField(source="told.tokens")
    importance = serializers.IntegerField(source="told.entry.line.importance", help_text="1-10")
    score = serializers.FloatField(
        source="told.entry.score", help_text="0-1, by which it was chosen."
    )
    at = serializers.DateTimeField(
        source="told.entry.line.at", help_text="When it happened, or else when it was said."
    )
    is_kept = serializers.BooleanField(
        help_text="Whether it is of the first or last head_tail_preserve of all that was to choose"
        " from."
    )


class PackageTokensSerializer(ApiSerializer):
    """Tokens of each tier's lines and headings and of the notice, together those of the package."""

    task = serializers.IntegerField()
    project = serializers.IntegerField()
    global_ = serializers.IntegerField()
    notice = serializers.IntegerField(default=0)


class PackageCountSerializer(ApiSerializer):
    """Items of a tier: how many are told, of how many that were to choose from."""

    told = serializers.IntegerField()
    offered = serializers.IntegerField()


class PackageCountsSerializer(ApiSerializer):
    """The counts of each tier."""

    task = PackageCountSerializer()
    project = PackageCountSerializer()
    global_ = PackageCountSerializer()


class PackageSerializer(ApiSerializer):
    """The context of a task, its project, the user and the team, within the budget."""

    task = serializers.CharField(source="task.id")
    project = serializers.CharField(allow_null=True)
    text = serializers.CharField(
        source="assembly.prompt",
        help_text="The package as a part of a prompt; empty without items.",
    )
    items = PackageItemSerializer(
        many=True, help_text="The more important first, unless `order_by` says another order."
    )
    counts = PackageCountsSerializer()
    tokens = PackageTokensSerializer(source="assembly.tokens")
    tokens_used = serializers.IntegerField(source="retrieval.stats.tokens_used")
    token_budget = serializers.IntegerField(source="retrieval.stats.token_budget")
    token_counter = serializers.CharField(source="retrieval.stats.token_counter")
    compression_ratio = serializers.FloatField(
        help_text="0-1: the tokens of the lines that are told by those of the whole lines of all"
        " that was to choose from."
    )
    warnings = serializers.ListField(
        source="retrieval.stats.warnings", child=serializers.CharField()
    )


class PackageViewSet(ApiViewSet):
    """The context that an agent needs for a task."""

    operations = {"package": ("context", "context")}
    only_reads = True
    memory_actions = ("package",)

    @operation(body=PackageRequestSerializer, answer=PackageSerializer, refuses=WITH_CONFLICT)
    def package(self, given: Given) -> Response:
        """Returns the context of a task, its project, the user and the team, within a token budget.

        Each of the three tiers has its share of the budget; what one leaves free goes to the best
        of all. The items of an open task come from working memory: 404 for an unknown task, 409 for
        one that ended, 503 while working memory is away.
        """
        viewer, agent = self.named_agent(given)
        made = context_package(
            viewer=viewer,
            request=PackageRequest(
                task_id=given["task"],
                token_budget=budget_for(agent, given.get("token_budget")),
                counter=counter_for(agent.model_config),
                policy=_policy(agent, given),
                filters=given["filters"],
                project=given.get("project"),
                order_by=given["order_by"],
                of_team=self.principal.agent_id is None,
            ),
            weights=own_weights(agent),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, made.retrieval, found=len(made.items))])
        return Response(PackageSerializer(made).data)


def _policy(agent: Agent, given: Mapping[str, Any]) -> ContextPolicy:
    own = {name: given[name] for name in ContextPolicy.model_fields if given.get(name) is not None}
    return ContextPolicy.usable(agent.context_policy).model_copy(update=own)
