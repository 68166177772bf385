"""Kept answers are in Redis' memory alone, for a while."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from django.conf import settings
from django_redis import get_redis_connection

from memory.domain.viewer import Viewer
from memory.services.reading.hot_keys import MOST_BYTES, HotKey, put


def test_what_is_kept_ends_by_itself_and_takes_no_room_on_the_disk() -> None:
    client = get_redis_connection("default")
    viewer = Viewer(team_id=uuid4(), actor="test")
    key = HotKey(f"{settings.REDIS_PREFIX}:hot:{uuid4()}", viewer, datetime(2026, 5, 1, tzinfo=UTC))
    value = b"x" * MOST_BYTES
    before = client.info("persistence").get("aof_current_size", 0)

    put(key, value)

    assert client.get(key.name) == value
    assert 0 < client.ttl(key.name) <= settings.HOT_ANSWER_SECONDS
    written = client.info("persistence").get("aof_current_size", 0) - before
    assert written < MOST_BYTES // 2


def test_what_is_too_long_is_not_kept() -> None:
    viewer = Viewer(team_id=uuid4(), actor="test")
    key = HotKey(f"{settings.REDIS_PREFIX}:hot:{uuid4()}", viewer, datetime(2026, 5, 1, tzinfo=UTC))

    put(key, b"x" * (MOST_BYTES + 1))

    assert get_redis_connection("default").get(key.name) is None
