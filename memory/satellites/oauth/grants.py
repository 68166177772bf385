"""Clients, grants and tokens: given, exchanged, revoked and removed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from audit.services.events import Event, record_events
from memory.satellites.oauth.models import Client, Grant, Token
from teams.domain.team_settings import Flags
from teams.models import Agent, EndUser, StaffUser
from teams.prepared import run_prepared
from teams.services.people import all_team_ids
from teams.services.team_settings import default_flags
from teams.tenancy import team_scope

ACTOR = "oauth"
NODE = "oauth"
# The first part of an access token, by which it is told from an API key.
ACCESS_START = "mcp_"
_SECRET_BYTES = 32
READ, WRITE = "read", "write"
SCOPES = (READ, WRITE)

CODE_LIFE = timedelta(minutes=2)
ACCESS_LIFE = timedelta(hours=1)
REFRESH_LIFE = timedelta(days=30)
# Used tokens stay so long, as only a stored one is noticed when it is used again.
TOKEN_DAYS = timedelta(days=30)
# Grants that ended, or whose client never came back, and clients without any grant.
GRANT_DAYS = timedelta(days=90)
UNUSED_CLIENT_LIFE = timedelta(days=1)
# Of all addresses together.
REGISTRATIONS_AN_HOUR = 2_000


@dataclass(frozen=True, slots=True)
class Held:
    """A stored token and what its holder may do."""

    id: UUID
    team_id: UUID
    grant_id: UUID
    client_id: UUID
    kind: str
    is_valid: bool
    is_used: bool
    expires_at: datetime
    redirect_uri: str
    code_challenge: str
    resource: str
    is_read_only: bool
    agent_id: UUID
    agent_slug: str
    allowed_categories: tuple[str, ...]
    flags: Flags
    end_user_id: UUID | None
    end_user: str
    team_slug: str

    @property
    def scopes(self) -> list[str]:
        """The scopes that the person allowed."""
        return [READ] if self.is_read_only else list(SCOPES)


_NAMES = [each.name for each in fields(Held)]
# In the order of these names.
_HOLDER = (
    "SELECT id, team_id, grant_id, client_id, kind, is_valid, is_used, expires_at, redirect_uri,"
    " code_challenge, resource, is_read_only, agent_id, agent_slug, allowed_categories,"
    " feature_flags, end_user_id, end_user, team_slug FROM palimpsest_oauth_token($1)"
)


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """New tokens; they are shown now and never again."""

    access: str
    refresh: str


class UsedTokenError(Exception):
    """A code or refresh token was exchanged a second time; its grant has ended."""


def wait_to_register(*, now: datetime) -> timedelta:
    """The time until another client may register; zero or less if one may now.

    It bounds the table without Redis: what nobody lets in is removed after a day.
    """
    latest = Client.objects.order_by("-pk").values_list("created_at", flat=True)
    last = latest[REGISTRATIONS_AN_HOUR - 1 : REGISTRATIONS_AN_HOUR].first()
    return timedelta(0) if last is None else last + timedelta(hours=1) - now


def register_client(*, name: str, redirect_uris: Sequence[str]) -> Client:
    """Stores a client; it is removed if nobody lets it in within a day."""
    return Client.objects.create(name=name, redirect_uris=list(redirect_uris))


def grant_access(
    *,
    client: Client,
    user: StaffUser,
    agent: Agent,
    end_user: EndUser | None,
    is_read_only: bool,
    resource: str,
    redirect_uri: str,
    code_challenge: str,
    now: datetime,
) -> str:
    """Stores the person's consent and returns its authorization code; call it in the team's scope.

    A code is valid for two minutes.
    """
    grant = Grant.objects.create(
        team_id=agent.team_id,
        client=client,
        user=user,
        agent=agent,
        end_user=end_user,
        is_read_only=is_read_only,
        resource=resource,
    )
    code = _store(
        grant.team_id,
        grant.pk,
        Token.Kind.CODE,
        expires_at=now + CODE_LIFE,
        redirect_uri=redirect_uri,
        code_challenge=code_challenge,
    )
    _record(grant, "grant")
    return code


def held_by(token: str) -> Held | None:
    """The stored token, also one that has ended; None for an unknown one."""
    rows = run_prepared(_HOLDER, [_digest(token)])
    if not rows:
        return None
    (row,) = rows
    values = dict(zip(_NAMES, row, strict=True))
    values |= {
        "allowed_categories": tuple(values["allowed_categories"]),
        "flags": default_flags().overridden(values["flags"]),
        "end_user": values["end_user"] or "",
    }
    return Held(**values)


def exchange(*, held: Held, now: datetime) -> IssuedTokens:
    """Uses up a code or refresh token and issues new tokens; raises UsedTokenError.

    Whoever uses one a second time may have stolen it, so that ends the grant.
    """
    team_id, grant_id = held.team_id, held.grant_id
    with team_scope(team_ids=[team_id], actor=ACTOR):
        stored = Token.objects.filter(team_id=team_id, pk=held.id, used_at=None)
        if stored.update(used_at=now):
            Grant.objects.filter(team_id=team_id, pk=grant_id).update(used_at=now)
            return IssuedTokens(
                access=_store(team_id, grant_id, Token.Kind.ACCESS, expires_at=now + ACCESS_LIFE),
                refresh=_store(
                    team_id, grant_id, Token.Kind.REFRESH, expires_at=now + REFRESH_LIFE
                ),
            )
    revoke_held(held=held, cause="reuse", now=now)
    raise UsedTokenError("This was used before: sign in again.")


def revoke_held(*, held: Held, cause: str, now: datetime) -> None:
    """Ends the grant of a token."""
    with team_scope(team_ids=[held.team_id], actor=ACTOR):
        revoke_grant(team_id=held.team_id, grant_id=held.grant_id, cause=cause, now=now)


def revoke_grant(*, team_id: UUID, grant_id: UUID, cause: str, now: datetime) -> None:
    """Ends the grant with all its tokens, harmless twice; call it in the team's scope.

    `cause` stands in the event: `client`, `admin` or `reuse`. Where the login lost its role, the
    database ends it, with `role` as the cause (sql/ended_roles.sql).
    """
    rows = Grant.objects.filter(team_id=team_id, pk=grant_id)
    if rows.filter(revoked_at=None).update(revoked_at=now):
        _record(rows.get(), "revoke", cause=cause)


def prune(*, now: datetime) -> None:
    """Removes old tokens, grants that ended long ago and clients that nobody let in."""
    with team_scope(team_ids=all_team_ids(), actor=ACTOR):
        Token.objects.filter(expires_at__lt=now - TOKEN_DAYS).delete()
        # A grant has tokens for as long as its client renews them.
        tokens = Token.objects.filter(team_id=OuterRef("team_id"), grant_id=OuterRef("pk"))
        Grant.objects.filter(~Exists(tokens), created_at__lt=now - GRANT_DAYS).delete()
        clients = Client.objects.filter(created_at__lt=now - UNUSED_CLIENT_LIFE)
        clients.filter(~Exists(Grant.objects.filter(client_id=OuterRef("pk")))).delete()


def _store(
    team_id: UUID, grant_id: UUID, kind: Token.Kind, *, expires_at: datetime, **of_code: Any
) -> str:  # Any: texts of a code
    start = ACCESS_START if kind == Token.Kind.ACCESS else ""
    token = f"{start}{secrets.token_urlsafe(_SECRET_BYTES)}"
    Token.objects.create(
        team_id=team_id,
        grant_id=grant_id,
        kind=kind,
        digest=_digest(token),
        expires_at=expires_at,
        **of_code,
    )
    return token


def _record(grant: Grant, op: str, **more: str) -> None:
    meta = {
        "grant": str(grant.pk),
        "client": str(grant.client_id),
        "agent": str(grant.agent_id),
        "login": grant.user.get_username(),
        "is_read_only": grant.is_read_only,
        **more,
    }
    record_events(
        team_id=grant.team_id,
        events=[Event(node=NODE, op=op, end_user_id=grant.end_user_id, meta=meta)],
    )


def _digest(token: str) -> bytes:
    # The token has 256 bits of its own, so one SHA-256 is enough; no password hash is needed.
    return hashlib.sha256(token.encode()).digest()
