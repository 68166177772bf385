"""Members: what each staff login may do in a team."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from teams.admin_permissions import ADMINS
from teams.models import Membership, StaffUser
from teams.services.members import (
    LastAdminError,
    change_role,
    check_other_admins,
    remove_member,
)

from .base import TeamAdmin, TeamOwnedForm
from .confirm import Change, list_action, page_action
from .display import time_column
from .theme import ChoiceFilter, RelatedFilter, TextWidget, display

_ROLES = (
    "Viewers look, reviewers decide about memories, admins also keep agents, keys, models and"
    " members. A team keeps one admin at least."
)


def _remove(request: HttpRequest, member: Membership, reason: str) -> None:
    del request, reason
    remove_member(member=member)


REMOVE: Change[Membership] = Change(
    verb="Remove",
    done="removed",
    explanation="They see nothing of the team from now on. Their logins stay.",
    apply=_remove,
    roles=ADMINS,
    name=str,
)


class MemberForm(TeamOwnedForm):
    """A member's role."""

    class Meta:
        model = Membership
        fields = ["role"]
        help_texts = {"role": _ROLES}

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse to take the role from the last admin of a team."""
        values = super().clean()
        member = self.instance
        if "role" in self.changed_data and self.initial.get("role") == Membership.Role.ADMIN:
            try:
                check_other_admins(user_id=member.user_id, team_ids=[member.team_id])
            except LastAdminError as error:
                self.add_error("role", error.message)
        return values


class NewMemberForm(TeamOwnedForm):
    """A new member, named by login: an admin of one team must not see the logins of others."""

    username = forms.CharField(
        label="Login", widget=TextWidget, help_text="The user name of a staff login."
    )

    class Meta:
        model = Membership
        fields = ["team", "role"]
        help_texts = {"role": _ROLES}

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

    add_roles = change_roles = act_roles = ADMINS
    actions = ["remove_selected"]
    actions_detail = ["remove_this"]
    list_display = ["user", "role_label", "team", "created"]
    list_filter = [("team", RelatedFilter), ("role", ChoiceFilter)]
    list_select_related = ["team", "user"]
    ordering = ["user__username"]
    search_fields = ["user__username"]
    readonly_fields = ["created"]

    created = time_column("created_at", "since")
    remove_selected = list_action("remove_selected", REMOVE, "Remove from the team")
    remove_this = page_action("remove_this", REMOVE, "Remove from the team", icon="person_remove")

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

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Add the member, or change the role of a stored one."""
        if change:
            change_role(member=obj, role=obj.role)
        else:
            super().save_model(request, obj, form, change)

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
