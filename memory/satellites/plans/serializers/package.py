"""Packages for tasks: what is asked for and what is in them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import NameField, StrictIntegerField
from memory.api.serializers.agents import SharesSerializer
from memory.api.serializers.base import MAX_TOKEN_BUDGET, ApiSerializer, StrictSerializer
from memory.api.serializers.filters import FilterField
from memory.api.serializers.found import TEXT_LEVELS
from memory.domain.filters import All
from memory.domain.packing import MINIMUM_BUDGET
from memory.satellites.plans.layouts.package import Tier
from memory.satellites.tasks.serializers import TaskIdField
from teams.domain.context_policy import MOST_PRESERVED


class PackageRequestSerializer(StrictSerializer):
    """For which task a package is made, and how."""

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
    shares = SharesSerializer(
        required=False, allow_null=True, help_text="In place of those of the agent."
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

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A missing or null filter holds for everything."""
        return {**attrs, "filters": attrs.get("filters") or All()}


class PackageItemSerializer(ApiSerializer):
    """An item of the task or a memory, as it is told."""

    id = serializers.UUIDField(help_text="Of the item of the task, or else of the memory.")
    tier = serializers.ChoiceField(choices=[(tier.value, tier.value) for tier in Tier])
    text = serializers.CharField(help_text="Its line.")
    text_level = serializers.ChoiceField(
        choices=TEXT_LEVELS,
        help_text="How much of its text the line tells: what does not fit whole is told by its"
        " summary or its compressed text.",
    )
    tokens = serializers.IntegerField()
    importance = serializers.IntegerField(help_text="1-10")
    score = serializers.FloatField(help_text="0-1, by which it was chosen.")
    at = serializers.DateTimeField(help_text="When it happened, or else when it was said.")
    is_kept = serializers.BooleanField(
        help_text="Whether it is of the first or last head_tail_preserve of all that was to choose"
        " from."
    )


class PackageTokensSerializer(ApiSerializer):
    """Tokens of each tier's lines and headings; together those of the package."""

    task = serializers.IntegerField()
    project = serializers.IntegerField()
    global_ = serializers.IntegerField()


class PackageSerializer(ApiSerializer):
    """What a task, its project, the user and the team bring, within the budget."""

    task = serializers.CharField()
    project = serializers.CharField(allow_null=True)
    text = serializers.CharField(
        help_text="The package as a part of a prompt; empty without items."
    )
    items = PackageItemSerializer(
        many=True, help_text="The more important first; of equal ones the older."
    )
    tokens = PackageTokensSerializer()
    tokens_used = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    token_counter = serializers.CharField()
    compression_ratio = serializers.FloatField(
        help_text="0-1: the tokens of the lines that are told by those of the whole lines of all"
        " that was to choose from."
    )
    warnings = serializers.ListField(child=serializers.CharField())
