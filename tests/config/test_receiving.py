"""A request is put together from whatever pieces it arrives in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.receiving import (
    BODY_SECONDS,
    BYTES_A_SECOND,
    HEAD_SECONDS,
    MOST_HEAD,
    BodyTooLargeError,
    HeadTooLargeError,
    Incoming,
    LineTooLongError,
)

MOST_BODY = 1_000
HEAD = b"POST / HTTP/1.1\r\nHost: test\r\n"


def incoming() -> Incoming:
    return Incoming(most_body=MOST_BODY, now=100.0, proceed=lambda: None)


def fed(pieces: list[bytes]) -> tuple[bytes, bytes]:
    """What is taken once the request is whole, and what had not been fed by then."""
    collected = incoming()
    for at, piece in enumerate(pieces):
        if collected.add(piece):
            return collected.taken(), b"".join(pieces[at + 1 :])
    raise AssertionError("the request never became whole")


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % len(data) for place in places} - {0})
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


@given(
    body=st.binary(max_size=MOST_BODY),
    behind=st.binary(max_size=30),
    places=st.lists(st.integers(1, 2_000), max_size=8),
)
def test_a_body_of_known_length_is_whole_however_it_is_cut(
    body: bytes, behind: bytes, places: list[int]
) -> None:
    sent = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body + behind

    taken, rest = fed(cut(sent, places))

    assert taken + rest == sent


@given(
    chunks=st.lists(st.binary(min_size=1, max_size=90), max_size=10),
    behind=st.binary(max_size=30),
    places=st.lists(st.integers(1, 2_000), max_size=8),
    trailer=st.sampled_from([b"", b"X: y\r\n", b"X: y\r\nZ: \r\n"]),
)
def test_chunks_are_put_together_however_they_are_cut(
    chunks: list[bytes], behind: bytes, places: list[int], trailer: bytes
) -> None:
    told = b"".join(b"%x;a=b\r\n%s\r\n" % (len(each), each) for each in chunks)
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    body = b"".join(chunks)

    taken, rest = fed(cut(head + told + b"0\r\n" + trailer + b"\r\n" + behind, places))

    assert taken + rest == HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body + behind


def test_a_request_without_a_body_is_whole_with_its_head() -> None:
    collected = incoming()

    assert not collected.add(b"GET / HTTP/1.1\r\nAuthorization: Bearer a\r\n\r")
    assert collected.add(b"\n")
    assert collected.header(b"authorization") == b"Bearer a"
    assert collected.header(b"expect") is None


def test_too_much_is_refused_before_it_has_come() -> None:
    with pytest.raises(BodyTooLargeError):
        incoming().add(HEAD + b"Content-Length: 1001\r\n\r\n")
    with pytest.raises(BodyTooLargeError):
        incoming().add(HEAD + b"Transfer-Encoding: chunked\r\n\r\n3e9\r\n")
    with pytest.raises(HeadTooLargeError):
        incoming().add(HEAD + b"X: " + b"y" * MOST_HEAD)
    with pytest.raises(LineTooLongError):
        incoming().add(b"GET /" + b"y" * MOST_HEAD)


def test_a_body_has_more_time_the_more_of_it_has_come() -> None:
    collected = incoming()
    assert collected.deadline == 100.0 + HEAD_SECONDS

    collected.add(HEAD + b"Content-Length: 900\r\n\r\n")
    assert collected.deadline == 100.0 + HEAD_SECONDS + BODY_SECONDS
    collected.add(b"x" * 500)

    assert collected.deadline == 100.0 + HEAD_SECONDS + BODY_SECONDS + 500 / BYTES_A_SECOND


def test_who_wants_to_be_told_to_send_its_body_is_told_once() -> None:
    told: list[str] = []
    collected = Incoming(most_body=MOST_BODY, now=0.0, proceed=lambda: told.append("go on"))
    collected.add(HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    collected.add(b"a")

    assert collected.add(b"b")
    assert told == ["go on"]
    assert b"Expect" not in collected.taken()
