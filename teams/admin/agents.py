"""Agents: their identity documents, and what these were before."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Field, JSONField, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from teams.admin_permissions import ADMINS
from teams.domain.document_changes import changed_places
from teams.models import Agent, AgentVersion
from teams.services.agents import versions_of
from teams.tenancy import team_scope

from .agent_form import DOCUMENTS, IDENTITY, AgentForm, DocumentField
from .base import TeamAdmin
from .display import NOTHING, as_json, excerpt, link, moment, page_of, words
from .theme import AutocompleteFilter, RelatedFilter, display

_SHOWN_VERSIONS = 10


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

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Fields to write in for those who may, laid-out documents for the others."""
        may_write = self._may_write(request, obj)
        suffix = "" if may_write else "_document"
        named = ["team", "slug", "name", "tagline", "created"]
        if may_write:
            named += ["reason", "loaded_version"] if obj is not None else ["reason"]
        sections = [
            (None, {"fields": named}),
            ("Identity", {"fields": [f"{name}{suffix}" for name in IDENTITY]}),
            (
                "Model and memory",
                {
                    "fields": [
                        "token_budget",
                        "summarize_interval",
                        *(f"{name}{suffix}" for name in DOCUMENTS if name not in IDENTITY),
                    ]
                },
            ),
        ]
        return sections if obj is None else [*sections, ("Versions", {"fields": ["versions"]})]

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
        rows = list(with_changes(versions_of(agent=agent))[:_SHOWN_VERSIONS])
        lines = format_html_join(
            "",
            '<tr><td class="pr-4">{}</td><td class="pr-4">{}</td><td class="pr-4">{}</td>'
            '<td class="pr-4">{}</td><td>{}</td></tr>',
            (
                (
                    link(page_of("teams_agentversion", row.pk), row.number),
                    moment(row.created_at),
                    row.actor,
                    words(_changes(row)),
                    excerpt(row.reason),
                )
                for row in rows
            ),
        )
        return format_html('<table class="text-xs">{}</table>', lines) if rows else NOTHING

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


@admin.register(AgentVersion)
class AgentVersionAdmin(TeamAdmin[AgentVersion]):
    """What agents' documents were, to read and never to change."""

    list_display = ["agent", "number", "created", "actor", "changes", "reason", "team"]
    list_filter = [("team", RelatedFilter), ("agent", AutocompleteFilter)]
    list_select_related = ["team", "agent"]
    ordering = ["-created_at", "-number"]
    search_fields = ["agent__slug", "actor", "reason"]
    fields = ["agent", "number", "team", "created", "actor", "reason", "changes", "laid_out"]
    readonly_fields = ["created", "changes", "laid_out"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentVersion]:
        """Each with the document before it."""
        return with_changes(super().get_queryset(request))

    @display(description="changed")
    def changes(self, version: AgentVersion) -> str:
        """What differs from the version before."""
        return words(_changes(version))

    @display(description="document")
    def laid_out(self, version: AgentVersion) -> str:
        """The whole of it."""
        return as_json(version.document)

    @display(description="from", ordering="created_at")
    def created(self, version: AgentVersion) -> str:
        """When it came to be."""
        return moment(version.created_at)


def with_changes(rows: QuerySet[AgentVersion, Any]) -> QuerySet[AgentVersion, Any]:
    """The versions, each with the document of the version before it as `before`."""
    before = AgentVersion.objects.filter(
        team_id=OuterRef("team_id"), agent_id=OuterRef("agent_id"), number=OuterRef("number") - 1
    )
    return rows.annotate(before=Subquery(before.values("document")[:1]))


def _changes(version: AgentVersion) -> list[str]:
    before = version.before  # type: ignore[attr-defined]  # by `with_changes`
    if version.number == 1:
        return ["first"]
    return changed_places(before, version.document)
