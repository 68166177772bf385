"""Statements that share a word, a day or a noun and are of two slots; and changes of one slot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.judging.relatedness import Change, names_change
from memory.domain.types import Statement, Verdict

OLD, NEW = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC)
CONFLICTS = {Verdict.SUPERSEDE, Verdict.DISPUTE}


def verdict(existing: str, new: str) -> Verdict:
    judge = RulesJudge()
    return judge.judge(existing=Statement(existing, OLD), new=Statement(new, NEW)).verdict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Wren beta ships on March 18.", "Since March 12, 2026, the Wren beta hangs."),
        ("The Wren beta ships on March 18.", "The Wren beta hangs since the update to 4.2.1."),
        ("The kettle is descaled on October 12.", "Since Tuesday the kettle has been leaking."),
        ("The Wren site launches on May 1.", "On April 20, 2026, the Wren site crashed twice."),
    ],
)
def test_since_when_something_is_so_is_no_day_of_another_thing(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The standup is at 9:30.", "Since Monday the standup is at 10:00."),
        ("The course begins on October 6.", "On September 20 the course was postponed to May 4."),
        ("The course begins on October 6.", "Since September 20 the course has been cancelled."),
        ("The choir rehearses on Tuesdays.", "From May on the choir meets on Thursdays instead."),
    ],
)
def test_a_new_day_or_the_end_of_a_thing_is_a_change_of_it(existing: str, new: str) -> None:
    assert verdict(existing, new) in CONFLICTS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Signe is a nurse.", "Signe left the nursing home."),
        ("Tarik is a builder.", "Tarik left the building at six."),
        ("Tarik is a teacher.", "Tarik left the class early."),
        ("Jule is a member of the city council.", "Jule left the meeting."),
        ("Jule is a member of the chess club.", "Jule left the book club."),
        ("Jule is a member of the chess club.", "Jule quit the gym."),
        ("Tarik works for Zeiss.", "Tarik left the parking garage."),
        ("Tarik works at the library.", "Tarik left the library at five."),
        ("Tarik is a customer of Adler.", "Tarik left the agency."),
        ("Tarik is married to Vera.", "Tarik left his family at the airport."),
    ],
)
def test_who_leaves_a_place_is_what_they_are_elsewhere(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Jule is a member of the chess club.", "Jule left the chess club."),
        ("Tarik works for Zeiss.", "Tarik left Zeiss in May."),
        ("Tarik works at the nursing home Lindenhof.", "Tarik left Lindenhof."),
        ("Tarik works for Zeiss.", "Tarik left the company."),
        ("Jule plays in the band Silt.", "Jule left the band."),
        ("Jule works for Zeiss.", "Jule left the meeting and works for Leica now."),
    ],
)
def test_who_leaves_the_very_thing_belongs_to_it_no_more(existing: str, new: str) -> None:
    assert verdict(existing, new) in CONFLICTS


def test_leaving_the_company_is_heard_on_whom_one_works_for() -> None:
    works = Statement("Tarik works for Zeiss.", OLD)

    assert names_change(existing=works, new=Statement("Tarik left the company.", NEW))
    left_garage = Statement("Tarik left the garage.", NEW)
    assert names_change(existing=works, new=left_garage) is Change.NONE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives with her sister.", "Her sister runs a shop."),
        ("Nives lives with her sister.", "Nives's sister runs a shop."),
        ("User has a dog.", "User's dog sleeps on the sofa."),
        ("Works with her cousin.", "Her cousin teaches yoga."),
        ("Nives has lunch with her boss.", "Nives's boss is strict."),
    ],
)
def test_what_another_one_does_repeats_nothing_of_whom_they_are_with(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new", "expected"),
    [
        ("Nives lives with her sister.", "Nives shares a flat with her sister.", Verdict.DUPLICATE),
        ("Nives's boss is strict.", "Nives has a strict boss.", Verdict.DUPLICATE),
        ("Nives's sister runs a shop.", "Nives's sister closed her shop.", Verdict.SUPERSEDE),
        ("Nives lives with her sister.", "Nives lives alone now.", Verdict.SUPERSEDE),
    ],
)
def test_the_same_of_one_subject_is_repeated_or_replaced(
    existing: str, new: str, expected: Verdict
) -> None:
    assert verdict(existing, new) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User is learning Danish.", "User passed the A2 exam in Danish."),
        ("Svea is studying law.", "Svea passed the exam in criminal law."),
        ("Svea is writing a novel.", "Svea finished chapter six of the novel."),
        ("Svea is building a boat.", "Svea finished the hull of the boat."),
        ("Svea is taking driving lessons.", "Svea passed the theory test."),
        ("Svea takes a course in logic.", "Svea handed in the second assignment."),
    ],
)
def test_a_stage_that_is_reached_ends_nothing(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Svea is learning Danish.", "Svea gave up learning Danish."),
        ("Svea is writing a novel.", "Svea finished the novel."),
        ("Svea is taking driving lessons.", "Svea passed the driving test."),
        ("Svea is studying for the bar exam.", "Svea passed the bar exam."),
        ("Svea is an apprentice.", "Svea passed her final exam."),
        ("Svea takes a first aid course.", "Svea finished the first aid course."),
        ("The team is migrating the store.", "The team completed the migration of the store."),
    ],
)
def test_the_end_of_it_or_giving_it_up_ends_it(existing: str, new: str) -> None:
    assert verdict(existing, new) in CONFLICTS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("His locker is number 14.", "His new phone number is 0151 2233445."),
        ("User's seat is number 23.", "User's new passport number is C01X00T47."),
        ("The alarm code is 7788.", "The new door code is 9912."),
        ("The team size is 8.", "The new team name is Otters."),
    ],
)
def test_a_number_of_one_thing_is_no_number_of_another(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("His locker is number 14.", "His locker is now number 22."),
        ("The alarm code is 7788.", "The new alarm code is 4410."),
        ("The meeting place is the lobby.", "The new meeting place is the cafeteria."),
    ],
)
def test_the_new_number_of_the_same_thing_takes_its_place(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("My brother Joost works for Renault.", "Joost works for Citroen now."),
        ("User's brother Joost works for Renault.", "Joost works for Citroen now."),
        ("Joost works for Renault.", "User's brother Joost works for Citroen now."),
        ("Joost, user's flatmate, works at Aldi.", "Joost now works at Lidl."),
        ("User's colleague Samir leads the audit.", "Samir no longer leads the audit."),
    ],
)
def test_a_name_is_of_whom_it_was_presented_as(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE
    assert names_change(existing=Statement(existing, OLD), new=Statement(new, NEW))


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User's brother Joost works for Renault.", "User's brother Jan works for Citroen now."),
        ("User's brother Joost works for Renault.", "Joost's wife works for Citroen now."),
        ("User's brother Joost works for Renault.", "User works for Citroen now."),
        ("My boss Ruth works from home.", "My sister Ruth no longer works from home."),
        ("Joost works for Renault.", "User's brother Joost works for Renault."),
    ],
)
def test_somebody_else_and_who_somebody_is_leave_it_be(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


def test_a_name_without_who_that_is_says_nothing_new() -> None:
    existing = "User's brother Joost works for Renault."

    assert verdict(existing, "Joost works for Renault.") is Verdict.DUPLICATE
