"""Plain statements of one matter, class by class: what leaves the other be, and what retires it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.judging.hearing import SURE_TO_RETIRE, as_carried_out
from memory.domain.types import Judgement, Verdict

from .test_rules_judge import judge

KINDS = st.sampled_from(["catering", "travel", "student", "upload", "sales", "late"])
THINGS = st.sampled_from(["budget", "fee", "limit", "price"])
MONTHS = st.sampled_from(["April", "May", "June", "Jan"])
PEOPLE = st.sampled_from(["April", "Mira", "June", "Tom", "Jan", "Nadia"])
POSTS = st.sampled_from(["treasurer", "captain", "team lead", "editor"])


@given(kind=KINDS, thing=THINGS, old=st.integers(10, 40), new=st.integers(41, 90))
@settings(max_examples=40)
def test_news_of_one_kind_of_a_thing_leaves_the_thing(
    kind: str, thing: str, old: int, new: int
) -> None:
    wider = f"The {thing} is {old} euros."

    assert judge(wider, f"The {kind} {thing} is now {new} euros.").verdict is Verdict.COEXIST
    assert judge(wider, f"The {thing} is now {new} euros.").verdict is Verdict.SUPERSEDE


@given(one=PEOPLE, other=PEOPLE, post=POSTS, else_post=POSTS)
@settings(max_examples=60)
def test_a_handover_ends_that_post_alone_in_whichever_order_it_is_told(
    one: str, other: str, post: str, else_post: str
) -> None:
    if one == other:
        return
    state = f"{one} is the {else_post}."
    handed = f"{other} took over from {one} as {post}."

    forward, back = judge(state, handed).verdict, judge(handed, state).verdict

    if post == else_post:
        assert (forward, back) == (Verdict.SUPERSEDE, Verdict.DISPUTE)
    else:
        assert (forward, back) == (Verdict.COEXIST, Verdict.COEXIST)


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Marta leads design.", "Olga took over marketing from Marta."),
        ("Ravi runs the data team.", "Ines took over the mobile team from Ravi."),
        ("Greta manages the Berlin office.", "Noor took over the Madrid office from Greta."),
        ("Ben owns a boat.", "Ben handed payroll over to Ada."),
        ("Nils lives in Rome.", "Ada took over the shop from Nils."),
    ],
)
def test_who_hands_one_thing_over_keeps_the_others(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User lives in Leeds.", "User left a phone in Leeds."),
        ("User works at Nokia.", "User left a bag at Nokia."),
        ("User works in Paris.", "User left the car in Paris overnight."),
        ("Sara studies in Delft.", "Sara left a book at the library in Delft."),
        ("The team uses Figma.", "The team moved into a larger office."),
        ("We use Jira.", "We switched to a new coffee supplier."),
    ],
)
def test_a_thing_left_and_news_of_something_else_end_nothing(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST
    assert judge(new, existing).verdict in {Verdict.COEXIST, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User lives in Leeds.", "User left Leeds in May."),
        ("Tom works at the clinic.", "Tom left his job at the clinic."),
        ("Ana plays in a band.", "Ana left the band in autumn."),
        ("The team has 90 people.", "The team is down to 84."),
        ("lives in Lagos", "now lives in Lisbon"),
        ("My sister lives in Lagos.", "My sister now lives in Lisbon."),
        ("Works from home on Mondays.", "No longer works from home on Mondays."),
        ("Drives a Golf.", "Now drives a Polo."),
        ("The bakery opens at 7.", "The bakery opens at 9 instead of 7."),
        ("Atlas is deployed on Fridays.", "Atlas is now deployed on Tuesdays."),
        ("The user wants long answers.", "From now on the user wants short answers."),
    ],
)
def test_a_change_told_in_so_many_words_supersedes(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.SUPERSEDE


@given(one=MONTHS, other=MONTHS)
@settings(max_examples=20)
def test_people_called_like_months_are_told_from_months(one: str, other: str) -> None:
    if one == other:
        return

    assert judge(f"{one} lives in Cork.", f"{other} lives in Bath.").verdict is Verdict.COEXIST
    assert judge(f"{one} is the team lead.", f"{other} is the team lead.").verdict is (
        Verdict.DISPUTE
    )
    assert judge(f"The launch is in {one}.", f"The launch is in {other}.").verdict is (
        Verdict.DISPUTE
    )


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The user gets up at 6.", "The user goes to bed at 10:30 pm."),
        ("Kite costs 9 euros a month.", "Kite has a free trial of 14 days."),
        ("Kite works offline.", "Kite syncs every 10 minutes when online."),
        ("Kite is available in German.", "Kite is available on Android."),
        ("The gateway is written in Go.", "The gateway is deployed with Helm."),
    ],
)
def test_two_sides_of_one_thing_stand_in_any_order(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST
    assert judge(new, existing).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Atlas dropped support for Python 3.9.", "Atlas supports Python 3.9."),
        ("Kite removed the export to PDF.", "Kite exports to PDF."),
        ("The user graduated and is a student no more.", "The user is a student."),
        ("Carla stepped in for Ben as head of sales.", "Ben is head of sales."),
        ("The user drinks no coffee.", "The user drinks three coffees a day."),
        ("Ken has root on the build host.", "Both Ken and Aiko have root on the build host."),
    ],
)
def test_what_one_side_denies_ends_or_adds_somebody_to_is_no_repetition(
    existing: str, new: str
) -> None:
    assert judge(existing, new).verdict is not Verdict.DUPLICATE
    assert judge(new, existing).verdict is not Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The user does not drink alcohol.", "The user drinks wine with dinner."),
        ("Atlas is written in Go.", "Atlas is written in Rust."),
        ("Tom owns the search of Heron.", "Ann owns the search of Heron."),
    ],
)
def test_plain_statements_that_exclude_each_other_are_disputed(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.DISPUTE
    assert judge(new, existing).verdict is Verdict.DISPUTE


@given(verdict=st.sampled_from(Verdict), sureness=st.floats(0, 1))
@settings(max_examples=60)
def test_only_a_sure_judge_retires_anything(verdict: Verdict, sureness: float) -> None:
    judged = Judgement(verdict, "as found", sureness)

    carried_out = as_carried_out(judged)

    if verdict is Verdict.SUPERSEDE and sureness < SURE_TO_RETIRE:
        assert carried_out.verdict is Verdict.DISPUTE
        assert carried_out.reason.startswith("as found; ")
    else:
        assert carried_out == judged


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The paint shop is Studio 54.", "The paint shop closes in two weeks."),
        ("The bread supplier is Bakery 21.", "The bread supplier wants three days of notice."),
        ("The press needs oil weekly.", "The press prints 400 sheets an hour."),
        ("The lathe is oiled monthly.", "The lathe turns at 900 rounds a minute."),
    ],
)
def test_a_number_in_a_name_and_a_rate_are_no_values_of_what_else_is_told(
    one: str, other: str
) -> None:
    assert judge(one, other).verdict is Verdict.COEXIST
    assert judge(other, one).verdict is Verdict.COEXIST
