"""Agents: the form of their identity documents, and what these were before."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Field, JSONField
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest

from teams.admin_permissions import ADMINS
from teams.domain.agent_document import AgentDocument
from teams.domain.checking import DocumentError
from teams.models import Agent
from teams.services.agents import columns_of, versions_of
from teams.tenancy import team_scope

from .base import TeamAdmin, TeamOwnedForm, section
from .display import json_column, time_column
from .theme import RelatedFilter, TextWidget, display
from .versions import refuse_stale, versions_table

IDENTITY = ("personality", "rules", "skills")
DOCUMENTS = (*IDENTITY, "model_config", "retrieval_weights", "allowed_categories")
_MEMORY = (
    "token_budget",
    "summarize_interval",
    "retrieval_weights",
    "allowed_categories",
    "keeps_to_itself",
)
_HELP = {
    "personality": "traits, tone, verbosity, formality, voice_examples, custom_instructions, and"
    ' fields of your own, as in {"traits": ["Curious"], "tone": "warm"}.',
    "rules": 'always and never, as in {"never": ["Guess."]}.',
    "skills": "shared, custom and disabled, each a list of names or of objects, as in"
    ' {"custom": [{"name": "charts", "description": "draws figures"}]}.',
    "model_config": "enable_model_routing, model_name, force_tier, max_tier, custom_tiers,"
    ' daily_budget_usd and monthly_budget_usd, as in {"max_tier": "balanced"}.',
    "retrieval_weights": "semantic, recency, importance, continuity and relation, as in"
    ' {"semantic": 0.6}; a missing one has its default.',
    "allowed_categories": 'Categories it may read, as in ["profile", "goals"]; empty for all.',
}


class DocumentField(forms.JSONField):
    """JSON on lines of its own."""

    def prepare_value(self, value: Any) -> Any:
        """Laid out as it is read, unless it is what was typed."""
        if isinstance(value, str | InvalidJSONInput):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)


class AgentForm(TeamOwnedForm):
    """The identity document, held to the rules of the API; parts left alone stay as they are."""

    loaded_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        max_length=500,
        label="Reason",
        help_text="Stored with the new version.",
        widget=TextWidget,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        for name, words in _HELP.items():
            if name in self.fields:
                self.fields[name].help_text = words
        if not self.instance._state.adding:
            self.initial["loaded_version"] = self.instance.version

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse what the document may not hold, and to overwrite what somebody else wrote."""
        values = super().clean()
        self._check_document()
        if not self.instance._state.adding:
            # The row stands as it is until this request ends.
            stored = Agent.objects.select_for_update().get(pk=self.instance.pk).version
            refuse_stale(self, stored=stored)
        return values

    def _check_document(self) -> None:
        """Hold what was written to the document's rules, and take it over in its usual shape."""
        # What is as it stands is not checked again: it may be older than the rules.
        written = {
            name: value or None
            for name, value in self.cleaned_data.items()
            if self.instance._state.adding or value != getattr(self.instance, name, value)
        }
        document = {
            "name": written.get("name") or "unchanged",
            **{name: written.get(name) for name in ("tagline", *IDENTITY, "model_config")},
            "memory_config": {name: written.get(name) for name in _MEMORY},
        }
        try:
            columns = columns_of(AgentDocument.validate(document))
        except DocumentError as error:
            for place, said in error.problems.items():
                field, _, inner = place.removeprefix("memory_config.").partition(".")
                name = field.partition("[")[0]
                where = f"{inner}: " if inner else ""
                self.add_error(
                    name if name in self.fields else None, [f"{where}{each}" for each in said]
                )
            return
        for name in DOCUMENTS:
            if name in written:
                self.cleaned_data[name] = columns[name]


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
                "keeps_to_itself",
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
