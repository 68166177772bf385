"""Weights of the five signals, as an agent has them and as a request may set them."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.domain.scoring import Weights
from teams.errors import InvalidError
from teams.models import Agent

MAX_WEIGHT = 1000


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0},
        "example": {"semantic": 0.6, "recency": 0.1, "importance": 0.15},
    }
)
class WeightsField(serializers.Field[Weights, Any, Any, Any]):
    """{"semantic", "recency", "importance", "continuity", "relation"}: numbers from 0 to 1000.

    A missing one keeps its default; they need not sum to one, but not all may be zero.
    """

    default_error_messages = {
        "object": 'Give an object such as {{"semantic": 0.6, "recency": 0.1}}.',
        "weights": "{reason}.",
        "large": f"A retrieval weight must be at most {MAX_WEIGHT}.",
    }

    def to_internal_value(self, data: Any) -> Weights:  # Any: whatever the body holds
        """The weights; refused are unknown names, negative numbers and nothing but zeros."""
        if not isinstance(data, dict):
            self.fail("object")
        try:
            weights = Weights.from_config(data)
        except ValueError as error:
            self.fail("weights", reason=_sentence(error))
        if max(astuple(weights)) > MAX_WEIGHT:
            self.fail("large")
        return weights

    def to_representation(self, value: Weights) -> Any:  # Any: DRF's own signature
        """As they came in."""
        return value


def weights_of(agent: Agent, *, given: Weights | None = None) -> Weights:
    """The weights of a request, or else the agent's own.

    Raises InvalidError when the agent's document holds weights that cannot be.
    """
    if given is not None:
        return given
    try:
        return Weights.from_config(agent.retrieval_weights)
    except ValueError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}."
            " Correct them in its document, or give weights.",
            field="weights",
        ) from None


def _sentence(error: ValueError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
