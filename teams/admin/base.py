"""The base of all lists and pages of team rows: permissions, paging, search, forms."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib.admin import ShowFacets
from django.contrib.admin.views.main import PAGE_VAR
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.contrib.postgres.expressions import ArraySubquery
from django.core.paginator import Page, Paginator
from django.db.models import Field, ForeignKey, Model, OuterRef, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from django.utils.text import capfirst

from teams.admin_permissions import (
    MEMBERS,
    TeamPermissions,
    sees_several_teams,
    teams_where,
)
from teams.models import Team
from teams.models.base import TeamOwned

from .display import NOTHING, page_of_row, time_column
from .theme import RelatedFilter, Row, ThemedAdmin, ThemedChangeList


class TeamOwnedForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A form of one team's row: whatever it names belongs to the same team."""

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse a choice from another team, with a message instead of a database error."""
        values = super().clean() or self.cleaned_data
        team_id = self.team_id
        for name, value in list(values.items()):
            if team_id and isinstance(value, TeamOwned) and value.team_id != team_id:
                self.add_error(name, f"{value} belongs to another team.")
        return values

    @property
    def team_id(self) -> UUID | None:
        """The row's team: the chosen one for a new row, None where that is missing."""
        team = self.cleaned_data.get("team")
        if isinstance(team, Team):
            return team.pk
        return None if self.instance._state.adding else self.instance.team_id

    def _get_validation_exclusions(self) -> set[str]:
        # A team's rules of uniqueness hold also where the form does not show the team.
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return excluded - {"team"} if self.team_id else excluded


class TeamChoiceField(ModelChoiceField):  # type: ignore[type-arg]  # not generic when it runs
    """A choice among team rows that says which team each belongs to."""

    def label_from_instance(self, obj: Model) -> str:
        team = getattr(obj, "team", None)
        return f"{obj} ({team})" if team else str(obj)


def id_in(text: str) -> UUID | None:
    """Returns the id that the whole text is; None for any other text."""
    try:
        return UUID(text.strip())
    except ValueError:
        return None


def section(
    title: str | None,
    *rows: str | tuple[str, ...],
    description: str | None = None,
    classes: str = "",
) -> tuple[str | None, Any]:
    """A part of a row's page: fields one below the other, those of a tuple side by side."""
    # Any: Django's own shape. A fieldset is else as wide as the longest line in it.
    options: dict[str, Any] = {"fields": list(rows), "classes": ["min-w-0", *classes.split()]}
    return title, options | ({"description": description} if description else {})


def topic(
    title: str, *rows: str | tuple[str, ...], description: str | None = None, classes: str = ""
) -> tuple[str | None, Any]:  # Any: as for `section`
    """A section as a tab of the form; one tab is shown at a time."""
    return section(title, *rows, description=description, classes=f"tab {classes}")


# So many rows at most are looked at for a page; a deeper one is sorted out of all there are.
_MOST_LOOKED_AT = 20_000


class TeamPaginator(Paginator):  # type: ignore[type-arg]  # not generic when it runs
    """Reads the first rows of each team by its index, and takes the page from these.

    Every index of team rows begins with the team: asked for the first rows of several teams at
    once, PostgreSQL would read and sort all their rows. Where the first page is asked for and there
    is no second one, its rows are their number too: few among many are looked for only once.
    """

    object_list: QuerySet[Any]  # Any: rows of whatever list it serves
    is_first_page = False

    @cached_property
    def count(self) -> int:
        if self._begins and all(len(keys) <= self.per_page for keys in self._first_keys):
            return sum(map(len, self._first_keys))
        counted: int = self.object_list.order_by().count()
        return counted

    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        rows, last = self.object_list, number * self.per_page
        first = last - self.per_page
        if not self._is_of_teams:
            return super().page(number)
        if number == 1 and self._begins:
            keys = list(chain.from_iterable(self._first_keys))
            return Page(rows.filter(pk__in=keys)[:last], number, self)
        if self._teams == 1:
            # Nothing is merged with another team's rows, so those before the page are passed over.
            keys = list(chain.from_iterable(self._keys_of_teams(first, last)))
        elif last * self._teams > _MOST_LOOKED_AT:
            # All of them are sorted, but without what is read beside each.
            keys = list(rows.values_list("pk", flat=True)[first:last])
        else:
            keys = list(chain.from_iterable(self._keys_of_teams(0, last)))
            return Page(rows.filter(pk__in=keys)[first:last], number, self)
        return Page(rows.filter(pk__in=keys)[: self.per_page], number, self)

    @cached_property
    def _is_of_teams(self) -> bool:
        return any(field.name == "team" for field in self.object_list.model._meta.fields)

    @cached_property
    def _teams(self) -> int:
        return Team.objects.count()

    @property
    def _begins(self) -> bool:
        is_asked_for = self.is_first_page and self._is_of_teams
        return is_asked_for and (self.per_page + 1) * self._teams <= _MOST_LOOKED_AT

    @cached_property
    def _first_keys(self) -> list[list[Any]]:
        return self._keys_of_teams(0, self.per_page + 1)

    def _keys_of_teams(self, first: int, last: int) -> list[list[Any]]:
        own = self.object_list.filter(team_id=OuterRef("pk")).values("pk")[first:last]
        of_teams = Team.objects.annotate(keys=ArraySubquery(own))
        # A condition that no row can meet leaves no array at all.
        return [keys or [] for keys in of_teams.values_list("keys", flat=True)]


