"""How often a key and its team may ask: token buckets in Redis, asked of in one round trip.

A bucket holds as many requests as are allowed in a minute, is full at first, and fills evenly.
Record: docs/decisions/0056-rates-and-time-outs.md.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import redis
from django.conf import settings
from redis.exceptions import NoScriptError

from routing.clients.quick_redis import quick_redis

WINDOW_SECONDS = 60
# Takes one from all buckets or from none, by the clock of Redis. Answers whether it did, and what
# is left in each, in thousandths.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local window = tonumber(ARGV[1])
local left, is_allowed = {}, 1
for i, key in ipairs(KEYS) do
    local most = tonumber(ARGV[i + 1])
    local kept = redis.call('HMGET', key, 'left', 'at')
    local passed = math.max(0, now - (tonumber(kept[2]) or now))
    left[i] = math.min(most, (tonumber(kept[1]) or most) + passed * most / window)
    if left[i] < 1 then is_allowed = 0 end
end
for i, key in ipairs(KEYS) do
    left[i] = left[i] - is_allowed
    redis.call('HSET', key, 'left', left[i], 'at', now)
    redis.call('PEXPIRE', key, window)
    left[i] = math.floor(left[i] * 1000)
end
return {is_allowed, unpack(left)}
"""
_DIGEST = hashlib.sha1(_TAKE.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a key may still ask, by the limit that leaves the least.

    `policies` are the limits by name, in requests a minute; `left` are whole requests.
    """

    is_allowed: bool
    name: str
    left: int
    wait_seconds: float
    policies: Mapping[str, int]

    @property
    def headers(self) -> dict[str, str]:
        """The `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers)."""
        most = self.policies[self.name]
        full_in = math.ceil(WINDOW_SECONDS * (most - self.left) / most)
        return {
            "RateLimit-Policy": ", ".join(
                f'"{name}";q={most};w={WINDOW_SECONDS}' for name, most in self.policies.items()
            ),
            "RateLimit": f'"{self.name}";r={self.left};t={full_in}',
        }


def take_allowance(*, key_id: UUID, team_id: UUID) -> Allowance | None:
    """Take one request from the key's and its team's buckets, or none where one is empty.

    None where neither has a limit, and while Redis is away: then everybody is let in.
    """
    limits = {"key": settings.RATE_LIMIT_KEY, "team": settings.RATE_LIMIT_TEAM}
    policies = {name: most for name, most in limits.items() if most}
    if not policies:
        return None
    owners = {"key": key_id, "team": team_id}
    # In braces what a cluster spreads keys by: one script reads both.
    keys = [
        f"{settings.REDIS_PREFIX}:rate:{{{team_id}}}:{name}:{owners[name]}" for name in policies
    ]
    given = [WINDOW_SECONDS * 1000, *policies.values()]

    def command(client: redis.Redis) -> object:
        try:
            return client.evalsha(_DIGEST, len(keys), *keys, *given)
        except NoScriptError:
            return client.eval(_TAKE, len(keys), *keys, *given)

    answer = quick_redis().ask(command)
    if not isinstance(answer, list):
        return None
    left = {
        name: thousandths / 1000 for name, thousandths in zip(policies, answer[1:], strict=True)
    }
    name = min(left, key=lambda each: left[each] / policies[each])
    return Allowance(
        is_allowed=bool(answer[0]),
        name=name,
        left=max(0, int(left[name])),
        wait_seconds=max(0.0, 1 - left[name]) * WINDOW_SECONDS / policies[name],
        policies=policies,
    )
