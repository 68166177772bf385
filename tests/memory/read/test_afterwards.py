"""Updates that reads leave in Redis arrive once, in order, and when they are meant to."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django_redis import get_redis_connection

from memory.clients.afterwards import afterwards, at_its_end, gathering


class Shelf:
    """A list in Redis of the test's own."""

    def __init__(self) -> None:
        self._name = f"test:{uuid4().hex}"
        self._client = get_redis_connection("default")

    def leave(self, word: str) -> None:
        """Put the word at the end of the list, afterwards."""
        afterwards(lambda pipe: pipe.rpush(self._name, word))

    @property
    def words(self) -> list[str]:
        """The words that have arrived."""
        return [word.decode() for word in self._client.lrange(self._name, 0, -1)]


@pytest.fixture
def shelf() -> Shelf:
    """An empty one."""
    return Shelf()


def test_what_nobody_gathers_arrives_at_once(shelf: Shelf) -> None:
    shelf.leave("one")

    assert shelf.words == ["one"]


def test_what_is_gathered_arrives_when_it_is_sent_and_once(shelf: Shelf) -> None:
    with gathering() as left:
        shelf.leave("one")
        shelf.leave("two")
    before = shelf.words

    left.send()
    left.send()

    assert before == []
    assert shelf.words == ["one", "two"]


def test_a_block_inside_a_gathering_leaves_it_to_that_one(shelf: Shelf) -> None:
    with gathering() as left:
        with at_its_end():
            shelf.leave("inner")
        shelf.leave("outer")
        before = shelf.words
    left.send()

    assert before == []
    assert shelf.words == ["inner", "outer"]


def test_a_block_sends_at_its_end_whatever_becomes_of_it(shelf: Shelf) -> None:
    def fail() -> None:
        with at_its_end():
            shelf.leave("one")
            raise LookupError

    with pytest.raises(LookupError):
        fail()

    assert shelf.words == ["one"]
    shelf.leave("two")
    assert shelf.words == ["one", "two"]
