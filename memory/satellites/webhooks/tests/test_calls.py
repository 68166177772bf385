"""A webhook's request goes to the address that was checked, and ends in time."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from memory.satellites.webhooks import calls as webhook_calls
from memory.satellites.webhooks.calls import WebhookAnswer, problem_with_target
from routing.domain.endpoints import is_public
from tests.support.webhook_receiver import Receiver, serve

# Of receiver.example, with its key, for a hundred years; nobody trusts it but these tests.
CERTIFICATE = Path(__file__).with_name("receiver.pem")


@pytest.fixture
def server() -> Iterator[Receiver]:
    """A receiver on this machine."""
    with serve() as running:
        yield running


def post(url: str, **given: Any) -> WebhookAnswer:
    """The answer to one request, to this machine too unless told otherwise."""
    given = {"headers": {"X": "y"}, "seconds": 5, "allow_private": True, **given}
    return webhook_calls.post(url=url, body=b"{}", **given)


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let names lead to these addresses, one answer after the other; what was asked for."""
    asked: list[str] = []
    real, left = socket.getaddrinfo, list(answers)

    def resolve(host: str, port: int, *given: Any, **named: Any) -> list[Any]:
        if host[0].isdigit():
            return real(host, port, *given, **named)
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@contextmanager
def talking(act: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that does this with its one connection."""

    def serve_one() -> None:
        connected, _ = listening.accept()
        with connected:
            act(connected)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve_one, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"


PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1",
    "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1",
    "2002:7f00:1::", "2002:a00:1::", "2001:db8::1", "2001::1",
    "::a00:1", "::7f00:1", "64:ff9b:1::a00:1", "fec0::1", "192.0.0.192", "64:ff9b::c000:c0",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_no_public_network_are_refused(address: str) -> None:
    host = f"[{address}]" if ":" in address else address

    assert not is_public(ip_address(address))
    assert "private" in problem_with_target(f"https://{host}/hook", allow_private=False)
    assert "private" in post(f"https://{host}:1/hook", allow_private=False, seconds=1).error


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
def test_public_addresses_may_be_entered(address: str) -> None:
    host = f"[{address}]" if ":" in address else address

    assert is_public(ip_address(address))
    assert problem_with_target(f"https://{host}/hook", allow_private=False) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://localhost/", "https://sub.localhost/", "https://2130706433/", "https://0x7f.1/",
        "https://127.1/", "https://017700000001/", "http://example.com/", "ftp://example.com/",
        "https://user:key@example.com/", "https:///x", "https://example.com:0/",
        "https://exa mple/", "https://example.com/#x", "https://[::1", "https://exämple.com/",
        "https://a/\n", "x", "",
    ],
)  # fmt: skip
def test_other_addresses_are_refused_with_a_reason(url: str) -> None:
    assert problem_with_target(url, allow_private=False)


def test_a_name_that_leads_to_a_private_address_is_not_called(
    server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["93.184.216.34", "127.0.0.1"])
    url = server.url.replace("http", "https").replace("127.0.0.1", "receiver.example")

    answer = post(url, allow_private=False)

    assert answer == WebhookAnswer(None, webhook_calls._PRIVATE)
    assert server.received == []


def test_a_name_is_resolved_once_and_its_checked_address_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second answer, as of a name server that rebinds, is never asked for."""
    asked = resolving(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    called = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        called.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)

    post("https://receiver.example:8443/hook", allow_private=False)

    assert asked == ["receiver.example"]
    assert called == [("93.184.216.34", 8443)]


def test_proxies_of_the_environment_are_not_used(
    server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    assert post(server.url).is_taken


def test_nobody_waits_for_the_end_of_a_body_that_comes_byte_by_byte(server: Receiver) -> None:
    """It would take days; its status has come, so the receiver has the message."""
    server.answer = lambda _: 200
    server.body, server.pause = b"x" * 1_000_000, 0.5

    assert post(server.url, seconds=5).status == 200


def test_a_head_that_comes_byte_by_byte_is_cut_off() -> None:
    """Each byte comes in time, and the end of the head never does."""
    cut = threading.Event()

    def trickle(connected: socket.socket) -> None:
        with suppress(OSError):
            connected.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while True:
                connected.sendall(b"x")
                time.sleep(0.02)
        cut.set()

    with talking(trickle) as url:
        assert post(url, seconds=0.5).error == "It did not answer in time."
        assert cut.wait(30)


def test_a_server_that_says_nothing_is_cut_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answer = post(f"http://127.0.0.1:{listening.getsockname()[1]}/", seconds=0.3)

    assert answer.error == "It did not answer in time."


def test_no_more_of_a_long_answer_is_read_than_the_limit(server: Receiver) -> None:
    server.headers = {"Content-Length": str(10**9)}
    server.body = b"x" * webhook_calls._MOST_READ

    assert post(server.url).is_taken


def test_what_is_not_http_is_said_so() -> None:
    def greet(connected: socket.socket) -> None:
        connected.recv(65_536)
        connected.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")

    with talking(greet) as url:
        assert "not HTTP" in post(url).error


def test_nobody_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    assert "refused" in post(f"http://127.0.0.1:{port}/").error


def test_a_name_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "name was not found" in post(f"https://{'a' * 64}.example/").error


def test_tls_is_checked_against_the_name_that_was_entered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def encrypt(server: ThreadingHTTPServer) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True)

    resolving(monkeypatch, ["127.0.0.1"])
    trust = ssl.create_default_context(cafile=CERTIFICATE)
    with serve(encrypt) as receiver:
        url = receiver.url.replace("http://127.0.0.1", "https://receiver.example")

        assert post(url, trust=trust).is_taken
        assert receiver.received[0].headers["host"].startswith("receiver.example:")
        other = url.replace("receiver.example", "other.example")
        assert "certificate" in post(other, trust=trust).error
        assert "certificate" in post(url).error
