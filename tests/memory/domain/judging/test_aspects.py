"""Facts about one subject that concern different sides of it, and what the judge makes of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.judging.pairs.evidence import Evidence, weigh
from memory.domain.judging.pairs.features import features_of
from memory.domain.judging.pairs.quantifiers import Extent, extent_of
from memory.domain.judging.reading.frames import read
from memory.domain.types import Statement, Verdict

EARLIER = datetime(2026, 1, 5, 9, tzinfo=UTC)
LATER = datetime(2026, 2, 5, 9, tzinfo=UTC)
NO_CONFLICT = {Verdict.COEXIST, Verdict.DUPLICATE}


def evidence(existing: str, new: str) -> Evidence:
    return weigh(Statement(existing, EARLIER), Statement(new, LATER))


def verdict(existing: str, new: str) -> Verdict:
    judgement = RulesJudge().judge(existing=Statement(existing, EARLIER), new=Statement(new, LATER))
    return judgement.verdict


@pytest.mark.parametrize(
    ("existing", "new", "aspect"),
    [
        ("Boilers must stay under 80 degrees.", "Yesterday the boiler had 86 degrees.", "a rule"),
        ("The filter must be cleaned weekly.", "The filter was cleaned in March.", "a rule"),
        ("Runa worked for Skagen before.", "Runa is employed by Vestfold.", "past"),
        ("The pier was free in 2021.", "The pier costs 4 euros.", "2021"),
        ("Not all benches are new.", "The bench at the gate is new.", "some of them"),
        ("The club uses Signal for news.", "The club uses Doodle for dates.", "purposes"),
        ("Liv hates cold showers.", "Liv loves cold soup.", "objects"),
        ("The hall is open on 4 May.", "The hall is closed on 6 May.", "days"),
        ("Fishing is allowed in the harbour.", "Fishing is not allowed in the fjord.", "places"),
        ("In winter the ferry sails at 8.", "During storms the ferry sails at noon.", "occasions"),
        ("Tor plans to sell the barn.", "Tor owns the barn.", "considered"),
    ],
)
def test_the_two_sides_of_one_subject_are_told_apart(existing: str, new: str, aspect: str) -> None:
    assert aspect in evidence(existing, new).aspect


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The limit is 40 litres.", "The limit is 60 litres."),
        ("Reviews must be done within three days.", "Reviews now have to be done within one day."),
        ("All benches are new.", "No bench is new."),
        ("Liv hates herring.", "Liv loves herring."),
        ("The hall is open on 4 May.", "The hall is closed on 4 May."),
        ("Nadja retired two years ago.", "Nadja works full time."),
    ],
)
def test_one_side_of_one_subject_is_not_told_apart(existing: str, new: str) -> None:
    assert evidence(existing, new).aspect == ""


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("Every boat has a radio.", Extent.ALL),
        ("Nobody may enter.", Extent.NONE),
        ("Not every boat has a radio.", Extent.PART),
        ("Most of the boats have a radio.", Extent.PART),
        ("No one except the crew may enter.", Extent.PLAIN),
        ("The boat sails every day.", Extent.PLAIN),
        ("Liv is most at ease at sea.", Extent.PLAIN),
        ("At most twelve people fit in.", Extent.PLAIN),
    ],
)
def test_the_extent_of_a_statement_is_read(text: str, extent: Extent) -> None:
    assert extent_of(read(text)) is extent


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The kiln heats 40 kg.", "The kiln has six shelves."),
        ("The hut has three bunks.", "The hut is on the second ridge."),
        ("Guides can be ordered as maps.", "Guides can be ordered as booklets."),
        ("Mattias is a contact at Lund.", "Elin is a contact at Lund."),
        ("Tuva's desk is by the door.", "Tuva's locker is by the stairs."),
        ("Lukas rows on the lake.", "Amalie rows on the lake."),
        ("Sindre lives in Moss.", "Sindre's aunt moved to Hamar in May."),
    ],
)
def test_two_facts_that_share_a_subject_or_a_verb_only_do_not_conflict(
    existing: str, new: str
) -> None:
    assert verdict(existing, new) in NO_CONFLICT


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Astrid is older than Knut.", "Knut is younger than Astrid."),
        ("Dag cannot stand noise.", "Dag hates noise."),
        ("User is in the CET time zone.", "User's time zone is Central European Time."),
        ("The pump failed to start.", "The pump did not start."),
        ("The course lasts six weeks.", "The course lasts a month and a half."),
    ],
)
def test_a_turned_denied_or_shortened_wording_is_no_conflict(existing: str, new: str) -> None:
    found = evidence(existing, new)
    assert not found.opposed
    assert not found.comparison.other_values


def test_a_rule_for_all_and_a_denied_case_conflict() -> None:
    assert verdict("Every cabin has a stove.", "Cabin 4 has no stove.") is Verdict.DISPUTE


def test_what_only_some_may_do_and_anybody_may_do_conflict() -> None:
    found = evidence("Only skippers may steer.", "Anybody may steer.")
    assert features_of(found)["only and any"] == 1


def test_an_event_that_turns_a_state_into_its_opposite_supersedes() -> None:
    assert verdict("The drawbridge is closed.", "The drawbridge was opened on Friday.") is (
        Verdict.SUPERSEDE
    )


@pytest.mark.parametrize(
    ("new", "changed"),
    [
        ("Haakon has been learning Greek since the spring.", False),
        ("From autumn Haakon teaches Greek.", True),
        ("The Greek lesson had to be called off.", True),
        ("The Greek course is for advanced readers.", False),
    ],
)
def test_a_change_is_told_from_a_lasting_state(new: str, changed: bool) -> None:
    assert bool(evidence("Haakon learns Greek.", new).signals.change) is changed


@pytest.mark.parametrize(
    ("existing", "new", "aspect"),
    [
        ("The mine gave 3 tonnes in 2021.", "In 2022 the mine gave 7 tonnes.", "times"),
        ("The fair was in Bruges in 2021.", "The fair was in Ghent in 2022.", "times"),
        ("The north pier is closed.", "The south pier is open.", "sides"),
    ],
)
def test_other_times_and_sides_are_told_apart(existing: str, new: str, aspect: str) -> None:
    assert aspect in evidence(existing, new).aspect


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The office is in the north tower.", "The office is in the south tower."),
        ("The bridge was built in 1931.", "The bridge was built in 1954."),
        ("Half of the pupils walk to school.", "Two thirds of the pupils walk to school."),
    ],
)
def test_a_side_or_a_time_that_is_the_value_itself_is_no_aspect(existing: str, new: str) -> None:
    assert not evidence(existing, new).aspect


@pytest.mark.parametrize(
    ("existing", "new", "feature"),
    [
        ("The film lasts two hours.", "The film has a pause of ten minutes.", "something new"),
        ("Only Sten may sign.", "Sten and Ulrik may sign.", "only and more"),
        ("Bodil heads the ski club.", "Bodil left the chess club.", "changed, other modifier"),
        ("The boat has six berths.", "Arne painted the boat last spring.", "event beside"),
        ("The crate weighs 3 kilos.", "The crate is 40 cm long.", "lone values on both"),
    ],
)
def test_what_parts_two_statements_is_a_feature(existing: str, new: str, feature: str) -> None:
    found = features_of(evidence(existing, new))

    assert any(feature in name for name in found)


def test_a_relation_told_from_either_end_is_one_fact() -> None:
    assert verdict("Tilda is Marek's aunt.", "Marek is Tilda's nephew.") is Verdict.DUPLICATE
    assert verdict("Tilda is Marek's aunt.", "Marek is Tilda's brother.") is not Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("The buns had sold out by ten.", False),
        ("The letter was signed by two.", False),
        ("The fleet grew by two.", True),
        ("The parcels are dropped off at the gate.", False),
        ("Since May Runa has also been coaching.", True),
    ],
)
def test_by_a_number_is_a_change_where_something_moves(text: str, changes: bool) -> None:
    assert bool(evidence("The quay is old.", text).signals.change) is changes


def test_what_is_added_since_a_date_changes_nothing() -> None:
    found = evidence("Runa coaches the juniors.", "Since May Runa has also coached the seniors.")

    assert found.signals.additive
    assert not found.changed
