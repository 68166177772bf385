"""How often a key and its team may ask, and how much at a time: asked of Redis in one round trip.

A token bucket holds as many requests as are allowed in a minute, is full at first, and fills
evenly. A request under way holds a place of its key until it is answered or its lease ends.
Record: docs/decisions/0056-rates-and-time-outs.md.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

import redis
from django.conf import settings
from redis.exceptions import NoScriptError

from memory.clients.afterwards import afterwards
from routing.clients.quick_redis import quick_redis

WINDOW_SECONDS = 60
# A process that was killed holds its places for so long; a longer request no longer counts.
LEASE_SECONDS = 60
# Takes one from all buckets and a place, or nothing, by the clock of Redis. Answers whether it did,
# whether there was a place, and what is left in each bucket, in thousandths.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local window, lease, most_places, name = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local buckets = #ARGV - 4
local places = KEYS[buckets + 1]
local left, is_free = {}, 1
if most_places > 0 then
    redis.call('ZREMRANGEBYSCORE', places, '-inf', now)
    if redis.call('ZCARD', places) >= most_places then is_free = 0 end
end
local is_allowed = is_free
for i = 1, buckets do
    local most = tonumber(ARGV[i + 4])
    local kept = redis.call('HMGET', KEYS[i], 'left', 'at')
    local passed = math.max(0, now - (tonumber(kept[2]) or now))
    left[i] = math.min(most, (tonumber(kept[1]) or most) + passed * most / window)
    if left[i] < 1 then is_allowed = 0 end
end
for i = 1, buckets do
    left[i] = left[i] - is_allowed
    redis.call('HSET', KEYS[i], 'left', left[i], 'at', now)
    redis.call('PEXPIRE', KEYS[i], window)
    left[i] = math.floor(left[i] * 1000)
end
if most_places > 0 and is_allowed == 1 then
    redis.call('ZADD', places, now + lease, name)
    redis.call('PEXPIRE', places, lease)
end
return {is_allowed, is_free, unpack(left)}
"""
_DIGEST = hashlib.sha1(_TAKE.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a key may still ask, by the limit that leaves the least.

    `refusal` says why it may not ask now, and `wait_seconds` when it may. `policies` are the limits
    by name, in requests a minute; `left` are whole requests of the limit called `name`.
    """

    refusal: str
    name: str
    left: int
    wait_seconds: float
    policies: Mapping[str, int]

    @property
    def headers(self) -> dict[str, str]:
        """The `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers); none without limits."""
        if not self.policies:
            return {}
        most = self.policies[self.name]
        full_in = math.ceil(WINDOW_SECONDS * (most - self.left) / most)
        return {
            "RateLimit-Policy": ", ".join(
                f'"{name}";q={most};w={WINDOW_SECONDS}' for name, most in self.policies.items()
            ),
            "RateLimit": f'"{self.name}";r={self.left};t={full_in}',
        }


def take_allowance(*, key_id: UUID, team_id: UUID) -> Allowance | None:
    """Take one request from the key's and its team's buckets, and a place of the key, or nothing.

    The place is given back `afterwards`. None where nothing has a limit, and while Redis is away:
    then everybody is let in.
    """
    limits = {"key": settings.RATE_LIMIT_KEY, "team": settings.RATE_LIMIT_TEAM}
    policies = {name: most for name, most in limits.items() if most}
    most_places: int = settings.CONCURRENCY_LIMIT_KEY
    if not policies and not most_places:
        return None
    owners = {"key": key_id, "team": team_id}
    # In braces what a cluster spreads keys by: one script reads all.
    prefix = f"{settings.REDIS_PREFIX}:rate:{{{team_id}}}"
    places, request = f"{prefix}:places:{key_id}", uuid4().hex
    keys = [*(f"{prefix}:{name}:{owners[name]}" for name in policies), places]
    times = (WINDOW_SECONDS * 1000, LEASE_SECONDS * 1000)
    given: list[str | int] = [*times, most_places, request, *policies.values()]

    def command(client: redis.Redis) -> object:
        try:
            return client.evalsha(_DIGEST, len(keys), *keys, *given)
        except NoScriptError:
            return client.eval(_TAKE, len(keys), *keys, *given)

    answer = quick_redis().ask(command)
    if not isinstance(answer, list):
        return None
    is_allowed, is_free, *thousandths = answer
    if is_allowed and most_places:
        afterwards(lambda pipe: pipe.zrem(places, request))
    left = {name: each / 1000 for name, each in zip(policies, thousandths, strict=True)}
    name = min(left, key=lambda each: left[each] / policies[each], default="")
    wait = max(0.0, 1 - left[name]) * WINDOW_SECONDS / policies[name] if name else 0.0
    refusal = ""
    if not is_free:
        wait = max(wait, 1.0)
        refusal = (
            f"{most_places:,} requests of this key are under way. Wait for one to end, or send"
            " more in one where an endpoint takes lists."
        )
    elif not is_allowed:
        refusal = (
            f"This {name} may send {policies[name]:,} requests a minute. Send fewer, or more in one"
            " where an endpoint takes lists."
        )
    rest = max(0, int(left.get(name, 0)))
    return Allowance(refusal, name, left=rest, wait_seconds=wait, policies=policies)
