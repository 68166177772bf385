"""Metadata and endpoints of the authorization server; the SDK is loaded by the first request."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST, require_safe

from memory.api.throttles import count_requests
from memory.satellites.oauth import grants
from memory.satellites.oauth.consent import consent
from memory.satellites.oauth.grants import REGISTRATIONS_AN_HOUR, SCOPES
from memory.satellites.oauth.models import Token
from memory.satellites.oauth.urls import (
    RESOURCE_METADATA_PATH,
    RESOURCE_PATH,
    SERVER_METADATA_PATH,
    issuer_of,
    resource_of,
)
from teams.authentication import client_address

REGISTRATIONS_A_MINUTE = 20
_MAX_BODY_BYTES = 64 * 1024
_FORM = "application/x-www-form-urlencoded"

View = Callable[[HttpRequest], HttpResponse]


def _error(status: int, error: str, description: str) -> JsonResponse:
    """A refusal in the form of RFC 6749, section 5.2."""
    content = {"error": error, "error_description": description}
    return JsonResponse(content, status=status, headers={"Cache-Control": "no-store"})


def _endpoint(view: View) -> View:
    """A POST of a program, which has no cookie."""

    @csrf_exempt
    @require_POST
    @wraps(view)
    def answered(request: HttpRequest) -> HttpResponse:
        if len(request.body) > _MAX_BODY_BYTES:
            return _error(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "invalid_request",
                f"Send at most {_MAX_BODY_BYTES} bytes.",
            )
        return view(request)

    return answered


@require_safe
def resource_metadata(request: HttpRequest) -> HttpResponse:
    """The MCP endpoint as a protected resource (RFC 9728)."""
    return JsonResponse(
        {
            "resource": resource_of(request),
            "authorization_servers": [issuer_of(request)],
            "scopes_supported": SCOPES,
            "bearer_methods_supported": ["header"],
            "resource_name": "Palimpsest",
        }
    )


@require_safe
def server_metadata(request: HttpRequest) -> HttpResponse:
    """The authorization server (RFC 8414)."""
    issuer = issuer_of(request)
    endpoints: Mapping[str, Any] = {  # Any: JSON
        f"{name}_endpoint": f"{issuer}{reverse(f'oauth_{view}')}"
        for name, view in (
            ("authorization", "authorize"),
            ("token", "token"),
            ("registration", "register"),
            ("revocation", "revoke"),
        )
    }
    return JsonResponse(
        {
            "issuer": issuer,
            **endpoints,
            "scopes_supported": SCOPES,
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            # RFC 9207
            "authorization_response_iss_parameter_supported": True,
        }
    )


@_endpoint
def register(request: HttpRequest) -> HttpResponse:
    """Registers a client; 429 for an address that registers too many, or while too many do."""
    from memory.satellites.oauth import provider

    key = f"{settings.REDIS_PREFIX}:rate:register:{client_address(request)}"
    ((count, wait),) = count_requests([key]) or [(0, 0)]
    if count > REGISTRATIONS_A_MINUTE:
        return _too_many(
            f"An address may register {REGISTRATIONS_A_MINUTE} clients a minute.", wait
        )
    now = timezone.now()
    if (pause := grants.wait_to_register(now=now)) > timedelta(0):
        told = f"Only {REGISTRATIONS_AN_HOUR:,} clients may register in an hour."
        return _too_many(told, math.ceil(pause.total_seconds()))
    return provider.register(request, now)


def _too_many(told: str, wait: int) -> JsonResponse:
    refusal = _error(
        HTTPStatus.TOO_MANY_REQUESTS, "temporarily_unavailable", f"{told} Try again later."
    )
    refusal["Retry-After"] = str(wait)
    return refusal


@never_cache
@require_GET
def authorize(request: HttpRequest) -> HttpResponse:
    """Sends the person on to the consent page, or back with an error if they are signed in.

    Nobody else is sent to an address that a stranger may have registered (RFC 9700, 4.11.2).
    """
    from memory.satellites.oauth import provider

    answer = provider.authorize(request, timezone.now())
    leads_back = not answer.get("Location", "").startswith(reverse("oauth_consent"))
    if answer.status_code == HTTPStatus.FOUND and leads_back and not request.user.is_authenticated:
        sent = dict(parse_qsl(urlsplit(answer["Location"]).query))
        return _error(HTTPStatus.BAD_REQUEST, sent["error"], sent.get("error_description", ""))
    return answer


@_endpoint
def issue(request: HttpRequest) -> HttpResponse:
    """Exchanges a code or a refresh token."""
    from memory.satellites.oauth import provider

    if request.content_type != _FORM:
        return _error(HTTPStatus.BAD_REQUEST, "invalid_request", f"Send the content type {_FORM}.")
    own = resource_of(request)
    if any(each != own for each in request.POST.getlist("resource")):
        return _error(HTTPStatus.BAD_REQUEST, "invalid_target", f"Tokens are for {own} alone.")
    return provider.issue(request, timezone.now())


@_endpoint
def revoke(request: HttpRequest) -> HttpResponse:
    """Ends the grant of a token (RFC 7009); an unknown token is no error.

    The SDK's handler wants a client_secret of every client, and none has one here.
    """
    held = grants.held_by(request.POST.get("token", ""))
    if "token" not in request.POST or "client_id" not in request.POST:
        return _error(HTTPStatus.BAD_REQUEST, "invalid_request", "Send token and client_id.")
    is_own = held is not None and str(held.client_id) == request.POST["client_id"]
    if held is not None and is_own and held.kind != Token.Kind.CODE:
        grants.revoke_held(held=held, cause="client", now=timezone.now())
    return HttpResponse(headers={"Cache-Control": "no-store"})


urlpatterns = [
    path(RESOURCE_METADATA_PATH, resource_metadata),
    path(f"{RESOURCE_METADATA_PATH}/{RESOURCE_PATH}", resource_metadata),
    path(SERVER_METADATA_PATH, server_metadata),
    # Where clients that know no metadata look, as the SDK's own does after a restart.
    path("register", register, name="oauth_register"),
    path("authorize", authorize, name="oauth_authorize"),
    path("token", issue, name="oauth_token"),
    path("revoke", revoke, name="oauth_revoke"),
    path("admin/oauth/consent/", admin.site.admin_view(consent), name="oauth_consent"),
]
