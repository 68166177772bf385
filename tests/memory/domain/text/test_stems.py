"""The stem of a word is the same whoever else asks for one at the time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest

from memory.domain.text.verb_forms import stem

WORDS = [
    f"{beginning}{middle}{ending}"
    for beginning, middle, ending in product(
        ("re", "un", "trans", "over"),
        ("nation", "oper", "hope", "relat", "form", "comput"),
        ("ational", "ization", "fulness", "ing", "edly", "ives", "ables", "ement"),
    )
]


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that give way to each other after every few steps."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_threads_get_the_stems_that_one_alone_gets(hasty_threads: None) -> None:
    alone = [stem(word) for word in WORDS]

    for _ in range(10):
        stem.cache_clear()
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(stem, WORDS)) == alone
