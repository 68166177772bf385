"""The theme's classes, under the types of the Django classes they extend.

The theme ships without type information; this is the one module that knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db.models import Model
from django.http import Http404

Row = TypeVar("Row", bound=Model)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from django.contrib.admin import ChoicesFieldListFilter as ChoiceFilter
    from django.contrib.admin import FieldListFilter as DateRangeFilter
    from django.contrib.admin import FieldListFilter as NumberRangeFilter
    from django.contrib.admin import FieldListFilter as YesNoFilter
    from django.contrib.admin import ModelAdmin
    from django.contrib.admin import RelatedFieldListFilter as AutocompleteFilter
    from django.contrib.admin import RelatedFieldListFilter as RelatedFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
    from django.contrib.admin import SimpleListFilter as TextFilter
    from django.contrib.admin.forms import AdminAuthenticationForm as SignInForm
    from django.contrib.admin.views.main import ChangeList as ThemedChangeList
    from django.contrib.auth.forms import AdminPasswordChangeForm as PasswordForm
    from django.contrib.auth.forms import UserChangeForm, UserCreationForm
    from django.forms import CheckboxInput as SwitchWidget
    from django.forms import CheckboxSelectMultiple as ChecksWidget
    from django.forms import FileInput as FileWidget
    from django.forms import NumberInput as NumberWidget
    from django.forms import PasswordInput as PasswordWidget
    from django.forms import Select as SelectWidget
    from django.forms import Textarea as AreaWidget
    from django.forms import TextInput as TextWidget
    from django.http import HttpRequest

    class LoginForm(UserChangeForm[Any]): ...

    class NewLoginForm(UserCreationForm[Any]): ...

    Function = TypeVar("Function", bound=Callable[..., Any])

    class ThemedAdmin(ModelAdmin[Row]):
        """Django's ModelAdmin in the theme's clothes."""

        def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
            """The buttons on a row's own page."""

    def result_headers(cl: ThemedChangeList) -> Iterable[Mapping[str, Any]]:
        """The headers of a list's columns, as the theme's template takes them."""

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
    from unfold.contrib.filters.admin import AutocompleteSelectFilter as AutocompleteFilter
    from unfold.contrib.filters.admin import BooleanRadioFilter as YesNoFilter
    from unfold.contrib.filters.admin import ChoicesDropdownFilter as ChoiceFilter
    from unfold.contrib.filters.admin import DropdownFilter, TextFilter
    from unfold.contrib.filters.admin import RangeDateFilter as DateRangeFilter
    from unfold.contrib.filters.admin import RangeNumericFilter as NumberRangeFilter
    from unfold.contrib.filters.admin import RelatedDropdownFilter as RelatedFilter
    from unfold.decorators import action, display
    from unfold.forms import AdminPasswordChangeForm as PasswordForm
    from unfold.forms import AuthenticationForm as SignInForm
    from unfold.forms import UserChangeForm as LoginForm
    from unfold.forms import UserCreationForm as NewLoginForm
    from unfold.templatetags.unfold_list import result_headers
    from unfold.views import ChangeList as ThemedChangeList
    from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as ChecksWidget
    from unfold.widgets import UnfoldAdminDecimalFieldWidget as NumberWidget
    from unfold.widgets import UnfoldAdminFileFieldWidget as FileWidget
    from unfold.widgets import UnfoldAdminPasswordWidget as PasswordWidget
    from unfold.widgets import UnfoldAdminSelectWidget as SelectWidget
    from unfold.widgets import UnfoldAdminTextareaWidget as AreaWidget
    from unfold.widgets import UnfoldAdminTextInputWidget as TextWidget
    from unfold.widgets import UnfoldBooleanSwitchWidget as SwitchWidget

    class ThemedAdmin(ModelAdmin, Generic[Row]):
        """Django's ModelAdmin in the theme's clothes."""

        def history_view(self, request, object_id, extra_context=None):
            """Nothing: the log and the versions have the history, Django's page has none."""
            raise Http404

        def _get_obj_does_not_exist_redirect(self, request, opts, object_id):
            raise Http404