class OneCountChangeList(ThemedChangeList):
    """A list that counts its rows once and offers no link to show all of them."""

    def url_for_result(self, result: Model) -> str:
        """The address that the first column of a row leads to."""
        return page_of_row(result)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.full_result_count = self.result_count
        if not self.multi_page and isinstance(self.paginator, TeamPaginator):
            # Django would look for all of them once more.
            self.result_list = self.paginator.page(1).object_list


class TeamAdmin(TeamPermissions, ThemedAdmin[Row]):
    """A ModelAdmin of team rows: permissions by role, one count per list, no redundant columns.

    The team of a row is chosen when it is added and never changes.
    """

    form: type[forms.ModelForm] = TeamOwnedForm  # type: ignore[type-arg]
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_filter_submit = True
    list_disable_select_all = True
    list_per_page = 50
    compressed_fields = True
    paginator = TeamPaginator
    # Any: Django's own, a switch or names; fields, pairs or classes.
    list_select_related: ClassVar[Any] = ["team"]
    list_filter: ClassVar[Any] = [("team", RelatedFilter)]
    is_found_by_id = False
    actions_detail: Sequence[str] = ()
    # Fields of a stored row that never change, beside its team.
    fixed_fields: Sequence[str] = ()
    # By field, what a form says under it; a model's own words hold for the others.
    help_texts: Mapping[str, str] = {}
    when_empty = "Nothing has been added yet."
    # The button that adds a row, and its page, in place of "Add …".
    add_title = ""
    empty_value_display = NOTHING

    created = time_column("created_at", "created")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[OneCountChangeList]:
        return OneCountChangeList

    def get_paginator(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Paginator[Any]:
        """The list's pages, or those of a search for rows to choose from."""
        pages: Paginator[Any] = super().get_paginator(request, *args, **kwargs)
        if isinstance(pages, TeamPaginator):
            pages.is_first_page = request.GET.get(PAGE_VAR) in (None, "1")
        return pages

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        rows: QuerySet[Row] = super().get_queryset(request)
        if self.view_roles == MEMBERS:
            return rows
        allowed = teams_where(request, roles=self.view_roles)
        return rows if allowed is None else rows.filter(team_id__in=allowed)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        """By the words of the `search_fields`, or by a row's whole id where `is_found_by_id`."""
        if self.is_found_by_id and (row_id := id_in(search_term)):
            return queryset.filter(pk=row_id), False
        found: tuple[QuerySet[Row], bool]
        found = super().get_search_results(request, queryset, search_term)
        return found

    def useful_actions(self, row: Row) -> Collection[str]:
        """Returns those of `actions_detail` that would change something about the row."""
        return self.actions_detail

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """The buttons on a row's page that would change something, for those who may press them."""
        row = self.get_object(request, object_id) if self.actions_detail else None
        if row is None:
            return []
        prefix = f"{self.opts.app_label}_{self.opts.model_name}_"
        useful = {f"{prefix}{name}" for name in self.useful_actions(row)}
        buttons = super().get_actions_detail(request, object_id)
        return [button for button in buttons if button.action_name in useful]

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        """Returns values for the template of a row's page."""
        return {}

    def own_page(
        self, request: HttpRequest, template: str, title: str, **context: Any
    ) -> TemplateResponse:
        """Returns a page of the model beside its list and forms."""
        frame = {**self.admin_site.each_context(request), "title": title, "opts": self.opts}
        return TemplateResponse(request, template, frame | context)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, titled as in the menu in place of Django's "Select ... to change"."""
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        title = {"title": self.add_title} if self.add_title else {}
        return super().add_view(request, form_url, title | (extra_context or {}))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        context = self.page_context(request, object_id) | (extra_context or {})
        return super().change_view(request, object_id, form_url, context)

    def get_list_display(self, request: HttpRequest) -> Any:  # Any: as in Django
        columns = super().get_list_display(request)
        if sees_several_teams(request):
            return columns
        return [column for column in columns if column != "team"]

    def get_readonly_fields(self, request: HttpRequest, obj: Row | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else [*fields, "team", *self.fixed_fields]

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Only teams in which the login may add such a row, and rows of no other teams."""
        allowed = teams_where(request, roles=self.add_roles)
        if db_field.name == "team":
            teams = Team.objects.all()
            kwargs["queryset"] = teams if allowed is None else teams.filter(pk__in=allowed)
            if allowed is not None and len(allowed) == 1:
                kwargs["initial"] = allowed[0]
        elif issubclass(db_field.related_model, TeamOwned):
            rows: QuerySet[Any] = db_field.related_model._default_manager.select_related("team")
            kwargs["queryset"] = rows if allowed is None else rows.filter(team_id__in=allowed)
            if sees_several_teams(request):
                kwargs["form_class"] = TeamChoiceField
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Without the buttons that would leave the form to add or change another row."""
        if db_field.name in self.help_texts:
            kwargs["help_text"] = self.help_texts[db_field.name]
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            for action in ("add", "change", "delete", "view"):
                setattr(field.widget, f"can_{action}_related", False)
        return field
