"""To the provider and back."""

from __future__ import annotations

import logging
from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.views import View
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
)

from memory.satellites.openid.backend import endpoint

logger = logging.getLogger(__name__)
# Of the provider, of what it sent, and of the way to it.
_FAILURES = (
    SuspiciousOperation, jwt.InvalidTokenError, requests.RequestException, KeyError, ValueError,
)  # fmt: skip
_REFUSED = (
    "You could not be logged in with your organisation's account. Your login needs the e-mail"
    " address that the account has verified, and no authenticator app. Log in with your password,"
    " or ask the server's operator."
)


class _Answered:
    """Leads to the login page with a message where the library would end with an error."""

    failure_url = property(lambda _: reverse("admin:login"))

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Any: Django's own signature
        try:
            answer: HttpResponse = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]  # a view's
        except _FAILURES as error:
            logger.warning("A sign-in by OpenID failed: %s", type(error).__name__)
            answer = self.login_failure()
        return answer

    def login_failure(self) -> HttpResponse:
        """The login page, which says what to do."""
        messages.error(self.request, _REFUSED)  # type: ignore[attr-defined]  # a view's
        return HttpResponseRedirect(reverse("admin:login"))


class LoginView(_Answered, OIDCAuthenticationRequestView):  # type: ignore[misc]  # no types
    """Sends the person to the provider."""

    def __init__(self, **kwargs: Any) -> None:  # Any: Django's own signature
        # Not the library's, whose questions to the provider may fail where nothing answers for it.
        View.__init__(self, **kwargs)
        self.OIDC_RP_CLIENT_ID = settings.OIDC_RP_CLIENT_ID

    @property
    def OIDC_OP_AUTH_ENDPOINT(self) -> str:  # noqa: N802 - the library's name
        return endpoint("authorization_endpoint")


class CallbackView(_Answered, OIDCAuthenticationCallbackView):  # type: ignore[misc]  # no types
    """Logs the person in when the provider sends them back."""


urlpatterns = [
    path("login/", LoginView.as_view(), name="oidc_authentication_init"),
    path("callback/", CallbackView.as_view(), name="oidc_authentication_callback"),
]
