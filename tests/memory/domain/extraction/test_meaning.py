"""What is not meant, or not meant to last, becomes no memory; what stands beside it does."""

from __future__ import annotations

import pytest

from memory.domain.extraction.meant.acts import Act, act_of

from .conversation import both_passes, texts


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("I was thinking of repainting the shed.", Act.HYPOTHETICAL),
        ("We're still weighing Genoa against Pisa.", Act.HYPOTHETICAL),
        ("Part of me wants to keep the boat.", Act.HYPOTHETICAL),
        ("I nearly signed up for the marathon.", Act.HYPOTHETICAL),
        ("We should really clean the attic.", Act.HYPOTHETICAL),
        ("I think the ferry leaves at eight.", Act.GUESS),
        ("Chances are the road is closed.", Act.GUESS),
        ("They must have changed the lock.", Act.GUESS),
        ("I'm fairly sure the shop takes cards.", Act.GUESS),
        ("I think oak is nicer than pine.", Act.STATEMENT),
        ("The brochure promises endless beaches.", Act.QUOTE),
        ("My aunt insists that the moon makes her sleepless.", Act.QUOTE),
        ("Tim called our logo a sad banana.", Act.QUOTE),
        ("My aunt says the train leaves at 9:15.", Act.STATEMENT),
        ("Oh great, another meeting about meetings.", Act.SMALL_TALK),
        ("Because who doesn't love a flat tyre.", Act.SMALL_TALK),
        ("I'm so done with this week.", Act.SMALL_TALK),
        ("I need a shower.", Act.SMALL_TALK),
        ("How come my bread never rises", Act.QUESTION),
        ("I'd like to know how a loom works.", Act.QUESTION),
        ("What do I even wear to that", Act.QUESTION),
        ("Stuck on the bus, tell me a joke.", Act.REQUEST),
        ("I need a synonym for brave.", Act.REQUEST),
        ("Reword this so that it sounds kinder.", Act.REQUEST),
    ],
)
def test_the_act_behind_the_words(said: str, act: Act) -> None:
    assert act_of(text=said, chat=False) is act


@pytest.mark.parametrize(
    "said",
    [
        "The cat is walking over my notes.",
        "My neighbour is practising the tuba again.",
        "I just spilled juice all over the table.",
        "The queue at the kiosk was endless.",
        "Somebody is drilling next door.",
        "The show goes on!",
    ],
)
def test_what_only_happens_around_the_speaker_is_not_kept(said: str) -> None:
    assert both_passes(f"user: {said}") == []


@pytest.mark.parametrize(
    "said",
    [
        "The spare key hangs behind the boiler.",
        "The ferns need water every two days.",
        "Mathilde is learning to ski.",
        "We never paint on a Friday.",
        "The workshop seats 20 people.",
        "I planted garlic and two rows of leeks.",
    ],
)
def test_what_lasts_or_was_done_is_kept(said: str) -> None:
    assert len(both_passes(f"user: {said}")) == 1


def test_a_clause_that_is_meant_is_kept_beside_one_that_is_not() -> None:
    (told,) = texts("user: I guess the paint is dry, but the varnish comes on 12 May.")
    assert told == "The varnish comes on May 12, 2026."
    assert texts("user: If it snows we could meet indoors, and the children would love it.") == []


def test_what_holds_for_one_answer_is_no_lasting_wish() -> None:
    assert texts("user: Just this once, answer in Danish.") == []
    (told,) = texts("user: From now on answer in Danish.")
    assert "Danish" in told


def test_how_a_text_should_be_changed_is_no_wish() -> None:
    lines = ("user: Reword this: the lift is broken.", "assistant: The lift is out of order.")
    assert texts(*lines, "user: shorter, and no full stop please") == []
    (wish,) = texts(*lines, "user: From now on never use exclamation marks.")
    assert "exclamation" in wish


def test_the_answers_of_a_riddle_are_no_facts() -> None:
    lines = ("user: Tell me a riddle.", "assistant: What runs but has no legs?")
    assert both_passes(*lines, "user: a river, easy") == []


def test_a_speech_at_the_end_is_cut_off() -> None:
    (told,) = texts('user: Nobody else may oil the lathe: "hands off or else, my friend".')
    assert told == "Nobody else may oil the lathe."
