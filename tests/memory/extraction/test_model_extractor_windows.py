"""Messages to one agent, once known to be no confidence, are found verbatim by the other agents."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.rendering import estimate_tokens
from memory.domain.types import Role
from memory.understanding.extraction_prompts import (
    EXTRACTION_RULES,
    REVIEW_RULES,
    extraction_prompt,
)
from memory.understanding.model_extractor import ModelExtractor, windows_of
from tests.support.examples import examples
from tests.support.model_extraction import (
    NOBODY,
    SARAH,
    Rules,
    asked,
    by_rules,
    chat,
    extract,
    extractor,
    found,
    proposal,
    said,
    server,
)
from tests.support.openai_server import (
    Behaviour,
    FakeOpenAI,
    answer,
    error,
    refusal,
    slow,
    truncated,
)

__all__ = ["server"]


def test_long_conversations_are_read_in_overlapping_windows(server: FakeOpenAI) -> None:
    server.will(
        found(proposal("Fact four.", messages=[4]), proposal("Fact one.", messages=[1])),
        found(
            proposal("fact FOUR", messages=[1, 3], importance=8), proposal("Nine.", messages=[5])
        ),
        found(),
    )

    memories = extract(extractor(server, window_messages=5, overlap=2), chat(10))

    assert [shown(request.text) for request in server.chats] == [
        [1, 2, 3, 4, 5],
        [4, 5, 6, 7, 8],
        [7, 8, 9, 10],
    ]
    # What two windows say is stored once: equal texts meet when they are written.
    assert [memory.content for memory in memories] == [
        "Fact four.",
        "Fact one.",
        "fact FOUR",
        "Nine.",
    ]
    assert memories[2].message_ids == (UUID(int=4), UUID(int=6))
    assert memories[3].message_ids == (UUID(int=8),)
    # The second window is told what the first one made of the messages that both have.
    assert "- [1] semantic, importance 6: Fact four." in server.chats[1].text
    assert "Fact one." not in server.chats[1].text
    assert "<earlier>" in server.chats[1].text


def shown(prompt: str) -> list[int]:
    """The facts of `chat` that stand in the prompt's conversation."""
    conversation = prompt.rpartition("<conversation>\n")[2]
    return [int(number) for number in re.findall(r"My fact number (\d+)", conversation)]


def test_long_messages_make_smaller_windows(server: FakeOpenAI) -> None:
    messages = [said(number, f"Part {number}. " + "x" * 30_000) for number in range(1, 5)]

    extract(extractor(server), messages)

    assert [re.findall(r"\[1\] user .*: Part (\d)", request.text) for request in server.chats] == [
        ["1"],
        ["2"],
        ["3"],
        ["4"],
    ]
    assert all(len(request.text) < 60_000 for request in server.chats)


def test_what_rests_on_the_window_before_alone_is_not_taken_again(server: FakeOpenAI) -> None:
    server.will(
        found(proposal("Fact four.", messages=[4])),
        found(
            proposal("The fourth fact in other words.", messages=[1]),
            proposal("Four and six together.", messages=[1, 3]),
        ),
    )

    memories = extract(extractor(server, window_messages=5, overlap=2), chat(6))

    assert [memory.content for memory in memories] == ["Fact four.", "Four and six together."]


@settings(max_examples=examples(5))
@given(
    context_tokens=st.sampled_from([24_576, 32_768, 131_072]),
    lengths=st.lists(st.sampled_from([1, 300, 5_000, 20_000, 32_000]), min_size=1, max_size=60),
    before=st.integers(0, 12),
)
def test_every_message_is_a_source_once_and_every_prompt_fits_the_models_context(
    context_tokens: int, lengths: list[int], before: int
) -> None:
    messages = [said(number, "y" * length) for number, length in enumerate(lengths, 100)]
    context = [said(number, "z" * 32_000) for number in range(1, before + 1)]

    windows = list(
        windows_of(
            messages=messages, context=context, size=40, overlap=4, context_tokens=context_tokens
        )
    )

    own = [message for window in windows for message in window.messages[window.overlap :]]
    assert own == messages
    for window in windows:
        noted = [replace(by_rules(each), content="n" * 280) for each in window.messages * 5]
        prompts = [
            extraction_prompt(
                messages=window.messages,
                context=window.before,
                participants=SARAH,
                noted=noted,
                rules=rules,
            )
            for rules in (EXTRACTION_RULES, REVIEW_RULES)
        ]
        for prompt in prompts:
            tokens = sum(estimate_tokens(message.content) for message in prompt)
            assert tokens <= context_tokens * 0.85  # the rest is for the answer


@settings(max_examples=examples(5))
@given(
    count=st.integers(0, 15),
    size=st.integers(1, 6),
    overlap=st.integers(0, 5),
    lengths=st.lists(st.sampled_from([1, 1, 1, 5_000, 60_000]), min_size=15, max_size=15),
)
def test_without_a_model_the_rules_read_each_message_exactly_once(
    count: int, size: int, overlap: int, lengths: list[int]
) -> None:
    rules = Rules()
    messages = [said(number + 1, "y" * lengths[number]) for number in range(count)]
    subject = ModelExtractor(
        model=NOBODY, fallback=rules, window_messages=size, overlap=min(overlap, size - 1)
    )

    extract(subject, messages)

    assert rules.extracted == [message.id for message in messages]


