"""Staff logins: who may sign in to the admin, how, and what each may do in a team."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget, SetPasswordForm
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.text import capfirst
from django_otp.forms import OTPAuthenticationFormMixin
from django_otp.plugins.otp_totp.models import TOTPDevice

from teams.admin_permissions import ADMINS, is_superuser
from teams.models import Membership, StaffUser
from teams.services.people import (
    LastAdminError,
    change_role,
    check_login_is_not_needed,
    check_other_admins,
    create_login,
    invite_again,
    remove_member,
)

from .base import TeamAdmin, TeamOwnedForm, section
from .confirm import Change, confirm_and_run, list_action, page_action
from .display import column, label_column, moment, page_of_row, time_column
from .theme import (
    ChoiceFilter,
    LoginForm,
    NewLoginForm,
    PasswordForm,
    PasswordWidget,
    RelatedFilter,
    SignInForm,
    TextWidget,
    ThemedAdmin,
    YesNoFilter,
    action,
)

# Roles in a team say what a login may do; Django's groups and permissions are not used.
admin.site.unregister(Group)


_HELP = {
    "username": "Letters, digits and @ . + - _ only.",
    "is_active": "Inactive logins cannot log in. Deactivate a login instead of deleting it.",
    "is_staff": "Can log in to this admin.",
    "is_superuser": "Can see and change everything in every team.",
}


class PasswordState(ReadOnlyPasswordHashWidget):
    """Says whether a login has a password, and nothing of how it is stored."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:  # Any: Django's own
        has_one = bool(value) and is_password_usable(value)
        summary = [{"label": "Set" if has_one else "Not set"}]
        return {**super().get_context(name, value, attrs), "summary": summary}


class StaffForm(LoginForm):
    """A stored login."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        self.fields["password"].widget = PasswordState()

    class Meta(LoginForm.Meta):
        help_texts = _HELP

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse to shut out the last admin of a team."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        was = StaffUser.objects.get(pk=self.instance.pk)
        stays = values.get("is_active", True) and values.get("is_staff", True)
        if was.is_active and was.is_staff and not stays:
            try:
                check_login_is_not_needed(user=was)
            except LastAdminError as error:
                self.add_error(None, error.message)
        return values


class NewStaffForm(NewLoginForm):
    """A new login."""

    class Meta(NewLoginForm.Meta):
        help_texts = _HELP


def _superusers_only(_: object, request: HttpRequest, obj: object = None) -> bool:
    del obj
    return is_superuser(request)


@admin.register(StaffUser)
class StaffUserAdmin(UserAdmin, ThemedAdmin[StaffUser]):  # type: ignore[type-arg]  # as above
    """Superusers alone see and change logins."""

    form = StaffForm
    add_form = NewStaffForm
    # Without the line that promises more fields later.
    add_form_template = None
    change_password_form = PasswordForm
    show_full_result_count = False
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "signed_in"]
    list_filter = [("is_active", YesNoFilter), ("is_superuser", YesNoFilter)]
    list_filter_submit = True
    filter_horizontal = ()
    readonly_fields = ["signed_in", "joined"]
    fieldsets = [
        section(None, "username", "password"),
        section("Name", "first_name", "last_name", "email"),
        section(
            "Permissions",
            *("is_active", "is_staff", "is_superuser"),
            description="Roles in a team are set under Members.",
        ),
        section("Dates", "signed_in", "joined"),
    ]
    add_fieldsets = [section(None, "username", "email", "is_staff", "password1", "password2")]

    signed_in = time_column("last_login", "last login")
    joined = time_column("date_joined", "created")
    has_module_permission = _superusers_only
    has_view_permission = _superusers_only
    has_add_permission = _superusers_only
    has_change_permission = _superusers_only

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A login made here is for the admin."""
        return {"is_staff": True, **super().get_changeform_initial_data(request)}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, titled as in the menu."""
        title = capfirst(self.opts.verbose_name_plural)
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: the log names logins, so they are made inactive instead."""
        return False


# Set up by `manage.py second_factor`; the page of django-otp would show its secret.
admin.site.unregister(TOTPDevice)


