"""Agents as documents: what is sent and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema_field
from pydantic import ConfigDict, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from rest_framework import serializers

from memory.api.schemas import ApiSerializer
from teams.domain.agent_document import AgentDocument, RetrievalWeights
from teams.domain.documents import DocumentError, Text
from teams.models import Agent
from teams.services.agents import READ_ONLY, document_of

# Whatever stands in the row, which raw SQL may have written.
_STORED_MEMORY = {
    "type": "object",
    "properties": {
        "retrieval_weights": {},
        "token_budget": {"type": "integer"},
        "summarize_interval": {"type": "integer"},
        "allowed_categories": {},
        "keeps_to_itself": {"type": "boolean"},
        "context_policy": {},
    },
}


class AgentBody(AgentDocument):
    """An agent's whole document; omitted fields take their defaults."""

    model_config = ConfigDict(title="AgentDocument")

    reason: Annotated[str, Text(500)] = ""
    """Why it was changed; stored with the new version."""
    slug: SkipJsonSchema[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _without_what_an_answer_adds(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        return {name: each for name, each in given.items() if name not in READ_ONLY}

    @field_validator("slug")
    @classmethod
    def _names_this_agent(cls, slug: str | None, info: ValidationInfo) -> str | None:
        if slug not in info.context["slugs"]:  # type: ignore[index]  # the view gives it
            raise ValueError("It names another agent than the address does.")
        return slug


class EffectiveWeightsSerializer(ApiSerializer):
    """The weight of each signal, defaults included."""

    semantic = serializers.FloatField(min_value=0)
    recency = serializers.FloatField(min_value=0)
    importance = serializers.FloatField(min_value=0)
    continuity = serializers.FloatField(min_value=0)
    relation = serializers.FloatField(min_value=0)


class AgentSerializer(ApiSerializer):
    """An agent's current document and its version."""

    slug = serializers.CharField()
    aliases = serializers.ListField(
        source="other_names",
        child=serializers.CharField(),
        help_text="Further names by which requests may call it; edited in the admin.",
    )
    name = serializers.CharField()
    tagline = serializers.CharField()
    personality = serializers.JSONField()
    rules = serializers.JSONField()
    skills = serializers.JSONField()
    model_config = serializers.JSONField()
    memory_config = serializers.SerializerMethodField()
    effective_weights = serializers.SerializerMethodField(
        help_text="The weights its reads use, defaults included; null if its own cannot be used."
    )
    version = serializers.IntegerField(help_text="1 for the first; also the ETag, in quotes.")
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField(help_text="When this version was created.")
    changed_by = serializers.CharField()

    @extend_schema_field(_STORED_MEMORY)
    def get_memory_config(self, agent: Agent) -> dict[str, Any]:
        memory: dict[str, Any] = document_of(agent)["memory_config"]
        return memory

    @extend_schema_field(EffectiveWeightsSerializer(allow_null=True))
    def get_effective_weights(self, agent: Agent) -> dict[str, float] | None:
        try:
            return RetrievalWeights.read(agent.retrieval_weights).model_dump()
        except DocumentError:  # raw SQL may have written it
            return None


class AgentVersionSerializer(ApiSerializer):
    """One version of an agent's document."""

    version = serializers.IntegerField(source="number")
    changed_at = serializers.DateTimeField(source="created_at")
    changed_by = serializers.CharField(source="actor")
    reason = serializers.CharField()
    document = serializers.JSONField(help_text="As GET returns it, without the version.")
