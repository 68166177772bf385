"""A judgement is asked for once: processes find it in Redis, or remember it themselves."""

from __future__ import annotations

import pytest
from django.conf import settings as project_settings
from django_redis import get_redis_connection

from memory.domain.types import Verdict
from memory.understanding.model_judge import pair_key
from tests.support.model_judging import (
    NAME,
    judge_of,
    lonely_cache,
    pair,
    says,
    server,
    shared_cache,
    verdict_of,
)
from tests.support.openai_server import FakeOpenAI

__all__ = ["server"]
pytestmark = pytest.mark.usefixtures("redis_server")


def test_another_process_finds_the_judgement_in_redis(server: FakeOpenAI) -> None:
    server.will(says("dispute"))
    judge_of(server, cache=shared_cache()).prepare([pair()])

    other = judge_of(server, cache=shared_cache())
    other.prepare([pair()])

    assert verdict_of(other, pair()).verdict is Verdict.DISPUTE
    assert len(server.chats) == 1


def test_judgements_in_redis_end_after_two_weeks(server: FakeOpenAI) -> None:
    judge_of(server, cache=shared_cache()).prepare([pair()])

    (key,) = get_redis_connection("default").scan_iter(
        f"{project_settings.REDIS_PREFIX}:judgement:*"
    )
    seconds = get_redis_connection("default").ttl(key)
    assert 14 * 24 * 3600 - 60 < seconds <= 14 * 24 * 3600
    existing, new = pair()
    assert key.decode().endswith(f"{NAME}:{pair_key(existing=existing, new=new)}")


def test_without_redis_the_process_remembers_by_itself(server: FakeOpenAI) -> None:
    judge = judge_of(server, cache=lonely_cache())
    server.will(says("dispute"))

    judge.prepare([pair()])

    assert verdict_of(judge, pair()).verdict is Verdict.DISPUTE


def test_what_a_process_remembers_is_bounded(server: FakeOpenAI) -> None:
    judge = judge_of(server, cache=lonely_cache(size=3))

    judge.prepare([pair(number) for number in range(5)])

    known = [verdict_of(judge, pair(number)).judge == "" for number in range(5)]
    assert known == [False, False, True, True, True]


@pytest.mark.parametrize("rubbish", [b"nonsense", b"[]", b'["maybe", "x", 1]', b"{}", b"7"])
def test_what_cannot_be_read_is_asked_anew(server: FakeOpenAI, rubbish: bytes) -> None:
    existing, new = pair()
    key = f"{project_settings.REDIS_PREFIX}:judgement:{NAME}:{pair_key(existing=existing, new=new)}"
    get_redis_connection("default").set(key, rubbish)
    judge = judge_of(server, cache=shared_cache())
    server.will(says("dispute"))

    judge.prepare([pair()])

    assert verdict_of(judge, pair()).verdict is Verdict.DISPUTE
