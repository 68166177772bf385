"""What comes round every week, month or year is told by its days and gets no date of its own."""

from __future__ import annotations

import re

import pytest

from memory.domain.wording import check_wording

from .conversation import TUESDAY, both_passes


def kept(*lines: str) -> str:
    """What both passes tell and the writing constraints let through, of talk in March 2026."""
    checked = [check_wording(each, said_at=TUESDAY).candidate for each in both_passes(*lines)]
    return " ".join(each.content for each in checked if each is not None)


@pytest.mark.parametrize(
    "said",
    [
        # Several days of one enumeration.
        "Monday legs, Tuesday swimming, Thursday rest.",
        "I work from home on Monday, Wednesday and Friday.",
        "In the kitchen Kim opens on Monday, Lars on Tuesday and Ada on Friday.",
        "Kim cooks on Monday, Lars cooks on Tuesday, and Ada cooks on Friday.",
        "Yoga is Tuesday, pottery is Wednesday and band practice is Friday.",
        "The surgery is open Monday, Tuesday, Thursday and Friday from eight to twelve.",
        "The schedule for the shop: Mon Kim, Tue Lars, Wed Ada, Thu Kim, Fri Lars.",
        "Wait, the training days changed: Monday arms, Wednesday legs, Sunday yoga.",
        "From next month on I work Monday, Tuesday and Thursday.",
        # A plan or a rota with two of them.
        "My training plan: Monday legs, Thursday rest.",
        "Tom cooks on Mondays and I cook on Wednesday.",
        # A word that says how often.
        "Every week I have choir on Wednesday.",
        "The bins are weekly: paper on Monday, glass on Thursday.",
        "We always have pizza on Friday.",
        "I usually swim on Tuesday evening.",
        "I see my therapist every two weeks on Wednesday.",
        "In winter we train in the hall on Friday.",
        "On Sunday I never work.",
        "My running group meets Tuesday at the stadium and Sunday in the woods.",
    ],
)
def test_the_days_of_every_week_get_no_dates(said: str) -> None:
    told = kept(f"user: {said}")
    assert re.search(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\bMon\b", told)
    assert not re.search(r"(?:March|April) \d+,", told)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("user: Our rota is simple. On Monday Kim opens. On Tuesday Lars opens.",),
         "On Mondays Kim opens"),
        (("assistant: Which days do you work?", "user: Monday."), "Dana works on Mondays"),
        (("assistant: What's the rota for the kitchen?", "user: Kim on Monday, Lars on Tuesday."),
         "Kim on Monday, Lars on Tuesday"),
        (("assistant: Any house rules?", "user: No mowing on Sunday."), "mowing on Sundays"),
        (("assistant: Which days are you closed?", "user: Sunday and Monday."),
         "Dana is closed on Sunday and Monday"),
    ],
)  # fmt: skip
def test_what_is_announced_or_asked_for_tells_that_days_come_round(
    lines: tuple[str, ...], told: str
) -> None:
    assert told in kept(*lines)


@pytest.mark.parametrize(
    ("said", "dates"),
    [
        ("Next week I'm in Berlin on Monday, in Prague on Tuesday and home on Thursday.",
         ("March 16, 2026", "March 17, 2026", "March 19, 2026")),
        ("Last week we swam on Monday and ran on Thursday.", ("March 2, 2026", "March 5, 2026")),
        ("Monday I fly to Rome, Tuesday I see the bank, Thursday I fly back.",
         ("March 16, 2026", "March 12, 2026")),
        ("The exam is Monday, the viewing is Tuesday and the party is Friday.",
         ("March 16, 2026", "March 13, 2026")),
        ("I swam on Monday, ran on Wednesday and rested on Friday.", ("March 9, 2026",)),
        ("I swim every week and the exam is on Friday.", ("March 13, 2026",)),
        ("I write to Kim on Friday, in our weekly.", ("March 13, 2026",)),
        ("The weekly meeting was on Monday.", ("March 9, 2026",)),
        ("I have the weekly meeting with Kim moved to Thursday.", ("March 12, 2026",)),
        ("Judo starts on Monday, every week at four.", ("March 16, 2026",)),
        ("We normally close on Sunday, but we open on Sunday the 22nd.", ("March 22, 2026",)),
        ("My training plan starts on Monday.", ("March 16, 2026",)),
    ],
)  # fmt: skip
def test_single_days_keep_their_dates(said: str, dates: tuple[str, ...]) -> None:
    told = kept(f"user: {said}")
    assert [date for date in dates if date not in told] == []


