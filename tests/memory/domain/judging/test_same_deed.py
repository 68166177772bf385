"""A denied deed is over only by that deed, and a holder's place only by that place's passing on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.types import Judgement, Statement, Verdict

BEFORE, AFTER = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)


def judged(existing: str, new: str) -> Judgement:
    """The judgement on a statement of January and one of March."""
    return RulesJudge().judge(existing=Statement(existing, BEFORE), new=Statement(new, AFTER))


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        # Of somebody's, or of a part of it.
        ("Eli hasn't climbed Snowdon.", "Eli's father climbed Snowdon last week."),
        ("The barn has not been insured.", "The barn's roof was insured last week."),
        ("The piano has not been tuned.", "The school's piano was tuned yesterday."),
        ("The hall has not been heated.", "Their hall was heated yesterday."),
        # Of another of its kind.
        ("The form has not been stamped.", "The other form was stamped on 2 March."),
        ("The treaty has not been ratified.", "The treaty with Peru was ratified on 2 March."),
        ("The bill has not been printed.", "The bill on fishing was printed yesterday."),
        ("Ida has not met her brother.", "Ida met her sister yesterday."),
        ("Bo hasn't written to the seller.", "Bo wrote to the buyer yesterday."),
        ("The well has not been dug in the garden.", "The well was dug yesterday in the yard."),
        # Another deed, or less of it.
        ("Mia has not paid.", "Mia paid tribute to her coach yesterday."),
        ("The fence has not been painted outside.", "The fence was painted inside yesterday."),
        ("Bo has not signed the lease.", "Bo showed Al the signed lease yesterday."),
        # The denial has a day of its own.
        ("The cat has not been fed this evening.", "The cat was fed last night."),
        # Something else is taken up again.
        ("Rolf doesn't drink gin.", "Rolf drinks whisky again."),
        ("Rolf does not write to his son.", "Rolf writes to his daughter again."),
        ("The kiosk is closed.", "The other kiosk is open again."),
    ],
)
def test_what_was_not_done_is_not_over_by_another_deed(existing: str, new: str) -> None:
    assert judged(existing, new).verdict in {Verdict.COEXIST, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The piano has not been tuned.", "The piano was tuned on 2 March."),
        ("The piano has not been tuned yet.", "Ola finally tuned the piano last week."),
        ("The yard has not been swept.", "The yard was swept by two pupils on Friday."),
        ("Bo hasn't written to the bank.", "Bo wrote to the bank two days ago."),
        ("No engineer has tested the lift.", "An engineer tested the lift last week."),
        ("Rolf doesn't grow barley.", "Rolf grows barley again."),
        ("The oven is off.", "The oven is on again."),
    ],
)
def test_what_was_not_done_is_over_by_that_deed(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Releases need a changelog.", "The post of head chef passed from Ida to Rolf."),
        ("The orchestra has 60 players.", "The direction of the orchestra passed from Mia to Ivo."),
        ("The mill has three wheels.", "The mill passed from Otto to his niece."),
        ("Otto lives in the mill.", "The mill passed from Otto to his niece."),
        ("Otto is a captain.", "The mill passed from Otto to his niece."),
        ("Otto's mill has three wheels.", "The mill passed from Otto to his niece."),
    ],
)
def test_what_passes_on_ends_nothing_else(existing: str, new: str) -> None:
    assert judged(existing, new).verdict in {Verdict.COEXIST, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Otto owns the mill.", "The mill passed from Otto to his niece."),
        ("The mill belongs to Otto.", "The mill passed from Otto to his niece."),
        ("Ida is head chef.", "The post of head chef passed from Ida to Rolf."),
        ("Mia directs the school.", "The direction of the school passed from Mia to Ivo."),
    ],
)
def test_what_passes_on_is_no_more_the_first_ones(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.SUPERSEDE
    assert judged(new, existing).verdict is not Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The park is open to joggers.", "The kiosk reopened on Friday."),
        ("The cellar is open to members.", "The window opened on Monday."),
    ],
)
def test_whom_one_place_lets_in_is_nothing_of_another(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The toll is 12 euros.", "The council put the toll up in May to 14 euros."),
        ("The wage is 15 euros.", "They put the wage up again, it is 16 euros."),
    ],
)
def test_what_is_put_up_to_a_figure_is_changed(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.SUPERSEDE


def test_what_is_put_up_for_sale_keeps_what_it_is() -> None:
    assert judged("The mill has 12 rooms.", "They put the mill up for sale.").verdict is (
        Verdict.COEXIST
    )