class CodeForm(OTPAuthenticationFormMixin, SignInForm):  # type: ignore[misc]  # no types
    """Asks for a code as well; logins without a confirmed device leave it empty."""

    otp_token = forms.CharField(
        label="Code",
        required=False,
        help_text="From your authenticator app, if you use one.",
        widget=TextWidget(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    error_messages = {**SignInForm.error_messages, "invalid_login": "Wrong username or password."}
    otp_error_messages = {
        **OTPAuthenticationFormMixin.otp_error_messages,
        "token_required": "Enter the code from your authenticator app.",
        "invalid_token": "Wrong code, or already used. Wait for the next one.",
    }

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse a login whose device is confirmed and whose code is missing or wrong."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        user = self.get_user()
        if user is not None and _devices(user).exists():
            self.clean_otp(user)
        return values

    def _chosen_device(self, user: Any) -> TOTPDevice | None:  # Any: as django-otp has it
        return _devices(user).select_for_update().first()

    def _update_form(self, user: Any) -> None:  # Any: as django-otp has it
        """Nothing: the password is not written into the page again."""


def _devices(user: Any) -> QuerySet[TOTPDevice]:  # Any: as django-otp has it
    assert isinstance(user, StaffUser)
    devices: QuerySet[TOTPDevice] = TOTPDevice.objects.filter(user=user, confirmed=True)
    return devices


admin.site.login_form = CodeForm


_ROLES = (
    "Viewers can only look. Reviewers can also change memories and settle contradictions. Admins"
    " can also manage agents, API keys, models and members. A team needs at least one admin."
)


_COLOURS = {"admin": "primary", "reviewer": "info", "viewer": "default"}
_STATES = {"can log in": "success", "invited": "info", "invitation expired": "warning"}
_LINK = "palimpsest_invitation"


def _state(member: Membership) -> str:
    expires_at = member.user.link_expires_at
    if not (member.user.is_active and member.user.is_staff):
        return "inactive"
    if expires_at is None:
        return "can log in"
    return "invited" if expires_at > timezone.now() else "invitation expired"


def _invite_again(request: HttpRequest, member: Membership, reason: str) -> None:
    del reason
    scope: Any = request.staff_scope  # type: ignore[attr-defined]  # the middleware's
    teams = list(scope.own_ids)
    if not is_superuser(request):
        with scope.of_all():
            own = Membership.objects.filter(user_id=request.user.pk, role=Membership.Role.ADMIN)
            teams = list(own.values_list("team_id", flat=True))
    invite_again(user=member.user, inviter_team_ids=teams, now=timezone.now())
    setattr(request, _LINK, _one_time_link(request, member.user))


INVITE_AGAIN: Change[Membership] = Change(
    verb="Invite again",
    done="invited again",
    explanation="You get a new link with which your colleague sets a password. Earlier links stop"
    " working.",
    apply=_invite_again,
    roles=ADMINS,
)
REMOVE: Change[Membership] = Change(
    verb="Remove",
    done="removed",
    explanation="They lose access to the team. Their logins stay, and you can invite them back.",
    apply=lambda _request, member, _reason: remove_member(member=member),
    roles=ADMINS,
    name=str,
)


class MemberForm(TeamOwnedForm):
    """A member's role."""

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


_OF_LOGIN = ("first_name", "last_name", "email")


class InviteForm(TeamOwnedForm):
    """A new member by a new login, or one that is or was in a team of the inviter.

    Superusers add any login. One from elsewhere may have been made, under this name, by an admin of
    another team.
    """

    # Set by the admin on the class that it makes for each request.
    request: HttpRequest

    username = forms.CharField(
        label="Username",
        widget=TextWidget,
        help_text="A login that is in one of your teams, or was in this one, joins it. For a new"
        " username a login is created, and you get a link with which your colleague sets a"
        " password.",
    )
    first_name = forms.CharField(required=False, widget=TextWidget, help_text="New logins only.")
    last_name = forms.CharField(required=False, widget=TextWidget, help_text="New logins only.")
    email = forms.EmailField(
        label="Email",
        required=False,
        widget=TextWidget(attrs={"type": "email"}),
        help_text="New logins only. No email is sent.",
    )

    def clean_username(self) -> str:
        return str(StaffUser.normalize_username(self.cleaned_data["username"]))

    def clean_email(self) -> str:
        """Refuse the address of another login: single sign-on finds a login by it."""
        email = str(self.cleaned_data["email"])
        name = self.cleaned_data.get("username", "")
        if email and StaffUser.objects.filter(email__iexact=email).exclude(username=name).exists():
            raise ValidationError("Another login has this address. Leave it empty.")
        return email

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Find the login, or check what a new one is made of."""
        values = super().clean()
        name = values.get("username", "")
        known = StaffUser.objects.filter(username=name).first()
        if known is not None and not (known.is_active and known.is_staff):
            self.add_error("username", "This login cannot sign in. Ask the server's operator.")
        elif known and Membership.objects.filter(team=values.get("team"), user=known).exists():
            self.add_error("username", "This login is already a member of the team.")
        elif known is not None and not self._may_add(known):
            self.add_error(
                "username",
                "This username is taken by a login outside your teams. Choose another username, or"
                " ask the server's operator.",
            )
        elif known is not None:
            self.instance.user = known
        elif name:
            new = StaffUser(username=name, **{each: values.get(each, "") for each in _OF_LOGIN})
            try:
                new.clean_fields(exclude=["password"])
            except ValidationError as error:
                self.add_error(None, error)
        return values

    def _may_add(self, login: StaffUser) -> bool:
        if is_superuser(self.request) or self.team_id in login.former_team_ids:
            return True
        scope: Any = self.request.staff_scope  # type: ignore[attr-defined]  # the middleware's
        with scope.of_all():
            return Membership.objects.filter(user=login).exists()

    def _get_validation_exclusions(self) -> set[str]:
        excluded = super()._get_validation_exclusions()
        return excluded - {"user"} if self.instance.user_id else excluded


class NewPasswordForm(SetPasswordForm):  # type: ignore[type-arg]  # not generic when it runs
    """The first password of an invited login, twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget = PasswordWidget(attrs={"autocomplete": "new-password"})


class InvitationView(PasswordResetConfirmView):
    """The page of a one-time link, on which an invited login gets its password."""

    form_class = NewPasswordForm
    template_name = "admin/set_password.html"
    success_url = reverse_lazy("admin:login")
    title = "Choose a password"

    def form_valid(self, form: Any) -> HttpResponse:  # Any: a NewPasswordForm
        messages.success(self.request, "Your password is set. Log in with it.")
        return super().form_valid(form)


def _one_time_link(request: HttpRequest, user: StaffUser) -> str:
    parts = [urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)]
    return request.build_absolute_uri(reverse("invitation", args=parts))


@admin.register(Membership)
class MembershipAdmin(TeamAdmin[Membership]):
    """The members of teams and their roles."""

    add_roles = change_roles = act_roles = ADMINS
    help_texts = {"role": _ROLES}
    actions = [list_action("remove_selected", REMOVE, "Remove from the team")]
    actions_detail = ["invite_again_this", "remove_this"]
    list_display = ["user", "role_label", "state", "team", "created"]
    list_filter = [("team", RelatedFilter), ("role", ChoiceFilter)]
    list_select_related = ["team", "user"]
    ordering = ["user__username"]
    search_fields = ["user__username"]
    readonly_fields = ["user_name", "state", "link", "created"]
    add_title = "Invite a colleague"

    user_name = column("login", lambda member: member.user.get_username())
    role_label = label_column("role", "role", _COLOURS)
    state = column("state", _state, label=_STATES)
    link = column("invitation expires", lambda member: moment(member.user.link_expires_at))
    created = time_column("created_at", "since")
    remove_this = page_action("remove_this", REMOVE, "Remove from the team", icon="person_remove")

    def get_form(
        self,
        request: HttpRequest,
        obj: Membership | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        kwargs["form"] = InviteForm if obj is None else MemberForm
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.request = request
        return form

    def get_fields(self, request: HttpRequest, obj: Membership | None = None) -> Any:
        if obj is None:
            return ["team", "username", *_OF_LOGIN, "role"]
        return ["team", "user_name", "role", "state", "link", "created"]

    def useful_actions(self, row: Membership) -> Collection[str]:
        """Only a login without a password is invited again."""
        is_pending = row.user.link_expires_at is not None
        return self.actions_detail if is_pending else ["remove_this"]

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form of an invitation, shown again where the same one was sent at this moment."""
        try:
            return super().add_view(request, form_url, extra_context)
        except IntegrityError:
            messages.warning(
                request,
                "Nothing was changed: somebody else has just used this username. Check the list of"
                " members, then try again.",
            )
            return HttpResponseRedirect(request.path)

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        if change:
            change_role(member=obj, role=obj.role)
            return
        if is_new := obj.user_id is None:
            values = form.cleaned_data
            names = {name: values.get(name, "") for name in _OF_LOGIN}
            obj.user = create_login(username=values["username"], now=timezone.now(), **names)
        super().save_model(request, obj, form, change)
        if is_new:
            setattr(request, _LINK, _one_time_link(request, obj.user))

    def response_add(
        self, request: HttpRequest, obj: Membership, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The link of a new login, which no other page shows."""
        return self._shown_link(request, obj) or super().response_add(
            request, obj, post_url_continue
        )

    @action(
        description="Invite again", permissions=["act"], url_path="invite-again", icon="forward"
    )
    def invite_again_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make a new link for a login without a password, after a confirmation, and show it."""
        rows = Membership.objects.filter(pk=object_id).select_related("user", "team")
        asked = confirm_and_run(self, request, rows, INVITE_AGAIN)
        if asked is not None:
            return asked
        member = rows.get()
        # Without a link a message says why.
        return self._shown_link(request, member) or HttpResponseRedirect(page_of_row(member))

    def _shown_link(self, request: HttpRequest, member: Membership) -> HttpResponse | None:
        link = getattr(request, _LINK, None)
        return link and self.own_page(
            request,
            "admin/teams/membership/invited.html",
            f"{member.user} can now join {member.team}",
            member=member,
            invitation=link,
            days=settings.PASSWORD_RESET_TIMEOUT // 86_400,
        )
