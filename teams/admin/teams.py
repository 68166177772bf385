"""Teams with their settings, and the versions of agents' documents and teams' settings."""

from __future__ import annotations

from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from teams.admin_permissions import ADMINS, CHOSEN_TEAM, is_superuser
from teams.domain.documents import DocumentError, changed_places
from teams.domain.team_settings import FLAGS, TeamSettings
from teams.models import AgentVersion, Team, TeamVersion
from teams.services.people import create_team, team_id_of_slug
from teams.services.team_settings import default_flags

from . import display
from .base import TeamAdmin, section, topic
from .document_fields import DocumentFields
from .suggestions import SuggestWidget, categories_of, time_zones
from .theme import AutocompleteFilter, RelatedFilter, Row

_SHOWN = 10
_TABLE = '<div class="overflow-x-auto"><table class="text-xs">{}</table></div>'
_LINE = f"<tr>{5 * '<td class=pr-4>{}</td>'}</tr>"


class VersionAdmin(TeamAdmin[Row]):
    """A document, who changed it, when, and which parts."""

    class Media:
        css = {"all": ["teams/admin/document.css"]}

    ordering = ["-created_at", "-number"]
    readonly_fields = ["created", "by", "changes", "laid_out"]

    by = display.actor_column()
    changes = display.column("changes", lambda version: display.words(_changes(version)))
    laid_out = display.column("document", lambda version: display.in_words(version.document))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        return with_document_before(super().get_queryset(request))


@admin.register(AgentVersion)
class AgentVersionAdmin(VersionAdmin[AgentVersion]):
    """Versions of agents' identity documents."""

    list_display = ["agent", "number", "created", "by", "changes", "reason", "team"]
    list_filter = [("team", RelatedFilter), ("agent", AutocompleteFilter)]
    list_select_related = ["team", "agent"]
    search_fields = ["agent__slug", "actor", "reason"]
    fields = ["agent", "number", "team", "created", "by", "reason", "changes", "laid_out"]


@admin.register(TeamVersion)
class TeamVersionAdmin(VersionAdmin[TeamVersion]):
    """Versions of teams' settings."""

    list_display = ["team", "number", "created", "by", "changes"]
    search_fields = ["actor"]
    fields = ["team", "number", "created", "by", "changes", "laid_out"]

    laid_out = display.column("settings", lambda version: display.in_words(version.document))


# Any, from here on: rows of either model.


