"""What a label names is one thing; needs that exclude each other; reasons in words of the texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.types import Verdict

from .test_parts_and_posts import verdict
from .test_rules_judge import judge

LABELLED = st.sampled_from(
    [
        ("The truck number", "6-324", "6-827"),
        ("Locker", "17-B", "18-B"),
        ("Unit", "B-204", "B-205"),
        ("Invoice", "2024-118", "2024-131"),
        ("Flight", "LH 441", "LH 907"),
        ("Printer", "PX-5", "PX-7"),
        ("The host", "db2x5", "db4x1"),
        ("Ticket", "#812", "#917"),
        ("User's friend", "Fritz5x35", "Nora5x36"),
        ("The container no.", "44-18", "44-19"),
    ]
)
TOLD = st.sampled_from(
    [("is in Split", "is in Zadar"), ("costs 400 euros", "costs 720 euros"), ("is red", "is blue")]
)


@given(labelled=LABELLED, told=TOLD)
@settings(max_examples=40)
def test_two_labels_are_two_things_and_one_label_with_two_values_is_a_dispute(
    labelled: tuple[str, str, str], told: tuple[str, str]
) -> None:
    noun, first, second = labelled
    one, other = told

    assert verdict(f"{noun} {first} {one}.", f"{noun} {second} {one}.") is Verdict.COEXIST
    assert verdict(f"{noun} {first} {one}.", f"{noun} {second} {other}.") is Verdict.COEXIST
    assert verdict(f"{noun} {first} {one}.", f"{noun} {first} {other}.") is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User's locker is 17-B.", "User's locker is 18-B."),
        ("The van's plate is HH-KL 204.", "The van's plate is HH-KL 377."),
        ("The 3-bedroom flat costs 900 euros.", "The 3-bedroom flat costs 1200 euros."),
    ],
)
def test_a_label_behind_the_verb_is_a_value(existing: str, new: str) -> None:
    assert verdict(existing, new) is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new", "expected"),
    [
        (
            "The lamp works without batteries.",
            "The lamp won't light up unless it has batteries.",
            Verdict.DISPUTE,
        ),
        ("The torch works without batteries.", "The torch needs batteries.", Verdict.DISPUTE),
        (
            "The torch works without batteries.",
            "The radio won't work unless it has batteries.",
            Verdict.COEXIST,
        ),
        ("Deploys happen on merge.", "Nightly deploys happen at 3.", Verdict.COEXIST),
        ("Reviews happen on merge.", "Quarterly reviews happen in May.", Verdict.COEXIST),
    ],
)
def test_what_is_needed_or_is_of_another_sort_is_no_repetition(
    existing: str, new: str, expected: Verdict
) -> None:
    assert verdict(existing, new) is expected


@pytest.mark.parametrize(
    ("existing", "new", "reason"),
    [
        (
            "The van's space starts at level 2.",
            "The van's space starts at level 3.",
            "two values of one attribute: level 2 / level 3",
        ),
        (
            "The guards are responsible for radio channel 4.",
            "The guards are responsible for radio channel 7.",
            "two values of one attribute (channel): 4 / 7",
        ),
        (
            "The flight leaves from gate B.",
            "The flight leaves from gate D.",
            "two values of one attribute: gate B / gate D",
        ),
        (
            "There are 120 parking spaces.",
            "There are 150 parking spaces.",
            "two values of one attribute (parking spaces): 120 / 150",
        ),
        (
            "The key to the cellar is with Tomasz.",
            "The key to the cellar is with Ilse.",
            "two names for one thing: Tomasz / Ilse",
        ),
        (
            "The pass costs 12 euros.",
            "The pass costs 15 euros.",
            "two values of one attribute (price): 12 euros / 15 euros",
        ),
        (
            "The meeting starts at 9:00.",
            "The meeting starts at 10:00.",
            "two values of one attribute (time): 9:00 / 10:00",
        ),
    ],
)
def test_a_dispute_is_told_in_whole_words_of_the_texts(
    existing: str, new: str, reason: str
) -> None:
    assert judge(existing, new).reason == f"{reason}, nothing says which holds"
