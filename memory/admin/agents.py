"""Agents in the admin: the form of their document, its earlier versions, and their prompt."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.forms.fields import InvalidJSONInput
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import path
from django.utils import timezone

from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.packing import MINIMUM_BUDGET
from memory.models import Category
from memory.reading.answers import own_weights
from memory.reading.questions import Question, Read
from memory.reading.seven_layers import build_prompt, prompt_without_memory
from memory.selectors.filters import NOBODY
from memory.understanding.tools import default_tools
from memory.writing.categories import check_allowlist
from routing.models import ChatModel
from teams.admin.base import TeamAdmin, TeamOwnedForm, section, topic
from teams.admin.display import column, in_words
from teams.admin.document_fields import Column, DocumentFields, RowsField
from teams.admin.suggestions import SuggestWidget, recently_used
from teams.admin.teams import note_language_model, refuse_stale, versions_table
from teams.admin.theme import AreaWidget, ChecksWidget, TextWidget
from teams.admin_permissions import ADMINS
from teams.domain.agent_document import AgentDocument
from teams.domain.documents import DocumentError
from teams.errors import Condition, InvalidError
from teams.middleware import outside_staff_scope
from teams.models import Agent, EndUser, Team
from teams.services.agents import (
    READ_ONLY,
    change_agent,
    columns_of,
    document_of,
    save_document,
    versions_of,
)
from teams.services.people import (
    agent_called,
    aliases_of,
    check_aliases,
    check_new_slug,
    set_aliases,
)
from teams.services.team_settings import default_flags
from teams.tenancy import team_scope

# Any in this module: JSON that a person wrote, and Django's own signatures.
Json = dict[str, Any]

CATEGORIES = "memory_config__allowed_categories"
MODEL_NAME = "model_config__model_name"
DOCUMENT = DocumentFields(AgentDocument)


class DocumentField(forms.JSONField):
    """JSON on lines of its own."""

    def prepare_value(self, value: Any) -> Any:
        """Indented, unless it is what was typed."""
        if isinstance(value, str | InvalidJSONInput):
            return value
        return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Returns whether another document was written; an empty text counts as none."""
        return bool(data and str(data).strip()) and super().has_changed(initial, data)


