"""Agents as documents: who they are, versioned, without lost updates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema_field
from pydantic import ConfigDict, JsonValue, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from rest_framework import serializers
from rest_framework.response import Response

from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import name_in_address
from memory.api.headers import (
    NOT_MODIFIED,
    OF_A_READ,
    OF_A_WRITE,
    condition_of,
    entity_tag,
    unchanged,
)
from memory.api.pagination import SlugPagination, VersionPagination
from memory.api.schemas import ApiSerializer, PageQuerySerializer, page_schema
from memory.writing.categories import check_allowlist
from teams.domain.agent_document import AgentDocument, RetrievalWeights
from teams.domain.documents import DocumentError, Text
from teams.errors import NotFoundError
from teams.models import Agent, AgentAlias, AgentVersion
from teams.services.agents import READ_ONLY, agent_of_slug, document_of, save_document, versions_of
from teams.services.people import agent_called, slug_called

# Whatever stands in the row, which raw SQL may have written.
_STORED_MEMORY = {
    "type": "object",
    "properties": {
        "retrieval_weights": {},
        "token_budget": {"type": "integer"},
        "summarize_interval": {"type": "integer"},
        "extraction_instructions": {"type": "string"},
        "allowed_categories": {},
        "keeps_to_itself": {"type": "boolean"},
        "context_policy": {},
    },
}


EXAMPLE: dict[str, JsonValue] = {
    "name": "Kyra",
    "tagline": "a research assistant",
    "personality": {"traits": ["Curious", "Patient"], "tone": "warm"},
    "rules": {"always": ["Quote figures with their source."], "never": ["Guess."]},
    "model_config": {"max_tier": "balanced", "daily_budget_usd": 2.5},
    "memory_config": {"extraction_instructions": "Look for deadlines. Leave out the weather."},
    "reason": "complaints about guesses",
}


class AgentBody(AgentDocument):
    """An agent's whole document; omitted fields take their defaults."""

    model_config = ConfigDict(title="AgentDocument", json_schema_extra={"example": EXAMPLE})

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


AgentPage = page_schema("AgentPage", AgentSerializer)
AgentVersionPage = page_schema("AgentVersionPage", AgentVersionSerializer)


class AgentViewSet(ApiViewSet):
    """The identity documents of a team's agents."""

    @operation("agents_list", query=PageQuerySerializer, answer=AgentPage, refuses=(422,))
    def entries(self, given: Given) -> Response:
        """The team's agents by name, a page at a time; a key of one agent sees that one."""
        with self.team_scope():
            return self.page(self._agents(), AgentSerializer, SlugPagination)

    @operation(
        "agents_load", answer={200: AgentSerializer, 304: NOT_MODIFIED}, parameters=OF_A_READ
    )
    def load(self, given: Given, slug: str) -> HttpResponse:
        """An agent's current identity document; to change it, send it back with If-Match."""
        name = name_in_address(slug, field="slug")
        self.check_agent(name)
        with self.team_scope():
            slug_of_it = slug_called(team_id=self.principal.team_id, name=name)
            agent = self._agents().filter(slug=slug_of_it).first()
            if agent is None:
                raise NotFoundError(f"There is no agent '{name}'.", field="slug")
            return unchanged(self.request, agent.version) or self._shown(agent)

    @operation(
        "agents_save",
        body=AgentBody,
        answer={200: AgentSerializer, 201: (AgentSerializer, "The agent is new.")},
        refuses=(403, 412, 422),
        parameters=OF_A_WRITE,
    )
    def save(self, given: Given, slug: str) -> Response:
        """Replace the agent's document; omitted fields take their defaults.

        Creates the agent if there is none. Every change is kept as a version; an unchanged
        document makes none. Needs a team key that is bound to no agent: an agent cannot write its
        own rules or raise its own budgets.
        """
        name = name_in_address(slug, field="slug")
        self.require_team_key(
            "Writing an agent's document needs a key of the team, bound to no agent; this one acts"
            f" as the agent '{self.principal.agent_slug}' and may read its document."
        )
        condition = condition_of(self.request)
        sent = AgentBody.read(self.request.data, context={"slugs": self._names_of(name)})
        with self.team_scope(reason=sent.reason):
            check_allowlist(
                team_id=self.principal.team_id,
                names=sent.memory.allowed_categories,
                agent=agent_called(team_id=self.principal.team_id, name=name),
            )
            saved, is_new = save_document(
                team_id=self.principal.team_id, slug=name, document=sent, condition=condition
            )
            agent = self._agents().get(pk=saved.pk)
            return self._shown(agent, status=201 if is_new else 200)

    @operation("agents_versions", query=PageQuerySerializer, answer=AgentVersionPage)
    def versions(self, given: Given, slug: str) -> Response:
        """The versions of an agent's document, the latest first, with who changed it and why."""
        name = name_in_address(slug, field="slug")
        self.check_agent(name)
        with self.team_scope():
            agent = agent_of_slug(team_id=self.principal.team_id, slug=name)
            rows = versions_of(agent=agent)
            return self.page(rows, AgentVersionSerializer, VersionPagination)

    def _shown(self, agent: Agent, status: int = 200) -> Response:
        headers = {"ETag": entity_tag(agent.version)}
        return Response(AgentSerializer(agent).data, status=status, headers=headers)

    def _names_of(self, name: str) -> set[str]:
        """The name and, where it is an alias, the slug: a document may hold either."""
        with self.team_scope():
            agent = agent_called(team_id=self.principal.team_id, name=name)
        return {name} if agent is None else {name, agent.slug}

    def _agents(self) -> QuerySet[Agent, Agent]:
        """The agents that the key may read, each with time and author of its version."""
        rows = Agent.objects.filter(team_id=self.principal.team_id)
        if self.principal.agent_id is not None:
            rows = rows.filter(pk=self.principal.agent_id)
        standing = AgentVersion.objects.filter(
            team_id=OuterRef("team_id"), agent_id=OuterRef("pk"), number=OuterRef("version")
        )
        named = AgentAlias.objects.filter(team_id=OuterRef("team_id"), agent_id=OuterRef("pk"))
        return rows.annotate(
            other_names=ArraySubquery(named.order_by("slug").values("slug")),
            changed_at=Subquery(standing.values("created_at")[:1]),
            changed_by=Subquery(standing.values("actor")[:1]),
        )
