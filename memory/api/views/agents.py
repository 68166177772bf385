"""Agents as documents: who they are, versioned, without lost updates."""

from __future__ import annotations

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers, refusals
from memory.api.fields import name_in_address
from memory.api.pagination import SlugPagination, VersionPagination
from memory.api.preconditions import (
    ETAG,
    IF_MATCH,
    IF_NONE_MATCH,
    NOT_MODIFIED,
    UNCHANGED,
    condition_of,
    entity_tag,
    is_known,
)
from memory.api.schemas import PageQuerySerializer, page_schema
from memory.api.serializers.agents import (
    AgentBody,
    AgentSerializer,
    AgentVersionSerializer,
)
from memory.writing.categories import check_allowlist
from teams.errors import NotFoundError
from teams.models import Agent, AgentAlias, AgentVersion
from teams.services.agents import agent_of_slug, save_document, versions_of
from teams.services.people import agent_called, slug_called

AgentPage = page_schema("AgentPage", AgentSerializer)
AgentVersionPage = page_schema("AgentVersionPage", AgentVersionSerializer)
SLUG = OpenApiParameter("slug", OpenApiTypes.STR, OpenApiParameter.PATH)


class AgentViewSet(ApiViewSet):
    """The identity documents of a team's agents."""

    serializer_class = AgentSerializer

    @extend_schema(
        operation_id="agents_list",
        parameters=[PageQuerySerializer],
        responses=answers(AgentPage, 422),
    )
    def entries(self, request: Request) -> Response:
        """The team's agents by name, a page at a time; a key of one agent sees that one."""
        self.params(PageQuerySerializer)
        with self.team_scope():
            return Response(SlugPagination().page_of(self._agents(), request, AgentSerializer))

    @extend_schema(
        operation_id="agents_load",
        parameters=[SLUG, UNCHANGED, ETAG],
        responses={
            200: AgentSerializer,
            304: NOT_MODIFIED,
            **refusals(403, 404, 422),
        },
    )
    def load(self, request: Request, slug: str) -> HttpResponse:
        """An agent's current identity document; to change it, send it back with If-Match."""
        name = name_in_address(slug, field="slug")
        self.check_agent(name)
        with self.team_scope():
            agent = self._agents().filter(slug=self._slug_of(name)).first()
            if agent is None:
                raise NotFoundError(f"There is no agent '{name}'.", field="slug")
            headers = {"ETag": entity_tag(agent.version)}
            if is_known(request, agent.version):
                return HttpResponse(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
            return Response(AgentSerializer(agent).data, headers=headers)

    @extend_schema(
        operation_id="agents_save",
        parameters=[SLUG, IF_MATCH, IF_NONE_MATCH, ETAG],
        request=AgentBody,
        responses={
            200: AgentSerializer,
            201: OpenApiResponse(AgentSerializer, description="The agent is new."),
            **refusals(403, 412, 422),
        },
    )
    def save(self, request: Request, slug: str) -> Response:
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
        condition = condition_of(request)
        given = AgentBody.read(request.data, context={"slugs": self._names_of(name)})
        with self.team_scope(reason=given.reason):
            check_allowlist(
                team_id=self.principal.team_id,
                names=given.memory.allowed_categories,
                agent=agent_called(team_id=self.principal.team_id, name=name),
            )
            saved, is_new = save_document(
                team_id=self.principal.team_id,
                slug=name,
                document=given,
                condition=condition,
            )
            agent = self._agents().get(pk=saved.pk)
            return Response(
                AgentSerializer(agent).data,
                status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
                headers={"ETag": entity_tag(agent.version)},
            )

    @extend_schema(
        operation_id="agents_versions",
        parameters=[SLUG, PageQuerySerializer],
        responses=answers(AgentVersionPage, 403, 404, 422),
    )
    def versions(self, request: Request, slug: str) -> Response:
        """The versions of an agent's document, the latest first, with who changed it and why."""
        name = name_in_address(slug, field="slug")
        self.params(PageQuerySerializer)
        self.check_agent(name)
        with self.team_scope():
            agent = agent_of_slug(team_id=self.principal.team_id, slug=name)
            rows = versions_of(agent=agent)
            return Response(VersionPagination().page_of(rows, request, AgentVersionSerializer))

    def _slug_of(self, name: str) -> Coalesce:
        return slug_called(team_id=self.principal.team_id, name=name)

    def _names_of(self, name: str) -> set[str]:
        """The name and, where it is an alias, the slug: a document may hold either."""
        with self.team_scope():
            agent = agent_called(team_id=self.principal.team_id, name=name)
        return {name} if agent is None else {name, agent.slug}

    def _agents(self) -> QuerySet[Agent, Agent]:
        """Those that the key may read, each with when and by whom its version was made."""
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