class AgentForm(DOCUMENT.form, TeamOwnedForm):  # type: ignore[misc, name-defined]
    """An agent's document by its fields or as JSON, held to the rules of the API.

    Once it is valid, `columns` are those of the agent's columns that change.
    """

    memory_config__allowed_categories = forms.MultipleChoiceField(
        label="Allowed categories", required=False, widget=ChecksWidget
    )
    loaded_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        max_length=500,
        help_text="Reason for this change, stored with the new version.",
        widget=TextWidget,
    )
    aliases = RowsField(
        columns=[Column("line", "Alias", is_wide=True)],
        label="Aliases",
        help_text="Other names that requests can use for the agent, for example a former slug."
        " After an alias is removed, the next request that uses it creates a new agent.",
    )
    document = DocumentField(
        label="Document",
        required=False,
        widget=AreaWidget(attrs={"rows": 30, "spellcheck": "false"}),
        help_text="The format of PUT /v1/agents/{slug}. Change either the form or this document.",
    )

    def __init__(self, *args: Any, is_preview: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.columns: Json = {}
        self.is_preview = is_preview
        self._stored = document_of(self.instance)
        is_new = self.instance._state.adding
        if is_new:
            self._stored["memory_config"]["summarize_interval"] = settings.SUMMARIZE_INTERVAL
            # There is nothing yet that it could show.
            del self.fields["document"]
        else:
            self.initial["loaded_version"] = self.instance.version
            self.initial["aliases"] = aliases_of(agent=self.instance)
        self.initial.update(DOCUMENT.initial(self._stored))
        self.initial["document"] = self._stored
        if "slug" in self.fields:
            self.fields["slug"].help_text = (
                "The name in requests: one word without spaces. It cannot be changed later, but"
                " aliases can be added."
            )
        note_language_model(self, "memory_config__extraction_instructions")
        if MODEL_NAME in self.fields:
            self.fields[MODEL_NAME].widget = SuggestWidget(
                _models(None if is_new else self.instance.team_id)
            )
        if CATEGORIES in self.fields:
            self._offer_categories(is_new)

    def _offer_categories(self, is_new: bool) -> None:
        rows = Category.objects.order_by("name")
        if not is_new:
            rows = rows.filter(team_id=self.instance.team_id)
        known = dict.fromkeys(rows.values_list("name", flat=True))
        stored = self.initial[CATEGORIES]
        field: Any = self.fields[CATEGORIES]
        field.choices = [
            *((name, name) for name in known),
            *(
                (name, f"{name} (not a category of the team)")
                for name in stored
                if name not in known
            ),
        ]
        field.help_text = "None selected: the agent can read all categories."
        if not field.choices:
            field.help_text = "The team has no categories yet. Add them under Categories."

    def clean_slug(self) -> str:
        """A new agent's slug: one word that no other agent is called by."""
        slug: str = self.cleaned_data["slug"].strip()
        try:
            check_new_slug(slug, field="slug")
        except InvalidError as error:
            raise forms.ValidationError(error.message) from None
        other = agent_called(team_id=self.team_id, name=slug) if self.team_id else None
        if other is not None and other.slug == slug:
            raise forms.ValidationError("The team already has an agent with this slug.")
        if other is not None:
            raise forms.ValidationError(f"The agent '{other.slug}' has this name as an alias.")
        return slug

    def clean(self) -> Json:
        """Refuses an invalid document, and to overwrite what somebody else wrote."""
        values: Json = super().clean()
        if not self.instance._state.adding and not self.is_preview:
            # The row is locked until this request ends.
            stored = Agent.objects.select_for_update().get(pk=self.instance.pk).version
            refuse_stale(self, stored=stored)
        if not self.errors:
            self._read_document()
        if not self.errors:
            self._check_names()
        return values

    def _read_document(self) -> None:
        """Takes over what was written, in the fields or as JSON."""
        typed = DOCUMENT.changed(self)
        is_json = "document" in self.changed_data
        if is_json and typed:
            said = ", ".join(str(self.fields[name].label).lower() for name in typed)
            self.add_error(
                None,
                f"You changed both the JSON and the form ({said}). Undo one of the two, or reload"
                " the page.",
            )
            return
        try:
            self.columns = changed_columns(self._written(is_json), stored=self._stored)
            if "allowed_categories" in self.columns and self.team_id is not None:
                known = None if self.instance._state.adding else self.instance
                check_allowlist(
                    team_id=self.team_id, names=self.columns["allowed_categories"], agent=known
                )
        except InvalidError as error:
            if not isinstance(error, DocumentError):
                error = DocumentError({error.field: [error.message]})
            if is_json:
                for place, words in error.problems.items():
                    self.add_error("document", [f"{place}: {e}" if place else e for e in words])
            else:
                DOCUMENT.add_problems(self, error)
        else:
            for name, value in self.columns.items():
                setattr(self.instance, name, value)
                if name in self.cleaned_data:
                    self.cleaned_data[name] = value

    def _written(self, is_json: bool) -> Json:
        if not is_json:
            return DOCUMENT.written(self, self._stored)
        document = self.cleaned_data["document"]
        if not isinstance(document, dict):
            raise DocumentError({"": ["Must be an object."]})
        return {name: each for name, each in document.items() if name not in (*READ_ONLY, "slug")}

    def _check_names(self) -> None:
        if self.team_id is None:
            return
        agent_id = None if self.instance._state.adding else self.instance.pk
        names = self.cleaned_data["aliases"]
        try:
            check_aliases(team_id=self.team_id, agent_id=agent_id, names=names)
        except InvalidError as error:
            self.add_error("aliases", error.message)
        if self.cleaned_data.get("slug") in names:
            self.add_error("aliases", "The slug cannot also be an alias.")


def changed_columns(document: Json, *, stored: Json) -> Json:
    """Returns the columns of the agent that differ; both documents are as `document_of` gives them.

    What is left out has its default. Raises DocumentError for parts that are not valid. Equal parts
    are not checked: they may be older than the rules.
    """
    given, before = document.get("memory_config"), stored["memory_config"]
    if given is not None and not isinstance(given, dict):
        raise DocumentError({"memory_config": ["Must be an object."]})
    written = _differing({**document, "memory_config": before}, stored)
    memory = _differing(given or {}, before)
    if not written and not memory:
        return {}
    checked = AgentDocument.read({"name": "unchanged", **written, "memory_config": memory})
    columns = columns_of(checked)
    return {name: columns[name] for name in (*written, *memory)}


def _differing(after: Json, before: Json) -> Json:
    left_out = dict.fromkeys(name for name in before if name not in after)
    return {n: v for n, v in {**left_out, **after}.items() if n not in before or v != before[n]}


SAMPLE_QUESTION = "What do you know about me?"
_MOST_CHARS = 1_000
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
    search_fields = ["slug", "name", "tagline", "aliases__slug"]
    readonly_fields = ["created", "versions"]
    # Keys and logs name it.
    fixed_fields = ["slug"]

    other_names = column("aliases", lambda agent: in_words(aliases_of(agent=agent)))
    laid_out = column("document", lambda agent: in_words(document_of(agent)))
    versions = column("latest versions", lambda agent: versions_table(versions_of(agent=agent)))

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        """Fields to write in for those who may, the document in words for the others."""
        shown = section(None, "team", "slug", "other_names", "created", "laid_out")
        if obj is None or self.has_change_permission(request, obj):
            return self._written(obj)
        return [shown, section("Versions", "versions")]

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        if self.has_change_permission(request, obj):
            return fields
        return [*fields, "slug", "other_names", "laid_out"]

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        """Save it with the reason, which the database keeps with the version."""
        actor = f"staff:{request.user.get_username()}"
        values = form.cleaned_data
        with team_scope(team_ids=[obj.team_id], actor=actor, reason=values.get("reason") or ""):
            saved = _changed(obj, form) if change else _made(obj)
            set_aliases(agent=saved, names=values["aliases"], actor=actor)
        obj.pk, obj.version, obj.created_at = saved.pk, saved.version, saved.created_at

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        agent = self.get_object(request, object_id)
        if agent is None or not self.has_change_permission(request, agent):
            return {}
        people = SuggestWidget(recently_used("end_user", team_ids=[agent.team_id]))
        return {
            "sample_question": SAMPLE_QUESTION,
            "person": people.render("preview_person", "", {"id": "id_preview_person"}),
        }

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
        parts = [
            section(None, "team", "slug"),
            topic("Identity", *DOCUMENT.names(), "aliases", *(["created"] if agent else [])),
            topic("Personality", *DOCUMENT.names("personality")),
            topic("Rules", *DOCUMENT.names("rules")),
            topic("Skills", *DOCUMENT.names("skills")),
            topic("Model and budgets", *DOCUMENT.names("model_config")),
            topic("Memory", *DOCUMENT.names("memory_config")),
            topic(
                "Weights",
                *DOCUMENT.names("memory_config", "retrieval_weights"),
                description="The score of a memory is the weighted average of five signals. Only"
                " the ratio of the weights matters; the share of each is shown beside it.",
            ),
            topic(
                "Task packages",
                *DOCUMENT.names("memory_config", "context_policy", is_deep=True),
                description="The division of a package's budget between the task, its project and"
                " everything else. Unused budget goes to the best remaining items. If no share is"
                " given: 0.4, 0.4 and 0.2.",
            ),
        ]
        if agent is not None:
            parts.append(topic("JSON", "document", classes="agent-json"))
            parts.append(topic("Versions", "versions"))
        return [*parts, section(None, "reason", "loaded_version", classes="below")]


def _models(team_id: UUID | None) -> list[tuple[str, str]]:
    """The models that the team, or any of the login's teams, and the server's settings name."""
    rows = ChatModel.objects.all() if team_id is None else ChatModel.objects.filter(team_id=team_id)
    served = [name for name, *_ in settings.CHAT_MODELS.values() if name]
    return [(name, "") for name in sorted({*rows.values_list("name", flat=True), *served})]


def _changed(agent: Agent, form: AgentForm) -> Agent:
    loaded = form.cleaned_data.get("loaded_version")
    condition = Condition(versions=None if loaded is None else frozenset([loaded]))
    return change_agent(agent=agent, columns=form.columns, condition=condition)


def _made(agent: Agent) -> Agent:
    made, _ = save_document(
        team_id=agent.team_id,
        slug=agent.slug,
        document=AgentDocument.read(document_of(agent)),
        condition=Condition(must_be_new=True),
    )
    return made


def _preview(request: HttpRequest, form: Any, agent: Agent) -> Json:
    """The prompt by layers, or what keeps the form from having one, by the labels of its fields."""
    question = request.POST.get("preview_question", "").strip()[:_MOST_CHARS] or SAMPLE_QUESTION
    if not form.is_valid():
        labels = {name: str(field.label) for name, field in form.fields.items()}
        problems = [
            (labels.get(name, ""), word) for name, words in form.errors.items() for word in words
        ]
        return {"problems": problems}
    if agent.token_budget < MINIMUM_BUDGET:
        words = f"A prompt needs at least {MINIMUM_BUDGET} tokens."
        return {"problems": [("Token budget", words)]}
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
    budget = agent.token_budget
    if flags.memory:
        read = Read(
            viewer=viewer,
            question=Question(question),
            tools=default_tools(),
            now=timezone.now(),
            is_counted=False,
        )
        # The question is embedded, for which no transaction should wait.
        with outside_staff_scope(request):
            built = build_prompt(
                read,
                agent=agent,
                conversation=None,
                weights=own_weights(agent),
                token_budget=budget,
                counter=counter,
            )
    else:
        built = prompt_without_memory(agent=agent, token_budget=budget, counter=counter)
    layers = [(f"{each.number} {each.name.replace('_', ' ')}", each) for each in built.layers]
    return {"question": question, "built": built, "layers": layers}


def _person(agent: Agent, external_id: str) -> UUID | None:
    if not external_id:
        return None
    rows = EndUser.objects.filter(team_id=agent.team_id, external_id=external_id)
    return rows.values_list("pk", flat=True).first() or NOBODY
