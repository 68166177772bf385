"""The field that a memory tells, and signals that are independent."""

from __future__ import annotations

from datetime import date
from uuid import uuid4

import pytest

from memory.domain.profile_fields import matter_of
from memory.satellites.consent.proposals import Signal, independent_signals

FIELDS = ("city", "health", "preferred_name", "pronouns")


@pytest.mark.parametrize(
    ("memory_type", "subject", "matter"),
    [
        ("user_profile", "user.profile.city", "city"),
        ("user_profile", "user.city", "city"),
        ("semantic", "user.profile.city", "city"),
        ("user_profile", "user.profile.health.knee", "health.knee"),
        ("semantic", "user.city", ""),
        ("user_profile", "user.profile.role", ""),
        ("user_profile", "fact.city", ""),
        ("user_profile", "", ""),
    ],
)
def test_a_subject_names_the_field(memory_type: str, subject: str, matter: str) -> None:
    assert matter_of(memory_type=memory_type, subject=subject, fields=FIELDS) == matter


def test_signals_are_independent_by_conversation_or_day() -> None:
    one, other = uuid4(), uuid4()
    monday, tuesday = date(2026, 11, 23), date(2026, 11, 24)

    assert independent_signals([Signal(one, monday), Signal(one, monday)]) == 1
    assert independent_signals([Signal(one, monday), Signal(one, tuesday)]) == 2
    assert independent_signals([Signal(one, monday), Signal(other, monday)]) == 2
