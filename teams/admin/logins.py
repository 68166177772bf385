"""Staff logins: who may sign in to the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from teams.admin_permissions import is_superuser
from teams.models import StaffUser
from teams.services.members import (
    LastAdminError,
    check_login_is_not_needed,
)

from .base import section
from .display import time_column
from .theme import (
    LoginForm,
    NewLoginForm,
    PasswordForm,
    ThemedAdmin,
    YesNoFilter,
)

# Roles in a team say what a login may do; Django's groups and permissions are not used.
admin.site.unregister(Group)

# Without one of these nobody signs in to the admin.
_NEEDED = ("is_active", "is_staff")


class NewStaffForm(NewLoginForm):
    """A new login."""

    class Meta(NewLoginForm.Meta):
        model = StaffUser


class StaffForm(LoginForm):
    """A stored login."""

    class Meta(LoginForm.Meta):
        model = StaffUser

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse to shut out the last admin of a team."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        was = StaffUser.objects.get(pk=self.instance.pk)
        stays = all(values.get(name, True) for name in _NEEDED)
        if not stays and all(getattr(was, name) for name in _NEEDED):
            try:
                check_login_is_not_needed(user=was)
            except LastAdminError as error:
                self.add_error(None, error.message)
        return values


def _superusers_only(_: object, request: HttpRequest, obj: object = None) -> bool:
    del obj
    return is_superuser(request)


@admin.register(StaffUser)
class StaffUserAdmin(UserAdmin, ThemedAdmin[StaffUser]):  # type: ignore[type-arg]  # as above
    """Superusers alone see and change logins."""

    form = StaffForm
    add_form = NewStaffForm
    change_password_form = PasswordForm
    show_full_result_count = False
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "signed_in"]
    list_filter = [("is_active", YesNoFilter), ("is_superuser", YesNoFilter)]
    list_filter_submit = True
    filter_horizontal = ()
    readonly_fields = ["signed_in", "joined"]
    fieldsets = [
        section(None, "username", "password"),
        section("Person", "first_name", "last_name", "email"),
        section(
            "Rights",
            "is_active",
            "is_staff",
            "is_superuser",
            description="What a login may do in a team is set under Members.",
        ),
        section("Times", "signed_in", "joined"),
    ]
    add_fieldsets = [section(None, "username", "email", "is_staff", "password1", "password2")]

    signed_in = time_column("last_login", "last signed in")
    joined = time_column("date_joined", "created")
    has_module_permission = _superusers_only
    has_view_permission = _superusers_only
    has_add_permission = _superusers_only
    has_change_permission = _superusers_only

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A login made here is for the admin."""
        return {"is_staff": True, **super().get_changeform_initial_data(request)}

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: the log names logins, so they are made inactive instead."""
        return False
