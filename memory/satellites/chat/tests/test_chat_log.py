"""Messages that clients send again are stored once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.chat.wording import (
    ROLES,
    said_without_calls,
    spoken_text,
    tool_names,
    turns_of,
)
from tests.support.chat import Ask, Town, assistant, user
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, error, slow


def test_a_client_that_sends_its_history_each_time_needs_no_thread(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("Which one?"), answer("This one?"), answer("Good."))
    ask("Take it.", thread=None)
    ask("Take it.", assistant("Which one?"), "yes", thread=None)
    ask(
        *("Take it.", assistant("Which one?"), "yes", assistant("This one?"), "yes"),
        thread=None,
    )

    assert town.said() == [
        ("user", "Take it."),
        ("assistant", "Which one?"),
        ("user", "yes"),
        ("assistant", "This one?"),
        ("user", "yes"),
        ("assistant", "Good."),
    ]
    assert len(town.conversations()) == 1


def test_two_conversations_that_begin_alike_stay_two(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    ask("Hi.", thread=None)
    ask("Hi.", assistant("OK"), "First.", thread=None)
    ask("Hi.", thread=None)
    ask("Hi.", assistant("OK"), "Second.", thread=None)

    texts = [
        [text for role, text in town.said(each.thread_id) if role == "user"]
        for each in town.conversations()
    ]
    assert texts == [["Hi.", "First."], ["Hi.", "Second."]]


def test_a_history_is_looked_for_in_its_project_alone(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("Which one?"))
    for project in ("alpha", "beta"):
        ask("Take it.", thread=None, metadata={"project": project})
        model.will(answer("Which one?"))
    ask("Take it.", assistant("Which one?"), "Yes.", thread=None, metadata={"project": "beta"})
    ask("Take it.", assistant("Which one?"), "No.", thread=None)

    talks = [town.said(each.thread_id) for each in town.conversations()]
    assert [[text for role, text in talk if role == "user"] for talk in talks] == [
        ["Take it."],
        ["Take it.", "Yes."],
        ["Take it.", "No."],
    ]


def test_a_client_that_sends_the_end_alone_is_known_by_it(town: Town, ask: Ask) -> None:
    ask("One.", thread=None)
    ask("One.", assistant("OK"), "Two.", thread=None)
    ask("Two.", assistant("OK"), "Three.", thread=None)

    (conversation,) = town.conversations()
    assert [text for role, text in town.said() if role == "user"] == ["One.", "Two.", "Three."]
    assert conversation.last_position == 6


def test_an_edited_question_is_kept_beside_the_first_one(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("A."), answer("B."), answer("C."), answer("D."))
    ask("Hi.")
    ask("Hi.", assistant("A."), "Tell me.")
    ask("Hi.", assistant("A."), "Tell me more.")
    ask("Hi.", assistant("A."), "Tell me more.", assistant("C."), "Thanks.")

    assert [text for _, text in town.said("t")] == [
        *("Hi.", "A.", "Tell me.", "B.", "Tell me more.", "C.", "Thanks.", "D."),
    ]


def test_another_answer_to_the_same_question_is_kept_and_gone_on_from(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("A."), answer("B."), answer("C."))
    ask("Hi.")
    ask("Hi.")
    ask("Hi.", assistant("B."), "More.")

    assert [text for _, text in town.said("t")] == ["Hi.", "A.", "B.", "More.", "C."]


def test_the_same_words_in_parts_are_the_same_message(town: Town, ask: Ask) -> None:
    ask("Hi.")
    ask({"role": "user", "content": [{"type": "text", "text": "Hi.\n"}]}, assistant("OK"), "More.")

    assert [text for role, text in town.said("t") if role == "user"] == ["Hi.", "More."]


@pytest.mark.parametrize("thread", ["t", None])
def test_requests_at_the_same_time_store_their_messages_once(
    town: Town, model: FakeOpenAI, ask: Ask, thread: str | None
) -> None:
    model.will(*[slow(0.3)] * 4)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask("Hi.", thread=thread), range(4)))

    assert {each.choices[0].message.content for each in answers} == {"OK"}
    assert town.said() == [("user", "Hi."), ("assistant", "OK")]


def test_a_clients_own_retries_store_once(town: Town, model: FakeOpenAI) -> None:
    # Three models fail, then the client asks again and the first one answers.
    model.will(*[error(500)] * 3)
    town.client(max_retries=1).chat.completions.create(
        model="kyra", messages=[{"role": "user", "content": "Hi."}]
    )

    assert town.said() == [("user", "Hi."), ("assistant", "OK")]


def test_a_request_under_an_idempotency_key_is_answered_once(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("First."), answer("Second."))
    headers = {"Idempotency-Key": "one"}
    first = ask("Hi.", extra_headers=headers)
    again = ask("Hi.", extra_headers=headers)

    assert first == again
    assert len(model.chats) == 1


@pytest.mark.parametrize("is_joined", [False, True])
def test_a_stream_under_an_idempotency_key_is_repeated(
    town: Town, model: FakeOpenAI, ask: Ask, is_joined: bool
) -> None:
    model.will(Behaviour(content="First of all.", is_joined=is_joined), answer("Second."))
    headers = {"Idempotency-Key": "two"}

    def told() -> tuple[str, list[Any]]:
        chunks = list(ask("Hi.", stream=True, extra_headers=headers))
        text = "".join(each.choices[0].delta.content or "" for each in chunks)
        return text, [chunks[0].palimpsest, chunks[-1].palimpsest]

    first, again = told(), told()
    assert first[0] == "First of all."
    assert again == first
    assert len(model.chats) == 1


def test_a_stream_that_broke_off_may_be_sent_again_under_its_key(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(Behaviour(content="one two three four", cut_after=3), answer("one two three four"))
    headers = {"Idempotency-Key": "three"}
    with pytest.raises(openai.APIError, match="broke off"):
        list(ask("Count.", stream=True, extra_headers=headers))
    chunks = list(ask("Count.", stream=True, extra_headers=headers))

    assert "".join(each.choices[0].delta.content or "" for each in chunks) == "one two three four"
    assert [role for role, _ in town.said("t")] == ["user", "assistant", "assistant"]


def test_a_thread_is_each_persons_own(town: Town, client: openai.OpenAI, ask: Ask) -> None:
    ask("Hi.")
    ask("Hi.", user="dmitri")

    assert len({each.end_user_id for each in town.conversations()}) == 2


def test_what_cannot_be_kept_as_text_is_told_in_brackets() -> None:
    message = {
        "role": "user",
        "name": "Sarah\n",
        "content": [
            {"type": "text", "text": "Listen\x00 \ud800."},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"filename": "plan.pdf", "file_id": "file-1"}},
            {"type": "video_url", "video_url": {"url": "https://example.com/v"}},
        ],
    }
    (turn,) = turns_of(message, most_chars=1_000)
    text, audio, file, other = turn.text.split("\n")

    assert text == "Listen\ufffd ?."
    assert audio.startswith("[audio wav, 4 bytes, sha256 ")
    assert file == "[file plan.pdf file-1]"
    assert other.startswith("[video_url, ")
    assert turn.name == "Sarah"


def test_arguments_of_a_call_are_the_same_however_they_are_written() -> None:
    def called(arguments: str) -> str:
        call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return turns_of(message, most_chars=1_000)[0].digest

    assert called('{"b": 1, "a": 2}') == called('{"a":2,"b":1}')
    assert called('{"a": 1}') != called('{"a": 2}')


def test_a_message_without_words_is_no_turn() -> None:
    assert turns_of(user("  \n"), most_chars=10) == []
    assert turns_of({"role": "assistant", "content": None}, most_chars=10) == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "function", "name", "url"]), inner)
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(sorted(ROLES)),
            "content": st.none()
            | st.text()
            | st.lists(
                st.dictionaries(
                    st.sampled_from(
                        ["type", "text", "image_url", "input_audio", "file", "refusal"]
                    ),
                    anything,
                )
            ),
            "tool_calls": anything,
            "function_call": anything,
            "refusal": anything,
            "name": anything,
        }
    )
)
def test_whatever_a_message_holds_can_be_kept(message: dict[str, Any]) -> None:
    for turn in turns_of(message, most_chars=7):
        assert 0 < len(turn.text) <= 7
        assert "\x00" not in turn.text
        assert turn.text.encode().decode() == turn.text
        assert turn.role in {"user", "assistant", "system", "tool"}
    assert tool_names([message]) is not None
    assert isinstance(said_without_calls(spoken_text(message)), str)
