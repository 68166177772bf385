"""What is alike and yet not the same statement: it must never be dropped as a repetition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.types import Verdict

from .test_rules_judge import judge

NAMES = st.sampled_from(["Anna", "Ben", "Carla", "Dmitri", "Esra", "Finn"])
BONDS = st.sampled_from(
    ["reports to", "manages", "mentors", "hired", "calls", "is older than", "is taller than"]
)


@given(one=NAMES, other=NAMES, bond=BONDS)
@settings(max_examples=60)
def test_a_bond_the_other_way_round_is_another_statement(one: str, other: str, bond: str) -> None:
    verdict = judge(f"{one} {bond} {other}.", f"{other} {bond} {one}.").verdict

    assert (verdict is Verdict.DUPLICATE) == (one == other)


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Anna reports to Ben.", "Ben reports to Anna."),
        ("User prefers tea over coffee.", "User prefers coffee over tea."),
        ("The cache is written before the queue.", "The queue is written before the cache."),
        ("Ann is Bo's manager.", "Bo is Ann's manager."),
        ("Mia is taller than Leo.", "Leo is taller than Mia."),
    ],
)
def test_an_order_the_other_way_round_is_a_dispute(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.DISPUTE


def test_an_order_that_is_said_to_have_changed_supersedes() -> None:
    verdict = judge(
        "User prefers JavaScript over TypeScript.", "User now prefers TypeScript over JavaScript."
    ).verdict

    assert verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ann hired Bo.", "Ann was hired by Bo."),
        ("The train runs from Bonn to Ghent.", "The train runs from Ghent to Bonn."),
        ("Redis calls Postgres.", "Postgres calls Redis."),
        ("Tom used to live in Rome.", "Tom lives in Rome."),
        ("Sarah likes coffee.", "Sarah likes coffee in the morning."),
        ("Sarah likes coffee in the morning.", "Sarah likes coffee."),
    ],
)
def test_what_is_alike_stands_side_by_side(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ann hired Bo.", "Bo was hired by Ann."),
        ("Nils met Ida in Rome.", "Ida met Nils in Rome."),
        ("The team uses tea and coffee.", "The team uses coffee and tea."),
        (
            "On Mondays the choir sings in the hall.",
            "The choir sings in the hall on Mondays.",
        ),
        ("The contract was signed on 3 March.", "On 3 March the contract was signed."),
        ("The bug was introduced in version 2.1.", "Version 2.1 introduced the bug."),
        ("Bo Lindqvist is the CFO of Marlow.", "Marlow's CFO is Bo Lindqvist."),
    ],
)
def test_the_same_told_in_another_order_is_a_repetition(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.DUPLICATE


@pytest.mark.parametrize("piece", ["than nobody ", "from 3 to 5 ", "over tea "])
def test_a_text_of_nothing_but_linking_words_is_no_repetition_of_its_like(piece: str) -> None:
    # Comparing each place with each link of such a text once took half a minute.
    assert judge(piece * 400, piece * 399 + "x").verdict is not Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The team uses Redis.", "The team uses Redis Sentinel."),
        ("Ana loves coffee.", "Ana loves coffee liqueur."),
        ("User plays the bass.", "User plays the bass clarinet."),
        ("User has a boat licence.", "User has a boat."),
        ("User likes green tea.", "User likes green tea ice cream."),
        ("Boris quit smoking in 2018.", "Boris began jogging in 2018."),
    ],
)
def test_another_thing_or_doing_stands_beside_what_it_looks_like(one: str, other: str) -> None:
    assert judge(one, other).verdict is Verdict.COEXIST
    assert judge(other, one).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User lives in New York.", "User lives in New York City."),
        ("We use PostgreSQL.", "We use the PostgreSQL database."),
        ("User likes tea.", "User likes tea a lot."),
        ("User has no job.", "User is out of work."),
    ],
)
def test_what_it_is_anyway_makes_no_other_thing_of_it(one: str, other: str) -> None:
    assert judge(one, other).verdict is Verdict.DUPLICATE
    assert judge(other, one).verdict is Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("Sarah prefers TypeScript.", "sarah prefers TypeScript", "duplicate"),
        ("Omar lives in Berlin.", "omar lives in berlin", "duplicate"),
        ("Files have up to 5 MB.", "Files have up to 5 Mb.", "dispute"),
        ("The offer is for US customers.", "The offer is for us customers.", "coexist"),
        ("Sarah calls Mark.", "Sarah calls mark.", "coexist"),
        ("My brother Piet calls Mark.", "Piet calls mark.", "coexist"),
    ],
)
def test_the_same_words_repeat_each_other_unless_a_capital_makes_another_of_them(
    one: str, other: str, verdict: str
) -> None:
    assert {judge(one, other).verdict, judge(other, one).verdict} == {verdict}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Nina eats just lentils for lunch.", "Nina eats lentils for lunch."),
        ("Nina eats only lentils on Mondays.", "Nina eats lentils on Mondays."),
        ("Omar has merely one key to the attic.", "Omar has one key to the attic."),
    ],
)
def test_only_this_is_more_than_this(one: str, other: str) -> None:
    verdicts = {judge(one, other).verdict, judge(other, one).verdict}

    assert verdicts <= {Verdict.COEXIST, Verdict.DISPUTE}


def test_just_as_a_moment_adds_nothing() -> None:
    one, other = "Omar has just moved to Paris.", "Omar has moved to Paris."

    assert {judge(one, other).verdict, judge(other, one).verdict} == {"duplicate"}
