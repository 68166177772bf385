"""A judge with a model behind it, for tests: its endpoint, its caches and pairs to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as project_settings

from memory.domain.types import Judgement, Statement, Verdict
from memory.understanding.asked_model import AskedModel
from memory.understanding.model_judge import JudgementCache, ModelJudge
from memory.understanding.ports import FilteringJudge, Judge
from routing.clients.quick_redis import QuickRedis, quick_redis
from routing.clients.structured_calls import StructuredCompletions
from tests.support.judges import PairJudge
from tests.support.openai_server import Behaviour, FakeOpenAI, answer

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NAME = "openai:fake-model"
Pair = tuple[Statement, Statement]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


class Rules(PairJudge):
    """Stands for the small judge: every pair may coexist, and each is worth asking about.

    But those that hold one of the `idle` words are not.
    """

    name = "rules"

    def __init__(self, *idle: str) -> None:
        self.idle = idle

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        return Judgement(Verdict.COEXIST, "by rules", 0.5)

    def conflict_chances(self, pairs: Sequence[Pair]) -> list[float]:
        return [0.01 if any(word in new.content for word in self.idle) else 0.2 for _, new in pairs]


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
) -> Behaviour:
    """A model's judgement on one pair with what it quotes of the two statements."""
    return answer({"judgements": [judged(verdict, 1, reason, confidence, older, newer)]})


def says_of(*verdicts: str | None) -> Behaviour:
    """A model's judgements on a group of pairs, in their order; None for one that it leaves out."""
    found = [
        judged(verdict, number) for number, verdict in enumerate(verdicts, 1) if verdict is not None
    ]
    return answer({"judgements": found})


def judged(
    verdict: str,
    number: int,
    reason: str = "100 or 500",
    confidence: float = 0.8,
    older: str = "100",
    newer: str = "500",
) -> dict[str, object]:
    """A model's judgement on the pair of that number."""
    return {
        "number": number,
        "reason": reason,
        "older_value": older,
        "newer_value": newer,
        "verdict": verdict,
        "confidence": confidence,
    }


def shared_cache() -> JudgementCache:
    """The cache of a process of its own, in the Redis of this run."""
    return JudgementCache(
        store=quick_redis(),
        prefix=f"{project_settings.REDIS_PREFIX}:judgement:{NAME}:",
    )


def lonely_cache(*, size: int = 100) -> JudgementCache:
    """A cache whose Redis is away."""
    return JudgementCache(store=QuickRedis("unix:///nowhere/redis.sock"), prefix="t:", size=size)


def judge_of(
    server: FakeOpenAI,
    *,
    cache: JudgementCache | None = None,
    small: FilteringJudge | None = None,
    timeout: float = 2.0,
    budget_seconds: float = 60.0,
    **options: Any,  # Any: AskedModel's own
) -> ModelJudge:
    completions = StructuredCompletions(
        base_url=server.base_url, api_key="", model="fake-model", timeout=timeout, max_retries=0
    )
    clock = {"monotonic": options["monotonic"]} if "monotonic" in options else {}
    return ModelJudge(
        model=AskedModel(completions=completions, **options),
        cache=cache or lonely_cache(),
        small=small or Rules(),
        budget_seconds=budget_seconds,
        **clock,
    )


def verdict_of(judge: Judge, each: Pair) -> Judgement:
    return judge.judge(existing=each[0], new=each[1])
