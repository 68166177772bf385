"""What a change ends and what it leaves: other duties, superlatives, what cannot be lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.judging.relatedness import Change, names_change
from memory.domain.types import Statement, Verdict

OLD, NEW = datetime(2025, 9, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def verdict(existing: str, new: str, subject: str = "") -> Verdict:
    judge = RulesJudge()
    return judge.judge(
        existing=Statement(existing, OLD, subject), new=Statement(new, NEW, subject)
    ).verdict


@pytest.mark.parametrize(
    ("existing", "new", "subject"),
    [
        ("Tess looks after the Marlow contract.",
         "In March Tess took over the Hythe contract from Benno.", "sales.contracts"),
        ("Piet teaches class 3b.", "Piet took over class 5a from Ms. Rahn in May.",
         "school.staff"),
        ("Karin edits the newsletter.", "Karin stopped running the website.", "club.roles"),
        ("Lou plays the cello in the trio.", "Lou no longer gives lessons.", "lou.music"),
    ],
)  # fmt: skip
def test_a_change_of_another_duty_leaves_the_one_that_is_known(
    existing: str, new: str, subject: str
) -> None:
    assert verdict(existing, new, subject) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Karin edits the newsletter.", "Karin no longer edits the newsletter."),
        ("Piet teaches class 3b.", "Ms. Rahn took over class 3b from Piet in May."),
        ("There is a dress code at the club.", "In June the club did away with its dress code."),
        ("Noemi is seven months pregnant.", "Noemi had a baby girl on Friday."),
        ("Hugo, 31, is the youngest partner at the firm.",
         "A 28-year-old was made partner at the firm on Friday."),
        ("The Arden tower is the tallest building in the city.",
         "A taller tower was finished in the city in April."),
        ("Bus 12 is the only bus to the hospital.",
         "Bus 40 has been going to the hospital as well since Monday."),
        ("The farm employs ninety pickers.", "A third of the pickers went home in August."),
    ],
)  # fmt: skip
def test_an_end_an_addition_or_a_newcomer_that_surpasses_supersedes(
    existing: str, new: str
) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


def test_a_newcomer_who_does_not_surpass_leaves_the_superlative_standing() -> None:
    existing = "Hugo, 31, is the youngest partner at the firm."

    assert verdict(existing, "A 45-year-old was made partner at the firm.") is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Ewa has a degree in chemistry.", "Ewa dropped out of university and has no degree."),
        ("Mr. Oyelaran's native language is Yoruba.",
         "Mr. Oyelaran picked up Yoruba as an adult."),
        ("The library burned down in 1931.", "The library survived the fire of 1931 unharmed."),
        ("The nurses accepted the offer.", "The nurses turned the offer down."),
        ("The gardener charges by the hour.", "The gardener takes a flat fee per season."),
        ("The signature on the will is genuine.", "The signature on the will is a forgery."),
        ("Ludwig laid the terrace in slate of 3 cm.", "The terrace is laid in slate of 5 cm."),
    ],
)  # fmt: skip
def test_what_cannot_both_have_been_is_a_dispute(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Hanne is Jorge's mother-in-law.", "Jorge is Hanne's son-in-law."),
        ("Magda is Jorge's godmother.", "Jorge is Magda's godson."),
        ("The bread has to rise for 45 minutes.",
         "The bread has to rise for three quarters of an hour."),
        ("User is colour-blind.", "User is colour-blind, says the eye doctor."),
        ("Every member signed the letter.", "All members signed the letter, every single one."),
    ],
)  # fmt: skip
def test_other_words_for_one_fact_are_a_repetition(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("existing", "new", "subject"),
    [
        ("User never works on Saturdays.", "User plays football on Saturdays.", "user.saturday"),
        ("User never eats before noon.", "User drinks tea before noon.", "user.food"),
    ],
)
def test_what_is_denied_beside_what_is_told_is_no_repetition(
    existing: str, new: str, subject: str
) -> None:
    assert verdict(existing, new, subject) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The project is led by Tom.",
         "The project is now led by Fay, who joined last spring from the Berlin office and used to "
         "run the data platform."),
        ("The invoices are checked by Ines.",
         "The invoices are now checked by Pavel, whom the bank sent over in March and who knows "
         "the tax rules well."),
        ("The team uses Jira.",
         "The team now uses Linear, which the new head of product brought along from a job."),
    ],
)  # fmt: skip
def test_a_long_clause_about_the_new_value_does_not_hide_the_change(
    existing: str, new: str
) -> None:
    first, second = Statement(existing, OLD), Statement(new, NEW)

    assert names_change(existing=first, new=second) is not Change.NONE
    assert verdict(existing, new) is Verdict.SUPERSEDE
