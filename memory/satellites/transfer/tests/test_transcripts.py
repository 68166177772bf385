"""Transcript files: what they become, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memory.domain.types import Role
from memory.satellites.transfer.formats.items import ImportFileError
from memory.satellites.transfer.transcripts import Transcript, read_transcripts

HELLO = {"role": "user", "content": "We sail on Friday."}
ANSWER = {"role": "assistant", "content": "Noted."}
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


def read(data: object, *, stem: str = "boat", max_chars: int = 1000) -> tuple[Transcript, ...]:
    return read_transcripts(data=data, stem=stem, max_chars=max_chars, now=NOW)


def only(data: object) -> Transcript:
    (transcript,) = read(data)
    return transcript


def sessions() -> dict[str, Any]:
    """Two sessions in the LoCoMo format, of our own writing."""
    return {
        "speaker_a": "Nils",
        "speaker_b": "Mara",
        "session_2_date_time": "10:30 am on 3 April, 2024",
        "session_2": [{"speaker": "Mara", "dia_id": "D2:1", "text": "The mast is up."}],
        "session_1_date_time": "12:05 am on 29 February, 2024",
        "session_1": [
            {"speaker": "Nils", "dia_id": "D1:1", "text": "I bought a boat."},
            {
                "speaker": "Mara",
                "dia_id": "D1:2",
                "text": "Look!",
                "blip_caption": "a red sail in the rain",
            },
        ],
        "session_3_date_time": "9:00 pm on 4 April, 2024",
        "session_3": [],
        "qa": [{"question": "What did Nils buy?"}],
    }


def test_a_bare_list_is_one_conversation_named_by_the_file() -> None:
    transcript = only([HELLO, ANSWER])

    assert transcript.thread_id == "boat"
    assert [(turn.role, turn.content) for turn in transcript.turns] == [
        (Role.USER, "We sail on Friday."),
        (Role.ASSISTANT, "Noted."),
    ]


def test_made_up_external_ids_are_the_same_every_time_and_stay_when_the_file_grows() -> None:
    before = [turn.external_id for turn in only([HELLO, ANSWER]).turns]
    after = [turn.external_id for turn in only([HELLO, ANSWER, HELLO]).turns]

    assert len(set(after)) == 3
    assert after[:2] == before


def test_a_conversation_keeps_what_it_says_of_itself() -> None:
    said = {
        **HELLO,
        "name": "Nils",
        "external_id": "m-1",
        "created_at": "2024-04-03T12:00:00+02:00",
    }

    transcript = only({"thread_id": "harbour", "messages": [said]})

    (turn,) = transcript.turns
    assert transcript.thread_id == "harbour"
    assert (turn.name, turn.external_id) == ("Nils", "m-1")
    assert turn.created_at == datetime(2024, 4, 3, 10, 0, tzinfo=UTC)


def test_messages_without_a_time_follow_the_start_in_order() -> None:
    transcript = only({"started_at": "2024-04-03T10:00:00Z", "messages": [HELLO, ANSWER, HELLO]})

    times = [turn.created_at for turn in transcript.turns if turn.created_at]
    assert times[0] == datetime(2024, 4, 3, 10, 0, tzinfo=UTC)
    assert len(set(times)) == 3
    assert times == sorted(times)


def test_a_message_without_a_time_is_as_old_as_the_one_before() -> None:
    timed = {**HELLO, "created_at": "2024-04-03T10:00:00Z"}

    assert [turn.created_at for turn in only([ANSWER, timed, ANSWER]).turns] == [
        None,
        datetime(2024, 4, 3, 10, 0, tzinfo=UTC),
        datetime(2024, 4, 3, 10, 0, tzinfo=UTC),
    ]


def test_a_list_of_conversations_names_them_by_number_where_they_have_no_name() -> None:
    found = read([{"messages": [HELLO]}, {"messages": [ANSWER], "thread_id": "t"}, [HELLO]])

    assert [each.thread_id for each in found] == ["boat-1", "t", "boat-3"]


def test_locomo_sessions_become_conversations_in_their_order() -> None:
    found = read(sessions())

    assert [each.thread_id for each in found] == ["boat-session-1", "boat-session-2"]
    first, second = found[0].turns
    assert (first.role, first.name, first.external_id) == (Role.USER, "Nils", "D1:1")
    assert first.created_at == datetime(2024, 2, 29, 0, 5, tzinfo=UTC)
    assert second.created_at is not None
    assert second.created_at > first.created_at


def test_a_shared_picture_is_said_in_words() -> None:
    assert read(sessions())[0].turns[1].content == (
        "Look! [shares a photo: a red sail in the rain]"
    )


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({}, "Neither a list"),
        ("hello", "Neither a list"),
        ([], "Holds no messages"),
        ({"messages": []}, "Holds no messages"),
        ({"messages": {}}, "messages: Expected a list"),
        (["hello"], r"\[0\]: Expected an object"),
        ([{"content": "x"}], r"\[0\]\.role: Must be one of"),
        ([{"role": "robot", "content": "x"}], r"\[0\]\.role: Must be one of"),
        ([{"role": [], "content": "x"}], r"\[0\]\.role: Must be one of"),
        ([HELLO, {"role": "user"}], r"\[1\]\.content: Is missing"),
        ([{"role": "user", "content": 5}], r"\[0\]\.content: Must be text"),
        ([{"role": "user", "content": " \n"}], r"\[0\]\.content: Must not be blank"),
        ([{"role": "user", "content": "a\0b"}], r"\[0\]\.content: Must not hold the NUL"),
        ([{"role": "user", "content": "\ud800"}], r"\[0\]\.content: Must be valid Unicode"),
        ([{"role": "user", "content": "x" * 1001}], r"\[0\]\.content: Has 1,001 characters"),
        ([{**HELLO, "name": "x" * 201}], r"\[0\]\.name: Must be at most 200"),
        ([{**HELLO, "external_id": " "}], r"\[0\]\.external_id: Must not be blank"),
        ([{**HELLO, "external_id": "a\tb"}], r"\[0\]\.external_id: .*printable"),
        ([{**HELLO, "created_at": "yesterday"}], "Is no time"),
        ([{**HELLO, "created_at": [17]}], "Is no time"),
        ([{**HELLO, "created_at": "2031-01-01T00:00:00Z"}], r"\[0\]\.created_at: .*a day ahead"),
        ([{**HELLO, "created_at": "9999-12-31T23:00:00Z"}], "a day ahead"),
        ({"messages": [HELLO], "started_at": "2024-06-02T12:00:01Z"}, "started_at: .*a day ahead"),
        ({**sessions(), "session_2_date_time": "9:00 pm on 4 July, 2024"}, "session_2.*day ahead"),
        ([{**HELLO, "created_at": "0001-01-01T00:00:00+14:00"}], "Is no time"),
        ([{**HELLO, "external_id": "a"}, {**ANSWER, "external_id": "a"}], "'a' stands there twice"),
        ([{"messages": [HELLO]}, {"messages": 3}], r"\[1\]\.messages: Expected a list"),
        ({"messages": [HELLO], "thread_id": 4}, "thread_id: Must be text"),
        ({"messages": [HELLO], "started_at": "soon"}, "started_at: Is no time"),
        (
            [{"messages": [HELLO], "thread_id": "t"}, {"messages": [HELLO], "thread_id": "t"}],
            "'t' stands there twice",
        ),
        ({**sessions(), "session_2": 5}, "session_2: Expected a list"),
        ({**sessions(), "session_2_date_time": "soon"}, "session_2_date_time: Is no time"),
        ({**sessions(), "session_2_date_time": None}, "session_2_date_time: Is missing"),
        ({**sessions(), "session_2": [{"text": "x"}]}, r"session_2\[0\]\.dia_id: Is missing"),
        ({"session_1_date_time": "9:00 pm on 4 April, 2024", "session_1": []}, "are empty"),
    ],
)
def test_what_the_api_would_refuse_is_refused_with_its_place(data: object, complaint: str) -> None:
    with pytest.raises(ImportFileError, match=complaint):
        read(data)


def test_clocks_and_zones_may_be_a_day_ahead() -> None:
    at = "2024-06-02T12:00:00Z"

    assert only([{**HELLO, "created_at": at}]).turns[0].created_at == datetime.fromisoformat(at)
