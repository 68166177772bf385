"""A turn to something new retires only what it is of, and a half of two facts never the other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.judging.relatedness import Change, names_change
from memory.domain.types import Statement, Verdict

from .test_parts_and_posts import NEW, OLD, verdict
from .test_rules_judge import judge

KEPT = [
    "prefers tea",
    "plays the cello",
    "drives a Volvo",
    "runs marathons",
    "prefers window seats",
    "wears hearing aids",
    "reads crime novels",
    "bakes sourdough on Sundays",
    "grew up in Lyon",
    "has two children",
    "speaks Polish",
    "is vegetarian",
    "is married to Ana",
    "lives in Lyon",
]
TOWNS = ["Hamburg", "Bruges", "Gdansk", "Trondheim", "Zwolle"]
TURNS = [
    "moved to a bigger flat in May",
    "switched to Danish",
    "switched to a standing desk",
    "went over to the metric system",
    "changed to a new dentist",
]


WHO = st.sampled_from(["User", "Greta", "Tomas"])
MOVES = [*(f"moved to {town}" for town in TOWNS), "relocated to Brno", "has moved back to Graz"]


@given(who=WHO, kept=st.sampled_from(KEPT[:-4]), turn=st.sampled_from([*MOVES, *TURNS]))
@settings(max_examples=60)
def test_a_turn_to_something_else_leaves_what_one_has_and_does_alone(
    who: str, kept: str, turn: str
) -> None:
    assert verdict(f"{who} {kept}.", f"{who} {turn}.") is Verdict.COEXIST


@given(who=WHO, kept=st.sampled_from(KEPT), turn=st.sampled_from(TURNS))
@settings(max_examples=60)
def test_what_one_is_is_retired_by_no_turn_of_something_else(
    who: str, kept: str, turn: str
) -> None:
    assert verdict(f"{who} {kept}.", f"{who} {turn}.") is not Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team uses Jira.", "The team moved to Hamburg."),
        ("The team uses Jira.", "The team switched to Danish."),
        ("The shop sells bread.", "The shop moved to Bruges."),
        ("The club trains on Mondays.", "The club moved to Halle."),
        ("User uses Anki.", "User moved to Zwolle."),
        ("User drives a Volvo.", "User switched to almond milk."),
        ("User uses Notion for notes.", "User switched to Linear for tickets."),
    ],
)
def test_a_turn_is_of_nothing_that_is_of_another_kind(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User lives in Lyon.", "User moved to Gdansk."),
        ("Greta lives in Ghent.", "Greta moved to Bruges."),
        ("User is based in Halle.", "User moved to Jena."),
        ("User uses Vim.", "User moved to Emacs."),
        ("User drinks oat milk.", "User switched to almond milk."),
        ("User plays the cello.", "User switched to the viola."),
        ("User takes the bus.", "User switched to the tram."),
        ("User uses Firefox.", "User went over to Chrome."),
        ("The app is hosted on Heroku.", "The app moved to Hetzner."),
        ("Piet works for Renault.", "Piet works for Citroen now."),
    ],
)
def test_a_turn_to_another_of_the_kind_replaces_the_old(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User uses Anki.", "User switched to Quizlet."),
        ("User drives a Golf.", "User switched to a Polo."),
        ("User works for Renault.", "User moved to Nordlys."),
    ],
)
def test_two_names_that_nobody_knows_are_left_to_people(existing: str, new: str) -> None:
    first, second = Statement(existing, OLD), Statement(new, NEW)

    assert verdict(existing, new) is Verdict.DISPUTE
    assert names_change(existing=first, new=second) is Change.OF_ASPECT


@pytest.mark.parametrize(
    ("existing", "new", "untold"),
    [
        (
            "Piet lives in Lille and works for Renault.",
            "Piet now works for Citroen.",
            "lives in Lille",
        ),
        (
            "The press office is in room 12 and its phone is 5510.",
            "The press office moved to room 20.",
            "its phone is 5510",
        ),
        (
            "Sanne drives the truck and lives in Ghent.",
            "Sanne moved to Bruges.",
            "drives the truck",
        ),
        (
            "The info tent opens at 10:00 and Lena handles the keys.",
            "Pavel handles the keys of the info tent now.",
            "opens at 10:00",
        ),
        (
            "The fee is 20 euros and children go free.",
            "The fee is now 25 euros.",
            "children go free",
        ),
        (
            "Bo uses Jira for tickets and Slack for chat.",
            "Bo switched to Linear for tickets.",
            "Slack for chat",
        ),
        ("Ana runs the shop while Bo does the books.", "Ana sold the shop.", "Bo does the books"),
    ],
)
def test_a_change_of_one_fact_of_two_keeps_both_and_says_which_it_leaves(
    existing: str, new: str, untold: str
) -> None:
    judgement = judge(existing, new)

    assert judgement.verdict is Verdict.DISPUTE
    assert f'it says nothing of "{untold}"' in judgement.reason


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The clinic opens at 8 and has two doctors.", "The clinic now opens at 9."),
        (
            "The hall seats 200 and is heated with gas.",
            "The hall was switched to electric heating.",
        ),
    ],
)
def test_a_change_of_one_clause_is_seen_beside_the_other(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team uses Jira and Slack.", "The team dropped Jira and Slack."),
        ("Rik and Ola run the kiosk.", "Rik and Ola sold the kiosk."),
        (
            "Piet lives in Lille and works for Renault.",
            "Piet moved to Nantes and works for Citroen now.",
        ),
        ("The café is on Hill Street, near the river.", "The café moved to Mill Street."),
    ],
)
def test_one_fact_told_of_two_things_is_replaced_as_one(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new", "expected"),
    [
        ("User wants to learn the harp.", "User gave up learning Finnish.", Verdict.COEXIST),
        ("User wants to visit Japan.", "User gave up visiting museums.", Verdict.COEXIST),
        ("Nora plans to take up rowing.", "Nora gave up running.", Verdict.COEXIST),
        ("User wants to learn Finnish.", "User gave up learning Finnish.", Verdict.SUPERSEDE),
        ("User drinks wine.", "User stopped drinking alcohol.", Verdict.SUPERSEDE),
    ],
)
def test_what_is_given_up_is_what_is_named(existing: str, new: str, expected: Verdict) -> None:
    assert verdict(existing, new) is expected


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Paul works at Siemens and likes it there.", "Paul works at Bosch now."),
        ("Mia lives in Bonn and she loves it.", "Mia moved to Ulm."),
        ("Jan drives a Golf and he is happy with it.", "Jan drives a Tesla now."),
        ("Ida takes the bus and it takes 40 minutes.", "Ida takes the tram now."),
    ],
)
def test_what_leans_on_a_fact_goes_with_it(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE
