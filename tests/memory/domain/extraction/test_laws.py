"""Laws that hold for any conversation whatever."""

from __future__ import annotations

import time
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.extraction import RulesExtractor
from memory.domain.extraction.language.sentences import split_sentences
from memory.domain.types import Participants, Role, SourceMessage

from .conversation import TUESDAY, talk

VOCABULARY = """
    I we you she they my our the a Lund Osprey kiln budget is are was has runs decided must not no
    prefer always remember that, actually, sorry, March 18 15 Friday tomorrow yesterday if maybe?
    "quote" and but so because -> ok; 3.5 12:30 from to in on by please don't forget: name Dana.
    Ines she/her password is secret7 [FACT] ## — … 🎉 let's go with
"""
WORDS = st.sampled_from(VOCABULARY.split())
SPEECH = st.one_of(st.text(max_size=160), st.lists(WORDS, max_size=30).map(" ".join))
NAMES = st.sampled_from(["", "Bea", "kyra"])
TURNS = st.lists(st.tuples(st.sampled_from(list(Role)), SPEECH, NAMES), max_size=7)
PEOPLE = st.builds(
    Participants, user=st.sampled_from(["", "dana"]), agent=st.sampled_from(["", "kyra"])
)


def conversation(turns: list[tuple[Role, str, str]]) -> list[SourceMessage]:
    """Messages of the drawn turns."""
    return [
        SourceMessage(UUID(int=position + 1), position, role, text, TUESDAY, name)
        for position, (role, text, name) in enumerate(turns)
    ]


@settings(max_examples=150)
@given(TURNS, PEOPLE, st.integers(0, 3))
def test_every_candidate_meets_the_writing_constraints(
    turns: list[tuple[Role, str, str]], people: Participants, held_back: int
) -> None:
    everything = conversation(turns)
    context, messages = everything[:held_back], everything[held_back:]
    extractor = RulesExtractor()
    first = extractor.extract(messages=messages, context=context, participants=people)
    second = extractor.review(
        messages=messages, context=context, participants=people, first_pass=first
    )
    given_ids = {message.id for message in messages}
    for candidate in [*first, *second]:
        assert 0 < len(candidate.content) <= 280
        assert len(split_sentences(candidate.content)) <= 3
        assert "\n" not in candidate.content
        assert candidate.message_ids
        assert set(candidate.message_ids) <= given_ids
        assert 3 <= candidate.importance <= 10
        assert 0 <= candidate.confidence <= 1
    assert all(candidate.extraction_pass == 1 for candidate in first)
    assert all(candidate.extraction_pass == 2 for candidate in second)
    assert first == extractor.extract(messages=messages, context=context, participants=people)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "(",
        "1",
        "1 ",
        "a ",
        "A ",
        '"',
        ". ",
        "a, ",
        "not x, ",
        "a-",
        "a.",
        "a\n",
        "- a\n",
        "I am here. ",
        "eyJ",
        "4111 1111 ",
        "password is ",
        "March 1 ",
        "if a when ",
        "I like ",
        "\t \n",
        "a-b ",
        "a: ",
        "“a. ",
        '"a. ',
        "<memory>",
        "[SYSTEM ",
        "Actually no, he a. ",
        "Ines does a, Bo b, ",
        "sk-abcdefghij0123456789 ",
        "password is hunter22. ",
    ],
)
def test_hostile_text_costs_little(unit: str) -> None:
    text = unit * (32_000 // len(unit))
    messages = talk("user: I live in Lund. Which way?", f"user: {text}", f"assistant/Bea: {text}")
    people = Participants(user="dana", agent="kyra")
    extractor = RulesExtractor()
    begin = time.process_time()
    first = extractor.extract(messages=messages, context=[], participants=people)
    extractor.review(messages=messages, context=[], participants=people, first_pass=first)
    # Two such messages in both passes; the half second per message leaves room for slow machines.
    assert time.process_time() - begin < 2.0
