"""The authorization server as the MCP SDK's handlers ask for it, over the services of `grants`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl
from starlette.requests import Request
from starlette.responses import Response

from memory.satellites.mcp.server import asgi_scope
from memory.satellites.oauth import grants
from memory.satellites.oauth.consent import SALT
from memory.satellites.oauth.grants import ACCESS_LIFE, SCOPES, Held, UsedTokenError
from memory.satellites.oauth.models import Client, Token
from memory.satellites.oauth.urls import resource_of

_NO_SECRET = "none"  # noqa: S105 - the name of a method
_GRANT_TYPES = ["authorization_code", "refresh_token"]
_MAX_URIS, _MAX_URI_CHARS, _MAX_NAME_CHARS = 10, 2_000, 200
# A SHA-256 in base64url without padding (RFC 7636, section 4.2).
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


class RegisteredClient(OAuthClientInformationFull):
    """A stored client: its redirect URIs match exactly, but for the port of a loopback address."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The URI to redirect to; raises InvalidRedirectUriError for one that is not registered."""
        if redirect_uri is None:
            raise InvalidRedirectUriError("Send the redirect_uri, one of those registered.")
        asked = str(redirect_uri)
        for registered in self.redirect_uris or ():
            # The SDK normalizes the empty path of the one and not of the other.
            if asked == str(AnyUrl(str(registered))):
                return registered
            # A program on the person's machine takes any free port (RFC 8252, section 7.3).
            if is_loopback(asked) and _without_port(asked) == _without_port(str(registered)):
                return redirect_uri
        raise InvalidRedirectUriError(f"The redirect URI '{asked}' is not registered.")

    def validate_scope(self, requested_scope: str | None) -> list[str]:
        """The known scopes of those that are asked for, or all: the answer says what was given."""
        known = [each for each in SCOPES if each in (requested_scope or "").split()]
        return known or list(SCOPES)


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The authorization server during one request."""

    def __init__(self, *, resource: str, now: datetime) -> None:
        self._resource = resource
        self._now = now
        self._held: Held | None = None

    async def get_client(self, client_id: str) -> RegisteredClient | None:
        """The registered client of that id."""
        client = await sync_to_async(client_of)(client_id)
        if client is None:
            return None
        return RegisteredClient(
            client_id=str(client.pk),
            client_name=client.name,
            redirect_uris=[AnyUrl(each) for each in client.redirect_uris],
            token_endpoint_auth_method=_NO_SECRET,
            grant_types=_GRANT_TYPES,
        )

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Stores the client as one without a secret, whatever it asked for: it proves by PKCE."""
        uris = [str(each) for each in client_info.redirect_uris or ()]
        if len(uris) > _MAX_URIS:
            raise RegistrationError("invalid_redirect_uri", f"At most {_MAX_URIS} redirect URIs.")
        for uri in uris:
            _check_redirect_uri(uri)
        client = await sync_to_async(grants.register_client)(
            name=_shown_name(client_info.client_name), redirect_uris=uris
        )
        client_info.client_id = str(client.pk)
        client_info.token_endpoint_auth_method = _NO_SECRET
        client_info.client_secret = client_info.client_secret_expires_at = None
        client_info.grant_types = _GRANT_TYPES
        client_info.response_types = ["code"]
        client_info.scope = " ".join(SCOPES)

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        """The address of the consent page; raises AuthorizeError."""
        if params.resource not in (None, self._resource):
            raise AuthorizeError("invalid_target", f"Tokens are for {self._resource} alone.")
        if not _CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "code_challenge is not a SHA-256 in base64url.")
        asked = {
            "client": client.client_id,
            "redirect_uri": str(params.redirect_uri),
            "state": params.state,
            "code_challenge": params.code_challenge,
            "scopes": params.scopes,
            "resource": self._resource,
        }
        signed = signing.dumps(asked, salt=SALT, compress=True)
        return f"{reverse('oauth_consent')}?{urlencode({'request': signed})}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """The client's valid code; a used one ends its grant."""
        held = await self._load(client, authorization_code, Token.Kind.CODE)
        if held is None:
            return None
        return AuthorizationCode(
            code=authorization_code,
            scopes=held.scopes,
            expires_at=held.expires_at.timestamp(),
            client_id=str(held.client_id),
            code_challenge=held.code_challenge,
            redirect_uri=AnyUrl(held.redirect_uri),
            redirect_uri_provided_explicitly=True,
            resource=held.resource,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """The first tokens of a grant; raises TokenError."""
        return await self._exchange()

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        """The client's valid refresh token; a used one ends its grant."""
        held = await self._load(client, refresh_token, Token.Kind.REFRESH)
        if held is None:
            return None
        return RefreshToken(token=refresh_token, client_id=str(held.client_id), scopes=list(SCOPES))

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """New tokens, with a new refresh token; raises TokenError."""
        return await self._exchange()

    async def _load(
        self, client: OAuthClientInformationFull, token: str, kind: Token.Kind
    ) -> Held | None:
        held = await sync_to_async(grants.held_by)(token)
        if held is None or held.kind != kind or str(held.client_id) != client.client_id:
            return None
        if held.is_used:
            await sync_to_async(grants.revoke_held)(held=held, cause="reuse", now=self._now)
            return None
        self._held = held
        return held if held.is_valid and held.resource == self._resource else None

    async def _exchange(self) -> OAuthToken:
        held = self._held
        assert held is not None, "loaded before"
        try:
            issued = await sync_to_async(grants.exchange)(held=held, now=self._now)
        except UsedTokenError as error:
            raise TokenError("invalid_grant", str(error)) from None
        return OAuthToken(
            access_token=issued.access,
            refresh_token=issued.refresh,
            expires_in=int(ACCESS_LIFE.total_seconds()),
            scope=" ".join(held.scopes),
        )


def client_of(client_id: str) -> Client | None:
    """The registered client of that id; None for any other text."""
    try:
        return Client.objects.filter(pk=UUID(client_id)).first()
    except ValueError:
        return None


def is_loopback(uri: str) -> bool:
    """Returns whether plain HTTP to that address stays on the person's own machine."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    try:
        is_local = ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    return parts.scheme == "http" and is_local


Handle = Callable[[Request], Awaitable[Response]]


def register(request: HttpRequest, now: datetime) -> HttpResponse:
    """Answers a registration (RFC 7591)."""
    options = ClientRegistrationOptions(enabled=True)
    return _answer(request, RegistrationHandler(_provider(request, now), options).handle)


def authorize(request: HttpRequest, now: datetime) -> HttpResponse:
    """Answers an authorization request with the way to the consent page, or with an error."""
    return _answer(request, AuthorizationHandler(_provider(request, now)).handle)


def issue(request: HttpRequest, now: datetime) -> HttpResponse:
    """Answers a token request."""
    provider = _provider(request, now)
    return _answer(request, TokenHandler(provider, ClientAuthenticator(provider)).handle)


def _provider(request: HttpRequest, now: datetime) -> Provider:
    # Without the methods of the SDK's revocation, which needs secrets (views.revoke).
    return Provider(resource=resource_of(request), now=now)  # type: ignore[abstract]


def _answer(request: HttpRequest, handle: Handle) -> HttpResponse:
    answer = async_to_sync(handle)(Request(asgi_scope(request), _body_of(request)))
    response = HttpResponse(answer.body, status=answer.status_code)
    for name, value in answer.headers.items():
        response[name] = value
    return response


def _body_of(request: HttpRequest) -> Any:  # Any: ASGI's own events
    body = request.body

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _check_redirect_uri(uri: str) -> None:
    parts = urlsplit(uri)
    is_safe = (parts.scheme == "https" and bool(parts.hostname)) or is_loopback(uri)
    if not is_safe or parts.fragment or parts.username is not None or len(uri) > _MAX_URI_CHARS:
        raise RegistrationError(
            "invalid_redirect_uri",
            "A redirect URI begins with https:// or is one of this machine"
            " (http://127.0.0.1 or http://localhost), without user and fragment.",
        )


def _without_port(uri: str) -> tuple[str, ...]:
    parts = urlsplit(uri)
    return parts.scheme, parts.hostname or "", parts.path or "/", parts.query


def _shown_name(given: str | None) -> str:
    """The name that people read on the consent page, on one line."""
    printable = "".join(each if each.isprintable() else " " for each in given or "")
    return " ".join(printable.split())[:_MAX_NAME_CHARS] or "Unnamed client"
