"""In which year a day lies that is told with a verb of the past."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from .conversation import both_passes

MAY_12 = datetime(2026, 5, 12, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        # What was done points at a day to come.
        ("I got a new job, starting on June 8th.", "June 8, 2026"),
        ("I bought a bike, picking it up on May 30.", "May 30, 2026"),
        ("We got the keys, moving on August 1.", "August 1, 2026"),
        ("I bought tickets for the show on June 20.", "June 20, 2026"),
        ("I met Kai on March 3 and we marry on October 9.", "October 9, 2026"),
        ("I met Kai on March 3 and we marry on October 9.", "March 3, 2026"),
        ("I booked the dentist for 3 June.", "June 3, 2026"),
        ("I found a flat available from June 1.", "June 1, 2026"),
        ("I sold the old car and the new one starts in June.", "June 2026"),
        ("I registered for the marathon on October 11.", "October 11, 2026"),
        ("They invited us to their wedding on August 22.", "August 22, 2026"),
        ("I applied for leave from June 22.", "June 22, 2026"),
        ("I rented a cabin for the week of July 6.", "July 6, 2026"),
        ("I renewed my passport, valid from June 1.", "June 1, 2026"),
        ("I booked the dentist for Friday.", "May 15, 2026"),
        ("I put the meeting on June 3.", "June 3, 2026"),
        # What happened lies behind.
        ("We met on June 20.", "June 20, 2025"),
        ("I got married on June 14.", "June 14, 2025"),
        ("I moved here in September.", "September 2025"),
        ("I adopted a cat in November.", "November 2025"),
        ("We flew to Rome, arriving on May 2.", "May 2, 2026"),
    ],
)
def test_the_words_before_a_day_say_which_way_it_lies(said: str, day: str) -> None:
    assert any(day in each.content for each in both_passes(f"user: {said}", at=MAY_12))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My doctor put me on metformin in April.", "put Dana on metformin in April 2026"),
        ("I cut my hair in March.", "Dana cut their hair in March 2026"),
        ("The landlord let the flat in March.", "let the flat in March 2026"),
        ("I set up the server in April.", "Dana set up the server in April 2026"),
        ("I hurt my knee on April 3.", "Dana hurt their knee on April 3, 2026"),
        ("I upset Mia in March.", "Dana upset Mia in March 2026"),
        ("I read Dune in April.", "Dana read Dune in April 2026"),
        ("We split the team in March.", "split the team in March 2026"),
        ("Tom quit in April.", "Tom quit in April 2026"),
        ("The pipe burst on April 20.", "pipe burst on April 20, 2026"),
        ("We spread the ashes in December.", "spread the ashes in December 2025"),
        ("It cost 400 euros in March.", "cost 400 euros in March 2026"),
        # The same verbs where they tell what is done again and again.
        ("I read the news every morning.", "Dana reads the news every morning"),
        ("I always put milk in my tea.", "Dana always puts milk in their tea"),
        ("I cut the grass every April.", "Dana cuts the grass every April"),
    ],
)
def test_a_verb_with_one_form_is_past_where_its_day_is(said: str, told: str) -> None:
    assert any(told in each.content for each in both_passes(f"user: {said}", at=MAY_12))
