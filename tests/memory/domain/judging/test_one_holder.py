"""Facts of one holder: many that have nothing to do with each other, and some that only look so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from memory.domain.judging.hearing import STATED, Hearing
from memory.domain.judging.rules import RulesJudge
from memory.domain.types import Judgement, Statement, Verdict

_AT = datetime(2026, 5, 1, tzinfo=UTC)

FACTS = {
    "The weekly call": (
        "starts at ten", "is led by Tara", "lasts an hour", "happens on Tuesdays", "is recorded",
    ),
    "The guest wifi": (
        "uses the password lemon7", "reaches the garden", "is run by Sven", "was replaced in May",
    ),
    "The lab printer": (
        "is out of toner", "is leased from Ricoh", "prints in colour", "was moved by Ana",
    ),
    "The newsletter": (
        "has 3,000 readers", "is written by Piet", "is sent with Mailchimp",
        "features one customer", "was redesigned in June",
    ),
    "The staging database": (
        "holds anonymised data", "is refreshed every Sunday", "runs PostgreSQL 16",
        "has 12 GB of memory", "was moved to the new rack", "is backed up by Ola",
    ),
    "Anna": (
        "works as a dentist", "plays the cello", "has two sons", "lives near the harbour",
        "hates coriander", "was born in Graz", "drives an old Volvo", "is allergic to penicillin",
    ),
    "Tom": (
        "bought a canoe", "visited Rome in May", "sold his bike", "started a podcast",
        "lost his keys on Monday", "met Sara at a conference", "quit smoking in 2020",
    ),
}  # fmt: skip


def judged(existing: str, new: str) -> Judgement:
    return RulesJudge().judge(
        existing=Statement(existing, _AT), new=Statement(new, _AT + timedelta(days=1))
    )


@pytest.mark.parametrize("holder", FACTS)
def test_facts_of_one_holder_stand_side_by_side_in_any_order(holder: str) -> None:
    bound = STATED.contradiction.sureness
    hearing = Hearing(bound, STATED.repetition.sureness)
    for first, second in permutations(FACTS[holder], 2):
        judgement = judged(f"{holder} {first}.", f"{holder} {second}.")
        is_apart = judgement.verdict == Verdict.COEXIST or not hearing.admits(judgement)
        assert is_apart, (first, second, judgement)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Mina has a son.", "Mina has a daughter."),
        ("Mina has a brother.", "Mina has a sister."),
        ("Mina's blood type is A positive.", "Mina's blood type is AB positive."),
        ("Deploys happen before noon.", "Deploys happen after noon."),
        ("Otto runs before breakfast.", "Otto runs after breakfast."),
        ("The licence costs $12.", "The licence costs €12."),
        ("The first draft is due Friday.", "The final draft is due Friday."),
        ("Otto is allergic to milk.", "Otto is allergic to cheese."),
        ("All teams use Jira.", "Some teams use Jira."),
        ("The pool needs at least 4 workers.", "The pool needs at most 4 workers."),
        ("Otto takes 5 mg of the drug.", "Otto takes 5 ml of the drug."),
        ("Otto takes 2 tablets a day.", "Otto takes 2 capsules a day."),
        ("The garage code is 4411.", "The garage code is known to Paul."),
        ("The booth deposit is refundable.", "The booth deposit is non-refundable."),
        ("Tom visited Rome in May.", "Tom quit smoking in 2020."),
        ("Anna has two sons.", "Anna has two daughters."),
        ("Tom gave the keys to Max.", "Tom got the keys from Max."),
        ("The parcel arrives on Monday.", "The parcel leaves on Monday."),
        ("The pool closes at 20.", "The pool bar closes at 20."),
        ("Otto sits in room 12.", "Otto is not in room 12 any more, he sits in room 40."),
        ("The garage code is known to Paul.", "The garage code is kept by Paul."),
        (
            "The depot now opens at 9 instead of 7.",
            "The depot shop now opens at 9 instead of 7.",
        ),
        ("The valve is set to 4411.", "The valve is no longer set to 4411, it is 9000."),
        ("The valve is set to 4411.", "The valve is no longer set to 4411."),
        ("Release 4 replaced release 3.", "Release 3 is in production."),
    ],
)
def test_one_word_that_means_something_else_is_no_repetition(first: str, second: str) -> None:
    assert judged(first, second).verdict != Verdict.DUPLICATE
    assert judged(second, first).verdict != Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Every change needs a review.", "All changes need a review."),
        ("Vento has 1,200 employees.", "Vento has twelve hundred employees."),
        ("The call starts at 10:00.", "The call begins at ten."),
        ("The bottle holds 0.75 litres.", "The bottle holds 750 ml."),
        ("The pool closes at 20.", "The pool shuts at 20:00."),
        ("The printer sits in room 12.", "The printer stands in room 12."),
        ("Tom works for Meta.", "Tom is employed by Meta."),
    ],
)
def test_other_words_for_the_same_are_a_repetition(first: str, second: str) -> None:
    assert judged(first, second).verdict == Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("Mia moved from Oslo to Bergen.", "Mia lives in Oslo."),
        ("The team switched from Jira to Linear.", "The team uses Jira."),
        ("Nora no longer has a gym membership.", "Nora has a gym membership."),
        ("Omar sold the blue van.", "Omar has a blue van."),
        ("The platform dropped Kafka.", "The platform uses Kafka."),
        ("Pia quit smoking.", "Pia smokes."),
        ("Pia was promoted to director.", "Pia is a manager."),
        ("Otto resigned at Initech.", "Otto works at Initech."),
        ("Otto left Initech in May.", "Otto works at Initech."),
        ("Lena stopped eating meat.", "Lena eats meat."),
        ("The team dropped Jenkins for GitHub Actions.", "The team uses Jenkins."),
        ("Otto quit his job at Google and joined Meta.", "Otto works at Google."),
        ("Otto resigned at Initech because of the stress.", "Otto works at Initech."),
        ("Ana gave up coffee for tea.", "Ana drinks coffee."),
        ("The launch was moved from May 2 to May 9.", "The launch is on May 2."),
    ],
)
def test_a_state_that_an_earlier_statement_ended_is_disputed(change: str, state: str) -> None:
    assert judged(change, state).verdict == Verdict.DISPUTE
    assert judged(state, change).verdict == Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("We no longer use Jira, we use Linear.", "We use Jira."),
        ("Ben was replaced by Carla as team lead.", "Ben is the team lead."),
        ("The deadline was extended from May 3 to May 17.", "The deadline is May 3."),
        ("The price went up from 20 to 25 euros.", "The price is 20 euros."),
        ("Mia got divorced from Jan.", "Mia is married to Jan."),
        ("The valve is no longer set to 4411, it is 9000.", "The valve is set to 4411."),
    ],
)
def test_the_old_value_of_a_change_stated_again_is_disputed(change: str, state: str) -> None:
    assert judged(change, state).verdict == Verdict.DISPUTE


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("Maria moved from Berlin to Potsdam.", "Maria lives in Potsdam."),
        ("The team switched from Jira to Linear.", "The team uses Linear."),
        ("The team switched to Linear.", "The team uses Linear."),
        ("The launch was moved to May 9.", "The launch is on May 9."),
        ("The deadline was extended from May 3 to May 17.", "The deadline is May 17."),
        ("The office moved from the third floor to the fifth floor.",
         "The office is on the fifth floor."),
        ("The team dropped Jenkins for GitHub Actions.", "The team uses GitHub Actions."),
        ("I quit my job at Google and joined Meta.", "I work at Meta."),
        ("Lena stopped drinking coffee and drinks tea.", "Lena drinks tea."),
        ("Omar sold the blue van and bought a boat.", "Omar has a boat."),
        ("Pia took over QA.", "Pia leads QA."),
        ("Pia took over QA.", "Pia works in QA."),
        ("Pia became a director.", "Pia is a director."),
        ("Nora replaced Paul as head of sales.", "Nora is head of sales."),
        ("The depot now opens at 9 instead of 7.", "The depot opens at 9."),
        ("The train leaves from platform 4.", "The train arrives at platform 4."),
    ],
)  # fmt: skip
def test_what_a_change_led_to_stated_again_is_no_conflict(change: str, state: str) -> None:
    judgement = judged(change, state)
    hearing = Hearing(STATED.contradiction.sureness, STATED.repetition.sureness)
    is_heard = hearing.admits(judgement)
    assert not (judgement.verdict in (Verdict.DISPUTE, Verdict.SUPERSEDE) and is_heard), judgement


def test_something_new_of_another_kind_renews_nothing() -> None:
    judgement = judged("The office is managed by Rui.", "The office got a new printer.")
    assert judgement.verdict == Verdict.COEXIST or judgement.confidence <= 0.3
