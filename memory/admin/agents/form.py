"""The form of an agent's document: its fields, or the document as JSON, and what each may hold."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django import forms
from django.conf import settings
from django.forms.fields import InvalidJSONInput

from memory.domain.scoring import Weights
from memory.models import Category
from memory.services.categories import check_allowlist
from teams.admin.base import TeamOwnedForm
from teams.admin.row_fields import Column, LinesField, RowsField
from teams.admin.sliders import slider_field
from teams.admin.theme import AreaWidget, ChecksWidget, NumberWidget, SelectWidget, TextWidget
from teams.admin.versions import refuse_stale
from teams.domain.checking import DocumentError
from teams.domain.context_policy import DEFAULT_SHARES, MOST_PRESERVED
from teams.domain.memory_config import (
    LEAST_TOKEN_BUDGET,
    MAX_WEIGHT,
    MOST_SUMMARIZE_INTERVAL,
    MOST_TOKEN_BUDGET,
)
from teams.domain.model_config import TIERS
from teams.errors import InvalidError
from teams.models import Agent
from teams.services.agent_names import agent_called, aliases_of, check_aliases
from teams.services.people import check_new_slug

from . import parts

_TIER_CHOICES = [("", "–"), *((tier, tier.title()) for tier in TIERS)]
_SKILL = (Column("name", "Name"), Column("description", "Description", is_wide=True))
_WORD = (Column("name", "Name"), Column("text", "Text", is_wide=True))
_TIER = (
    Column("tier", "Tier", _TIER_CHOICES),
    Column("model", "Model", is_wide=True),
    Column("input", "USD per 1,000 tokens read"),
    Column("output", "USD per 1,000 tokens written"),
)
_SIGNALS = {
    "semantic": "How well words and meaning fit the question.",
    "recency": "How new it is.",
    "importance": "How important it was said to be.",
    "continuity": "Whether it belongs to the conversation under way.",
    "relation": "How strongly it is linked with what else was found.",
}
_DEFAULTS = asdict(Weights())


class DocumentField(forms.JSONField):
    """JSON on lines of its own."""

    def prepare_value(self, value: Any) -> Any:  # Any: Django's own signature
        """Laid out as it is read, unless it is what was typed."""
        if isinstance(value, str | InvalidJSONInput):
            return value
        return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)

    def has_changed(self, initial: Any, data: Any) -> bool:  # Any: Django's own signature
        """Whether another document was written; an empty text is none."""
        return bool(data and str(data).strip()) and super().has_changed(initial, data)


def _line(label: str, help_text: str = "") -> forms.CharField:
    return forms.CharField(label=label, required=False, help_text=help_text, widget=TextWidget)


def _text(label: str, help_text: str = "") -> forms.CharField:
    return forms.CharField(
        label=label, required=False, help_text=help_text, widget=AreaWidget(attrs={"rows": 4})
    )


def _budget(label: str) -> forms.FloatField:
    return forms.FloatField(
        label=label,
        required=False,
        min_value=0,
        widget=NumberWidget(attrs={"step": "any"}),
        help_text="What models may cost this agent; empty: only the budgets of team and person"
        " hold. Days and months follow the team's time zone.",
    )


def _weight(signal: str) -> forms.FloatField:
    return slider_field(
        label=signal.title(),
        default=_DEFAULTS[signal],
        most=MAX_WEIGHT,
        help_text=f"{_SIGNALS[signal]} Empty: {_DEFAULTS[signal]:g}.",
    )


def _share(tier: str) -> forms.FloatField:
    return forms.FloatField(
        label=f"Share of {tier}",
        required=False,
        min_value=0,
        max_value=1,
        widget=NumberWidget(attrs={"step": "any"}),
        help_text=f"0 to 1. {DEFAULT_SHARES[tier]:g} where all three are empty.",
    )


class AgentForm(TeamOwnedForm):
    """An agent's document by its fields or as JSON, held to the rules of the API.

    Once it is valid, `columns` are those of the agent's columns that change.
    """

    loaded_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        max_length=500,
        label="Reason",
        help_text="Why you change it. Stored with the new version.",
        widget=TextWidget,
    )
    aliases = LinesField(
        label="Aliases",
        what="Alias",
        help_text="Further names by which requests may call the agent, such as the name it had"
        " before. An alias that is taken away is free: the next request that uses it makes a new"
        " agent.",
    )
    traits = LinesField(label="Traits", what="Trait", help_text="Such as: Curious. Patient.")
    tone = _line("Tone", "Such as: warm.")
    verbosity = _line("Verbosity", "Such as: brief.")
    formality = _line("Formality", "Such as: casual.")
    other_traits = RowsField(
        label="Further words",
        columns=_WORD,
        what="Further words",
        help_text="Whatever else should be known of how it is, such as: Humour: dry.",
    )
    voice_examples = LinesField(
        label="Voice examples", what="Sentence", help_text="Sentences as the agent would say them."
    )
    instructions = _text("Custom instructions", "Stand in the prompt as they are.")
    always = LinesField(label="Always", what="Rule", help_text="What the agent always does.")
    never = LinesField(label="Never", what="Rule", help_text="What the agent never does.")
    rule_instructions = _text("Further rules", "Stand in the prompt as they are.")
    shared_skills = RowsField(label="Skills of the team", columns=_SKILL, what="Skills of the team")
    custom_skills = RowsField(label="Skills of its own", columns=_SKILL, what="Skills of its own")
    disabled_skills = LinesField(
        label="Disabled skills",
        what="Name",
        help_text="Names of skills from the lists above that the prompt does not mention.",
    )
    is_routed = forms.BooleanField(
        label="Choose the model by the question",
        required=False,
        help_text="Off: always the model below.",
    )
    model_name = _line("Model", "What answers where no model is chosen by the question.")
    force_tier = forms.ChoiceField(
        label="Always this tier", choices=_TIER_CHOICES, required=False, widget=SelectWidget
    )
    max_tier = forms.ChoiceField(
        label="No tier above", choices=_TIER_CHOICES, required=False, widget=SelectWidget
    )
    custom_tiers = RowsField(
        label="Models of its own",
        columns=_TIER,
        what="Models of its own",
        help_text="In place of the team's models: one for each tier that the agent may use.",
    )
    daily_budget_usd = _budget("Daily budget in USD")
    monthly_budget_usd = _budget("Monthly budget in USD")
    weight_semantic = _weight("semantic")
    weight_recency = _weight("recency")
    weight_importance = _weight("importance")
    weight_continuity = _weight("continuity")
    weight_relation = _weight("relation")
    share_task = _share("task")
    share_project = _share("project")
    share_global = _share("global")
    head_tail_preserve = forms.IntegerField(
        label="Kept at either end",
        required=False,
        min_value=0,
        max_value=MOST_PRESERVED,
        widget=NumberWidget,
        help_text="So many of the first and of the last items of a package come before all others,"
        " whole. Empty: none.",
    )
    categories = forms.MultipleChoiceField(
        label="Categories it may read", required=False, widget=ChecksWidget
    )
    document = DocumentField(
        label="The whole document",
        required=False,
        widget=AreaWidget(attrs={"rows": 30, "spellcheck": "false"}),
        help_text="The shape is that of PUT /v1/agents/{slug}. Change the form or this text, not"
        " both at once.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        self.columns: dict[str, Any] = {}
        self.is_preview = False
        self._stored = parts.document_of(self.instance)
        is_new = self.instance._state.adding
        if is_new:
            self._stored["memory_config"]["summarize_interval"] = settings.SUMMARIZE_INTERVAL
        else:
            self.initial["loaded_version"] = self.instance.version
            self.initial["aliases"] = aliases_of(agent=self.instance)
        self.initial.update(parts.form_values(self._stored))
        if is_new:
            # There is nothing yet that it could show.
            del self.fields["document"]
        self.initial["document"] = self._stored
        self._set_up_fields(is_new)

    def _set_up_fields(self, is_new: bool) -> None:
        fields = self.fields
        if "slug" in fields:
            fields["slug"].help_text = (
                "What requests call it: one word without spaces. It stays as it is; aliases can be"
                " added at any time."
            )
        limits = {
            "token_budget": (LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET, "Tokens of one prompt."),
            "summarize_interval": (
                1,
                MOST_SUMMARIZE_INTERVAL,
                "Messages between two extractions. What waits in a conversation at rest is"
                " extracted as well.",
            ),
        }
        if not limits.keys() <= fields.keys():
            # Nobody writes in it.
            return
        for name, (least, most, words) in limits.items():
            fields[name].help_text = f"{words} From {least:,} to {most:,}."
            fields[name].required = False
        fields["name"].help_text = "As it calls itself in its prompt; spaces are fine."
        fields["name"].required = False
        fields["keeps_to_itself"].label = "Keeps what it learns to itself"
        self._offer_categories(is_new)
        others = parts.other_words(self._stored)
        if others and not is_new:
            said = f" What only this text shows, and the form leaves as it is: {', '.join(others)}."
            fields["document"].help_text += said

    def _offer_categories(self, is_new: bool) -> None:
        rows = Category.objects.order_by("name")
        if not is_new:
            rows = rows.filter(team_id=self.instance.team_id)
        known = dict.fromkeys(rows.values_list("name", flat=True))
        stored = self.initial[parts.CATEGORIES]
        field: Any = self.fields[parts.CATEGORIES]  # Any: a field with choices
        field.choices = [
            *((name, name) for name in known),
            *((name, f"{name} (no category of the team)") for name in stored if name not in known),
        ]
        field.help_text = "None checked: it may read all."
        if not field.choices:
            field.help_text = "The team has no categories yet; add them under Categories."

    def clean_slug(self) -> str:
        """A new agent's slug: one word that no other agent goes by."""
        slug: str = self.cleaned_data["slug"].strip()
        try:
            check_new_slug(slug, field="slug")
        except InvalidError as error:
            raise forms.ValidationError(error.message) from None
        team_id = self.team_id
        other = agent_called(team_id=team_id, name=slug) if team_id else None
        if other is not None and other.slug != slug:
            raise forms.ValidationError(f"The agent '{other.slug}' has this name as an alias.")
        return slug

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse what the document may not hold, and to overwrite what somebody else wrote."""
        values = super().clean()
        if not self.instance._state.adding and not self.is_preview:
            # The row stands as it is until this request ends.
            stored = Agent.objects.select_for_update().get(pk=self.instance.pk).version
            refuse_stale(self, stored=stored)
        if not self.errors:
            self._read_document()
        if not self.errors:
            self._check_names()
        return values

    def _read_document(self) -> None:
        """Take over what was written, by the form or as JSON, and note what is wrong where."""
        typed = [name for name in parts.DOCUMENT_FIELDS if name in self.changed_data]
        is_json = "document" in self.changed_data
        if is_json and typed:
            said = ", ".join(str(self.fields[name].label).lower() for name in typed)
            self.add_error(
                None,
                f"You changed both the JSON and the form ({said}). Change one of them: take back"
                " the other, or load the page again.",
            )
            return
        try:
            self.columns = parts.changed_columns(self._written(is_json), stored=self._stored)
            if "allowed_categories" in self.columns and self.team_id is not None:
                known = None if self.instance._state.adding else self.instance
                check_allowlist(
                    team_id=self.team_id, names=self.columns["allowed_categories"], agent=known
                )
        except DocumentError as error:
            for place, words in error.problems.items():
                self._add_problem(place, words, is_json=is_json)
        except InvalidError as error:
            self._add_problem(error.field, [error.message], is_json=is_json)
        else:
            for name, value in self.columns.items():
                setattr(self.instance, name, value)
                if name in self.cleaned_data:
                    self.cleaned_data[name] = value

    def _written(self, is_json: bool) -> dict[str, Any]:
        if not is_json:
            return parts.written_document(
                self.cleaned_data, stored=self._stored, changed=self.changed_data
            )
        document = self.cleaned_data["document"]
        if document is None:
            # Emptied: what the form shows holds.
            return self._stored
        if not isinstance(document, dict):
            raise DocumentError({"": ["Must be an object."]})
        return {name: value for name, value in document.items() if name not in parts.READ_ONLY}

    def _add_problem(self, place: str, words: list[str], *, is_json: bool) -> None:
        name, inner = ("document", place) if is_json else parts.field_of(place)
        start = f"{inner}: " if inner else ""
        self.add_error(name if name in self.fields else None, [f"{start}{each}" for each in words])

    def _check_names(self) -> None:
        team_id = self.team_id
        if team_id is None:
            return
        agent_id = None if self.instance._state.adding else self.instance.pk
        names = self.cleaned_data["aliases"]
        try:
            check_aliases(team_id=team_id, agent_id=agent_id, names=names)
        except InvalidError as error:
            self.add_error("aliases", error.message)
        if self.cleaned_data.get("slug") in names:
            self.add_error("aliases", "The slug need not be an alias.")
