"""Verbs parted from their particle, entries of a list, bonds of two people, posts and births."""

from __future__ import annotations

import pytest

from memory.domain.types import Verdict

from .test_rules_judge import judge


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ravi has a driving school.", "Ravi passed the theory test on 6 February."),
        ("Nora runs the bookshop.", "Nora passed the parcel on to the neighbour."),
        ("Erik keeps two horses.", "Erik passed the saddle on to his sister."),
    ],
)
def test_a_particle_that_leads_on_ends_nothing(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Tom drives the red tractor.", "Tom put the red tractor up for sale."),
        ("The statue is older than the fountain.", "The fountain was put up after the statue."),
    ],
)
def test_what_is_put_up_is_not_surely_over(existing: str, new: str) -> None:
    judgement = judge(existing, new)

    assert judgement.verdict is not Verdict.SUPERSEDE or judgement.confidence < 0.5


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Nora runs the bookshop.", "Nora passed the bookshop on to her nephew."),
        ("Erik keeps two horses.", "Erik gave both horses away."),
        ("The stall costs 30 euros.", "The stall's owner put the price up to 35 euros."),
        ("The search service belongs to team Falcon.", "The search service was handed to Osprey."),
        ("Marco owns the billing service.", "Ownership of billing passed from Marco to Lena."),
        ("The barn stands by the river.", "The barn was torn down in January."),
        (
            "Ilse is the treasurer of the rowing club.",
            "The rowing club elected Tomasz treasurer in place of Ilse.",
        ),
        ("User is pregnant.", "User's son was born on 3 March."),
        ("Flight SK 1415 leaves from gate B12.", "Gate change for SK 1415: it leaves from C4."),
        (
            "Payroll is run by an outside bureau.",
            "Payroll was brought in-house at the start of the year.",
        ),
    ],
)
def test_what_is_over_or_replaced_is_superseded(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team lost its first match.", "The team won its second match."),
        ("User takes iron in the morning.", "User takes magnesium before bed."),
        ("Mika is Finnish.", "Mika lives in Ottawa."),
        ("Rosa is Italian.", "Rosa teaches Italian."),
        ("User lost the hearing in the left ear.", "User is deaf in the right ear."),
        ("Pia and Jens are siblings.", "Pia and Jens are colleagues."),
        ("User is pregnant.", "User's sister's son was born on 3 March."),
        ("Payroll is run by an outside bureau.", "Cleaning was brought in-house in January."),
    ],
)
def test_another_entry_or_side_stands_beside_it(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team lost its first match.", "The team won its first match."),
        ("User takes iron in the morning.", "User takes iron before bed."),
        ("Aoife is Irish.", "Aoife is Portuguese."),
        ("Pia and Jens are siblings.", "Pia and Jens are cousins."),
        ("The mill's flour is organic.", "The mill's flour comes from conventional farming."),
        ("The referee of the final was Sandoval.", "Matteo Ricci refereed the final."),
    ],
)
def test_two_of_what_there_is_one_of_are_a_dispute(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.DISPUTE


def test_one_change_told_with_its_particle_elsewhere_is_no_further_change() -> None:
    judgement = judge("User handed in the thesis.", "User handed the thesis in on Friday.")

    assert judgement.verdict is not Verdict.SUPERSEDE
