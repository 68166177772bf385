"""Agents in the admin: their documents as a form, what these were before, and their prompt."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import path

from teams.admin.base import TeamAdmin, section
from teams.admin.display import document_column, time_column
from teams.admin.theme import RelatedFilter, display
from teams.admin.versions import versions_table
from teams.admin_permissions import ADMINS
from teams.domain.agent_document import AgentDocument
from teams.errors import Condition
from teams.models import Agent
from teams.services.agent_names import aliases_of, set_aliases
from teams.services.agents import change_agent, document_of, save_document, versions_of
from teams.tenancy import team_scope

from .form import DOCUMENT, AgentForm
from .preview import SAMPLE_QUESTION, preview_page

_FILES = "teams/admin/agent"


@admin.register(Agent)
class AgentAdmin(TeamAdmin[Agent]):
    """Agents and their identity documents."""

    class Media:
        css = {"all": [f"{_FILES}.css", "teams/admin/document.css"]}
        js = [f"{_FILES}.js"]

    add_roles = change_roles = ADMINS
    form = AgentForm
    compressed_fields = False
    change_form_template = "admin/teams/agent/change_form.html"
    list_display = ["slug", "name", "tagline", "token_budget", "version", "team", "created"]
    list_filter = [("team", RelatedFilter)]
    list_select_related = ["team"]
    search_fields = ["slug", "name", "tagline", "aliases__slug"]
    readonly_fields = ["created", "versions"]

    other_names = document_column("other_names", "aliases", read=lambda row: aliases_of(agent=row))
    laid_out = document_column("laid_out", "document", read=document_of)
    created = time_column("created_at", "created")

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Fields to write in for those who may, the document in words for the others."""
        shown = section(None, "team", "slug", "other_names", "created", "laid_out")
        sections = self._written(obj) if self.has_change_permission(request, obj) else [shown]
        return sections if obj is None else [*sections, section("Versions", "versions")]

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """The slug of a stored agent stands: keys and logs name it."""
        fields = super().get_readonly_fields(request, obj)
        if not self.has_change_permission(request, obj):
            return [*fields, "slug", "other_names", "laid_out"]
        return fields if obj is None else [*fields, "slug"]

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        """Save it with the reason, which the database keeps with the version."""
        actor = f"staff:{request.user.get_username()}"
        values = form.cleaned_data
        with team_scope(team_ids=[obj.team_id], actor=actor, reason=values.get("reason") or ""):
            saved = self._saved(obj, form) if change else _made(obj)
            set_aliases(agent=saved, names=values["aliases"], actor=actor)
        obj.pk, obj.version, obj.created_at = saved.pk, saved.version, saved.created_at

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        return {"sample_question": SAMPLE_QUESTION}

    def get_urls(self) -> list[Any]:  # Any: Django's patterns
        preview = self.admin_site.admin_view(self.preview)
        return [
            path("<path:object_id>/preview/", preview, name="teams_agent_preview"),
            *super().get_urls(),
        ]

    def preview(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The prompt that the agent would get with what stands in the form; nothing is saved."""
        return preview_page(self, request, object_id)

    def _written(self, agent: Agent | None) -> list[Any]:
        identity = ["team", "slug", *DOCUMENT.names(), "aliases"]
        parts = [
            section(None, *identity, *(["created"] if agent is not None else [])),
            section("Personality", *DOCUMENT.names("personality")),
            section("Rules", *DOCUMENT.names("rules")),
            section("Skills", *DOCUMENT.names("skills")),
            section("Model and budgets", *DOCUMENT.names("model_config")),
            section("Memory", *DOCUMENT.names("memory_config")),
            section(
                "Weights",
                *DOCUMENT.names("memory_config", "retrieval_weights"),
                description="Each memory gets a score: its five signals times these weights, by"
                " their sum. Only the ratio counts, so they need not add up to 1; the share is"
                " shown beside each.",
            ),
            section(
                "Packages for tasks",
                *DOCUMENT.names("memory_config", "context_policy", is_deep=True),
                description="How the budget of a package is shared out between the task, its"
                " project and what is known beyond. What a tier leaves free goes to the best of"
                " all. Without any share: 0.4, 0.4 and 0.2.",
            ),
        ]
        if agent is not None:
            parts.append(section("JSON", "document", classes="agent-json"))
        return [*parts, section("Save", "reason", "loaded_version", classes="agent-save")]

    def _saved(self, agent: Agent, form: AgentForm) -> Agent:
        loaded = form.cleaned_data.get("loaded_version")
        versions = None if loaded is None else frozenset([loaded])
        return change_agent(
            agent=agent, columns=form.columns, condition=Condition(versions=versions)
        )

    @display(description="latest versions")
    def versions(self, agent: Agent) -> str:
        return versions_table(versions_of(agent=agent))


def _made(agent: Agent) -> Agent:
    made, _ = save_document(
        team_id=agent.team_id,
        slug=agent.slug,
        document=AgentDocument.read(document_of(agent)),
        condition=Condition(must_be_new=True),
    )
    return made
