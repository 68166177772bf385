"""`Authorization: Bearer <key>` for the API, and `Token <key>` for clients of mem0."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from teams.services.keys import KeyExpiredError, Principal, note_key_use, principal_of


class ApiKeyAuthentication(BaseAuthentication):
    """Knows the caller by an API key; anything but a valid one is 401."""

    scheme = "Bearer"

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        """The key's holder, None without the header; raises AuthenticationFailed."""
        parts = get_authorization_header(request).split()
        if not parts:
            return None
        if len(parts) != 2 or parts[0].lower() != self.scheme.lower().encode():
            raise AuthenticationFailed(f"Send the header «Authorization: {self.scheme} <API key>».")
        try:
            principal = principal_of(parts[1].decode("ascii"))
        except UnicodeDecodeError:
            principal = None
        except KeyExpiredError as error:
            raise AuthenticationFailed(str(error)) from None
        if principal is None:
            raise AuthenticationFailed("This API key is not valid or was revoked.")
        note_key_use(principal=principal, now=timezone.now())
        return principal, None

    def authenticate_header(self, request: Request) -> str:
        return f'{self.scheme} realm="palimpsest"'


class TokenAuthentication(ApiKeyAuthentication):
    """The same keys, as clients of mem0 send them."""

    scheme = "Token"


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of the key in the OpenAPI schema."""

    target_class = ApiKeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        del auto_schema
        return {"type": "http", "scheme": "bearer"}


def client_address(request: HttpRequest) -> str:
    """Returns the address the outermost of TRUSTED_PROXIES saw, else the peer's; for django-axes.

    Each of these proxies appends the address of its client to X-Forwarded-For, so entries are
    counted from the end, and entries that a client wrote before them are ignored. With fewer
    entries, or an entry that is not a valid address, it is the address of the connected peer.
    """
    connected = str(request.META.get("REMOTE_ADDR", ""))
    count = settings.TRUSTED_PROXIES
    entries = [each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",")]
    if not 0 < count <= len(entries):
        return connected
    try:
        return str(ipaddress.ip_address(entries[-count]))
    except ValueError:
        return connected
