"""Teams, projects, end users and agents."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Field, JSONField
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest

from teams.admin_permissions import ADMINS, is_superuser
from teams.models import Agent, EndUser, Project, Team
from teams.services.people import create_team, team_id_of_slug

from .base import TeamAdmin, TeamOwnedForm
from .display import as_json, moment
from .theme import RelatedFilter, display

_IDENTITY = ("personality", "rules", "skills")
_MODEL = ("model_config", "retrieval_weights", "allowed_categories")


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A team's names."""

    def clean_slug(self) -> str:
        """A slug that no team has, seen or not."""
        slug: str = self.cleaned_data["slug"]
        if team_id_of_slug(slug) is not None:
            raise ValidationError("There is a team of that slug already.")
        return slug


@admin.register(Team)
class TeamsAdmin(TeamAdmin[Team]):
    """Superusers create teams; a team's admins may rename it."""

    change_roles = ADMINS
    form = TeamForm
    list_display = ["name", "slug", "created"]
    search_fields = ["name", "slug"]
    fields = ["name", "slug", "created"]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only superusers."""
        del obj
        return is_superuser(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Team | None = None) -> list[str]:
        """The slug is what keys and scripts call a team, so it stays."""
        del request
        return ["created"] if obj is None else ["slug", "created"]

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        """Create the team in its own scope: nobody's scope holds a team that is not there yet."""
        if change:
            super().save_model(request, obj, form, change)
            return
        made = create_team(
            slug=obj.slug, name=obj.name, actor=f"staff:{request.user.get_username()}"
        )
        obj.pk, obj.created_at = made.pk, made.created_at

    @display(description="created", ordering="created_at")
    def created(self, team: Team) -> str:
        """When the team was made."""
        return moment(team.created_at)


@admin.register(Project)
class ProjectAdmin(TeamAdmin[Project]):
    """Namespaces of work."""

    add_roles = change_roles = ADMINS
    list_display = ["slug", "name", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["slug", "name"]
    fields = ["team", "slug", "name", "created"]
    readonly_fields = ["created"]

    @display(description="created", ordering="created_at")
    def created(self, project: Project) -> str:
        """When the project was first named."""
        return moment(project.created_at)


@admin.register(EndUser)
class EndUserAdmin(TeamAdmin[EndUser]):
    """People the agents talk with; they appear when an agent first names them.

    Their profile holds approved values, so it is read here and changed by the API's consent.
    """

    change_roles = ADMINS
    list_display = ["external_id", "display_name", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["external_id", "display_name"]
    fields = ["team", "external_id", "display_name", "profile_document", "created"]
    readonly_fields = ["external_id", "profile_document", "created"]

    @display(description="profile")
    def profile_document(self, end_user: EndUser) -> str:
        """The approved profile."""
        return as_json(end_user.profile)

    @display(description="created", ordering="created_at")
    def created(self, end_user: EndUser) -> str:
        """When the person was first named."""
        return moment(end_user.created_at)


class DocumentField(forms.JSONField):
    """JSON on lines of its own."""

    def prepare_value(self, value: Any) -> Any:
        """Laid out as it is read, unless it is what was typed."""
        if isinstance(value, str | InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)


class AgentForm(TeamOwnedForm):
    """The identity document; each part keeps its shape."""

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse a part that is no JSON object, or for the categories no list of words."""
        values = super().clean()
        for name in (*_IDENTITY, *_MODEL):
            value = values.get(name)
            if name == "allowed_categories":
                if value and not (
                    isinstance(value, list) and all(isinstance(item, str) for item in value)
                ):
                    self.add_error(name, 'Write a list of words, such as ["profile", "goals"].')
            elif value and not isinstance(value, dict):
                self.add_error(name, 'Write a JSON object, such as {"tone": "calm"}.')
        return values


@admin.register(Agent)
class AgentAdmin(TeamAdmin[Agent]):
    """Agents and their identity documents."""

    add_roles = change_roles = ADMINS
    form = AgentForm
    list_display = ["slug", "name", "tagline", "token_budget", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["slug", "name", "tagline"]
    readonly_fields = ["created"]

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Fields to write in for those who may, laid-out documents for the others."""
        may_write = self._may_write(request, obj)
        suffix = "" if may_write else "_document"
        return [
            (None, {"fields": ["team", "slug", "name", "tagline", "created"]}),
            ("Identity", {"fields": [f"{name}{suffix}" for name in _IDENTITY]}),
            (
                "Model and memory",
                {
                    "fields": [
                        "token_budget",
                        "summarize_interval",
                        *(f"{name}{suffix}" for name in _MODEL),
                    ]
                },
            ),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Where the agent may not be changed, its documents are laid out."""
        fields = super().get_readonly_fields(request, obj)
        if self._may_write(request, obj):
            return fields
        return [*fields, *(f"{name}_document" for name in (*_IDENTITY, *_MODEL))]

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Documents to write in that show their structure."""
        if isinstance(db_field, JSONField):
            kwargs["form_class"] = DocumentField
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(db_field, JSONField):
            field.widget.attrs["rows"] = 6
        return field

    def _may_write(self, request: HttpRequest, obj: Agent | None) -> bool:
        return self.has_change_permission(request, obj)

    @display(description="personality")
    def personality_document(self, agent: Agent) -> str:
        """How it is."""
        return as_json(agent.personality)

    @display(description="rules")
    def rules_document(self, agent: Agent) -> str:
        """What it must and must not do."""
        return as_json(agent.rules)

    @display(description="skills")
    def skills_document(self, agent: Agent) -> str:
        """What it can do."""
        return as_json(agent.skills)

    @display(description="model configuration")
    def model_config_document(self, agent: Agent) -> str:
        """Which model speaks for it."""
        return as_json(agent.model_config)

    @display(description="retrieval weights")
    def retrieval_weights_document(self, agent: Agent) -> str:
        """How its memories are ranked."""
        return as_json(agent.retrieval_weights)

    @display(description="allowed categories")
    def allowed_categories_document(self, agent: Agent) -> str:
        """Which categories it may read; empty means all."""
        return as_json(agent.allowed_categories)

    @display(description="created", ordering="created_at")
    def created(self, agent: Agent) -> str:
        """When the agent was first named."""
        return moment(agent.created_at)
