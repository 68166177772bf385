"""Teams and their settings: time zone, budgets, features."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from teams.admin_permissions import ADMINS, is_superuser
from teams.domain.checking import DocumentError
from teams.domain.flags import FLAGS
from teams.domain.profile_fields import check_sensitive_fields
from teams.models import Team, TeamVersion
from teams.services.flags import default_flags
from teams.services.people import create_team, team_id_of_slug

from .base import TeamAdmin, section
from .context_form import CONTEXT_FIELDS, ContextForm, chosen_context
from .display import time_column, words
from .lifecycle_form import LIFECYCLE_FIELDS, LifecycleForm, chosen_lifecycle
from .theme import SelectWidget, TextWidget, display
from .versions import refuse_stale, versions_table

_CHOSEN = {"on": True, "off": False}
_BUDGETS = {
    "monthly_budget_usd": (
        "Monthly budget of the team in USD",
        "The most that models may cost the team; empty for the server's default, {}.",
        "MONTHLY_TEAM_BUDGET_USD",
    ),
    "daily_user_budget_usd": (
        "Daily budget of each end user in USD",
        "The most that models may cost; empty for the server's default, {}.",
        "DAILY_USER_BUDGET_USD",
    ),
}
# Each with its name and what it means to switch it off.
_FLAGS = {
    "memory": (
        "Memory",
        "Off: nothing is remembered or retrieved; messages and memories are kept.",
    ),
    "compaction_shield": (
        "Compaction shield",
        "Off: messages can leave a context before memories are extracted from them.",
    ),
    "contradiction_detection": (
        "Contradiction detection",
        "Off: a new memory never supersedes or disputes another one by itself.",
    ),
    "model_routing": ("Model routing", "Off: an agent uses only the model of its document."),
    "team_facts": (
        "Team facts",
        "Off: what somebody says of the team stays with this person until it is given to the team;"
        " what waits is listed under Memories.",
    ),
    "episodes": ("Episodes", "Off: talk at rest is not told as an episode."),
    "insights": ("Insights", "Off: no insights about people are drawn from what is known."),
}


def _flag_field(name: str) -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=lambda: [
            ("", f"Server default ({_word(getattr(default_flags(), name))})"),
            ("on", "On"),
            ("off", "Off"),
        ],
        required=False,
        label=_FLAGS[name][0],
        help_text=_FLAGS[name][1],
        widget=SelectWidget,
    )


def _word(is_on: bool) -> str:
    return "on" if is_on else "off"


def _latest_version(team: Team) -> int | None:
    numbers = TeamVersion.objects.filter(team=team).order_by("-number")
    return numbers.values_list("number", flat=True).first()


class TeamForm(ContextForm, LifecycleForm, forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A team's names and settings; each flag overrides the installation's or follows it."""

    loaded_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    memory = _flag_field("memory")
    compaction_shield = _flag_field("compaction_shield")
    contradiction_detection = _flag_field("contradiction_detection")
    model_routing = _flag_field("model_routing")
    team_facts = _flag_field("team_facts")
    episodes = _flag_field("episodes")
    insights = _flag_field("insights")
    sensitive_fields = forms.CharField(
        required=False,
        label="Sensitive fields of a person",
        help_text="Separated by commas, such as city, pronouns. A new value of one of them waits"
        " under Consent requests until somebody says yes. Empty: nothing waits.",
        widget=TextWidget,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        stored = self.instance.feature_flags
        overrides = stored if isinstance(stored, dict) else {}
        for name in FLAGS:
            if isinstance(overrides.get(name), bool):
                self.initial[name] = _word(overrides[name])
        for name, (label, help_text, setting) in _BUDGETS.items():
            if name in self.fields:
                self.fields[name].label = label
                self.fields[name].help_text = help_text.format(getattr(settings, setting))
        self.show_context(self.instance.context_settings)
        self.show_lifecycle(self.instance.lifecycle_settings)
        self.initial["sensitive_fields"] = ", ".join(self.instance.sensitive_fields)
        if "episode_rest_hours" in self.fields:
            self.fields["episode_rest_hours"].label = "Hours between two sittings of talk"
        if "person_role" in self.fields:
            self.fields["person_role"].required = False
        if "time_zone" in self.fields:
            self.fields["time_zone"].required = False
            self.fields["time_zone"].help_text = (
                "Such as Europe/Oslo. The team's days and months begin by it, and logins that see"
                " only this team see times in it."
            )
        if not self.instance._state.adding:
            self.initial["loaded_version"] = _latest_version(self.instance)

    def clean_slug(self) -> str:
        """A slug that no team has, seen or not."""
        slug: str = self.cleaned_data["slug"]
        if team_id_of_slug(slug) is not None:
            raise ValidationError("There is a team of that slug already.")
        return slug

    def clean_time_zone(self) -> str:
        """The zone that was typed; without one it stays."""
        typed: str = self.cleaned_data["time_zone"]
        return typed or self.instance.time_zone

    def clean_person_role(self) -> str:
        """The role that was chosen; without one it stays."""
        chosen: str = self.cleaned_data["person_role"]
        return chosen or self.instance.person_role

    def clean_sensitive_fields(self) -> list[str]:
        """The fields that were typed; where the form did not ask for them, they stay."""
        if self.add_prefix("sensitive_fields") not in self.data:
            return list(self.instance.sensitive_fields)
        typed = self.cleaned_data["sensitive_fields"].casefold().replace(",", "\n").splitlines()
        named = ["_".join(each.split()) for each in typed if each.strip()]
        try:
            return check_sensitive_fields(named)
        except DocumentError as error:
            raise ValidationError(str(error)) from None

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Take over the flags that were chosen; refuse to overwrite what somebody else wrote."""
        values = super().clean() or self.cleaned_data
        if not self.instance._state.adding:
            # The row stands as it is until this request ends.
            Team.objects.select_for_update().get(pk=self.instance.pk)
            refuse_stale(self, stored=_latest_version(self.instance))
        context = self.read_context(values)
        if context is not None:
            self.instance.context_settings = context
        lifecycle = self.read_lifecycle(values)
        if lifecycle is not None:
            self.instance.lifecycle_settings = lifecycle
        if any(name in self.fields for name in FLAGS):
            self.instance.feature_flags = {
                name: _CHOSEN[values[name]] for name in FLAGS if values.get(name) in _CHOSEN
            }
        return values


@admin.register(Team)
class TeamsAdmin(TeamAdmin[Team]):
    """Superusers create teams; a team's admins rename it and set it up."""

    change_roles = ADMINS
    form = TeamForm
    list_display = ["name", "slug", "time_zone", "flags", "created"]
    search_fields = ["name", "slug"]

    created = time_column("created_at", "created")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only superusers."""
        del obj
        return is_superuser(request)

    def get_fieldsets(self, request: HttpRequest, obj: Team | None = None) -> Any:
        """The names of a new team; of a stored one its settings too."""
        names = ["name", "slug", "created"]
        if obj is None:
            return [section(None, *names)]
        may_write = self.has_change_permission(request, obj)
        return [
            section(None, *names, *(["loaded_version"] if may_write else [])),
            section("Time and budgets", "time_zone", "monthly_budget_usd", "daily_user_budget_usd"),
            section("Talk", "episode_rest_hours"),
            section("Privacy", "person_role", "sensitive_fields" if may_write else "sensitive"),
            section("Read-only context", *(CONTEXT_FIELDS if may_write else ["context"])),
            section("Consolidation", *(LIFECYCLE_FIELDS if may_write else ["lifecycle"])),
            section("Features", *(FLAGS if may_write else ["flags"])),
            section("Versions", "versions"),
        ]

    def get_form(
        self, request: HttpRequest, obj: Team | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form of the fields that are shown; a new team has no settings yet."""
        form = super().get_form(request, obj, change, **kwargs)
        if obj is None:
            for name in (
                *FLAGS,
                *CONTEXT_FIELDS,
                *LIFECYCLE_FIELDS,
                "sensitive_fields",
                "loaded_version",
            ):
                form.base_fields.pop(name, None)
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Team | None = None) -> list[str]:
        """The slug is what keys and scripts call a team, so it stays."""
        del request
        own = ["created", "flags", "sensitive", "context", "lifecycle", "versions"]
        return own if obj is None else ["slug", *own]

    def save_model(self, request: HttpRequest, obj: Team, form: Any, change: bool) -> None:
        """Create the team in its own scope: nobody's scope holds a team that is not there yet."""
        if change:
            super().save_model(request, obj, form, change)
            return
        made = create_team(
            slug=obj.slug, name=obj.name, actor=f"staff:{request.user.get_username()}"
        )
        obj.pk, obj.created_at = made.pk, made.created_at

    @display(description="own settings")
    def flags(self, team: Team) -> str:
        """The features that differ from the server's defaults."""
        installed = default_flags()
        own = installed.overridden(team.feature_flags)
        return words(
            f"{_FLAGS[name][0]}: {_word(getattr(own, name))}"
            for name in FLAGS
            if getattr(own, name) != getattr(installed, name)
        )

    @display(description="sensitive fields of a person")
    def sensitive(self, team: Team) -> str:
        """The fields that change only with a yes."""
        return words(team.sensitive_fields)

    @display(description="read-only context")
    def context(self, team: Team) -> str:
        """What differs from the usual."""
        return words(chosen_context(team.context_settings))

    @display(description="consolidation")
    def lifecycle(self, team: Team) -> str:
        """What differs from the usual."""
        return words(chosen_lifecycle(team.lifecycle_settings))

    @display(description="latest versions")
    def versions(self, team: Team) -> str:
        """The last ones of its settings, with who made them and what changed."""
        return versions_table(TeamVersion.objects.filter(team=team))
