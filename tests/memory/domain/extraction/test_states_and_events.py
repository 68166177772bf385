"""What is so for good bears no date of today, and is told apart from what happened."""

from __future__ import annotations

import pytest

from memory.domain.types import MemoryType

from .conversation import both_passes, extracted, texts


@pytest.mark.parametrize(
    "said",
    [
        "The fence is red.",
        "When the pitch is flooded we use the gym.",
        "If the lock is stuck I use the back door.",
    ],
)
def test_a_state_bears_no_date(said: str) -> None:
    found = extracted(f"user: {said}")
    assert found
    assert all(each.memory_type is MemoryType.SEMANTIC for each in found)
    assert not any("2026" in each.content for each in found)


@pytest.mark.parametrize(
    "said",
    [
        "The pipeline is red.",
        "The nightly job is red.",
        "The pipeline for the payments service is red.",
        "The staging build went red.",
        "When the pitch flooded, we used the gym.",
    ],
)
def test_what_happened_is_dated(said: str) -> None:
    assert any("On March 10, 2026" in each for each in texts(f"user: {said}"))


@pytest.mark.parametrize(
    ("said", "state", "event"),
    [
        ("A DJ costs 700, a band 1,900, so we've gone with the DJ.",
         "A DJ costs 700, a band 1,900.", "the team has gone with the DJ."),
        ("Dai does the electrics, he's coming on Thursday.",
         "Dai does the electrics.", "Dai is coming on Thursday, March 12, 2026."),
        ("The cardigan is for my niece Cerys, she turns eighteen on November 28.",
         "The cardigan is for Dana's niece Cerys.", "Cerys turns eighteen on November 28, 2026."),
        ("My mum is vegetarian, so I cooked lentils on Sunday.",
         "Dana's mum is vegetarian.", "Dana cooked lentils on Sunday, March 8, 2026."),
    ],
)  # fmt: skip
def test_a_state_and_an_event_are_two(said: str, state: str, event: str) -> None:
    found = {each.content: each.memory_type for each in extracted(f"user: {said}")}
    assert found[state] is MemoryType.SEMANTIC
    assert [kind for content, kind in found.items() if content.endswith(event)] == [
        MemoryType.EPISODIC
    ]


@pytest.mark.parametrize(
    "said",
    [
        "The lid cracked, so I want a refund.",
        "The lift is broken, so we'll carry it up on Saturday.",
        "I was ill, so Marek drove.",
        "Yasmin writes the report, she starts on Monday.",
        # Either of the two may be meant.
        "Lena works with Petra, she joined in May.",
        # What happened before looks like what holds.
        "I beat Ottokar at darts, he was cross.",
        "My uncle let the flat to a student, he was lucky.",
        "The council rejected the plan, so we appealed on Monday.",
        # That somebody got in touch is no fact by itself.
        "The garage called, they moved my slot to Friday.",
        "Mum is calling, she moved our trip to Friday.",
    ],
)
def test_what_leans_on_its_reason_stays_whole(said: str) -> None:
    assert len(extracted(f"user: {said}")) == 1


@pytest.mark.parametrize(
    ("said", "kind", "pinned"),
    [
        ("I run the dishwasher at night.", "user_profile", False),
        ("Before delivery I run the terms through termcheck, that has saved me twice.",
         "procedural", False),
        ("I've lived in Ghent since 2019.", "user_profile", False),
        ("I've worked at Solberg since 2019.", "user_profile", True),
        ("I've got a broken wrist.", "user_profile", False),
        ("I have a torn meniscus.", "user_profile", False),
        # What they are like and are not.
        ("I run a small bakery.", "user_profile", True),
        ("I run the support desk.", "user_profile", True),
        ("I've lived with this bug since 2019.", "semantic", False),
        ("I had a broken wrist in 2019.", "episodic", False),
        ("My car has a broken mirror.", "episodic", False),
    ],
)  # fmt: skip
def test_kind_and_pin(said: str, kind: str, pinned: bool) -> None:
    found = both_passes(f"user: {said}")
    assert [(each.memory_type.value, each.is_pinned) for each in found] == [(kind, pinned)]
