"""Retries: the requests that are sent again, and their pauses.

A read and a POST under its Idempotency-Key do the same once or twice, so they are repeated after
any failure that may pass. Anything else, a PUT too, which could replace what somebody else saved
since, is repeated only where the server has not begun it: no connection, or too many requests.
"""

from __future__ import annotations

import random
from functools import cache

import httpx
from httpx_retries import Retry

BACKOFF_SECONDS = 0.25
# A server that asks for a longer pause is not waited for: the caller gets its refusal.
MAX_WAIT_SECONDS = 60.0
_PASSING = {429, 502, 503, 504}
_NOT_BEGUN = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class _AgainError(Exception):
    """The answer is a refusal that may pass."""


class _Policy(Retry):
    """Lets `validate_response` alone judge statuses, and spreads those who were told to wait."""

    def is_retryable_status_code(self, status_code: int) -> bool:
        return False

    def parse_retry_after(self, retry_after: str) -> float:
        return super().parse_retry_after(retry_after) + random.uniform(0, BACKOFF_SECONDS)  # noqa: S311


@cache
def policy(*, retries: int, is_repeatable: bool) -> Retry:
    """The retry policy of a request: at most `retries` times, with growing pauses and jitter."""
    return _Policy(
        total=retries,
        allowed_methods=_METHODS,
        backoff_factor=BACKOFF_SECONDS,
        backoff_jitter=0.5,
        max_backoff_wait=MAX_WAIT_SECONDS + BACKOFF_SECONDS,
        retry_on_exceptions=(
            (httpx.TransportError, _AgainError) if is_repeatable else (*_NOT_BEGUN, _AgainError)
        ),
        validate_response=_judge_repeatable if is_repeatable else _judge_begun,
    )


def _judge_repeatable(response: httpx.Response) -> None:
    # The request under the same key is still being carried out.
    is_under_way = response.status_code == 409 and "Retry-After" in response.headers
    if is_under_way or response.status_code in _PASSING:
        _try_again(response)


def _judge_begun(response: httpx.Response) -> None:
    if response.status_code == 429:
        _try_again(response)


def _try_again(response: httpx.Response) -> None:
    """Raise _AgainError, except where the server says that it is of no use, or takes too long."""
    wait = response.headers.get("Retry-After", "")
    is_long = wait.isdecimal() and float(wait) > MAX_WAIT_SECONDS
    if not is_long and response.headers.get("X-Should-Retry") != "false":
        raise _AgainError
