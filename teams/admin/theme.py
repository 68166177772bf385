"""The theme's classes, under the types of the Django classes they extend.

The theme ships without type information; this is the one module that knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db.models import Model

Row = TypeVar("Row", bound=Model)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from django.contrib.admin import (
        ChoicesFieldListFilter,
        FieldListFilter,
        ModelAdmin,
        RelatedFieldListFilter,
        SimpleListFilter,
        TabularInline,
    )
    from django.contrib.admin.views.main import ChangeList as ThemedChangeList
    from django.contrib.auth.forms import (
        AdminPasswordChangeForm,
        UserChangeForm,
        UserCreationForm,
    )
    from django.forms import Select, TextInput
    from django.http import HttpRequest

    Function = TypeVar("Function", bound=Callable[..., Any])

    class ThemedAdmin(ModelAdmin[Row]):
        """Django's ModelAdmin in the theme's clothes."""

        def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
            """The buttons on a row's own page."""

    class ThemedInline(TabularInline[Row, Model]):
        """Django's TabularInline in the theme's clothes."""

    class ChoiceFilter(ChoicesFieldListFilter): ...

    class RelatedFilter(RelatedFieldListFilter): ...

    class AutocompleteFilter(RelatedFieldListFilter): ...

    class YesNoFilter(FieldListFilter): ...

    class NumberRangeFilter(FieldListFilter): ...

    class DateRangeFilter(FieldListFilter): ...

    class DropdownFilter(SimpleListFilter): ...

    class TextFilter(SimpleListFilter): ...

    class TextWidget(TextInput): ...

    class SelectWidget(Select): ...

    class LoginForm(UserChangeForm[Any]): ...

    class NewLoginForm(UserCreationForm[Any]): ...

    class PasswordForm(AdminPasswordChangeForm[Any]): ...

    def action(
        *,
        description: str,
        permissions: Sequence[str],
        url_path: str | None = None,
        icon: str | None = None,
    ) -> Callable[[Function], Function]:
        """Mark a method as an action: of the list, or of a row's page where it has a path."""

    def display(
        *,
        description: str,
        ordering: str | None = None,
        label: Mapping[str, str] | None = None,
    ) -> Callable[[Function], Function]:
        """Say how a column is titled, sorted and coloured."""

else:
    from unfold.admin import ModelAdmin
    from unfold.admin import TabularInline as ThemedInline
    from unfold.contrib.filters.admin import AutocompleteSelectFilter as AutocompleteFilter
    from unfold.contrib.filters.admin import BooleanRadioFilter as YesNoFilter
    from unfold.contrib.filters.admin import ChoicesDropdownFilter as ChoiceFilter
    from unfold.contrib.filters.admin import DropdownFilter, TextFilter
    from unfold.contrib.filters.admin import RangeDateFilter as DateRangeFilter
    from unfold.contrib.filters.admin import RangeNumericFilter as NumberRangeFilter
    from unfold.contrib.filters.admin import RelatedDropdownFilter as RelatedFilter
    from unfold.decorators import action, display
    from unfold.forms import AdminPasswordChangeForm as PasswordForm
    from unfold.forms import UserChangeForm as LoginForm
    from unfold.forms import UserCreationForm as NewLoginForm
    from unfold.views import ChangeList as ThemedChangeList
    from unfold.widgets import UnfoldAdminSelectWidget as SelectWidget
    from unfold.widgets import UnfoldAdminTextInputWidget as TextWidget

    class ThemedAdmin(ModelAdmin, Generic[Row]):
        """Django's ModelAdmin in the theme's clothes."""


__all__ = [
    "AutocompleteFilter",
    "ChoiceFilter",
    "DateRangeFilter",
    "DropdownFilter",
    "LoginForm",
    "NewLoginForm",
    "NumberRangeFilter",
    "PasswordForm",
    "RelatedFilter",
    "Row",
    "SelectWidget",
    "TextFilter",
    "TextWidget",
    "ThemedAdmin",
    "ThemedChangeList",
    "ThemedInline",
    "YesNoFilter",
    "action",
    "display",
]
