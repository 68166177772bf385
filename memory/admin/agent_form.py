"""The form of an agent's document: its fields, or the document as JSON, by the rules of the API."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.conf import settings
from django.forms.fields import InvalidJSONInput

from memory.models import Category
from memory.writing.categories import check_allowlist
from teams.admin.base import TeamOwnedForm
from teams.admin.document_fields import Column, DocumentFields, RowsField
from teams.admin.theme import AreaWidget, ChecksWidget, TextWidget
from teams.admin.versions import refuse_stale
from teams.domain.agent_document import AgentDocument
from teams.domain.documents import DocumentError
from teams.errors import InvalidError
from teams.models import Agent
from teams.services.agents import READ_ONLY, columns_of, document_of
from teams.services.people import agent_called, aliases_of, check_aliases, check_new_slug

# Any in this module: JSON that a person wrote, and Django's own signatures.
Json = dict[str, Any]

CATEGORIES = "memory_config__allowed_categories"
DOCUMENT = DocumentFields(AgentDocument)


class DocumentField(forms.JSONField):
    """JSON on lines of its own."""

    def prepare_value(self, value: Any) -> Any:
        """Indented, unless it is what was typed."""
        if isinstance(value, str | InvalidJSONInput):
            return value
        return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether another document was written; an empty text counts as none."""
        return bool(data and str(data).strip()) and super().has_changed(initial, data)


class AgentForm(DOCUMENT.form, TeamOwnedForm):  # type: ignore[misc, name-defined]
    """An agent's document by its fields or as JSON, held to the rules of the API.

    Once it is valid, `columns` are those of the agent's columns that change.
    """

    memory_config__allowed_categories = forms.MultipleChoiceField(
        label="Categories it may read", required=False, widget=ChecksWidget
    )
    loaded_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        max_length=500,
        help_text="Why you change it. Stored with the new version.",
        widget=TextWidget,
    )
    aliases = RowsField(
        columns=[Column("line", "Alias", is_wide=True)],
        label="Aliases",
        help_text="Further names by which requests may call the agent, such as the name it had"
        " before. An alias that is taken away is free: the next request that uses it makes a new"
        " agent.",
    )
    document = DocumentField(
        label="The whole document",
        required=False,
        widget=AreaWidget(attrs={"rows": 30, "spellcheck": "false"}),
        help_text="The shape is that of PUT /v1/agents/{slug}. Change the form or this text, not"
        " both at once.",
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
                "What requests call it: one word without spaces. It never changes; aliases can be"
                " added at any time."
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
            *((name, f"{name} (no category of the team)") for name in stored if name not in known),
        ]
        field.help_text = "None checked: it may read all."
        if not field.choices:
            field.help_text = "The team has no categories yet; add them under Categories."

    def clean_slug(self) -> str:
        """A new agent's slug: one word that no other agent is called by."""
        slug: str = self.cleaned_data["slug"].strip()
        try:
            check_new_slug(slug, field="slug")
        except InvalidError as error:
            raise forms.ValidationError(error.message) from None
        other = agent_called(team_id=self.team_id, name=slug) if self.team_id else None
        if other is not None and other.slug != slug:
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
                f"You changed both the JSON and the form ({said}). Change one of them: undo the"
                " other, or load the page again.",
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
            self.add_error("aliases", "The slug need not be an alias.")


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
