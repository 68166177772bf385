"""Agents in the admin: their documents as a form, what these were before, and their prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import path
from django.utils import timezone

from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.packing import MINIMUM_BUDGET
from memory.reading.answers import own_weights
from memory.reading.ranking import Question
from memory.reading.retrieval import Read
from memory.reading.seven_layers import BuiltPrompt, LayerUse, build_prompt, prompt_without_memory
from memory.selectors.filters import NOBODY
from memory.understanding.tools import default_tools
from teams.admin.base import TeamAdmin, section
from teams.admin.display import column, in_words, time_column
from teams.admin.theme import RelatedFilter
from teams.admin.versions import versions_table
from teams.admin_permissions import ADMINS
from teams.domain.agent_document import AgentDocument
from teams.errors import Condition
from teams.middleware import outside_staff_scope
from teams.models import Agent, EndUser, Team
from teams.services.agents import change_agent, document_of, save_document, versions_of
from teams.services.people import aliases_of, set_aliases
from teams.services.team_settings import default_flags
from teams.tenancy import team_scope

from .agent_form import DOCUMENT, AgentForm

SAMPLE_QUESTION = "What do you know about me?"
_MOST_CHARS = 1_000
_FILES = "teams/admin/agent"


@dataclass(frozen=True, slots=True)
class Preview:
    """The prompt, or what keeps the form from having one, by the labels of its fields."""

    question: str
    built: BuiltPrompt | None = None
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def layers(self) -> list[tuple[str, LayerUse]]:
        """The layers of the prompt, each with its title."""
        layers = self.built.layers if self.built is not None else ()
        return [(f"{each.number} {each.name.replace('_', ' ')}", each) for each in layers]


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

    other_names = column("aliases", lambda agent: in_words(aliases_of(agent=agent)))
    laid_out = column("document", lambda agent: in_words(document_of(agent)))
    versions = column("latest versions", lambda agent: versions_table(versions_of(agent=agent)))
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
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        agent = self.get_object(request, object_id)
        if agent is None:
            raise Http404
        if not self.has_change_permission(request, agent):
            raise PermissionDenied
        make: Any = self.get_form(request, agent, change=True)  # Any: an AgentForm
        form = make(request.POST, instance=agent, is_preview=True)
        # A script that shows the preview beside the form asks for the part alone.
        is_part = request.headers.get("X-Preview-Part") == "yes"
        template = f"admin/teams/agent/{'preview' if is_part else 'preview_page'}.html"
        shown = _preview(request, form, agent)
        return self.own_page(request, template, f"Prompt of {agent.name}", preview=shown)

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


def _made(agent: Agent) -> Agent:
    made, _ = save_document(
        team_id=agent.team_id,
        slug=agent.slug,
        document=AgentDocument.read(document_of(agent)),
        condition=Condition(must_be_new=True),
    )
    return made


def _preview(request: HttpRequest, form: Any, agent: Agent) -> Preview:
    question = request.POST.get("preview_question", "").strip()[:_MOST_CHARS] or SAMPLE_QUESTION
    if not form.is_valid():
        labels = {name: str(field.label) for name, field in form.fields.items()}
        problems = tuple(
            (labels.get(name, ""), word) for name, words in form.errors.items() for word in words
        )
        return Preview(question, problems=problems)
    if agent.token_budget < MINIMUM_BUDGET:
        words = f"A prompt needs {MINIMUM_BUDGET} tokens at least."
        return Preview(question, problems=(("Token budget", words),))
    person = request.POST.get("preview_person", "").strip()[:_MOST_CHARS]
    viewer = Viewer(
        team_id=agent.team_id,
        actor=f"staff:{request.user.get_username()}",
        agent_id=agent.pk,
        end_user_id=_person(agent, person),
        allowed_categories=tuple(agent.allowed_categories),
    )
    flags = default_flags().overridden(Team.objects.get(pk=agent.team_id).feature_flags)
    counter = counter_for(agent.model_config)
    if not flags.memory:
        budget = agent.token_budget
        return Preview(
            question, prompt_without_memory(agent=agent, token_budget=budget, counter=counter)
        )
    # The question is embedded, for which no transaction should wait.
    with outside_staff_scope(request):
        built = build_prompt(
            Read(
                viewer=viewer,
                question=Question(question),
                tools=default_tools(),
                now=timezone.now(),
                is_counted=False,
            ),
            agent=agent,
            conversation=None,
            weights=own_weights(agent),
            token_budget=agent.token_budget,
            counter=counter,
        )
    return Preview(question, built)


def _person(agent: Agent, external_id: str) -> UUID | None:
    if not external_id:
        return None
    rows = EndUser.objects.filter(team_id=agent.team_id, external_id=external_id)
    return rows.values_list("pk", flat=True).first() or NOBODY
