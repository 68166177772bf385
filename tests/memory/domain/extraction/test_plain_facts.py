"""Short plain statements of how somebody lives and wants to be talked to are kept."""

from __future__ import annotations

import pytest

from memory.domain.types import MemoryType

from .conversation import both_passes, extracted, texts


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I take levothyroxine.", "Dana takes levothyroxine."),
        ("I'm on ramipril.", "Dana is on ramipril."),
        ("I don't drink wine.", "Dana does not drink wine."),
        ("I smoke.", "Dana smokes."),
        ("I'm a sound engineer.", "Dana is a sound engineer."),
        ("I'm scared of spiders.", "Dana is scared of spiders."),
        ("I'm learning Basque.", "Dana is learning Basque."),
        ("I can juggle.", "Dana can juggle."),
        ("I don't have kids.", "Dana does not have kids."),
    ],
)
def test_a_way_of_life_is_kept_though_it_names_nothing(said: str, told: str) -> None:
    assert texts(f"user: {said}") == [told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("work as a roofer in Derry", "Dana works as a roofer in Derry."),
        ("allergic to mussels btw", "Dana is allergic to mussels."),
        ("weigh 74 kilos", "Dana weighs 74 kilos."),
        ("hate olives", "Dana hates olives."),
        ("can't do tuesdays", "Dana cannot do tuesdays."),
        ("never learned to swim", "Dana never learned to swim."),
        ("claustrophobic", "Dana is claustrophobic."),
        ("recently divorced", "Dana is recently divorced."),
        ("sensitive to caffeine", "Dana is sensitive to caffeine."),
        ("studying for the bar exam", "Dana is studying for the bar exam."),
        ("born and raised in Lagos", "Dana was born and raised in Lagos."),
        ("lived in Kobe for 3 years", "Dana lived in Kobe for 3 years."),
        ("afraid of heights lol", "Dana is afraid of heights."),
        ("don't eat pork", "Dana does not eat pork."),
    ],
)
def test_the_subject_that_casual_talk_leaves_out_is_the_speaker(said: str, told: str) -> None:
    assert texts(f"user: {said}") == [told]


def test_a_bare_answer_about_somebody_else_is_not_the_speaker() -> None:
    found = texts("assistant: What does Ines do?", "user: work as a roofer in Derry")
    assert not any(text.startswith("Dana work") for text in found)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("keep answers brief", "Dana asks the agent to keep answers brief."),
        ("use metric units pls", "Dana asks the agent to use metric units."),
        (
            "pls stop calling, text me instead",
            "Dana asks the agent to stop calling and text Dana instead.",
        ),
        ("don't ever call me before 9", "Dana asks the agent not to call Dana before 9."),
        ("text don't call", "Dana asks the agent to text and not to call."),
        ("skip the small talk", "Dana asks the agent to skip the small talk."),
    ],
)
def test_a_manner_of_talking_is_a_lasting_wish(said: str, told: str) -> None:
    (found,) = extracted(f"user: {said}")
    assert found.content == told
    assert (found.memory_type, found.importance) == (MemoryType.SEMANTIC, 8)


def test_go_is_a_language_where_it_is_written_as_a_name() -> None:
    (told,) = texts("user: We rewrote the scheduler in Go.")
    assert told.endswith("the team rewrote the scheduler in Go.")


@pytest.mark.parametrize(
    "said",
    [
        "I need coffee.",
        "I'm a mess today.",
        "I take it you know.",
        "I read you.",
        "work on the report",
        "keep it up",
        "I use it now.",
        "play the next song",
        "I'm a bit late.",
        "have a nice evening",
        "use the other file for this",
        "Live in production since Monday.",
        "love from Anna",
        "started at 9",
        "let's start over",
    ],
)
def test_chatter_and_tasks_are_not_taken_for_a_way_of_life(said: str) -> None:
    assert both_passes(f"user: {said}") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("So I finally moved to Derry.", "Dana finally moved to Derry."),
        ("Turns out I'm allergic to kiwi.", "Dana is allergic to kiwi."),
        ("Like I said, I work nights.", "Dana works nights."),
        ("Then I moved to Cardiff in 2019.", "Dana moved to Cardiff in 2019."),
    ],
)
def test_what_only_leads_over_is_left_out(said: str, told: str) -> None:
    assert texts(f"user: {said}") == [told]


def test_an_object_pronoun_is_given_its_name() -> None:
    found = extracted("user: I bought an old sailboat last year. I sail it every Sunday.")
    assert found[-1].content == "Dana sails the old sailboat every Sunday."
    found = extracted("user: I have two parrots.", "user: I feed them at 7 every morning.")
    assert found[-1].content == "Dana feeds the parrots at 7 every morning."
    assert {source.int for source in found[-1].message_ids} == {1, 2}


@pytest.mark.parametrize(
    "said", ["I sail it every Sunday.", "I got them from my aunt in Brno.", "I love it."]
)
def test_a_pronoun_that_means_nothing_named_is_not_kept(said: str) -> None:
    assert both_passes(f"user: {said}") == []
