"""Who holds a post, which part of a thing is meant, and what a change word is about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.types import Statement, Verdict

OLD, NEW = datetime(2025, 9, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def verdict(existing: str, new: str) -> Verdict:
    judge = RulesJudge()
    return judge.judge(existing=Statement(existing, OLD), new=Statement(new, NEW)).verdict


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ragnhild manages the Ostrava account.", "Teun is the account manager for Ostrava."),
        ("Birk won the slalom.", "Ylva won the slalom."),
        ("Selma is the tallest in the squad.", "Runa is the tallest in the squad."),
        ("The panel is moderated by Hedda.", "The panel is led by Casper."),
    ],
)
def test_two_names_for_one_post_or_deed_are_a_dispute(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ragnhild owns a tandem.", "Teun owns a tandem."),
        ("Birk is a captain of the ferry line.", "Ylva is a captain of the ferry line."),
        ("Selma likes the squad.", "Runa likes the squad."),
    ],
)
def test_what_several_may_have_is_no_dispute(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Version 4 of the exporter is stable.", "Version 5 of the exporter is experimental."),
        ("The bakery has a branch in Tromsø.", "The bakery closed its branch in Bodø."),
        ("The hotel in Visby is booked.", "The ferry to Visby has not been booked."),
        ("The kiosk sells maps.", "The kiosk stopped selling batteries."),
        ("The mill was built in 1874.", "The mill was restored in 2011."),
        ("A box of up to 2 kg costs 4 euros.", "A box of up to 5 kg costs 9 euros."),
        ("Siri has stopped working on the tax form.", "Siri is working on the order form."),
        ("The sauna is closed on public holidays.", "The sauna is open on Sundays."),
        ("Wages are paid monthly.", "The bonus is paid once a year."),
    ],
)
def test_another_part_case_or_time_of_a_thing_is_left_alone(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The club has a linear timetable.", "The club switched to Linear."),
        ("Ragnhild works at Fjordbank.", "Ragnhild now works on weekends."),
        ("Ragnhild works for Fjordbank.", "Ragnhild now works from home."),
    ],
)
def test_a_change_of_something_else_ends_nothing(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ragnhild works at Fjordbank.", "Ragnhild changed to Nordlys."),
        ("Guests must wear a badge.", "The badge requirement was lifted on 3 March."),
        ("Entries need three signatures.", "Two signatures are enough from 1 May on."),
        ("The choir is called Lark.", "The choir renamed itself Thrush."),
    ],
)
def test_a_change_of_the_very_thing_replaces_it(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The update fixes the crash on start.", "The app still crashes on start with the update."),
        ("The client gives up after four retries.", "There is no limit on the client's retries."),
        ("The relay encrypts file names.", "File names are left in clear text by the relay."),
    ],
)
def test_what_is_said_to_be_over_or_bounded_and_is_not_is_a_dispute(
    existing: str, new: str
) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Drafts are deleted after two years.", "Drafts are kept for 24 months."),
        ("User was born in Turku.", "Turku is the user's birthplace."),
        ("The viewing is on 3 June at 15:00.", "At 3 pm on 3 June there is the viewing."),
    ],
)
def test_one_fact_told_from_either_side_is_a_repetition(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DUPLICATE


def test_a_habit_of_the_past_is_no_repetition_of_what_holds_today() -> None:
    assert verdict("User smoked cigars as a student.", "User is a non-smoker.") is Verdict.COEXIST
