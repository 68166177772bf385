"""Agents: their identity documents, and what these were before."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Field, JSONField
from django.http import HttpRequest

from teams.admin_permissions import ADMINS
from teams.models import Agent
from teams.services.agents import versions_of
from teams.tenancy import team_scope

from .agent_form import DOCUMENTS, IDENTITY, AgentForm, DocumentField
from .base import TeamAdmin, section
from .columns import json_column, time_column
from .theme import RelatedFilter, display
from .versions import versions_table


@admin.register(Agent)
class AgentAdmin(TeamAdmin[Agent]):
    """Agents and their identity documents."""

    add_roles = change_roles = ADMINS
    form = AgentForm
    list_display = ["slug", "name", "tagline", "token_budget", "version", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["slug", "name", "tagline"]
    readonly_fields = ["created", "versions"]

    personality_document = json_column("personality", "personality")
    rules_document = json_column("rules", "rules")
    skills_document = json_column("skills", "skills")
    model_config_document = json_column("model_config", "model configuration")
    retrieval_weights_document = json_column("retrieval_weights", "retrieval weights")
    allowed_categories_document = json_column("allowed_categories", "allowed categories")
    created = time_column("created_at", "created")

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Fields to write in for those who may, laid-out documents for the others."""
        may_write = self._may_write(request, obj)
        suffix = "" if may_write else "_document"
        named = ["team", "slug", "name", "tagline", "created"]
        if may_write:
            named += ["reason", "loaded_version"] if obj is not None else ["reason"]
        sections = [
            section(None, *named),
            section("Identity", *(f"{name}{suffix}" for name in IDENTITY)),
            section(
                "Model and memory",
                "token_budget",
                "summarize_interval",
                *(f"{name}{suffix}" for name in DOCUMENTS if name not in IDENTITY),
            ),
        ]
        return sections if obj is None else [*sections, section("Versions", "versions")]

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Where the agent may not be changed, its documents are laid out."""
        fields = super().get_readonly_fields(request, obj)
        if self._may_write(request, obj):
            return fields
        return [*fields, *(f"{name}_document" for name in DOCUMENTS)]

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

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        """Save it with the reason, which the database keeps with the version."""
        with team_scope(
            team_ids=[obj.team_id],
            actor=f"staff:{request.user.get_username()}",
            reason=form.cleaned_data.get("reason") or "",
        ):
            super().save_model(request, obj, form, change)

    def _may_write(self, request: HttpRequest, obj: Agent | None) -> bool:
        return self.has_change_permission(request, obj)

    @display(description="latest versions")
    def versions(self, agent: Agent) -> str:
        """The last ones, with who made them and what changed."""
        return versions_table(versions_of(agent=agent))