def test_an_overlap_as_long_as_the_window_is_refused(server: FakeOpenAI) -> None:
    with pytest.raises(ValueError, match="overlap"):
        extractor(server, window_messages=4, overlap=4)


@pytest.mark.parametrize(
    "trouble",
    [
        [error(503)],
        [error(401)],
        [refusal()],
        [answer("not JSON"), answer("still not JSON")],
        [truncated('{"memories": ['), truncated('{"memories": [')],
        [answer({"facts": []}), answer({"memories": [{"content": 1}]})],
    ],
    ids=["unavailable", "misconfigured", "refused", "malformed", "truncated", "invalid"],
)
def test_the_rules_do_the_window_that_the_model_does_not(
    server: FakeOpenAI, trouble: list[Behaviour]
) -> None:
    rules = Rules()
    server.will(found(proposal(messages=[2])), *trouble, found(proposal("Last.", messages=[3])))

    memories = extract(extractor(server, rules, window_messages=3, overlap=1), chat(7))

    assert [(memory.content, memory.extractor) for memory in memories] == [
        ("Sarah prefers tea to coffee.", "openai:fake-model"),
        ("By rules: My fact number 4 is here.", "rules"),
        ("By rules: My fact number 5 is here.", "rules"),
        ("Last.", "openai:fake-model"),
    ]
    # The overlap was the model's already; the rules get it as context.
    assert rules.contexts == [[UUID(int=1), UUID(int=2), UUID(int=3)]]


def test_an_answer_that_is_right_the_second_time_needs_no_rules(server: FakeOpenAI) -> None:
    rules = Rules()
    server.will(answer("not JSON"), found(proposal()))

    (memory,) = extract(extractor(server, rules), chat(1))

    assert memory.extractor == "openai:fake-model"
    assert rules.extracted == []


def test_an_endpoint_that_wastes_time_is_left_alone_for_a_while(server: FakeOpenAI) -> None:
    rules = Rules()
    times = iter([0.0, 20.0, 21.0, 70.0, 90.0])
    subject = ModelExtractor(
        model=asked(server, timeout=0.05, monotonic=lambda: next(times)),
        fallback=rules,
        window_messages=2,
        overlap=0,
    )
    server.will(slow(0.2))

    first = extract(subject, chat(4))
    second = extract(subject, chat(1))
    third = extract(subject, chat(1))

    assert {memory.extractor for memory in [*first, *second]} == {"rules"}
    assert {memory.extractor for memory in third} == {"openai:fake-model"}
    assert len(server.chats) == 2


def test_pass_2_sees_pass_1_and_adds_what_it_missed(server: FakeOpenAI) -> None:
    messages = chat(3)
    first_pass = [replace(by_rules(messages[1]), content="Sarah prefers tea to coffee.")]
    server.will(
        found(
            proposal("sarah PREFERS tea to coffee", messages=[2]),
            proposal("Sarah has a cat.", messages=[3]),
        )
    )

    memories = extractor(server).review(
        messages=messages, context=[], participants=SARAH, first_pass=first_pass
    )

    assert [memory.content for memory in memories] == ["Sarah has a cat."]
    assert memories[0].extraction_pass == 2
    assert memories[0].extractor == "openai:fake-model"
    assert "- [2] semantic, importance 5: Sarah prefers tea to coffee." in server.chats[0].text


def test_pass_2_may_be_another_model(server: FakeOpenAI) -> None:
    reviewer = asked(server, model="second-reader")
    subject = extractor(server, reviewer=reviewer)
    server.will(found(proposal()))

    memories = subject.review(messages=chat(1), context=[], participants=SARAH, first_pass=[])

    assert server.chats[0].body["model"] == "second-reader"
    assert [memory.extractor for memory in memories] == ["openai:second-reader"]


def test_pass_2_falls_back_to_the_rules_as_well(server: FakeOpenAI) -> None:
    rules = Rules()
    server.will(error(500))

    memories = extractor(server, rules).review(
        messages=chat(2), context=[], participants=SARAH, first_pass=[]
    )

    assert rules.reviewed == [UUID(int=1), UUID(int=2)]
    assert {(memory.extractor, memory.extraction_pass) for memory in memories} == {("rules", 2)}


def test_the_unscripted_server_answers_both_passes_by_itself(server: FakeOpenAI) -> None:
    subject = extractor(server, window_messages=3, overlap=1)
    messages = [
        said(1, "Remember that the deadline is 2026-03-15."),
        said(2, "Noted.", role=Role.ASSISTANT),
        said(3, "What is my name?"),
        said(4, "We use PostgreSQL\nfor everything."),
        said(5, "ok"),
    ]

    first_pass = extract(subject, messages)
    second_pass = subject.review(
        messages=messages, context=[], participants=SARAH, first_pass=first_pass
    )

    assert [(memory.content, memory.message_ids, memory.importance) for memory in first_pass] == [
        (
            "User said on 2026-02-09: Remember that the deadline is 2026-03-15.",
            (UUID(int=1),),
            10,
        ),
        ("User said on 2026-02-09: We use PostgreSQL for everything.", (UUID(int=4),), 5),
    ]
    assert second_pass == []


def test_it_works_through_an_endpoint_without_json_schema() -> None:
    with FakeOpenAI(json_schema=False) as server:
        memories = extract(extractor(server), chat(2))

    assert [memory.extractor for memory in memories] == ["openai:fake-model"] * 2
