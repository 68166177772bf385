"""The keys that a use of a memory is counted under, and the decay of its weight."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.types import Signals
from memory.satellites.plans.prediction_models import (
    MOST_KEY_CHARS,
    confidence_of,
    decayed,
    keys_of,
    shape_of,
)

NOON = datetime(2026, 2, 9, 12, tzinfo=UTC)
TEXTS = st.text(max_size=400)


def test_the_narrower_a_signal_the_more_it_says() -> None:
    keys = keys_of(Signals(current_file="src/auth/login.ts", time=NOON))
    assert keys["file:src/auth/login.ts"] > keys["module:login"] > keys["folder:src/auth"]
    assert "hour:1-12" in keys


def test_errors_of_one_shape_are_one() -> None:
    assert shape_of("KeyError: 'a' at 17") == shape_of('KeyError: "b" at 4\nTraceback')
    assert shape_of("KeyError: 'a'") != shape_of("ValueError: 'a'")
    keys = keys_of(Signals(recent_errors=("KeyError: 'a'",)))
    assert set(keys) == {"error:KeyError: *", "error class:KeyError"}


@given(TEXTS, TEXTS, TEXTS)
def test_keys_are_bounded(path: str, branch: str, error: str) -> None:
    keys = keys_of(Signals(current_file=path, branch=branch, recent_errors=(error,)))
    assert all(len(key) <= MOST_KEY_CHARS and 0 < weight <= 1 for key, weight in keys.items())


@given(st.floats(0, 1e6), st.integers(0, 4_000), st.integers(0, 4_000))
def test_a_count_fades_and_never_grows(weight: float, sooner: int, later: int) -> None:
    sooner, later = sorted((sooner, later))
    first = decayed(weight, since=NOON, now=NOON + timedelta(days=sooner))
    last = decayed(weight, since=NOON, now=NOON + timedelta(days=later))
    assert 0 <= last <= first <= weight
    assert 0 <= confidence_of(last) <= confidence_of(first) < 1 or weight > 1e5
    assert decayed(weight, since=NOON, now=NOON - timedelta(days=1)) == weight
