"""The limit of requests a minute, for a key and for all keys of its team."""

from __future__ import annotations

import math
from functools import partial
from typing import cast

from django.conf import settings
from redis.client import Pipeline
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from memory.clients.afterwards import afterwards
from routing.clients.quick_redis import quick_redis
from teams.services.keys import Principal

WINDOW_SECONDS = 60


class RequestRate(BaseThrottle):
    """Counts requests in Redis, in minutes that begin with the first request.

    `headers` are the `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers) of the answer; none
    without limits, and none while Redis is away: then everybody is let in.
    """

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request; raises Throttled where the key or its team has used up its limit."""
        caller = cast(Principal, request.user)
        team_id, key_id = caller.team_id, caller.key_id
        limits = {"key": settings.RATE_LIMIT_KEY, "team": settings.RATE_LIMIT_TEAM}
        limits = {name: most for name, most in limits.items() if most}
        # In braces what a cluster spreads keys by: one pipeline reads both.
        prefix = f"{settings.REDIS_PREFIX}:rate:{{{team_id}}}"
        keys = {"key": f"{prefix}:{key_id}", "team": f"{prefix}:team"}
        counted = count_requests([keys[name] for name in limits]) if limits else None
        if counted is None:
            return True
        counts = dict(zip(limits, counted, strict=True))
        name = min(limits, key=lambda each: (limits[each] - counts[each][0]) / limits[each])
        count, wait = counts[name]
        self.headers = {
            "RateLimit-Policy": ", ".join(
                f'"{each}";q={most};w={WINDOW_SECONDS}' for each, most in limits.items()
            ),
            "RateLimit": f'"{name}";r={max(0, limits[name] - count)};t={wait}',
        }
        if count <= limits[name]:
            return True
        if "team" in limits:
            afterwards(partial(Pipeline.decr, name=keys["team"]))  # a refusal takes nothing of it
        raise Throttled(
            wait=wait,
            detail=f"This {name} may send {limits[name]:,} requests a minute. Send fewer, or more"
            " in one where an endpoint takes lists.",
        )


def count_requests(keys: list[str]) -> list[tuple[int, int]] | None:
    """Counts a request for each key: how many there are, and the seconds until they start anew.

    None while Redis is away.
    """
    pipe = quick_redis().pipeline()
    for key in keys:
        pipe.set(key, 0, ex=WINDOW_SECONDS, nx=True)
        pipe.incr(key)
        pipe.pttl(key)
    answers = quick_redis().ask(lambda _: pipe.execute())
    if answers is None:
        return None
    found = list(zip(answers[1::3], answers[2::3], strict=True))
    for key, (_, left) in zip(keys, found, strict=True):
        if left < 0:  # the key ended between the commands
            afterwards(partial(Pipeline.expire, name=key, time=WINDOW_SECONDS))
    return [(count, math.ceil(max(0, left) / 1000)) for count, left in found]
