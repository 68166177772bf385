"""A judge with a model behind it, for tests: its endpoint, its caches and pairs to judge."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import redis
from django.conf import settings as project_settings
from django_redis import get_redis_connection

from memory.clients.judgement_cache import JudgementCache
from memory.clients.model_judge import ModelJudge
from memory.domain.ports import Judge
from memory.domain.types import Judgement, Statement, Verdict
from routing.clients.structured_calls import StructuredCompletions
from tests.support.openai_server import Behaviour, FakeOpenAI, answer

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NAME = "openai:fake-model"
Pair = tuple[Statement, Statement]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


class Rules:
    """Stands for the rules: every pair may coexist, and it says so itself."""

    name = "rules"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        return Judgement(Verdict.COEXIST, "by rules", 0.5)


def statement(content: str, *, days: int = 0, subject: str = "") -> Statement:
    return Statement(content, NOON + timedelta(days=days), subject)


def pair(number: int = 0) -> Pair:
    return (
        statement(f"The limit of plan {number} is 100 requests."),
        statement(f"The limit of plan {number} is 500 requests.", days=1),
    )


def says(
    verdict: str = "dispute",
    *,
    reason: str = "100 or 500",
    confidence: float = 0.8,
    older: str = "100",
    newer: str = "500",
    change: str = "",
) -> Behaviour:
    """A model's judgement with what it quotes of the two statements."""
    return answer(_judgement(verdict, reason, confidence, older, newer, change))


def says_of(*verdicts: str | None) -> Behaviour:
    """A model's judgements on a group of pairs, in their order; None for one that it leaves out."""
    judged = [
        {"number": number, **_judgement(verdict, "100 or 500", 0.8, "100", "500", "")}
        for number, verdict in enumerate(verdicts, 1)
        if verdict is not None
    ]
    return answer({"judgements": judged})


def _judgement(
    verdict: str, reason: str, confidence: float, older: str, newer: str, change: str
) -> dict[str, object]:
    return {
        "reason": reason,
        "older_value": older,
        "newer_value": newer,
        "change": change,
        "verdict": verdict,
        "confidence": confidence,
    }


def shared_cache() -> JudgementCache:
    """The cache of a process of its own, in the Redis of this run."""
    return JudgementCache(
        connect=partial(get_redis_connection, "default"),
        prefix=f"{project_settings.REDIS_PREFIX}:judgement:{NAME}:",
    )


def lonely_cache(*, size: int = 100) -> JudgementCache:
    """A cache whose Redis is away."""
    pool = redis.ConnectionPool.from_url("unix:///nowhere/redis.sock")
    return JudgementCache(connect=lambda: redis.Redis(connection_pool=pool), prefix="t:", size=size)


def judge_of(
    server: FakeOpenAI,
    *,
    cache: JudgementCache | None = None,
    fallback: Judge | None = None,
    timeout: float = 2.0,
    **options: Any,  # Any: ModelJudge's own
) -> ModelJudge:
    completions = StructuredCompletions(
        base_url=server.base_url, api_key="", model="fake-model", timeout=timeout, max_retries=0
    )
    return ModelJudge(
        completions=completions,
        cache=cache or lonely_cache(),
        fallback=fallback or Rules(),
        **options,
    )


def verdict_of(judge: Judge, each: Pair) -> Judgement:
    return judge.judge(existing=each[0], new=each[1])
