"""A date takes its year from the date before it; what comes round every year has none."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(said: str) -> str:
    """The one memory of a sentence that is said in March 2026."""
    (found,) = both_passes(f"user: {said}")
    return found.content


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("We hired Otto in May 2024 and fired him in July.", "July 2024."),
        ("My sister moved to Graz in October 2023 and married in February.", "February 2024."),
        ("I started the job in March 2022 and quit in June.", "June 2022."),
        ("We met on 3 May 2022 and got engaged on 1 March.", "March 1, 2023."),
        ("I bought a car in March 2021, and my brother crashed it on 12 June.", "June 12, 2021."),
        ("In September 2019 we adopted Rex and in December he bit the postman.",
         "in December 2019 he bit the postman."),
        ("I joined in May 2024, got promoted in October and left in February.", "February 2025."),
        # What is still to come, or begins anew, does not count on.
        ("Our lease started in May 2023 and ends in April.", "April 2026."),
        ("I moved here in June 2020 and now we plan a party in July.", "July 2026."),
    ],
)  # fmt: skip
def test_a_year_is_counted_on_from_the_date_before(said: str, dated: str) -> None:
    assert told(said).endswith(dated)


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("The fiscal year starts on 1 October.", "on October 1."),
        ("Our school year begins on September 1.", "on September 1."),
        ("The tax year ends on 5 April.", "on April 5."),
        ("The fiscal year runs from 1 October to 30 September.", "from October 1 to September 30."),
        ("The fiscal year starts in April.", "in April."),
        ("Hunting season starts on 1 September.", "on September 1."),
        ("Canada Day is on July 1.", "on July 1."),
        # But of one year only.
        ("This fiscal year starts on 1 October.", "on October 1, 2026."),
        ("The semester ends on 30 June.", "on June 30, 2026."),
    ],
)
def test_what_comes_round_every_year_has_no_year(said: str, dated: str) -> None:
    assert told(said).endswith(dated)
