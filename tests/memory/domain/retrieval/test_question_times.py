"""The periods that questions name, asked on a Wednesday afternoon in June 2026."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.question import Period, read_question

NOW = datetime(2026, 6, 17, 15, tzinfo=UTC)
PHRASES = Path(__file__).parents[1] / "text" / "phrases.jsonl"
FLOOR = 0.97


def periods(question: str, now: datetime = NOW) -> tuple[Period, ...]:
    return read_question(question, now=now).periods


def is_as_expected(row: dict[str, object], found: tuple[Period, ...]) -> bool:
    if row.get("yearly"):
        return len(found) == 1 and found[0].yearly
    wanted = row["periods"]
    spans = [[f"{each.start:%Y-%m-%dT%H:%M}", f"{each.end:%Y-%m-%dT%H:%M}"] for each in found]
    # "On Friday" may be the last and the next one.
    is_twofold = len(spans) == 2 and isinstance(wanted, list) and len(wanted) == 1
    return spans == wanted or (is_twofold and any([each] == wanted for each in spans))


def test_the_phrases_of_the_table_are_understood() -> None:
    rows = [json.loads(line) for line in PHRASES.read_text(encoding="utf-8").splitlines()]

    missed = [row["question"] for row in rows if not is_as_expected(row, periods(row["question"]))]

    assert len(missed) <= (1 - FLOOR) * len(rows), missed


def test_a_date_that_can_be_read_both_ways_is_either() -> None:
    days = {f"{period.start:%Y-%m-%d}" for period in periods("What was on 11/05/2025?")}

    assert days == {"2025-05-11", "2025-11-05"}


def test_a_side_of_a_time_is_not_the_time_itself() -> None:
    (before,) = periods("Who came before 3 May 2026?")
    (after,) = periods("Who came after 3 May 2026?")

    day = datetime(2026, 5, 3, tzinfo=UTC)
    assert before.end == day
    assert after.start == day + timedelta(days=1)


def test_days_begin_in_the_zone_of_now() -> None:
    late = NOW.replace(hour=1).astimezone(ZoneInfo("America/New_York"))

    (today,) = periods("What happened today?", now=late)

    assert today.start == datetime(2026, 6, 16, tzinfo=UTC)


def test_what_comes_round_names_no_period() -> None:
    assert periods("What happens every Monday?") == ()


@given(
    st.text(max_size=40),
    st.sampled_from(
        [
            *("ago", "last week", "since", "in May", "29 February", "999 years ago", "before 2025"),
            *("the end of 2025", "mid-May last year", "the 31st of last month", "99 decades ago"),
            *("from Friday to Monday", "week 53", "the last half of", "later today", "in the '00s"),
        ]
    ),
    st.integers(-300_000, 2_000_000),
)
def test_every_period_ends_after_it_begins(text: str, time: str, days: int) -> None:
    for period in periods(f"{text} {time}", now=NOW + timedelta(days=days)):
        assert period.end - period.start >= timedelta(0)
