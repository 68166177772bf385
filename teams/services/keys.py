"""API keys and their holders: shown once, stored as digests, expiring, revoked and rotated."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, TypeAlias
from uuid import UUID

import redis
from cachetools import TTLCache
from django.conf import settings
from django_redis import get_redis_connection

from teams.domain.team_settings import Flags
from teams.errors import ConflictError, InvalidError, MovedError, NotFoundError
from teams.models import Agent, ApiKey
from teams.prepared import Reader, run_prepared
from teams.services.team_settings import default_flags

TOKEN_START = "pal"  # noqa: S105 - the public first part of every key
USE_KEY = f"{settings.REDIS_PREFIX}:key-use"
HOLDER = (
    "id, team_id, prefix, agent_id, agent_slug, allowed_categories, feature_flags,"
    " is_read_only, has_expired, project_ids, team_slug, is_frozen, moved_to"
)
Holder: TypeAlias = tuple[Any, ...]  # Any: a row of palimpsest_api_key, () where there is none
_FIND_HOLDER = f"SELECT {HOLDER} FROM palimpsest_api_key($1)"  # noqa: S608 - our own columns
# Holders by the digest of their key, as this process found them in the last minute.
_recent: TTLCache[bytes, Holder] = TTLCache(10_000, 60.0)
_recent_lock = Lock()
_PREFIX_BYTES = 4
_SECRET_BYTES = 32
NOTED_EVERY = timedelta(seconds=5)
# By key, when this process last noted its use.
_noted: dict[UUID, datetime] = {}
_MOST_NOTED = 10_000

logger = logging.getLogger(__name__)


class KeyExpiredError(Exception):
    """The key was valid once; nobody is let in, so it is no refusal of the domain."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a valid API key: a team, or one agent of it.

    `allowed_categories` are the categories that agent may read; empty means all. `flags` are the
    parts that are on for the team. A read-only key may ask, and change nothing. For a key with
    `project_ids` no other project exists. A sign-in acts for its person, `end_user`, or for nobody,
    and names no other person. Of a frozen team nothing is written.
    """

    key_id: UUID
    team_id: UUID
    prefix: str
    agent_id: UUID | None = None
    agent_slug: str = ""
    allowed_categories: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
    is_read_only: bool = False
    project_ids: tuple[UUID, ...] = ()
    team_slug: str = ""
    is_frozen: bool = False
    is_sign_in: bool = False
    end_user_id: UUID | None = None
    end_user: str = ""

    is_authenticated = True

    @property
    def actor(self) -> str:
        """The name of this caller in the log."""
        return f"agent:{self.agent_slug}" if self.agent_id else f"key:{self.prefix}"

    @property
    def reader(self) -> Reader | None:
        """The reader that the database holds all that a sign-in reads to; None for a key."""
        return Reader(self.agent_id, self.end_user_id) if self.is_sign_in else None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key; `token` is shown now and never again."""

    key: ApiKey
    token: str


def issue_key(
    *,
    team_id: UUID,
    agent: Agent | None = None,
    name: str = "",
    is_read_only: bool = False,
    expires_at: datetime | None = None,
    project_ids: Collection[UUID] = (),
) -> IssuedKey:
    """Creates a key `pal_<prefix>_<secret>` of the team or of `agent`, for these projects alone."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    token = f"{TOKEN_START}_{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    key = ApiKey.objects.create(
        team_id=team_id,
        agent=agent,
        name=name,
        prefix=prefix,
        digest=_digest(token),
        is_read_only=is_read_only,
        expires_at=expires_at,
        project_ids=sorted(project_ids),
    )
    return IssuedKey(key=key, token=token)


def rotate_key(*, team_id: UUID, key_id: UUID, now: datetime, overlap: timedelta) -> IssuedKey:
    """Issues a key in place of another, which expires after `overlap`; raises DomainError."""
    if overlap < timedelta(0):
        raise InvalidError("The overlap cannot be negative.", field="overlap")
    found = ApiKey.objects.select_for_update().filter(team_id=team_id, id=key_id)
    key = found.first()
    if key is None:
        raise NotFoundError("There is no such key.")
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        raise ConflictError("This key is no longer valid: issue a new one.")
    if key.rotated_at is not None:
        # Its end is that of the overlap, and says nothing of how long the new one should live.
        raise ConflictError("This key was rotated already: rotate the key that replaced it.")
    life = None if key.expires_at is None else key.expires_at - key.created_at
    end = now + overlap
    found.update(
        expires_at=end if key.expires_at is None else min(end, key.expires_at), rotated_at=now
    )
    return issue_key(
        team_id=team_id,
        agent=key.agent,
        name=key.name,
        is_read_only=key.is_read_only,
        project_ids=key.project_ids,
        expires_at=None if life is None else now + life,
    )


def key_of_prefix(*, team_id: UUID, prefix: str) -> ApiKey:
    """The team's key of the part between its token's underscores; raises NotFoundError."""
    key = ApiKey.objects.filter(team_id=team_id, prefix=prefix).first()
    if key is None:
        raise NotFoundError(f"The team has no key {prefix}.")
    return key


def revoke_key(*, team_id: UUID, key_id: UUID, now: datetime) -> ApiKey:
    """Ends a key's validity at once, harmless twice; raises NotFoundError."""
    key = ApiKey.objects.filter(team_id=team_id, id=key_id).first()
    if key is None:
        raise NotFoundError("There is no such key.")
    if key.revoked_at is None:
        ApiKey.objects.filter(team_id=team_id, id=key_id, revoked_at=None).update(revoked_at=now)
        key.refresh_from_db()
    return key


