"""Access tokens as credentials of the MCP endpoint, and of no other."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from memory.satellites.oauth.grants import ACCESS_START, SCOPES, held_by
from memory.satellites.oauth.models import Token
from memory.satellites.oauth.urls import metadata_url, resource_of
from teams.services.keys import Principal
from teams.services.people import frozen_team_ids


class SignInAuthentication(BaseAuthentication):
    """Knows the caller by an access token; anything else is left to the API keys."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        """The agent and person of the token, None without one; raises AuthenticationFailed."""
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token.startswith(ACCESS_START):
            return None
        held = held_by(token)
        if held is None or held.kind != Token.Kind.ACCESS or held.resource != resource_of(request):
            raise AuthenticationFailed("This access token is not valid here: sign in again.")
        if not held.is_valid:
            raise AuthenticationFailed("This access token has expired or was revoked.")
        return Principal(
            key_id=held.grant_id,
            team_id=held.team_id,
            prefix="",
            agent_id=held.agent_id,
            agent_slug=held.agent_slug,
            allowed_categories=held.allowed_categories,
            flags=held.flags,
            team_slug=held.team_slug,
            is_read_only=held.is_read_only,
            is_sign_in=True,
            is_frozen=held.team_id in frozen_team_ids(),
            end_user_id=held.end_user_id,
            end_user=held.end_user,
        ), None

    def authenticate_header(self, request: Request) -> str:
        """The challenge with the address of the metadata (RFC 9728, section 5.1)."""
        error = 'error="invalid_token", ' if get_authorization_header(request) else ""
        return (
            f'Bearer realm="palimpsest", {error}resource_metadata="{metadata_url(request)}",'
            f' scope="{" ".join(SCOPES)}"'
        )
