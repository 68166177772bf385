"""Staff logins, and what each may do in a team."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from teams.admin_permissions import ADMINS, is_superuser
from teams.models import Membership, StaffUser

from .base import TeamAdmin, TeamOwnedForm, section
from .display import time_column
from .theme import (
    ChoiceFilter,
    LoginForm,
    NewLoginForm,
    PasswordForm,
    RelatedFilter,
    TextWidget,
    ThemedAdmin,
    YesNoFilter,
    display,
)

# Roles in a team say what a login may do; Django's groups and permissions are not used.
admin.site.unregister(Group)


class NewStaffForm(NewLoginForm):
    """A new login."""

    class Meta(NewLoginForm.Meta):
        model = StaffUser


class StaffForm(LoginForm):
    """A stored login."""

    class Meta(LoginForm.Meta):
        model = StaffUser


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


class MemberForm(TeamOwnedForm):
    """A member's role."""

    class Meta:
        model = Membership
        fields = ["role"]


class NewMemberForm(TeamOwnedForm):
    """A new member, named by login: an admin of one team must not see the logins of others."""

    username = forms.CharField(
        label="Login", widget=TextWidget, help_text="The user name of a staff login."
    )

    class Meta:
        model = Membership
        fields = ["team", "role"]

    def clean_username(self) -> str:
        """The name of an active staff login."""
        name: str = self.cleaned_data["username"]
        user = StaffUser.objects.filter(username=name, is_active=True, is_staff=True).first()
        if user is None:
            raise ValidationError("There is no staff login of that name.")
        self.instance.user = user
        return name

    def _get_validation_exclusions(self) -> set[str]:
        excluded = super()._get_validation_exclusions()
        return excluded - {"user"} if "username" in self.cleaned_data else excluded


@admin.register(Membership)
class MembershipAdmin(TeamAdmin[Membership]):
    """Who may do what in a team."""

    add_roles = change_roles = delete_roles = ADMINS
    list_display = ["user", "role_label", "team", "created"]
    list_filter = [("team", RelatedFilter), ("role", ChoiceFilter)]
    list_select_related = ["team", "user"]
    ordering = ["user__username"]
    search_fields = ["user__username"]
    readonly_fields = ["created"]

    created = time_column("created_at", "since")

    def get_form(
        self,
        request: HttpRequest,
        obj: Membership | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The person is chosen once; later only the role changes."""
        kwargs["form"] = NewMemberForm if obj is None else MemberForm
        return super().get_form(request, obj, change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Membership | None = None) -> Any:
        """A new member is named, a stored one shown."""
        if obj is None:
            return ["team", "username", "role"]
        return ["team", "user_name", "role", "created"]

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> Any:
        """The person of a stored membership stands."""
        return [*super().get_readonly_fields(request, obj), "user_name"]

    @display(description="login")
    def user_name(self, member: Membership) -> str:
        """The login's name."""
        return member.user.get_username()

    @display(
        description="role",
        ordering="role",
        label={"admin": "primary", "reviewer": "info", "viewer": "default"},
    )
    def role_label(self, member: Membership) -> tuple[str, str]:
        """What the member may do."""
        return member.role, member.get_role_display()