def with_document_before(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The versions, each with the document of the version before it as `before`."""
    key = "agent_id" if rows.model is AgentVersion else "team_id"
    before = rows.model._default_manager.filter(
        **{"team_id": OuterRef("team_id"), key: OuterRef(key), "number": OuterRef("number") - 1}
    )
    annotated: QuerySet[Any] = rows.annotate(before=Subquery(before.values("document")[:1]))
    return annotated


def versions_table(versions: QuerySet[Any]) -> str:
    """The last of these versions, for the page of what they are of, and a link to the others."""
    rows = list(with_document_before(versions).order_by("-number")[: _SHOWN + 1])
    lines = (
        (
            display.link(display.page_of_row(row), row.number),
            display.moment(row.created_at),
            display.actor_words(row.actor),
            display.words(_changes(row)),
            display.excerpt(row.reason),
        )
        for row in rows[:_SHOWN]
    )
    if not rows:
        return display.NOTHING
    table = format_html(_TABLE, format_html_join("", _LINE, lines))
    return format_html("{}<p>{}</p>", table, _all(rows[0])) if rows[_SHOWN:] else table


def _all(version: Any) -> SafeString:
    model = version._meta.label_lower.replace(".", "_")
    key = "agent" if isinstance(version, AgentVersion) else "team"
    url = f"{reverse(f'admin:{model}_changelist')}?{key}__id__exact={getattr(version, f'{key}_id')}"
    return display.link(url, "All versions")


def refuse_stale(form: forms.ModelForm[Any], *, stored: int | None) -> None:
    """Add an error to the form when another version stands than the one that was loaded."""
    loaded = form.cleaned_data.get("loaded_version")
    if loaded is not None and stored != loaded:
        form.add_error(
            None,
            f"Somebody else has changed this {form.instance._meta.verbose_name} since you loaded"
            f" the page (version {loaded}; the latest is {stored}). Reload the page and repeat your"
            " change.",
        )


def _changes(version: Any) -> list[str]:
    if version.number == 1:
        return ["created"]
    places = changed_places(version.before, version.document)
    return [each.replace("_", " ").replace(".", " › ") for each in places]


def note_language_model(form: forms.BaseForm, name: str) -> None:
    """Says under the field that only a language model reads it, where the server has none."""
    if name in form.fields and not settings.EXTRACTION_MODEL:
        form.fields[name].help_text += (
            " This server extracts with its built-in model, which does not read them: set"
            " EXTRACTION_MODEL."
        )


SETTINGS = DocumentFields(TeamSettings)
_COLUMNS = ("sensitive_fields", "context_settings", "lifecycle_settings", "feature_flags")


def _stored(team: Team) -> dict[str, Any]:  # Any: JSON
    return {name: getattr(team, name) for name in _COLUMNS}


def _latest_version(team: Team) -> int | None:
    numbers = TeamVersion.objects.filter(team=team).order_by("-number")
    return numbers.values_list("number", flat=True).first()


class TeamForm(SETTINGS.form, forms.ModelForm):  # type: ignore[misc, name-defined, type-arg]
    """A team's names and settings; an empty field has its default, or the server's."""

    loaded_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        labels = {
            "monthly_budget_usd": "Monthly budget (USD)",
            "daily_user_budget_usd": "Daily budget per person (USD)",
            "episode_rest_hours": "Idle hours before an episode",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        self._stored = _stored(self.instance)
        self.initial.update(SETTINGS.initial(self._stored))
        for flag in FLAGS:
            field: Any = self.fields.get(f"feature_flags__{flag}")  # Any: a field with choices
            if field:
                said = f"Server default ({'on' if getattr(default_flags(), flag) else 'off'})"
                field.choices = [("", said), *field.choices[1:]]
        for name, default in (
            ("monthly_budget_usd", settings.MONTHLY_TEAM_BUDGET_USD),
            ("daily_user_budget_usd", settings.DAILY_USER_BUDGET_USD),
        ):
            if name in self.fields:
                said = f"Maximum model cost. Empty: the server's default, {default}."
                self.fields[name].help_text = said
        note_language_model(self, "extraction_instructions")
        if "time_zone" in self.fields:
            self.fields["time_zone"].widget = SuggestWidget(time_zones())
        for name in ("person_role", "time_zone"):
            if name in self.fields:
                # Without a choice the stored one stays.
                self.fields[name].required = False
        if not self.instance._state.adding:
            self.initial["loaded_version"] = _latest_version(self.instance)
            self._suggest_categories()

    def _suggest_categories(self) -> None:
        """Suggests categories of the team and the defaults of each kind of request."""
        names = SETTINGS.names("context_settings", "categories")
        known = categories_of(team_id=self.instance.pk)
        known += [word for name in names for word in SETTINGS.leaves[name].default]
        for name in names:
            if name in self.fields:
                widget: Any = self.fields[name].widget  # Any: a RowsWidget
                widget.suggestions = sorted(set(known))

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if team_id_of_slug(slug) is not None:
            raise ValidationError("A team with this slug already exists.")
        return slug

    def clean_time_zone(self) -> object:
        return self.cleaned_data["time_zone"] or self.instance.time_zone

    def clean_person_role(self) -> object:
        return self.cleaned_data["person_role"] or self.instance.person_role

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Take over the flags that were chosen; refuse to overwrite what somebody else wrote."""
        values = super().clean() or self.cleaned_data
        if not self.instance._state.adding:
            # The row stands as it is until this request ends.
            Team.objects.select_for_update().get(pk=self.instance.pk)
            refuse_stale(self, stored=_latest_version(self.instance))
        if not self.errors and "feature_flags__memory" in self.fields:
            written = {"sensitive_fields": [], **SETTINGS.written(self, self._stored)}
            try:
                chosen = TeamSettings.read(written).chosen()
            except DocumentError as error:
                SETTINGS.add_problems(self, error)
            else:
                for name in _COLUMNS:
                    value = chosen.get(name, {})
                    setattr(self.instance, name, value)
                    values[name] = value
        return values


@admin.register(Team)
class TeamsAdmin(TeamAdmin[Team]):
    """Superusers create teams; a team's admins rename it and set it up."""

    change_roles = ADMINS
    form = TeamForm
    list_select_related = False
    list_filter = ()
    help_texts = {
        "time_zone": "For example Europe/Oslo. Used for the team's days and months, and for times"
        " shown to logins of this team alone.",
    }
    list_display = ["name", "slug", "time_zone", "own_settings", "created"]
    search_fields = ["name", "slug"]

    own_settings = display.column(
        "changed settings", lambda team: display.words(SETTINGS.chosen(_stored(team)))
    )
    versions = display.column(
        "latest versions", lambda team: versions_table(TeamVersion.objects.filter(team=team))
    )

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        del obj
        return is_superuser(request)

    def get_fieldsets(self, request: HttpRequest, obj: Team | None = None) -> Any:
        names = ["name", "slug", "created"]
        if obj is None:
            return [section(None, *names)]
        may_write = self.has_change_permission(request, obj)
        budgets = ("monthly_budget_usd", "daily_user_budget_usd")
        parts = [
            section(None, *names, *(["loaded_version"] if may_write else [])),
            topic("Time zone and budgets", "time_zone", *budgets),
            topic("Conversations", "episode_rest_hours", "extraction_instructions"),
            topic("Privacy", "person_role", *(["sensitive_fields"] if may_write else [])),
        ]
        if may_write:
            of = partial(SETTINGS.names, is_deep=True)
            parts += [
                topic("Read-only context", *of("context_settings")),
                topic("Consolidation", *of("lifecycle_settings")),
                topic("Features", *of("feature_flags")),
            ]
        else:
            parts.append(topic("Settings", "own_settings"))
        return [*parts, topic("Versions", "versions")]

    def get_form(
        self, request: HttpRequest, obj: Team | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form of the fields that are shown; a new team has no settings yet."""
        form = super().get_form(request, obj, change, **kwargs)
        if obj is None:
            for name in (*SETTINGS.leaves, "loaded_version"):
                form.base_fields.pop(name, None)
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Team | None = None) -> list[str]:
        """The slug is what keys and scripts call a team, so it stays."""
        del request
        own = ["created", "own_settings", "versions"]
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
        if request.session.get(CHOSEN_TEAM):
            # The page that follows is of the new one.
            request.session[CHOSEN_TEAM] = str(made.pk)
