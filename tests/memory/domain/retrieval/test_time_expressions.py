"""The times that questions mention, read on a Wednesday afternoon in June 2026."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.retrieval.periods import Period
from memory.domain.retrieval.time_expressions import _read, find_periods
from memory.domain.retrieval.time_forms import Forms
from memory.domain.retrieval.timely import IDLE, may_name_time

NOW = datetime(2026, 6, 17, 15, tzinfo=UTC)
TIMELY_WORDS = {
    *("weeks", "month", "day", "Friday", "fridays", "May", "March", "Sept", "tonight", "yesterday"),
    *("weekend", "Christmas", "Christmas Eve", "midsummer", "nineties", "'90s", "ago", "hours"),
    *("Q3", "H2", "week 12", "KW 3", "2025", "3rd", "12/2025", "quarter", "autumn", "new year's"),
    *("valentine’s day", "good friday", "year", "years", "morning", "night", "holidays", "minute"),
}


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did we ship on 2023-05-07?", "2023-05-07", "2023-05-08"),
        ("What was decided on 7 May, 2023?", "2023-05-07", "2023-05-08"),
        ("What was decided on May 7th 2023?", "2023-05-07", "2023-05-08"),
        ("What was decided on the 7th of May 2023?", "2023-05-07", "2023-05-08"),
        ("Who joined in Feb 2024?", "2024-02-01", "2024-03-01"),
        ("Who joined in December 2024?", "2024-12-01", "2025-01-01"),
        ("Who joined in 2024?", "2024-01-01", "2025-01-01"),
        ("Who left in summer 2021?", "2021-06-01", "2021-09-01"),
        ("Who left in the winter of 2021?", "2021-12-01", "2022-03-01"),
        ("What happened last March?", "2026-03-01", "2026-04-01"),
        ("What happened last June?", "2025-06-01", "2025-07-01"),
        ("What happened last summer?", "2025-06-01", "2025-09-01"),
        ("What happened today?", "2026-06-17", "2026-06-18"),
        ("What happened last night?", "2026-06-16", "2026-06-17"),
        ("What happened the day before yesterday?", "2026-06-15", "2026-06-16"),
        ("What happened on Monday?", "2026-06-15", "2026-06-16"),
        ("What happened last Wednesday?", "2026-06-10", "2026-06-11"),
        ("What happened this week?", "2026-06-15", "2026-06-22"),
        ("What happened last week?", "2026-06-08", "2026-06-15"),
        ("What happened last weekend?", "2026-06-13", "2026-06-15"),
        ("What happened last month?", "2026-05-01", "2026-06-01"),
        ("What happened last year?", "2025-01-01", "2026-01-01"),
        ("What happened three days ago?", "2026-06-14", "2026-06-15"),
        ("What happened two weeks ago?", "2026-05-31", "2026-06-07"),
        ("What happened two Fridays ago?", "2026-06-05", "2026-06-06"),
        ("What happened the week before last?", "2026-06-01", "2026-06-08"),
        ("What happened half a year ago?", "2025-12-02", "2026-01-02"),
        ("What is on tomorrow?", "2026-06-18", "2026-06-19"),
        ("What is on the day after tomorrow?", "2026-06-19", "2026-06-20"),
        ("What is on next Tuesday?", "2026-06-23", "2026-06-24"),
        ("What is on next week?", "2026-06-22", "2026-06-29"),
        ("What is due in four weeks?", "2026-07-12", "2026-07-19"),
        ("What did we earn in Q2 2025?", "2025-04-01", "2025-07-01"),
        ("What did we do on 05.11.2025?", "2025-11-05", "2025-11-06"),
        ("What did we do on 13/05/2025?", "2025-05-13", "2025-05-14"),
        ("Who visited at Easter?", "2026-04-03", "2026-04-07"),
        ("What did Ann do the week before 3 August 2025?", "2025-07-27", "2025-08-03"),
        ("What did Ann do on the Sunday before 25 October 2025?", "2025-10-19", "2025-10-20"),
        ("What did Ann do last weekend before 10 April 2023?", "2023-04-08", "2023-04-10"),
        ("What did Ann get two weeks before 11 August 2025?", "2025-07-25", "2025-08-01"),
        ("What changed from 3 May 2024 to 5 June 2024?", "2024-05-03", "2024-06-06"),
        ("What changed between 30 December 2025 and 2 January 2026?", "2025-12-30", "2026-01-03"),
        ("Who left between November and February 2026?", "2025-11-01", "2026-03-01"),
    ],
)
def test_a_time_is_understood(question: str, start: str, end: str) -> None:
    assert find_periods(question, now=NOW) == (Period(day(start), day(end)),)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What happened in 03/2026?", "2026-03-01", "2026-04-01"),
        ("What was the plan a year ago?", "2025-04-18", "2025-08-17"),
        ("What did we do a year ago today?", "2025-06-17", "2025-06-18"),
        ("What did we do three years ago to the day?", "2023-06-17", "2023-06-18"),
        ("What did we do a month ago yesterday?", "2026-05-16", "2026-05-17"),
        ("What did we do today two weeks ago?", "2026-06-03", "2026-06-04"),
        ("What did we do half a month ago today?", "2026-06-02", "2026-06-03"),
        ("What happened on this day last year?", "2025-06-17", "2025-06-18"),
        ("What happened on this day last week?", "2026-06-10", "2026-06-11"),
        ("What is planned a week from tomorrow?", "2026-06-25", "2026-06-26"),
        ("What was the plan two years ago?", "2024-02-17", "2024-10-17"),
        ("What did we decide a decade ago?", "2014-10-18", "2018-02-16"),
        ("What did I ask an hour ago?", "2026-06-17", "2026-06-18"),
        ("What did we say this morning?", "2026-06-17", "2026-06-18"),
        ("What did I eat the night before last?", "2026-06-15", "2026-06-16"),
        ("What was I doing this time last year?", "2025-06-03", "2025-07-02"),
        ("What happened the other day?", "2026-06-03", "2026-06-17"),
        ("Where was she back in the spring of 2024?", "2024-03-01", "2024-06-01"),
        ("What did we say two summers ago?", "2024-06-01", "2024-09-01"),
        ("What is planned for next spring?", "2027-03-01", "2027-06-01"),
        ("Where were they in the summer holidays of 2025?", "2025-06-01", "2025-09-01"),
        ("What did they eat last Christmas?", "2025-12-24", "2025-12-27"),
        ("Who came over Easter?", "2026-04-03", "2026-04-07"),
        ("Who came after Christmas?", "2025-12-27", "2026-02-01"),
        ("Who came for Thanksgiving 2024?", "2024-11-28", "2024-11-30"),
        ("What was in fashion in the nineties?", "1990-01-01", "2000-01-01"),
        ("What came out in the early 2000s?", "2000-01-01", "2003-05-02"),
        ("What happened in '24?", "2024-01-01", "2025-01-01"),
        ("What did we pay in Feb '25?", "2025-02-01", "2025-03-01"),
        ("Where were you this past weekend?", "2026-06-13", "2026-06-15"),
        ("What did Kim plan for the week of 29 June?", "2026-06-29", "2026-07-06"),
        ("What did we earn in H1 2025?", "2025-01-01", "2025-07-01"),
        ("How did things stand in calendar week 23?", "2026-06-01", "2026-06-08"),
        ("What was shipped in late 2024?", "2024-09-01", "2025-01-01"),
        ("What was shipped in mid-May 2026?", "2026-05-11", "2026-05-21"),
        ("What was shipped at the end of last month?", "2026-05-21", "2026-06-01"),
        ("What was shipped in the first half of last year?", "2025-01-01", "2025-07-02"),
        ("What was shipped in the first week of May 2026?", "2026-05-01", "2026-05-08"),
        ("Where did we eat on the last Friday of May?", "2026-05-29", "2026-05-30"),
        ("What was on in the week of May 11?", "2026-05-11", "2026-05-18"),
        ("What was on during the weekend of 6 June?", "2026-06-06", "2026-06-08"),
        ("What did I do on the 14th of last month?", "2026-05-14", "2026-05-15"),
        ("What did I do on the 3rd?", "2026-06-03", "2026-06-04"),
        ("What happened in March last year?", "2025-03-01", "2025-04-01"),
        ("What happened last year in June?", "2025-06-01", "2025-07-01"),
        ("What happened in June two years ago?", "2024-06-01", "2024-07-01"),
        ("What happened Monday last week?", "2026-06-08", "2026-06-09"),
        ("What happened last week on Tuesday?", "2026-06-09", "2026-06-10"),
        ("What happened from Monday to Wednesday last week?", "2026-06-08", "2026-06-11"),
        ("What did we say Sunday?", "2026-06-14", "2026-06-15"),
        ("What is planned for Friday?", "2026-06-19", "2026-06-20"),
        ("What did I write on Tuesday 9 June 2026?", "2026-06-09", "2026-06-10"),
        ("What was open as of 2026-05-31?", "1970-01-01", "2026-06-01"),
    ],
)
def test_a_time_in_other_words_is_understood(question: str, start: str, end: str) -> None:
    assert find_periods(question, now=NOW) == (Period(day(start), day(end)),)


def test_a_weekend_is_the_last_or_the_next() -> None:
    found = find_periods("What did Nina do at the weekend?", now=NOW)

    assert [period.start for period in found] == [day("2026-06-13"), day("2026-06-20")]


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What changed since the start of May?", "2026-05-01"),
        ("What changed from May onwards?", "2026-05-01"),
        ("What have I done so far this year?", "2026-01-01"),
        ("What happened earlier this week?", "2026-06-15"),
        ("What happened in the last 24 hours?", "2026-06-16T15:00"),
        ("What happened over the past couple of months?", "2026-04-18"),
        ("What happened over the past year?", "2025-06-17"),
        ("What changed since Monday?", "2026-06-15"),
        ("What changed since May?", "2026-05-01"),
        ("What changed since August?", "2025-08-01"),
        ("What changed since 3 May 2024?", "2024-05-03"),
        ("What changed in the past 3 weeks?", "2026-05-27"),
    ],
)
def test_some_times_last_until_now(question: str, start: str) -> None:
    assert find_periods(question, now=NOW) == (Period(day(start), NOW),)


@pytest.mark.parametrize(
    "question",
    [
        "Where did we go in May?",
        "What is on 9 June?",
        "How was the summer?",
        "What is due mid-May?",
        "Where did we go in the first week of May?",
        "What did we eat at Thanksgiving?",
    ],
)
def test_a_time_without_a_year_is_that_of_any_year(question: str) -> None:
    (period,) = find_periods(question, now=NOW)

    assert period.yearly


@pytest.mark.parametrize(
    "question",
    [
        "May I ask who you are?",
        "Who will march in the parade?",
        "What did April paint?",
        "Did the price fall?",
        "What about 2023-13-40?",
        "How many of the 2000 seats are sold?",
        "Which port is it, 5432?",
        "Which room is on the 3rd floor?",
        "What is in the second half of the book?",
        "Who is number 12/2 in the list?",
        "How many of the 50s are sold?",
        "What was week 3 of the course about?",
        "What size is 5/6 of a mile?",
    ],
)
def test_what_is_no_time_is_left_alone(question: str) -> None:
    assert find_periods(question, now=NOW) == ()


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("Who came before June?", "2026-05-20", "2026-06-02"),
        ("Who came before April 2026?", "2026-03-15", "2026-05-04"),
        ("Who came before 2025?", "2024-02-01", "2025-01-01"),
        ("Who came until March 3?", "2026-03-03", "2026-03-04"),
        ("Who came after August 2025?", "2025-09-01", "2025-08-31"),
        ("Who came after 3 May 2026?", "2026-05-04", "2026-05-03"),
        ("Who came between January and April?", "2026-04-30", "2026-05-01"),
    ],
)
def test_a_side_of_a_time_is_not_the_time_itself(question: str, inside: str, outside: str) -> None:
    (period,) = find_periods(question, now=NOW)
    if period.yearly:
        period = Period(period.start.replace(year=2026), period.end.replace(year=2026))

    assert period.start <= day(inside) < period.end
    assert not period.start <= day(outside) < period.end


def test_two_times_are_two_periods() -> None:
    first, second = find_periods("Was it on 3 May 2024 or 5 June 2024?", now=NOW)

    assert (first.start, second.start) == (day("2024-05-03"), day("2024-06-05"))


def test_a_date_that_can_be_read_both_ways_is_either() -> None:
    days = {period.start for period in find_periods("What was on 11/05/2025?", now=NOW)}

    assert days == {day("2025-05-11"), day("2025-11-05")}


@given(
    st.text(max_size=40),
    st.sampled_from(
        [
            *("ago", "last week", "since", "in May", "29 February", "999 years ago", "before 2025"),
            *("the end of 2025", "mid-May last year", "the 31st of last month", "99 decades ago"),
            *("from Friday to Monday", "week 53", "the last half of", "later today", "'00s"),
        ]
    ),
    st.integers(-300_000, 2_000_000),
)
def test_every_period_ends_after_it_begins(text: str, time: str, days: int) -> None:
    for period in find_periods(f"{text} {time}", now=NOW + timedelta(days=days)):
        assert period.end - period.start >= timedelta(0)


def test_days_begin_in_the_zone_of_now() -> None:
    late = NOW.replace(hour=1).astimezone(ZoneInfo("America/New_York"))

    (today,) = find_periods("What happened today?", now=late)

    assert (today.start, today.end) == (day("2026-06-16"), day("2026-06-17"))


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What was Ann up to two weeks ago?", "2026-05-31", "2026-06-07"),
        ("What are you up to today?", "2026-06-17", "2026-06-18"),
        ("What has she been up to last week?", "2026-06-08", "2026-06-15"),
        ("What were the twins up to yesterday?", "2026-06-16", "2026-06-17"),
        ("What's Ann's sister up to this week?", "2026-06-15", "2026-06-22"),
        ("What did Ann and Ben get up to last weekend?", "2026-06-13", "2026-06-15"),
        ("What was sold up to last week?", "1970-01-01", "2026-06-15"),
        ("Which price was valid up to last week?", "1970-01-01", "2026-06-15"),
        ("What was she working on up to last week?", "1970-01-01", "2026-06-15"),
        ("What was ready in the week leading up to 3 May 2026?", "2026-04-26", "2026-05-03"),
        ("Who left ahead of 3 May 2026?", "2026-04-19", "2026-05-03"),
        ("Who left following 3 May 2026?", "2026-05-04", "2026-05-18"),
    ],
)
def test_up_to_is_a_side_unless_it_says_what_somebody_does(
    question: str, start: str, end: str
) -> None:
    assert find_periods(question, now=NOW) == (Period(day(start), day(end)),)


@given(
    st.lists(st.sampled_from(sorted(IDLE | {"who", "'", "-", ",", "?", "'s"})), max_size=8),
    st.sampled_from([" ", "-", ""]),
)
def test_words_that_are_passed_over_name_no_time(words: list[str], between: str) -> None:
    text = between.join(words)

    assert not list(_read(text, Forms(NOW)))


def test_what_names_no_time_is_not_read() -> None:
    assert not may_name_time("What did Caroline's sister say about the last few that came first?")
    assert may_name_time("who came last CHRISTMAS?")
    assert may_name_time("in Q3")


@given(st.lists(st.sampled_from(sorted(IDLE | TIMELY_WORDS)), min_size=1, max_size=7))
def test_what_names_a_time_is_read(words: list[str]) -> None:
    text = " ".join(words)
    if list(_read(text, Forms(NOW))):
        assert may_name_time(text)


@pytest.mark.parametrize(
    "text", ["Who comes on FRİDAY?", "What did she say tonıght, fıve days ago?"]
)
def test_a_turkish_i_is_an_i(text: str) -> None:
    plain = text.replace("İ", "I").replace("ı", "i")

    assert find_periods(text, now=NOW) == find_periods(plain, now=NOW) != ()
