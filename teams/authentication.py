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

from teams.services.keys import (
    Holder,
    KeyExpiredError,
    Principal,
    RecalledKey,
    note_key_use,
    principal_as,
    principal_found,
    principal_of,
    recall_key,
)

# In the environment of a request that a view makes in this process: its own caller. No header of a
# client has such a name there.
CALLER = "palimpsest.caller"
_REFUSED = "This API key is not valid or was revoked."


class ApiKeyAuthentication(BaseAuthentication):
    """Knows the caller by an API key; anything but a valid one is 401."""

    scheme = "Bearer"

    def authenticate(self, request: Request) -> tuple[Principal, RecalledKey | None] | None:
        """The key's holder, None without the header; raises AuthenticationFailed.

        For a view that confirms keys, the holder may be a recalled one, with the key to confirm.
        """
        if (caller := request.META.get(CALLER)) is not None:
            return caller, None
        parts = get_authorization_header(request).split()
        if not parts:
            return None
        if len(parts) != 2 or parts[0].lower() != self.scheme.lower().encode():
            raise AuthenticationFailed(f"Send the header «Authorization: {self.scheme} <API key>».")
        recalled = None
        try:
            token = parts[1].decode("ascii")
            view = (request.parser_context or {}).get("view")
            # An answer that is kept under a key of the request is given before anything is read.
            if getattr(view, "confirms_keys", False) and "Idempotency-Key" not in request.headers:
                recalled = recall_key(token)
            principal = principal_as(recalled.holder) if recalled else principal_of(token)
        except UnicodeDecodeError:
            principal = None
        except KeyExpiredError as error:
            raise AuthenticationFailed(str(error)) from None
        if principal is None:
            raise AuthenticationFailed(_REFUSED)
        note_key_use(principal=principal, now=timezone.now())
        return principal, recalled

    def authenticate_header(self, request: Request) -> str:
        return f'{self.scheme} realm="palimpsest"'


def confirmed(key: RecalledKey, *, holder: Holder) -> Principal | None:
    """Returns the caller if the key's holder, just looked up, differs from the recalled one.

    None if it is the same. Raises AuthenticationFailed.
    """
    if holder == key.holder:
        return None
    try:
        principal = principal_found(digest=key.digest, holder=holder)
    except KeyExpiredError as error:
        raise AuthenticationFailed(str(error)) from None
    if principal is None:
        raise AuthenticationFailed(_REFUSED)
    return principal


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
