"""Clients that never finish, never read or ask too much at once hold up nobody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.support.waiting import until
from tests.support.web_server import Server, answer, web_server

# So late that no test sees it: who is held up by a slow client waits until then.
PATIENT = ("receiving.HEAD_SECONDS = receiving.BODY_SECONDS = 600", "timeout = 600")
# Those of a process are full four times over.
SOCKETS = 40
POST = b"POST /echo HTTP/1.1\r\nHost: test\r\n"


@pytest.fixture
def server() -> Iterator[Server]:
    with web_server(*PATIENT, workers=1, threads=2) as found:
        yield found


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        POST,
        POST + b"Content-Length: 10\r\n\r\nhalf",
        POST + b"Transfer-Encoding: chunked\r\n\r\na\r\nhalf",
        POST + b"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n",
    ],
    ids=["nothing", "half a header", "half a body", "half a chunk", "the head alone"],
)
def test_unfinished_requests_hold_up_nobody(server: Server, sent: bytes) -> None:
    for _ in range(SOCKETS):
        server.line(sent)

    assert server.ask() in server.workers


def test_answers_that_nobody_reads_hold_up_nobody(server: Server) -> None:
    for _ in range(SOCKETS):
        line = server.line()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(b"GET /long HTTP/1.1\r\nHost: test\r\n\r\n")

    assert server.ask() in server.workers


def test_an_answer_that_is_read_late_is_whole(server: Server) -> None:
    line = server.line()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.sendall(b"GET /long HTTP/1.1\r\nHost: test\r\n\r\n" * 2)
    server.ask()

    assert answer(line) == (200, b"x" * 3_000_000)


def test_a_request_in_pieces_is_answered(server: Server) -> None:
    line = server.line()
    for piece in (POST[:9], POST[9:], b"Content-Len", b"gth: 6\r\n\r\nab", b"c", b"def"):
        line.sendall(piece)
        server.ask()

    assert answer(line) == (200, b"abcdef")


def test_a_body_in_chunks_is_put_together(server: Server) -> None:
    line = server.line(POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    line.sendall(b"3;x=y\r\ndef\r\n0\r\nTrailer: x\r\n\r\n")

    assert answer(line) == (200, b"abcdef")


def test_several_requests_on_one_connection_are_answered_in_order(server: Server) -> None:
    request = POST + b"Content-Length: 1\r\n\r\n"
    line = server.line(request + b"a" + request + b"b" + request)
    answers = [answer(line), answer(line)]
    line.sendall(b"c")

    assert [*answers, answer(line)] == [(200, b"a"), (200, b"b"), (200, b"c")]


def test_who_waits_to_be_told_may_send_its_body(server: Server) -> None:
    line = server.line(POST + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    assert line.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
    line.sendall(b"abc")

    assert answer(line) == (200, b"abc")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 100_000, 431),
        (b"GET /" + b"y" * 100_000, 414),
        (POST + b"Content-Length: 99999999999\r\n\r\n", 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n", 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 5_000, 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", 400),
    ],
    ids=[
        "head",
        "first line",
        "body",
        "chunk",
        "no size",
        "tiny chunks",
        "two lengths",
        "length and chunks",
    ],
)
def test_too_much_and_nonsense_are_refused_at_once(
    server: Server, sent: bytes, status: int
) -> None:
    line = server.line(sent)

    assert answer(line)[0] == status
    assert server.ask() in server.workers


def test_a_request_that_does_not_arrive_in_time_is_ended() -> None:
    with web_server("receiving.HEAD_SECONDS = 0.1", workers=1) as server:
        assert answer(server.line(POST))[0] == 408
        assert server.line().recv(1) == b""


def test_of_too_many_unfinished_requests_the_oldest_ends() -> None:
    with web_server(*PATIENT, "web_worker.MOST_INCOMPLETE = 3", workers=1) as server:
        lines = [server.line(POST) for _ in range(4)]

        assert answer(lines[0])[0] == 503
        lines[3].sendall(b"Content-Length: 1\r\n\r\na")
        assert answer(lines[3]) == (200, b"a")


def test_of_too_many_bytes_the_largest_request_ends() -> None:
    limits = ("web_worker.MOST_KEPT_BYTES = 1_000_000",)
    with web_server(*PATIENT, *limits, workers=1) as server:
        small = server.line(POST + b"Content-Length: 100000\r\n\r\n" + b"a" * 90_000)
        large = server.line(POST + b"Content-Length: 9000000\r\n\r\n" + b"a" * 1_500_000)

        assert answer(large)[0] == 503
        small.sendall(b"a" * 10_000)
        assert answer(small) == (200, b"a" * 100_000)


def test_one_caller_does_not_take_all_threads() -> None:
    with web_server(*PATIENT, workers=1, threads=4) as server:
        wait = b"GET /wait HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer greedy\r\n\r\n"
        greedy = [server.line(wait) for _ in range(10)]
        until(lambda: (server.folder / "began").exists())

        assert server.ask(headers=b"Authorization: Bearer other\r\n") in server.workers
        (server.folder / "go_on").touch()
        assert [answer(line)[0] for line in greedy] == [200] * 10


def test_who_asks_whether_the_process_lives_never_waits() -> None:
    with web_server(*PATIENT, workers=1, threads=2) as server:
        for caller in range(6):
            server.line(b"GET /wait HTTP/1.1\r\nHost: t\r\nAuthorization: %d\r\n\r\n" % caller)
        until(lambda: (server.folder / "began").exists())

        assert server.ask(b"/healthz") in server.workers
        (server.folder / "go_on").touch()


def test_more_than_may_wait_are_refused() -> None:
    with web_server(*PATIENT, "web_worker.MOST_WAITING = 2", workers=1, threads=1) as server:
        wait = b"GET /wait HTTP/1.1\r\nHost: test\r\n\r\n"
        served = server.line(wait)
        until(lambda: (server.folder / "began").exists())
        waiting = [server.line(wait) for _ in range(2)]
        server.ask(b"/healthz")
        refused = answer(server.line(wait))
        (server.folder / "go_on").touch()

        assert refused[0] == 429
        assert [answer(line)[0] for line in (served, *waiting)] == [200] * 3


def test_a_request_whose_client_is_gone_before_its_turn_is_not_carried_out() -> None:
    with web_server(*PATIENT, workers=1, threads=1) as server:
        held = server.line(b"GET /wait HTTP/1.1\r\nHost: test\r\n\r\n")
        until(lambda: (server.folder / "began").exists())
        note = b"GET /note HTTP/1.1\r\nHost: test\r\n\r\n"
        given_up = server.line(note)
        server.ask(b"/healthz")
        given_up.close()
        until(lambda: len(_connections(server)) == 1 + 1)  # the one held and the probe's
        (server.folder / "go_on").touch()

        assert answer(held)[0] == 200
        assert server.ask() in server.workers
        assert not (server.folder / "noted").exists()


def _connections(server: Server) -> list[object]:
    """The established connections of the server's one process."""
    (worker,) = server.master.children()
    return [each for each in worker.net_connections() if each.status != "LISTEN"]