@pytest.mark.parametrize(
    ("said", "dates"),
    [
        # Three days of the week that comes, without a word of others.
        ("I'm on jury duty on Wednesday, Thursday and Friday.", ("March 11, 2026",)),
        ("I need the trailer on Monday, Wednesday and Saturday.", ("March 16, 2026",)),
        ("There's a fair on Friday, Saturday and Sunday.", ("March 13, 2026",)),
        ("The cabin is free on Wednesday, Thursday and Friday.", ("March 11, 2026",)),
        ("My parents stay here from Wednesday to Friday and Aunt Mia comes on Sunday.",
         ("March 15, 2026",)),
        ("The plumber does the bath on Wednesday, the sink on Thursday and the boiler on Friday.",
         ("March 11, 2026", "March 12, 2026", "March 13, 2026")),
        ("The steps: prime the wall on Friday, paint it on Saturday, shelves back on Sunday.",
         ("March 13, 2026", "March 14, 2026", "March 15, 2026")),
        ("The final is on Friday, judging on Saturday, prizes on Sunday.",
         ("March 13, 2026", "March 14, 2026", "March 15, 2026")),
        # What is regular otherwise, and has a reason now.
        ("Kim works on Friday, Saturday and Sunday because Lars is ill.", ("March 13, 2026",)),
        ("The choir leader is away on Monday, Wednesday and Friday.", ("March 16, 2026",)),
        # What is weekly by its name, and otherwise or for one person this once.
        ("The weekly lunch is called off on Friday.", ("March 13, 2026",)),
        ("The weekly lunch is at one on Friday because of the fire drill.", ("March 13, 2026",)),
        ("Two people are away, so the weekly review is on Thursday instead.", ("March 12, 2026",)),
        ("There's no weekly review on Thursday.", ("March 12, 2026",)),
        ("I show the mock-ups in the weekly review on Thursday.", ("March 12, 2026",)),
        # A habit of another verb, or of someone.
        ("We normally eat at the canteen, meet me there on Friday.", ("March 13, 2026",)),
        ("The normally empty museum has a concert on Sunday.", ("March 15, 2026",)),
        ("The always cheerful Ada is back on Saturday.", ("March 14, 2026",)),
        ("Ada, who is usually late, has a viewing on Saturday.", ("March 14, 2026",)),
        ("The neighbour who normally feeds the cat is away on Friday.", ("March 13, 2026",)),
    ],
)  # fmt: skip
def test_days_without_a_word_for_their_coming_round_are_dated(
    said: str, dates: tuple[str, ...]
) -> None:
    told = kept(f"user: {said}")
    assert [date for date in dates if date not in told] == []


@pytest.mark.parametrize(
    "said",
    [
        "The weekly review is on Thursday at ten.",
        "On Thursday we have our weekly review.",
        "The weekly letter goes out on Friday.",
        "I always sweep and mop on Friday.",
        "We usually meet on Friday instead of Saturday.",
        "The kids have judo on Monday, ballet on Wednesday and piano on Friday.",
        "Recycling goes out on Monday, paper on Thursday and glass on Saturday.",
        "My week: Monday pottery, Wednesday band, Friday pub.",
        "Every week: dust on Monday, mop on Tuesday, windows on Friday.",
    ],
)
def test_days_that_are_said_to_come_round_stay_of_every_week(said: str) -> None:
    told = kept(f"user: {said}")
    assert "day" in told
    assert "2026" not in told


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("We light a candle for my grandfather every 8th of November.", "every November 8."),
        ("I donate blood every 1st of May.", "every May 1."),
        ("Every year we drive to Sylt on 12 July.", "on July 12."),
        ("My club holds its meeting annually on 5 May.", "on May 5."),
        ("We close every year from 1 August to 15 August.", "from August 1 to August 15."),
        ("The course runs from 1 to 15 August every year.", "from August 1 to 15 every year."),
        ("The boiler gets serviced once a year, on 20 September.", "on September 20."),
        ("Our insurance renews each year in March.", "in March."),
        ("We always meet on 26 December.", "on December 26."),
        ("Every autumn, on 1 October, we put on the winter tyres.", "the winter tyres."),
        ("I pay the insurance on 1 April and 1 October every year.",
         "on April 1 and October 1 every year."),
        ("We always go to my aunt's on Christmas Eve.", "on Christmas Eve."),
        ("The invoice goes out monthly on the 5th.", "monthly on the 5th."),
        ("Each month I call my mother on the 15th.", "on the 15th."),
    ],
)  # fmt: skip
def test_what_comes_round_every_month_or_year_has_no_date(said: str, dated: str) -> None:
    told = kept(f"user: {said}")
    assert told.endswith(dated)
    assert "202" not in told


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("The vet sees the cat every year; the next visit is on 4 May.", "May 4, 2026"),
        ("As every year, we fly on 8 May.", "May 8, 2026"),
        ("The yearly check-up is on 5 May.", "May 5, 2026"),
        ("I go to the gym every day and on 2 May I run a marathon.", "May 2, 2026"),
        ("Every guest gets a letter on 8 November.", "November 8, 2026"),
        ("The half marathon is on 16 May next year.", "on May 16, 2027."),
        ("We went to Rome on 3 May last year.", "on May 3, 2025."),
    ],
)
def test_one_day_of_one_year_keeps_its_year(said: str, dated: str) -> None:
    assert dated in kept(f"user: {said}")
