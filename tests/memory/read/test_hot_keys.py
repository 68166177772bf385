"""Kept answers are in Redis' memory alone, for a while."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from django.conf import settings
from django_redis import get_redis_connection

from memory.domain.audience import Viewer
from memory.reading.cache import MOST_BYTES, AnswerKey, Sent, look_up
from memory.reading.cache import keep as keep_answer
from memory.selectors.revisions import Revision


def keep(text: str) -> AnswerKey:
    """Keep an answer under a key of its own."""
    viewer = Viewer(team_id=uuid4(), actor="test")
    now = datetime(2026, 5, 1, tzinfo=UTC)
    key = AnswerKey(f"{settings.REDIS_PREFIX}:hot:{uuid4()}", viewer, now)
    made = Sent({"text": text}, [], 0, None, Revision(1, 1))
    assert keep_answer(look_up(key), made).body == {"text": text}
    return key


def test_what_is_kept_ends_by_itself_and_takes_no_room_on_the_disk() -> None:
    client = get_redis_connection("default")
    before = client.info("persistence").get("aof_current_size", 0)

    key = keep("x" * (MOST_BYTES - 1_000))

    assert len(client.get(key.name)) > MOST_BYTES - 1_000
    assert 0 < client.ttl(key.name) <= settings.HOT_ANSWER_SECONDS
    written = client.info("persistence").get("aof_current_size", 0) - before
    assert written < MOST_BYTES // 2


def test_what_is_too_long_is_not_kept() -> None:
    key = keep("x" * MOST_BYTES)

    assert get_redis_connection("default").get(key.name) is None
