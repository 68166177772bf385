"""What a common noun stands for beside a name, whose name is whose, and which stage is the last."""

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.judging.relatedness import Change, names_change
from memory.domain.types import Statement, Verdict

OLD = datetime(2026, 1, 5, 9, tzinfo=UTC)
NEW = datetime(2026, 3, 9, 14, tzinfo=UTC)


def verdict(existing: str, new: str) -> Verdict:
    return RulesJudge().judge(existing=Statement(existing, OLD), new=Statement(new, NEW)).verdict


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Nora works at Tesco.", "Nora left the retailer."),
        ("Nora works at the Prado.", "Nora left the museum."),
        ("Nora works for Unicef.", "Nora resigned from the charity."),
        ("Nora works for Unicef.", "Nora quit the NGO."),
        ("Nora is a nurse at St Anne's.", "Nora left the hospital in May."),
        ("Nora is a teacher at Oak Primary.", "Nora left the school in July."),
        ("Nora works as a chef at Bellini.", "Nora left the restaurant."),
        ("Nora is a developer on Falcon.", "Nora left the project."),
        ("Nora plays for Brentford.", "Nora quit the squad."),
        ("Nora plays the flute in the band Moss.", "Nora quit the group."),
        ("Nora swims for Delphin.", "Nora quit the club."),
        ("Nora sits on the school board.", "Nora resigned from her seat."),
        ("Nora is a councillor.", "Nora resigned from the council."),
        ("Nora is running for treasurer.", "Nora withdrew from the race."),
        ("Nora lives with Petra.", "Nora left the cottage they shared."),
    ],
)
def test_a_noun_that_is_left_may_stand_for_the_name(existing: str, new: str) -> None:
    assert verdict(existing, new) in {Verdict.SUPERSEDE, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Nora works at Tesco.", "Nora left the cinema."),
        ("Nora works at Tesco.", "Nora left the dishes."),
        ("Nora works at Tesco.", "Nora left the door open."),
        ("Nora works at Tesco.", "Nora left the museum at six."),
        ("Nora works at Tesco.", "Nora resigned from the parish council."),
        ("Nora works for Zeiss.", "Nora left the restaurant."),
        ("Nora is an engineer at Zeiss.", "Nora left the restaurant."),
        ("Nora works for Zeiss.", "Nora left the university in 2019."),
        ("Nora works for Zeiss.", "Nora left the hospital on Sunday."),
        ("Nora is a nurse at St Anne's.", "Nora left the nursing home."),
        ("Nora is a teacher at Oak Primary.", "Nora left the class."),
        ("Nora plays for Brentford.", "Nora left the restaurant."),
        ("Nora plays in the band Moss.", "Nora quit the choir."),
        ("Nora lives with Petra.", "Nora left the wedding."),
        ("Nora lives with Petra.", "Nora left the house at nine."),
    ],
)
def test_a_noun_of_another_kind_stands_for_no_name(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST
    assert verdict(new, existing) is Verdict.COEXIST


def test_the_noun_is_heard_on_what_has_the_name() -> None:
    works = Statement("Nora works at the Prado.", OLD)

    left = names_change(existing=works, new=Statement("Nora left the museum.", NEW))
    assert left is Change.ENDED
    left = names_change(existing=works, new=Statement("Nora left the wedding.", NEW))
    assert left is Change.NONE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User's brother Jon works at Aral.", "Jon Weir works at Agip now."),
        ("User's friend Rita lives in Graz.", "Rita Amsel lives in Linz."),
        ("My aunt Rita is 60.", "Rita Low is 34."),
        ("User's cousin Jon works for Audi.", "Jon Weir works for Fiat."),
    ],
)
def test_a_full_name_is_of_no_one_known_by_the_first_name(one: str, other: str) -> None:
    assert verdict(one, other) is Verdict.COEXIST
    assert verdict(other, one) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User's brother Jon Weir works at Aral.", "Jon Weir works at Agip now."),
        ("User's brother Jon works at Aral.", "User's brother Jon Weir works at Agip now."),
        ("User's brother Jon works at Aral.", "Jon works at Agip now."),
    ],
)
def test_the_same_name_or_the_same_relation_is_of_one(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.SUPERSEDE


def test_a_relation_that_both_tell_is_nothing_new() -> None:
    existing = "Svea works with her cousin Nils."

    assert verdict(existing, "Svea's cousin Nils is her colleague.") is Verdict.DUPLICATE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Svea is mending the bike.", "Svea finished the repair."),
        ("Svea is migrating the server.", "Svea finished the upgrade."),
        ("Svea is planning the fair.", "Svea finished the preparations."),
        ("Svea is learning to glide.", "Svea got her gliding certificate."),
        ("Svea is studying to be a surveyor.", "Svea passed the surveyor exam."),
    ],
)
def test_the_deed_done_or_what_the_learning_was_for_ends_it(existing: str, new: str) -> None:
    assert verdict(existing, new) in {Verdict.SUPERSEDE, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Svea is renovating the house.", "Svea finished the bathroom."),
        ("Svea is planning the fair.", "Svea finished the invitations."),
        ("Svea is writing a novel.", "Svea finished the repair."),
        ("Svea is learning to speak Greek.", "Svea passed the Greek exam."),
        ("Svea is learning Greek.", "Svea passed the A2 exam."),
        ("Svea is learning to glide.", "Svea passed the chemistry exam."),
    ],
)
def test_another_thing_done_or_passed_ends_nothing(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Svea will be operated on the left knee.", "Svea will be operated on the right knee."),
        ("Svea signs with the left hand.", "Svea signs with the right hand."),
        ("Svea is deaf in the left ear only.", "Svea is deaf in the right ear only."),
        ("The bandage is on the left foot.", "The bandage is on the right foot."),
    ],
)
def test_one_treatment_preference_or_thing_is_of_one_side(existing: str, new: str) -> None:
    assert verdict(existing, new) in {Verdict.SUPERSEDE, Verdict.DISPUTE}


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Svea is deaf in the left ear.", "Svea is deaf in the right ear."),
        ("Svea has a scar on the left knee.", "Svea has a scar on the right knee."),
        ("Svea broke the left wrist.", "Svea broke the right wrist."),
    ],
)
def test_what_one_may_have_on_both_sides_stands_beside(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.COEXIST
    assert verdict(new, existing) is Verdict.COEXIST
