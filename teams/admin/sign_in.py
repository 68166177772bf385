"""Signing in to the admin: a password, and a code where the login has a second factor."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django_otp.forms import OTPAuthenticationFormMixin
from django_otp.plugins.otp_totp.models import TOTPDevice

from teams.models import StaffUser

from .theme import SignInForm, TextWidget

# Set up by `manage.py second_factor`; the page of django-otp would show its secret.
admin.site.unregister(TOTPDevice)


class CodeForm(OTPAuthenticationFormMixin, SignInForm):  # type: ignore[misc]  # no types
    """Asks for a code as well; logins without a confirmed device leave it empty."""

    otp_token = forms.CharField(
        label="Code",
        required=False,
        help_text="Of your authenticator app, where your login has one.",
        widget=TextWidget(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    otp_error_messages = {
        **OTPAuthenticationFormMixin.otp_error_messages,
        "token_required": "Type the code that your authenticator app shows.",
        "invalid_token": "This code is wrong, or was used already. Wait for the next one.",
    }

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Refuse a login whose device is confirmed and whose code is missing or wrong."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        user = self.get_user()
        if user is not None and _devices(user).exists():
            self.clean_otp(user)
        return values

    def _chosen_device(self, user: Any) -> TOTPDevice | None:  # Any: as django-otp has it
        """The device, locked until its code is verified, so that a code is used once."""
        return _devices(user).select_for_update().first()

    def _update_form(self, user: Any) -> None:  # Any: as django-otp has it
        """Nothing: the password is not written into the page again."""


def _devices(user: Any) -> QuerySet[TOTPDevice]:  # Any: as django-otp has it
    assert isinstance(user, StaffUser)
    devices: QuerySet[TOTPDevice] = TOTPDevice.objects.filter(user=user, confirmed=True)
    return devices


admin.site.login_form = CodeForm
