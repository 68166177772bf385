"""Projects of a team, and clearing of a project or the whole team."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.response import Response

from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import NameField, OneOfField, StrictIntegerField, name_in_address
from memory.api.memories import ReasonSerializer
from memory.api.pagination import SlugPagination
from memory.api.schemas import (
    ApiSerializer,
    DatedPageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.selectors.people import ListFilters, filtered_projects
from memory.writing.decisions.clearing import TEAM_SCOPES, clear_project, clear_team
from memory.writing.write_path import keep_to_limit_soon
from teams.errors import NotFoundError
from teams.models import Project
from teams.services.people import change_project

_MOST_ITEMS = 10_000_000
CLEARED = [(each, each.value) for each in TEAM_SCOPES]


class ProjectFilterSerializer(DatedPageQuerySerializer):
    """Filters of the list of projects; all must match."""

    agent = NameField(required=False, help_text="Only where this agent has talked.")
    user = NameField(required=False, max_length=200, help_text="Only where this person has talked.")


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
    """New settings of a project; omitted fields stay unchanged."""

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
    """The number of memories cleared, and of those left to clear."""

    deleted = serializers.IntegerField(help_text="Soft-deleted now; each can be restored.")
    left = serializers.IntegerField(help_text="More than 0: send it again to go on.")


class ProjectViewSet(ApiViewSet):
    """The projects that a team's agents work in."""

    memory_actions = ("clear",)
    operations = {"clear": ("hotpath", "delete")}

    @operation(
        "projects_list", query=ProjectFilterSerializer, answer=ProjectPage, refuses=(403, 422)
    )
    def entries(self, given: Given) -> Response:
        """The team's projects by their slugs.

        A key of one agent sees those that it has talked in or of which it may see a memory.
        """
        with self.team_scope():
            rows = filtered_projects(viewer=self.viewer, filters=ListFilters(**given))
            return self.page(rows, ProjectSerializer, SlugPagination)

    @operation("projects_retrieve", query=QuerySerializer, answer=ProjectSerializer)
    def load(self, given: Given, slug: str) -> Response:
        """A project with its settings."""
        with self.team_scope():
            return Response(ProjectSerializer(self._project(slug)).data)

    @operation(
        "projects_partial_update",
        body=ProjectChangeSerializer,
        answer=ProjectSerializer,
        team_key="Settings of a project are changed with a key of the team.",
    )
    def change(self, given: Given, slug: str) -> Response:
        """Set how many memories a project may have, and its name; needs a key of the team.

        With a lower `max_items` it archives what is too much within seconds.
        """
        with self.team_scope():
            project = change_project(
                project=self._project(slug),
                name=given.get("name"),
                max_items=given.get("max_items"),
            )
            team_id, project_id = project.team_id, project.pk
            keep_to_limit_soon(team_id, project_id)
            return Response(ProjectSerializer(project).data)

    @operation(
        "projects_clear",
        body=ClearProjectSerializer,
        answer=(ClearedSerializer, "What was deleted."),
    )
    def clear(self, given: Given, slug: str) -> Response:
        """Delete all memories of a project, whose name is typed; needs a key of the team.

        Each is soft-deleted with its log row: no read finds it, it stays readable by its id and can
        be restored. Messages and tasks stay.
        """
        done = clear_project(
            viewer=self.viewer,
            slug=name_in_address(slug, field="slug"),
            typed=given["name"],
            reason=given["reason"],
        )
        return Response(ClearedSerializer(done).data)

    def _project(self, slug: str) -> Project:
        rows = filtered_projects(viewer=self.viewer, filters=ListFilters())
        name = name_in_address(slug, field="slug")
        project = rows.filter(slug=name).first()
        if project is None:
            raise NotFoundError(f"There is no project '{name}'.")
        return project


class TeamMemoryViewSet(ApiViewSet):
    """The memories of the whole team."""

    memory_actions = ("clear",)
    operations = {"clear": ("hotpath", "delete")}

    @operation(
        "team_clear",
        body=ClearTeamSerializer,
        answer=(ClearedSerializer, "What was deleted."),
        refuses=(403, 422),
    )
    def clear(self, given: Given) -> Response:
        """Delete what is everybody's, or what belongs to projects; the team's name is typed.

        Needs a key of the team. Memories are soft-deleted as by clearing a project; what belongs
        to people stays (`DELETE /v1/users/{external_id}` erases a person).
        """
        done = clear_team(viewer=self.viewer, typed=given.pop("name"), **given)
        return Response(ClearedSerializer(done).data)
