"""Fields that were sent, of serializers that all threads share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory.api.conversations import NewMessagesSerializer

SHORT = {"role": "user", "content": "Hi."}
LONG = {**SHORT, "name": "Ann", "external_id": "m1", "source": "web"}


@pytest.fixture
def impatient() -> Iterator[None]:
    """Lets threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient")
def test_no_thread_drops_what_another_one_did_not_send() -> None:
    def validated(message: dict[str, str]) -> list[dict[str, str]]:
        sent = {"messages": [message] * 50}
        found = [NewMessagesSerializer().run_validation(sent)["messages"] for _ in range(60)]
        return [each for messages in found for each in messages]

    with ThreadPoolExecutor(4) as threads:
        _, *found = threads.map(validated, [SHORT, LONG, SHORT, LONG])

    assert all(each.keys() >= LONG.keys() for each in (*found[0], *found[2]))
