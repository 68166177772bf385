"""What a prompt is asked for."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import NameField, QuestionField, StrictBooleanField, StrictIntegerField
from memory.api.input import INCLUDE_COLD, INCLUDE_RAW, MAX_TOKEN_BUDGET, StrictSerializer
from memory.api.weights import WeightsField
from memory.domain.packing import MINIMUM_BUDGET


class PromptSerializer(StrictSerializer):
    """Which agent is to answer what, in which conversation, and how much room there is."""

    agent = NameField()
    query = QuestionField(help_text="What the agent is to answer, such as the user's message.")
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    conversation = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="Where it is asked: its summary is layer 7, its user and project are meant.",
    )
    thread_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The conversation by its thread id; give the user with it.",
    )
    token_budget = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text="Tokens of the whole prompt; the agent's own budget (2000) when left out.",
    )
    weights = WeightsField(required=False, allow_null=True)
    include_cold = StrictBooleanField(required=False, help_text=INCLUDE_COLD)
    include_raw = StrictBooleanField(required=False, help_text=INCLUDE_RAW)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A conversation is named once, a thread with its user."""
        if attrs.get("thread_id") is not None:
            if attrs.get("conversation") is not None:
                raise serializers.ValidationError(
                    {"thread_id": ["Give either conversation or thread_id."]}
                )
            if attrs.get("user") is None:
                raise serializers.ValidationError(
                    {"thread_id": ["Give the user whose thread it is."]}
                )
        return attrs
