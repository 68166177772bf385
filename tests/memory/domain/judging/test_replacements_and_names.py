"""One thing in the place of another, a figure that is another now, and an animal by its name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.judging.hearing import EXTRACTED, as_carried_out, hearing_on
from memory.domain.types import Statement, Verdict

AT = datetime(2026, 3, 2, tzinfo=UTC)


def judge(existing: str, new: str) -> Verdict:
    earlier, later = Statement(existing, AT), Statement(new, AT + timedelta(days=3))
    return as_carried_out(RulesJudge().judge(existing=earlier, new=later)).verdict


def heard_in_talk(existing: str, new: str) -> Verdict:
    """The verdict on two memories distilled from talk whose vectors say nothing."""
    earlier, later = Statement(existing, AT), Statement(new, AT + timedelta(days=3))
    judgement = as_carried_out(RulesJudge().judge(existing=earlier, new=later))
    hearing = hearing_on(existing=earlier, new=later, similarity=0.1, anchor=0.3, bar=EXTRACTED)
    is_heard = hearing is not None and hearing.admits(judgement)
    return judgement.verdict if is_heard else Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The API migrated from Python to Go.", "The API migrated from Go to Rust."),
        ("Billing moved from Stripe to Adyen.", "Billing moved from Adyen to Mollie."),
        ("The shop changed from Magento to Shopify.", "The shop changed from Shopify to Medusa."),
        ("Nora replaced Redis with Valkey.", "Nora replaced Valkey with KeyDB."),
        ("Redis was replaced by Valkey.", "Valkey was replaced by KeyDB."),
        ("The lab swapped Zeiss for Leica.", "The lab swapped Leica for Nikon."),
    ],
)
def test_a_further_change_supersedes_the_one_before(existing: str, new: str) -> None:
    assert judge(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize("when", ["", " last week", " recently"])
@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The API migrated from Python to Go", "The API migrated from Python to Rust"),
        ("Nora replaced Redis with Valkey", "Nora replaced Redis with KeyDB"),
        ("Redis was replaced by Valkey", "Redis was replaced by KeyDB"),
        ("The lab swapped Zeiss for Leica", "The lab swapped Zeiss for Nikon"),
        ("The band replaced Ole with Finn", "The band replaced Ole with Lars"),
    ],
)
def test_two_replacements_of_one_thing_are_in_dispute(existing: str, new: str, when: str) -> None:
    assert judge(f"{existing}.", f"{new}{when}.") is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Nora replaced Redis with Valkey.", "Nora replaced Kafka with Pulsar."),
        ("Nora replaced Redis with Valkey.", "Nora also replaced Kafka with Pulsar."),
        (
            "The school switched from Moodle to Canvas.",
            "The library switched from Moodle to Ilias.",
        ),
        (
            "The team switched from Jira to Linear for tickets.",
            "The team switched from Jira to Notion for the wiki.",
        ),
    ],
)
def test_a_replacement_of_something_else_leaves_the_first(existing: str, new: str) -> None:
    assert judge(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize("when", ["", " last week", " yesterday", " last Friday"])
@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team switched from Jira to Linear", "The team switched from Linear to Asana"),
        ("The team uses Jira for tickets", "The team switched to Linear for tickets"),
        ("User lives in Rome", "User moved to Milan"),
    ],
)
def test_a_change_is_one_whenever_it_was(existing: str, new: str, when: str) -> None:
    assert judge(f"{existing}.", f"{new}{when}.") is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Our budget for Q1 is 40,000 euros.", "The budget is now 55,000 euros, finance agreed."),
        ("Our quota for May is 20 seats.", "The quota is now 30 seats, sales agreed to it."),
        ("The limit for uploads is 10 MB.", "The limit is now 50 MB, ops raised it."),
        ("The deadline for the report is 3 May.", "The deadline is now 10 May, the client agreed."),
        ("The meeting is at 9.", "The meeting is now at 11, the room was taken."),
    ],
)
def test_another_figure_is_heard_in_talk_with_its_reason_behind_it(existing: str, new: str) -> None:
    assert heard_in_talk(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        (
            "Our budget for Q1 is 40,000 euros.",
            "The budget for Q2 is now 55,000 euros, all agreed.",
        ),
        (
            "Our budget for Q1 is 40,000 euros.",
            "The travel budget is now 55,000 euros, all agreed.",
        ),
        ("The deadline for the report is 3 May.", "The deadline for the poster is now 10 May."),
    ],
)
def test_the_figure_of_something_else_changes_nothing(existing: str, new: str) -> None:
    assert heard_in_talk(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User has a cat named Miso.", "Miso died last week."),
        ("User's cat is named Miso.", "Miso died last week."),
        ("User has a cat named Miso.", "User's cat Miso died last week."),
        ("User has a dog called Rex.", "Rex was put to sleep in March."),
        ("User has a parrot named Kiwi.", "Kiwi passed away yesterday."),
        ("Ann has a hamster named Pip.", "Pip ran away last week."),
    ],
)
def test_the_death_of_an_animal_ends_that_one_has_it(existing: str, new: str) -> None:
    assert heard_in_talk(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User has two cats, Miso and Nori.", "Miso died last week."),
        ("User has a brother named Tim.", "Tim passed away in May."),
        ("User has a dog named Rex.", "Rex was renamed Max."),
    ],
)
def test_what_leaves_the_rest_of_it_true_is_a_dispute(existing: str, new: str) -> None:
    assert judge(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User has a cat named Miso.", "Miso caught a mouse last week."),
        ("User has a cat named Miso.", "Miso nearly died last week."),
        ("User has a cat named Miso.", "Miso's vet died last week."),
        ("User has a cat named Miso.", "User's uncle Miso died last week."),
        ("User has a brother named Sam.", "Sam moved to Rome."),
        ("User has a sister named Eva.", "Eva put down the phone."),
    ],
)
def test_any_other_event_leaves_who_is_called_so(existing: str, new: str) -> None:
    assert judge(existing, new) is Verdict.COEXIST
