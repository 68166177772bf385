"""Whom two statements are about, whose post is told, and what "ended" says of a thing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.judging.hearing import STATED, as_carried_out, hearing_on
from memory.domain.types import Statement, Verdict

AT = datetime(2026, 3, 2, tzinfo=UTC)
CONFLICTS = {Verdict.SUPERSEDE, Verdict.DISPUTE}


def heard(existing: str, new: str) -> Verdict:
    """The verdict as it is carried out on two stated memories that lie near each other."""
    earlier, later = Statement(existing, AT), Statement(new, AT + timedelta(days=3))
    judgement = as_carried_out(RulesJudge().judge(existing=earlier, new=later))
    hearing = hearing_on(existing=earlier, new=later, similarity=0.75, anchor=0.3, bar=STATED)
    is_heard = hearing is not None and hearing.admits(judgement)
    return judgement.verdict if is_heard else Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Mia and Leo run the bookshop.", "Mia and Leo laughed about the new sign."),
        ("Nora and Sven run the choir.", "Nora and Sven argued about the organ last week."),
        ("Tilda, Ove and Jon run the show.", "Tilda, Ove and Jon cheered about the new mast."),
        ("Kate and Ben Miller run the inn.", "Kate and Ben Miller laughed about the new menu."),
        ("Olga hired Farid as night baker.", "Olga and Farid quarrelled over the shift plan."),
        ("Bea employed Tom as a driver.", "Bea and Tom disagreed about the route."),
        ("Maya hired Dennis as a gardener.", "Maya and Dennis fell out over the roses."),
        ("Nils mentors Wanda in statistics.", "Nils and Wanda argued about the new model."),
        ("Pia supervises Rolf.", "Pia and Rolf disagreed about the deadline."),
    ],
)
def test_what_two_people_did_leaves_what_they_do(existing: str, new: str) -> None:
    assert heard(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Mia and Leo run the bookshop.", "Mia and Leo sold the bookshop."),
        ("Mia and Leo run the bookshop.", "Mia and Leo no longer run the bookshop."),
        ("Nora and Sven live in Bergen.", "Nora and Sven moved to Oslo."),
        ("Anton and Lucia are married.", "Anton and Lucia divorced in June."),
        ("Mia and Leo are a couple.", "Mia and Leo split up last week."),
    ],
)
def test_what_ends_what_two_people_do_is_a_change_of_both(existing: str, new: str) -> None:
    assert heard(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The website still lists our old telephone number.", "The old number ended in 4471."),
        ("The brochure still shows the old logo.", "The old logo ended in a swirl."),
        (
            "The catalogue still shows the old price list.",
            "The old price list ended with the pears.",
        ),
        ("The letterhead carries the old slogan.", "The old slogan ended on a question mark."),
        ("The choir sings the old anthem.", "The old anthem ended in a minor chord."),
        ("The archive keeps the old account number.", "The old account number ended with 0092."),
    ],
)
def test_what_the_end_of_a_thing_looks_like_ends_nothing(existing: str, new: str) -> None:
    assert heard(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ana is married to Ivo.", "Ana's marriage to Ivo ended in divorce."),
        ("Tom rents a flat in Kiel.", "Tom's lease of the flat in Kiel ended in March."),
        ("The team uses Jira.", "The use of Jira ended with the merger."),
    ],
)
def test_what_is_over_is_no_longer(existing: str, new: str) -> None:
    assert heard(existing, new) in CONFLICTS


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Deliveries to Bristol run on Tuesdays.", "Deliveries to Exeter run on Wednesdays."),
        ("Deliveries to Bath arrive on Mondays.", "Deliveries to Poole arrive on Thursdays."),
        ("Trains from Graz run hourly.", "Trains from Linz run every two hours."),
        ("Collections in Leeds run on Mondays.", "Collections in York run on Thursdays."),
        ("Shipments for Norway leave on Mondays.", "Shipments for Sweden leave on Fridays."),
    ],
)
def test_a_place_in_the_subject_tells_two_apart(existing: str, new: str) -> None:
    assert heard(existing, new) is Verdict.COEXIST


def test_two_days_of_one_route_are_in_dispute() -> None:
    found = heard("Deliveries to Bristol run on Tuesdays.", "Deliveries to Bristol run on Mondays.")

    assert found is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("My colleague Petra says her manager Uwe is leaving.", "Petra got promoted to engineer."),
        ("User's friend Nadia says her boss Karl is leaving.", "Nadia got promoted to director."),
        ("User's sister Eva says her director Tom is ill.", "Eva was promoted to director."),
        ("Tess says that her team lead Bo quits.", "Tess was promoted to team lead."),
        ("Rita said her director retires soon.", "Rita was appointed director."),
        ("Petra reports to the director Anna.", "Petra was promoted to principal engineer."),
    ],
)
def test_a_promotion_ends_no_post_of_somebody_else(existing: str, new: str) -> None:
    assert heard(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Petra is a manager.", "Petra got promoted to director."),
        ("User's colleague Petra is an engineer.", "Petra got promoted to staff engineer."),
        ("Uwe is Petra's manager.", "Uwe was promoted to director."),
        ("Petra reports to her manager Anna.", "Petra now reports to her manager Tom."),
    ],
)
def test_a_promotion_ends_the_own_post(existing: str, new: str) -> None:
    assert heard(existing, new) is Verdict.SUPERSEDE
