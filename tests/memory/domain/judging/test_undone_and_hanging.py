"""What was undone and is done, what only hangs on the other's subject, and no repetition of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.types import Statement, Verdict

BEFORE, AFTER = datetime(2025, 11, 3, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC)


def verdict_on(existing: str, new: str, *, at: datetime = AFTER) -> Verdict:
    """The verdict where the existing statement is of November and the new one of `at`."""
    return RulesJudge().judge(existing=Statement(existing, BEFORE), new=Statement(new, at)).verdict


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The contract has not been signed.", "The contract was signed on 4 March."),
        ("The contract has not been signed yet.", "Both sides signed the contract yesterday."),
        ("The invoice has not been sent.", "Ana sent the invoice this morning."),
        ("The letter is not translated yet.", "The letter was translated on 3 March."),
        ("Nobody has tested the backup.", "Priya tested the backup on Friday."),
        ("The council has not decided on the tram.", "The council voted on the tram last week."),
        ("The kiosk does not sell stamps.", "The kiosk sells stamps again."),
        ("The swimming pool is closed.", "The swimming pool is open again."),
        ("The canal is closed to boats.", "Boats may use the canal again."),
        ("The practice takes no new patients.", "The practice is taking on new patients again."),
        ("The 7 bus does not stop at the mill.", "The 7 bus stops at the mill again."),
    ],
)
def test_what_is_done_since_then_ends_that_it_was_not(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The contract has not been signed.", "The contract was signed."),
        ("The contract has not been signed.", "The contract was signed a year ago."),
        ("The roof has not been repaired.", "The roof was repaired on 12 June 2025."),
        ("The kiosk does not sell stamps.", "The kiosk sells stamps."),
        ("The gate is not locked at night.", "The gate was locked at night on Monday."),
        ("The train does not stop at Elm Road.", "The train stops at Elm Road."),
    ],
)
def test_without_a_later_day_or_again_it_is_a_dispute(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.DISPUTE


def test_yesterday_is_no_later_day_where_both_were_told_today() -> None:
    verdict = verdict_on(
        "The contract has not been signed.", "The contract was signed yesterday.", at=BEFORE
    )

    assert verdict is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Jonas has not paid the deposit.", "Jonas paid the rent on Monday."),
        ("The surgery takes no new patients.", "The surgery is seeing its old patients again."),
    ],
)
def test_what_is_done_to_another_thing_stands_beside_it(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The novel is set in Trieste.", "The author of the novel lives in Zagreb."),
        ("The boat is 9 metres long.", "The trailer for the boat is 11 metres long."),
        ("The car is parked in the yard.", "The owner of the car is parked in the street."),
        (
            "The Kessler farm keeps sixty dairy cows.",
            "The farm next to the Kesslers gave up dairy cows in January.",
        ),
        ("Weber's bakery is closed on Mondays.", "The bakery opposite Weber's is open on Mondays."),
        ("The band has five members.", "The band's drummer left in February."),
    ],
)
def test_what_hangs_on_the_subject_is_another_thing(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The stall costs 30 euros a day.", "The rent of the stall costs 38 euros a day."),
        ("The museum costs 10 euros.", "Tickets for the museum cost 14 euros."),
        ("The choir is conducted by Anna Roth.", "The conductor of the choir is Petra Kuhn."),
        ("The report is due on 1 April.", "The deadline for the report is 8 April."),
    ],
)
def test_what_is_told_of_the_thing_by_its_own_noun_is_a_dispute(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The seedlings are watered daily.", "The seedlings get water only every third day."),
        ("All invoices are sent by post.", "Some invoices go out by e-mail."),
        ("The office is open between 8 and 10.", "The office is open from 8:00 to 18:00."),
        ("The path is closed to lorries.", "Lorries may use the path."),
        ("Dogs are kept out of the garden.", "Dogs may use the garden."),
        ("The clockmaker opens only in the afternoon.", "The clockmaker is open all day."),
        ("User meets the tutor every other Friday.", "User meets the tutor every Friday."),
        ("The ferry stops at Holm island.", "The ferry does not stop at Holm island."),
        (
            "Apprentices must live on site.",
            "Apprentices are free to decide whether they live on site.",
        ),
    ],
)
def test_what_excludes_the_other_is_no_repetition(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        (
            "The mayor does not oppose the tram line.",
            "The mayor wants the region to pay for the tram line.",
        ),
        (
            "Helmets are compulsory on site.",
            "The firm debates whether helmets should be compulsory on site.",
        ),
        ("Oskar is allergic to cats.", "Oskar has a cat."),
        ("The path is closed to horses.", "The path is open to cyclists."),
    ],
)
def test_what_tells_something_else_is_no_repetition(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The filter is cleaned every third week.", "The filter is cleaned every three weeks."),
        ("The shuttle leaves every half hour.", "The shuttle leaves every thirty minutes."),
        ("The film lasts 94 minutes.", "The film lasts an hour and 34 minutes."),
        ("Breakfast is served from 7 to 10.", "Breakfast is served between 7:00 and 10:00."),
        ("Deliveries are accepted between 8 and 10.", "Deliveries are accepted 8:00 to 10:00."),
        ("Dogs are barred from the churchyard.", "The churchyard is closed to dogs."),
        ("Every room has a balcony.", "All the rooms have balconies."),
    ],
)
def test_one_thing_told_in_other_forms_is_a_repetition(existing: str, new: str) -> None:
    assert verdict_on(existing, new) is Verdict.DUPLICATE
