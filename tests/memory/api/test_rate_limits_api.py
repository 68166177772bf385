"""A key and its team ask as often as they may, and are told how often that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings as settings_now
from django_redis import get_redis_connection
from pytest_django import Settings
from rest_framework.test import APIClient

from routing.clients.quick_redis import quick_redis
from tests.support.bad_input import assert_problem
from tests.support.cast import Cast

MEMORIES = "/v1/memories"


@pytest.fixture(autouse=True)
def small_limits(settings: Settings) -> None:
    """A key may send three requests a minute, and a team five."""
    settings.RATE_LIMIT_KEY = 3
    settings.RATE_LIMIT_TEAM = 5


def statuses(api: APIClient, times: int) -> list[int]:
    return [api.get(MEMORIES).status_code for _ in range(times)]


def test_a_key_that_asks_too_often_is_told_when_to_come_back(api: APIClient) -> None:
    assert statuses(api, 3) == [200] * 3

    refused = api.post(MEMORIES, {"content": "Sarah lives in Berlin."}, format="json")

    problem = assert_problem(refused, codes=(429,))
    assert problem["title"] == "Too many requests"
    assert "3 requests a minute" in problem["detail"]
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["RateLimit"].startswith('"key";r=0;t=')


def test_each_answer_says_what_is_left(api: APIClient) -> None:
    first, second = api.get(MEMORIES), api.get("/v1/memories?tier=none")

    assert first["RateLimit-Policy"] == '"key";q=3;w=60, "team";q=5;w=60'
    assert first["RateLimit"].startswith('"key";r=2;t=')
    assert second.status_code == 422
    assert second["RateLimit"].startswith('"key";r=1;t=')


def test_all_keys_of_a_team_share_its_limit_and_other_teams_do_not(
    acme: Cast, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    one, other, stranger = client_of(acme), client_of(acme), client_of(globex)

    assert statuses(one, 3) == [200] * 3
    assert statuses(other, 3) == [200, 200, 429]
    assert statuses(stranger, 3) == [200] * 3


def test_a_refused_request_takes_nothing_from_the_team(
    acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    assert statuses(client_of(acme), 10).count(200) == 3
    assert statuses(client_of(acme), 2) == [200, 200]


def test_a_refused_post_may_be_sent_again_under_its_idempotency_key(
    api: APIClient, settings: Settings
) -> None:
    body, name = {"content": "Sarah lives in Berlin."}, {"HTTP_IDEMPOTENCY_KEY": "once"}
    statuses(api, 3)
    assert api.post(MEMORIES, body, format="json", **name).status_code == 429  # type: ignore[arg-type]
    settings.RATE_LIMIT_KEY = settings.RATE_LIMIT_TEAM = 0

    assert api.post(MEMORIES, body, format="json", **name).status_code == 201  # type: ignore[arg-type]


def test_without_limits_nothing_is_counted_or_told(api: APIClient, settings: Settings) -> None:
    settings.RATE_LIMIT_KEY = settings.RATE_LIMIT_TEAM = 0

    answers = [api.get(MEMORIES) for _ in range(10)]

    assert {each.status_code for each in answers} == {200}
    assert not any(each.has_header("RateLimit") for each in answers)


def test_a_minute_ends_also_where_its_key_lost_its_end(api: APIClient) -> None:
    client = get_redis_connection("default")
    statuses(api, 4)
    for key in client.keys(f"{settings_now.REDIS_PREFIX}:rate:*"):
        client.persist(key)

    assert statuses(api, 1) == [429]
    assert all(client.ttl(key) > 0 for key in client.keys(f"{settings_now.REDIS_PREFIX}:rate:*"))


@pytest.fixture
def redis_away(settings: Settings) -> Iterator[None]:
    """No Redis answers where one is expected."""
    settings.REDIS_URL = "redis://127.0.0.1:1"
    quick_redis.cache_clear()
    yield
    quick_redis.cache_clear()


def test_everybody_is_let_in_while_redis_is_away(api: APIClient, redis_away: None) -> None:
    assert statuses(api, 10) == [200] * 10
