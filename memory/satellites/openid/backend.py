"""The checks of mozilla-django-oidc, with those of OpenID Connect Core that it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests
from cachetools import TTLCache, cached
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from teams.models import StaffUser
from teams.services.people import create_login

# Any: JSON of the provider
Claims = Mapping[str, Any]
_DOCUMENT = "/.well-known/openid-configuration"
_DOCUMENT_SECONDS = 3_600
_MAX_NAME_CHARS = 150


@cached(TTLCache(maxsize=8, ttl=_DOCUMENT_SECONDS))
def discovered(issuer: str) -> Claims:
    """The provider's document of its endpoints; raises RequestException, SuspiciousOperation."""
    answer = requests.get(f"{issuer.rstrip('/')}{_DOCUMENT}", timeout=settings.OIDC_TIMEOUT)
    answer.raise_for_status()
    document: Claims = answer.json()
    if document.get("issuer") != issuer:
        raise SuspiciousOperation(f"The provider calls itself {document.get('issuer')}.")
    return document


def endpoint(name: str) -> str:
    """The address of an endpoint of the provider; raises as `discovered`."""
    found = discovered(settings.OIDC_ISSUER).get(name)
    if not isinstance(found, str):
        raise SuspiciousOperation(f"The provider names no {name}.")
    return found


class OpenIdBackend(OIDCAuthenticationBackend):  # type: ignore[misc]  # no types
    """Matches a person of the provider with a login by the e-mail address that it has verified."""

    def __init__(self) -> None:
        # Not the library's, which would ask for the provider with every password too.
        self.UserModel = StaffUser
        self.OIDC_RP_CLIENT_ID = settings.OIDC_RP_CLIENT_ID
        self.OIDC_RP_CLIENT_SECRET = settings.OIDC_RP_CLIENT_SECRET
        self.OIDC_RP_SIGN_ALGO = settings.OIDC_RP_SIGN_ALGO
        self.OIDC_RP_IDP_SIGN_KEY = None

    @property
    def OIDC_OP_TOKEN_ENDPOINT(self) -> str:  # noqa: N802 - the library's name
        return endpoint("token_endpoint")

    @property
    def OIDC_OP_USER_ENDPOINT(self) -> str:  # noqa: N802 - as above
        return endpoint("userinfo_endpoint")

    @property
    def OIDC_OP_JWKS_ENDPOINT(self) -> str:  # noqa: N802 - as above
        return endpoint("jwks_uri")

    def authenticate(
        self, request: HttpRequest, *, nonce: str | None, code_verifier: str | None
    ) -> StaffUser | None:
        """Returns the login of the provider's person, for the callback alone.

        Django passes over it for a password, whose failures would not be counted otherwise.
        """
        found = super().authenticate(request, nonce=nonce, code_verifier=code_verifier)
        assert found is None or isinstance(found, StaffUser)
        return found

    def get_user(self, user_id: int) -> StaffUser | None:
        """The login of a session, None once it is inactive."""
        found = ModelBackend.get_user(self, user_id)
        assert found is None or isinstance(found, StaffUser)
        return found

    def verify_token(self, token: str, **kwargs: Any) -> Claims:  # Any: the library's signature
        """The claims of an ID token of this provider for this server; SuspiciousOperation else."""
        claims: Claims = super().verify_token(token, **kwargs)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        is_ours = self.OIDC_RP_CLIENT_ID in audiences
        if len(audiences) > 1 or "azp" in claims:
            is_ours = is_ours and claims.get("azp") == self.OIDC_RP_CLIENT_ID
        if claims.get("iss") != settings.OIDC_ISSUER or not is_ours or "exp" not in claims:
            raise SuspiciousOperation("The ID token is not this provider's for this server.")
        return claims

    def get_userinfo(self, access_token: str, id_token: str, payload: Claims) -> Claims:
        """The claims of the person that the ID token names (OpenID Connect Core, section 5.3.2)."""
        info: Claims = super().get_userinfo(access_token, id_token, payload)
        if info.get("sub") != payload.get("sub"):
            raise SuspiciousOperation("The provider's two answers name different people.")
        return info

    def verify_claims(self, claims: Claims) -> bool:
        """Returns whether the provider has verified the e-mail address."""
        return bool(claims.get("email")) and claims.get("email_verified") is True

    def filter_users_by_claims(self, claims: Claims) -> QuerySet[StaffUser, StaffUser]:
        """The logins with this address that may sign in; one with an app needs its code."""
        with_app = TOTPDevice.objects.filter(confirmed=True).values("user_id")
        every = StaffUser.objects.filter(email__iexact=claims["email"])
        found = every.filter(is_active=True, is_staff=True)
        if found.filter(pk__in=with_app).exists():
            raise SuspiciousOperation("A login with an app signs in with its password and code.")
        if every and not found:
            raise SuspiciousOperation("The login is not active.")
        return found

    def update_user(self, user: StaffUser, claims: Claims) -> StaffUser:
        """Removes the password of an invited login: whoever invited it typed its address.

        Somebody else may have followed the link; from here on the provider alone lets people in.
        """
        if user.invited_at and user.has_usable_password():
            user.set_unusable_password()
            user.save(update_fields=["password"])
        return user

    def create_user(self, claims: Claims) -> StaffUser:
        """A login without a team, where OIDC_CREATE_LOGINS says so."""
        address = str(claims["email"])
        if len(address) > _MAX_NAME_CHARS or StaffUser.objects.filter(username=address).exists():
            raise SuspiciousOperation("There is a login of this name with another address.")
        return create_login(
            username=address,
            email=address,
            first_name=str(claims.get("given_name", ""))[:_MAX_NAME_CHARS],
            last_name=str(claims.get("family_name", ""))[:_MAX_NAME_CHARS],
            now=timezone.now(),
        )
