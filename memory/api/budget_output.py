"""How budgets are answered: what is left of each, and that one is used up."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from routing.domain.budgets import BudgetLeft, CapKind, CapLeft

CAPS = [kind.value for kind in CapKind]


class BudgetCapSerializer(serializers.Serializer[CapLeft]):
    """One budget, in USD."""

    limit_usd = serializers.FloatField(source="cap.limit_usd")
    spent_usd = serializers.FloatField(source="balance.spent_usd")
    held_usd = serializers.FloatField(
        source="balance.held_usd", help_text="For calls under way, at most."
    )
    left_usd = serializers.FloatField()
    resets_at = serializers.DateTimeField(source="cap.resets_at")


class BudgetLeftSerializer(serializers.Serializer[BudgetLeft]):
    """What is left of each budget; null where none holds."""

    left_usd = serializers.FloatField(help_text="Of the tightest one: what a call may cost.")
    tightest = serializers.ChoiceField(source="tightest.cap.account.kind.value", choices=CAPS)
    advice = serializers.ChoiceField(
        choices=["go", "downgrade"],
        help_text="downgrade: one is nearly used up, and the router takes cheaper models.",
    )
    user_day = BudgetCapSerializer(allow_null=True)
    team_month = BudgetCapSerializer(allow_null=True)
    agent_day = BudgetCapSerializer(allow_null=True)
    agent_month = BudgetCapSerializer(allow_null=True)


class BudgetProblemSerializer(serializers.Serializer[Any]):
    """That a call may cost more than a budget has left; nothing was called."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    cap = serializers.ChoiceField(choices=CAPS)
    limit = serializers.FloatField(help_text="Of that budget, in USD, as all amounts.")
    remaining = serializers.FloatField()
    estimated = serializers.FloatField(help_text="What the call may cost.")
    resets_at = serializers.DateTimeField()
    suggested_tier = serializers.CharField(
        allow_null=True, help_text="A tier that still fits; null where none does."
    )
