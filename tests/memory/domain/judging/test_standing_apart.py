"""Facts of one thing that only look opposed: its two ends, some of it, another part, another's."""

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
    ("one", "other"),
    [
        ("The pharmacy opens at 8.", "The pharmacy closes at 18."),
        ("The backup job starts at 2.", "The backup job ends at 3."),
        ("The ferry leaves at 7.", "The ferry arrives at 9."),
        ("Groups have at least four people.", "Groups have at most nine people."),
        ("The oven goes down to 50 degrees.", "The oven goes up to 280 degrees."),
        ("The platform team meets Wednesdays.", "The platform team demos Fridays."),
        ("There are eighty boats in the marina.", "Thirty boats in the marina are wooden."),
        ("There are eighty apple trees here.", "Thirty trees here are Boskoop."),
        ("The opera lasts three hours.", "There is a break of half an hour in the opera."),
        ("The driver supports Windows 10.", "The driver supports Windows 11."),
        ("Greta runs the bike shop.", "Olaf is Greta's apprentice at the bike shop."),
        ("Sixty people came to the reading.", "The reading lasted an hour."),
        ("The team uses Slack.", "The team switched to a new bank."),
        ("Sara stopped smoking.", "Sara started running."),
        ("Deniz gave up golf.", "Deniz took up painting."),
        ("The baker on Mill Street is open.", "The baker is named Olga."),
        ("Rosa mended the fence.", "Rosa mended the gate."),
    ],
)
def test_two_sides_of_one_thing_leave_each_other_alone_in_either_order(
    one: str, other: str
) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new", "expected"),
    [
        ("The pharmacy opens at 8.", "The pharmacy opens at 9.", Verdict.DISPUTE),
        ("The pharmacy closes at 18.", "The pharmacy now closes at 19.", Verdict.SUPERSEDE),
        ("Groups have at least four people.", "Groups have at least six people.", Verdict.DISPUTE),
        ("Groups have at least nine people.", "Groups have at most four people.", Verdict.DISPUTE),
        ("The platform team meets Wednesdays.", "The platform team meets Thursdays.",
         Verdict.DISPUTE),
        ("There are eighty boats in the marina.", "There are ninety boats in the marina.",
         Verdict.DISPUTE),
        ("The opera lasts three hours.", "The opera lasts four hours.", Verdict.DISPUTE),
        ("The driver supports Windows 10.", "The driver does not support Windows 10.",
         Verdict.DISPUTE),
        ("Sara started smoking.", "Sara stopped smoking.", Verdict.SUPERSEDE),
        ("The baker is named Olga.", "The baker is named Ruth.", Verdict.DISPUTE),
        ("The committee selected the Oslo bid.", "The committee selected the Turin bid.",
         Verdict.DISPUTE),
    ],
)  # fmt: skip
def test_two_values_of_one_side_still_conflict(existing: str, new: str, expected: Verdict) -> None:
    assert verdict(existing, new) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Boiler 3 was inspected.", "Boiler 5 was inspected."),
        ("We inspected boiler 3 on Monday.", "We inspected boiler 5 on Monday."),
        ("User read chapter 3.", "User read chapter 5."),
        ("The publisher rejected her first book.", "The publisher accepted her second book."),
        ("Field two is sown with barley.", "Field three is sown with oats."),
        ("Ambrose's dentist is in Kent.", "Her dentist is in Dover."),
        ("User's brother lives in Cork.", "User's brother-in-law lives in Galway."),
        ("CI runs on push.", "Nightly CI runs at 2."),
    ],
)
def test_another_of_the_kind_or_of_another_one_is_no_conflict(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ("Her car has a blue rear bumper.", "She replaced the rear light of her car."),
        ("Marta's car has a blue rear bumper.", "Marta changed the rear light of her car."),
        ("The kitchen has a marble worktop.", "They changed the kitchen's tap."),
        ("The bell of the chapel is cracked.", "They replaced the windows of the chapel."),
    ],
)
def test_a_change_of_one_part_says_nothing_of_another_part(state: str, change: str) -> None:
    assert verdict(state, change) is Verdict.COEXIST
    assert verdict(change, state) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ("Marta's car has a broken rear light.", "Marta replaced the rear light of her car."),
        ("User's laptop has a cracked screen.", "User replaced the screen of the laptop."),
        ("The bell of the chapel is cracked.", "They replaced the bell of the chapel."),
    ],
)
def test_a_change_of_a_part_ends_what_was_told_of_that_part(state: str, change: str) -> None:
    assert verdict(state, change) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("There is no sugar in the pumpkin bread.", "The lemon tart is made with a lot of sugar."),
        ("There's no lift in building A.", "There is a lift in building B."),
        ("Dogs are allowed in the courtyard.", "No dogs in the gallery, please."),
        ("Nobody under eighteen may use the bar.", "Teenagers are welcome in the bowling alley."),
        ("There's no lift in the north tower.", "There is a tea kitchen in the south tower."),
        ("User can't come to the Monday rehearsal.", "User comes to rehearsals on Fridays."),
        ("The bank refused to pay for the fence.", "The bank agreed to pay for the gate."),
    ],
)
def test_opposite_states_of_two_places_days_or_things_stand_side_by_side(
    existing: str, new: str
) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("There is no sugar in the pumpkin bread.", "The pumpkin bread has a lot of sugar in it."),
        ("Dogs are allowed in the courtyard.", "No dogs in the courtyard, please."),
        ("User can't come to the Monday rehearsal.", "User comes to rehearsal on Mondays."),
        ("There's no lift in building A.", "Building A has a lift."),
        ("Bikes may be taken on the tram.", "Bikes are not carried on trams."),
    ],
)
def test_opposite_states_of_one_place_day_or_thing_are_a_dispute(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE
