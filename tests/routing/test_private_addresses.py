"""Providers of teams: where a host leads is checked, and the checked address is called."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from config.embedded import PROJECT_ROOT
from routing.clients.addresses import UnreachableAddressError, transport_within
from routing.clients.endpoints import check_endpoint
from routing.domain.endpoints import Reach
from tests.support.cast import Cast
from tests.support.openai_answers import MODEL
from tests.support.openai_server import FakeOpenAI


@pytest.fixture
def endpoint() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that were resolved; `link.example` leads to the link, others to this machine.

    Any further answer for a name, as of a name server that rebinds, is a public address.
    """
    names: list[str] = []
    resolve = socket.getaddrinfo
    leads = dict.fromkeys(["models.example", "receiver.example", "other.example"], "127.0.0.1")
    leads["link.example"] = "169.254.169.254"

    def resolved(host: str, port: int, *given: Any, **named: Any) -> Any:
        if host not in leads:
            return resolve(host, port, *given, **named)
        address = "93.184.216.34" if host in names else leads[host]
        names.append(host)
        return resolve(address, port, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return names


def provider_at(api: APIClient, base_url: str) -> str:
    """The address of a new provider with one model."""
    body = {"name": "Ours", "base_url": base_url, "timeout_seconds": 5}
    made = api.post("/v1/providers", body, format="json")
    assert made.status_code == 201, made.content
    model = {"provider": made.json()["id"], "name": MODEL, "tier": "fast"}
    prices = {"input_price": 0, "output_price": 0}
    assert api.post("/v1/chat-models", {**model, **prices}, format="json").status_code == 201
    return f"/v1/providers/{made.json()['id']}"


def test_a_proxy_of_one_scheme_leaves_the_other_checked(
    monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    for name in ("https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    transport = transport_within(Reach.PUBLIC)
    assert transport is not None

    with pytest.raises(httpx2.ConnectError):  # by the proxy, where nothing listens
        transport.handle_request(httpx2.Request("GET", "http://models.example/v1"))
    assert asked == []
    with pytest.raises(httpx2.ConnectError) as refused:
        transport.handle_request(httpx2.Request("GET", "https://models.example/v1"))
    assert isinstance(refused.value.__cause__, UnreachableAddressError)
    assert asked == ["models.example"]
    transport.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "models.example"])
def test_a_host_of_this_machine_is_called_only_if_it_is_listed(
    acme: Cast,
    api: APIClient,
    endpoint: FakeOpenAI,
    asked: list[str],
    settings: Settings,
    host: str,
) -> None:
    settings.PROVIDER_PRIVATE_HOSTS = ["other.example"]
    url = provider_at(api, endpoint.base_url.replace("127.0.0.1", host))
    chat = {"model": "kyra", "messages": [{"role": "user", "content": "Hi?"}]}

    refused = api.post(f"{url}/test", {}, format="json").json()
    asked.clear()
    unanswered = api.post("/v1/chat/completions", chat, format="json")
    sent_before = list(endpoint.requests)
    asked.clear()
    settings.PROVIDER_PRIVATE_HOSTS = [host]
    allowed = api.post(f"{url}/test", {}, format="json").json()

    assert refused["ok"] is False
    assert "PROVIDER_PRIVATE_HOSTS" in refused["detail"]
    assert unanswered.status_code == 503, unanswered.content
    assert "may not be called)" in unanswered.json()["detail"], "and is not tried again"
    assert sent_before == []
    assert allowed["ok"] is True, allowed
    assert asked == ([host] if host == "models.example" else []), "resolved once"


def test_a_link_local_address_is_called_by_no_setting(
    acme: Cast, api: APIClient, asked: list[str], settings: Settings
) -> None:
    settings.PROVIDER_PRIVATE_HOSTS = ["*"]
    url = provider_at(api, "http://link.example/v1")

    refused = api.post(f"{url}/test", {}, format="json").json()

    assert "Nothing was sent" in refused["detail"]


def test_a_certificate_must_be_that_of_the_name_whatever_address_is_called(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = PROJECT_ROOT / "memory/satellites/webhooks/tests/receiver.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    body = b'{"object": "list", "data": []}'
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    answer += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    def serve() -> None:
        for _ in range(2):
            line, _ = listening.accept()
            with suppress(ssl.SSLError), context.wrap_socket(line, server_side=True) as connected:
                connected.recv(65_536)
                connected.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        port = listening.getsockname()[1]
        own, others = (
            check_endpoint(
                base_url=f"https://{host}:{port}/v1",
                api_key="",
                timeout=5,
                models=[],
                reach=Reach.PRIVATE,
            )
            for host in ("receiver.example", "other.example")
        )
        serving.join(5)

    assert own.is_well, own
    assert others.words.startswith("It cannot be reached")


@pytest.mark.parametrize(
    ("reach", "within", "beyond"),
    [
        (Reach.PUBLIC, "93.184.216.34", "10.0.0.1"),
        (Reach.PRIVATE, "::1", "fe80::1%eth0"),
        (Reach.PRIVATE, "fc00::1", "::ffff:169.254.169.254"),
        (Reach.PRIVATE, "10.0.0.1", "64:ff9b::a9fe:a9fe"),
        (Reach.PRIVATE, "::ffff:10.0.0.1", "0.0.0.0"),
        (Reach.ANY, "169.254.169.254", None),
    ],
)
def test_reach_ends_at_addresses_however_they_are_wrapped(
    reach: Reach, within: str, beyond: str | None
) -> None:
    assert reach.covers(within)
    assert beyond is None or not reach.covers(beyond)