@dataclass(frozen=True, slots=True)
class RecalledKey:
    """A key that this process knows; its holder is to be confirmed before an answer."""

    digest: bytes
    holder: Holder


def recall_key(token: str) -> RecalledKey | None:
    """Returns the key as it was found in the last minute; it may have been revoked since."""
    digest = _digest(token)
    with _recent_lock:
        holder = _recent.get(digest)
    return RecalledKey(digest, holder) if holder else None


def principal_of(token: str) -> Principal | None:
    """The holder of this token; None for an unknown one.

    Raises KeyExpiredError, and MovedError for a key of a team that is elsewhere by now.
    """
    if not token.startswith(f"{TOKEN_START}_"):
        return None
    digest = _digest(token)
    return principal_found(digest=digest, holder=find_holder(digest))


def find_holder(digest: bytes) -> Holder:
    """Looks the holder of a key up, by the key's digest."""
    return next(iter(run_prepared(_FIND_HOLDER, [digest])), ())


def principal_found(*, digest: bytes, holder: Holder) -> Principal | None:
    """Returns a holder that was just looked up, and notes a valid one; None for ().

    Raises KeyExpiredError and MovedError.
    """
    with _recent_lock:
        _recent.pop(digest, None)
    if not holder:
        return None
    principal = principal_as(holder)
    with _recent_lock:
        _recent[digest] = holder
    return principal


def principal_as(holder: Holder) -> Principal:
    """Returns the holder as a caller. Raises KeyExpiredError and MovedError."""
    key_id, team_id, prefix, agent_id, agent_slug, *rest = holder
    categories, overrides, reads, ended, projects, team_slug, is_frozen, moved_to = rest
    if moved_to:
        raise MovedError(
            f"The team '{team_slug}' has moved to {moved_to}: send its requests there, with the"
            " same key.",
            moved_to=moved_to,
        )
    if ended:
        raise KeyExpiredError("This API key has expired: ask an admin of the team for a new one.")
    return Principal(
        key_id=key_id,
        team_id=team_id,
        prefix=prefix,
        agent_id=agent_id,
        agent_slug=agent_slug or "",
        allowed_categories=tuple(categories),
        flags=default_flags().overridden(overrides),
        is_read_only=reads,
        project_ids=tuple(projects),
        team_slug=team_slug,
        is_frozen=is_frozen,
    )


def note_key_use(*, principal: Principal, now: datetime) -> None:
    """Notes in Redis, every few seconds at most, that the key was used. Never fails a request."""
    noted_at = _noted.get(principal.key_id)
    if noted_at is not None and timedelta(0) <= now - noted_at < NOTED_EVERY:
        return
    if len(_noted) >= _MOST_NOTED:
        _noted.clear()
    _noted[principal.key_id] = now
    try:
        get_redis_connection("default").hset(
            USE_KEY, f"{principal.team_id}:{principal.key_id}", int(now.timestamp())
        )
    except redis.RedisError:
        logger.warning("The last use of a key was not noted: Redis is away.")


def take_key_uses() -> dict[UUID, dict[UUID, datetime]]:
    """Remove and return the noted uses: time of last use by key, by team."""
    client = get_redis_connection("default")
    taken = f"{USE_KEY}:taken"
    uses: dict[UUID, dict[UUID, datetime]] = {}
    if not client.exists(taken):
        if not client.exists(USE_KEY):
            return uses
        client.rename(USE_KEY, taken)
    for name, stamp in client.hgetall(taken).items():
        team_id, key_id = name.decode().split(":")
        uses.setdefault(UUID(team_id), {})[UUID(key_id)] = datetime.fromtimestamp(int(stamp), UTC)
    return uses


def forget_key_uses() -> None:
    """Drop what `take_key_uses` returned, once it is written down."""
    get_redis_connection("default").delete(f"{USE_KEY}:taken")


def record_key_uses(*, team_id: UUID, uses: dict[UUID, datetime]) -> None:
    """Write the times of last use of a team's keys; call it in the team's scope."""
    for key_id, used_at in uses.items():
        ApiKey.objects.filter(team_id=team_id, id=key_id).exclude(last_used_at__gte=used_at).update(
            last_used_at=used_at
        )


def _digest(token: str) -> bytes:
    # The secret has 256 bits of its own, so one SHA-256 is enough; no password hash is needed.
    return hashlib.sha256(token.encode()).digest()
