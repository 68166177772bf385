"""What only one value fits is never taken for two things that stand side by side."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.types import Statement, Verdict

EARLIER, LATER = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 5, 4, 9, tzinfo=UTC)


def verdict(existing: str, new: str) -> Verdict:
    return (
        RulesJudge()
        .judge(existing=Statement(existing, EARLIER, ""), new=Statement(new, LATER, ""))
        .verdict
    )


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Agata works in the legal team.", "Agata joined the press team in June."),
        ("Nils sings in the youth choir.", "Nils joined the chamber choir in September."),
        ("Hugo is in the red squad.", "Hugo joined the blue squad instead."),
        ("Tomas holds a junior licence.", "Tomas received a senior licence on Monday."),
        ("Mira studies at the Bonn campus.", "Mira joined the Aachen campus in October."),
    ],
)
def test_where_one_belongs_gives_way_to_another_such(existing: str, new: str) -> None:
    assert verdict(existing, new) in {Verdict.SUPERSEDE, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Vera manages the Nordin contract.", "Vera took over the Falk contract in May."),
        ("Lotta teaches the beginner class.", "Lotta took the advanced class as well."),
        ("Omar maintains the payroll service.", "Omar took the billing service in June."),
    ],
)
def test_of_what_one_sees_to_there_may_be_another(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Iris finished the race in 2nd place.", "Iris finished the race in 7th place."),
        ("Tove booked cabin 12 on the ferry.", "Tove booked cabin 21 on the ferry."),
        ("Lars parked the van in row 5.", "Lars parked the van in row 11."),
        ("They met on the 2nd night of the cruise.", "They met on the 4th night of the cruise."),
        ("Mads ended in 9th position.", "Mads ended in 6th position."),
    ],
)  # fmt: skip
def test_a_number_that_is_what_is_told_is_a_dispute(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ("The sink has a dripping tap.", "Jan repaired the faucet of the sink."),
        ("The van has a faulty engine.", "The garage replaced the motor of the van."),
        ("The laptop has a scratched screen.", "Mika replaced the display of the laptop."),
        ("The kitchen has an old fridge.", "Lou replaced the refrigerator in the kitchen."),
    ],
)
def test_two_names_of_one_part_are_one_part(state: str, change: str) -> None:
    assert verdict(state, change) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ("The van has a rusty door.", "Kai repaired the engine of the van."),
        ("The lounge has a stained carpet.", "Ute fixed the window in the lounge."),
        ("The jacket has a torn sleeve.", "Eva replaced the zip of the jacket."),
    ],
)
def test_mending_one_part_leaves_what_is_wrong_with_another(state: str, change: str) -> None:
    assert verdict(state, change) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("whole", "other"),
    [
        ("There are 16 goats in the pen.", "Twelve goats stand in the pen."),
        ("The orchestra has 50 players.", "44 players belong to the orchestra."),
        ("There are 40 sheep in the meadow.", "35 sheep graze in the meadow."),
        ("There are eight cats in the shelter.", "Six cats are in the shelter at the moment."),
    ],
)
def test_the_whole_counted_twice_is_a_dispute(whole: str, other: str) -> None:
    assert verdict(whole, other) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        ("There are 16 goats in the pen.", "Five goats in the pen are pregnant."),
        ("The firm has 90 employees.", "15 employees work from home."),
        ("There are 12 boats at the pier.", "Two boats at the pier belong to Jens."),
    ],
)
def test_what_is_told_of_some_says_nothing_of_how_many_there_are(whole: str, part: str) -> None:
    assert verdict(whole, part) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ida's birthday party is at the lake.", "Ida's birthday party was moved to the garden."),
        ("The degree show is on Thursday.", "The degree show was moved to Saturday."),
        ("Tom is a native speaker tutor at Lingua.", "Tom left Lingua."),
    ],
)
def test_what_is_only_named_after_a_lasting_thing_may_change(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Lea started working at the library.", "Lea quit the library."),
        ("Aida started working for Novex in 2022.", "Aida quit Novex last month."),
        ("Ana started studying medicine in Lyon.", "Ana quit university in spring."),
        ("Kai began taking insulin.", "Kai stopped using insulin."),
        ("Ole gave up the trumpet.", "Ole started playing the trumpet again."),
    ],
)
def test_quitting_where_a_doing_began_ends_it(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Lea started working at the library.", "Lea quit the choir."),
        ("Tilda gave up bread.", "Tilda started baking bread."),
        ("Nora started running in the park.", "Nora stopped skating in the park."),
    ],
)
def test_another_doing_begun_or_given_up_stands(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The book is available in German.", "The book is not available in German."),
        ("The bar is closed on Sundays.", "The bar is open on weekends."),
    ],
)
def test_a_word_of_the_subject_or_a_day_within_the_other_hides_no_dispute(
    existing: str, new: str
) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The flat is close to the tram.", "The flat is open plan."),
        ("The hall has a break room.", "The hall works fine."),
    ],
)
def test_a_noun_or_nearness_is_not_the_state_that_is_spelt_alike(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("state", "turn"),
    [
        ("Jan uses a paper calendar.", "Jan switched to a phone app."),
        ("Bea wears trainers to work.", "Bea switched to sandals."),
    ],
)
def test_a_turn_from_what_is_used_to_another_of_no_known_kind_is_a_dispute(
    state: str, turn: str
) -> None:
    assert verdict(state, turn) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("state", "turn"),
    [
        ("Jan uses a paper calendar.", "Jan switched to a new dentist."),
        ("Bea wears trainers to work.", "Bea switched to night shifts."),
    ],
)
def test_a_turn_to_what_names_its_own_slot_leaves_the_rest(state: str, turn: str) -> None:
    assert verdict(state, turn) is Verdict.COEXIST
