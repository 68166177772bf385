"""Projects of a team, and clearing of a project or the whole team."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers, refusals
from memory.api.fields import NameField, OneOfField, StrictIntegerField
from memory.api.memories import NoQuerySerializer, ReasonSerializer
from memory.api.pagination import SlugPagination
from memory.api.schemas import (
    ApiSerializer,
    DatedPageQuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.domain.types import Scope
from memory.selectors.people import ListFilters, filtered_projects
from memory.writing.decisions.clearing import TEAM_SCOPES, clear_project, clear_team
from memory.writing.write_path import keep_to_limit_soon
from teams.errors import NotFoundError
from teams.models import Project
from teams.services.people import change_project

_SLUG = OpenApiParameter("slug", OpenApiTypes.STR, OpenApiParameter.PATH)
_MOST_ITEMS = 10_000_000
CLEARED = [(each.value, each.value) for each in TEAM_SCOPES]


class ProjectFilterSerializer(DatedPageQuerySerializer):
    """Which projects to list; all filters must match."""

    agent = NameField(required=False, help_text="Only those in which this agent has talked.")
    user = NameField(
        required=False, max_length=200, help_text="Only those in which this person has talked."
    )


class ProjectSerializer(ApiSerializer):
    """A project."""

    slug = serializers.CharField(help_text="What requests name as `project`.")
    name = serializers.CharField()
    max_items = serializers.IntegerField(
        help_text="How many current memories it has; with more, the least important tenth is"
        " archived."
    )
    created_at = serializers.DateTimeField(help_text="When the project was first named.")


ProjectPage = page_schema("ProjectPage", ProjectSerializer)


class ProjectChangeSerializer(StrictSerializer):
    """What a project is set to; what is left out stays."""

    name = NameField(required=False, max_length=200)
    max_items = StrictIntegerField(required=False, min_value=1, max_value=_MOST_ITEMS)


class ClearProjectSerializer(ReasonSerializer):
    """The name of what is to be cleared, typed."""

    name = NameField(max_length=200, help_text="The project's slug or name, to be sure.")


class ClearTeamSerializer(ReasonSerializer):
    """The name of the team, typed, and what of it is to be cleared."""

    name = NameField(max_length=200, help_text="The team's name or slug, to be sure.")
    scope = OneOfField(
        choices=CLEARED,
        help_text="`project`: what belongs to projects, all of them; `team`: what is everybody's.",
    )


class ClearedSerializer(ApiSerializer):
    """What was cleared."""

    deleted = serializers.IntegerField(help_text="Soft-deleted now; each can be restored.")
    left = serializers.IntegerField(help_text="More than 0: send it again to go on.")


class ProjectViewSet(ApiViewSet):
    """The projects that a team's agents work in."""

    memory_actions = ("clear",)
    operations = {"clear": ("hotpath", "delete")}

    @extend_schema(
        operation_id="projects_list",
        parameters=[ProjectFilterSerializer],
        responses=answers(ProjectPage, 403, 422),
    )
    def entries(self, request: Request) -> Response:
        """The team's projects by their slugs.

        A key of one agent sees those that it has talked in or of which it may see a memory.
        """
        return self.listed(
            lambda given: filtered_projects(viewer=self.viewer, filters=ListFilters(**given)),
            filters=ProjectFilterSerializer,
            shown=ProjectSerializer,
            pages=SlugPagination,
        )

    @extend_schema(
        operation_id="projects_retrieve",
        parameters=[_SLUG],
        responses=answers(ProjectSerializer, 403, 404, 422),
    )
    def load(self, request: Request, slug: str) -> Response:
        """A project with its settings."""
        self.params(NoQuerySerializer)
        with self.team_scope():
            return Response(ProjectSerializer(self._project(slug)).data)

    @extend_schema(
        operation_id="projects_partial_update",
        parameters=[_SLUG],
        request=ProjectChangeSerializer,
        responses=answers(ProjectSerializer, 403, 404, 422),
    )
    def change(self, request: Request, slug: str) -> Response:
        """Set how many memories a project may have, and its name; needs a key of the team.

        With a lower `max_items` it archives what is too much within seconds.
        """
        self.require_team_key("Settings of a project are changed with a key of the team.")
        given = self.body(ProjectChangeSerializer)
        with self.team_scope():
            project = change_project(
                project=self._project(slug),
                name=given.get("name"),
                max_items=given.get("max_items"),
            )
            team_id, project_id = project.team_id, project.pk
            keep_to_limit_soon(team_id, project_id)
            return Response(ProjectSerializer(project).data)

    @extend_schema(
        operation_id="projects_clear",
        parameters=[_SLUG],
        request=ClearProjectSerializer,
        responses={
            200: OpenApiResponse(ClearedSerializer, description="What was deleted."),
            **refusals(403, 404, 422),
        },
    )
    def clear(self, request: Request, slug: str) -> Response:
        """Delete all memories of a project, whose name is typed; needs a key of the team.

        Each is soft-deleted with its log row: no read finds it, it stays readable by its id and can
        be restored. Messages and tasks stay.
        """
        given = self.body(ClearProjectSerializer)
        done = clear_project(
            viewer=self.viewer,
            slug=slug,
            typed=given["name"],
            reason=given.get("reason") or "",
        )
        return Response(ClearedSerializer(done).data)

    def _project(self, slug: str) -> Project:
        rows = filtered_projects(viewer=self.viewer, filters=ListFilters())
        project = rows.filter(slug=slug).first()
        if project is None:
            raise NotFoundError(f"There is no project '{slug}'.")
        return project


class TeamMemoryViewSet(ApiViewSet):
    """The memories of the whole team."""

    memory_actions = ("clear",)
    operations = {"clear": ("hotpath", "delete")}

    @extend_schema(
        operation_id="team_clear",
        request=ClearTeamSerializer,
        responses={
            200: OpenApiResponse(ClearedSerializer, description="What was deleted."),
            **refusals(403, 422),
        },
    )
    def clear(self, request: Request) -> Response:
        """Delete what is everybody's, or what belongs to projects; the team's name is typed.

        Needs a key of the team. Memories are soft-deleted as by clearing a project; what belongs
        to people stays (`DELETE /v1/users/{external_id}` erases a person).
        """
        given = self.body(ClearTeamSerializer)
        done = clear_team(
            viewer=self.viewer,
            scope=Scope(given["scope"]),
            typed=given["name"],
            reason=given.get("reason") or "",
        )
        return Response(ClearedSerializer(done).data)
