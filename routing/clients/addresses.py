"""Connects to checked addresses alone: a name is resolved once, and what was checked is called."""

from __future__ import annotations

import socket
import time
from urllib.request import getproxies, proxy_bypass

import httpx2
from openai import DEFAULT_CONNECTION_LIMITS

from routing.domain.endpoints import Reach


class UnreachableAddressError(OSError):
    """The host leads to an address that may not be called; nothing was sent."""


def checked_addresses(host: str, port: int, reach: Reach) -> list[str]:
    """The addresses of the host, each within reach.

    Raises UnreachableAddressError, and OSError for a name that is not found.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not all(reach.covers(each) for each in addresses):
        raise UnreachableAddressError
    return addresses


def connect(host: str, port: int, *, ends: float, reach: Reach) -> socket.socket:
    """A connection to one of the host's checked addresses; `ends` is a time of `time.monotonic`."""
    problem: OSError = OSError("no address")
    for address in checked_addresses(host, port, reach):
        try:
            left = max(0.001, ends - time.monotonic())
            return socket.create_connection((address, port), timeout=left)
        except OSError as error:
            problem = error
    raise problem


def transport_within(reach: Reach) -> httpx2.BaseTransport | None:
    """A transport for httpx2 that checks addresses; None for any reach."""
    return None if reach is Reach.ANY else _CheckedTransport(reach)


class _CheckedTransport(httpx2.HTTPTransport):
    """Connects to the address that was checked, with the certificate and Host of the name.

    A proxy of the environment resolves names itself, and decides for itself where it connects.
    """

    def __init__(self, reach: Reach) -> None:
        super().__init__(limits=DEFAULT_CONNECTION_LIMITS)
        self._reach = reach
        self._through = {
            scheme: httpx2.HTTPTransport(proxy=proxy, limits=DEFAULT_CONNECTION_LIMITS)
            for scheme, proxy in getproxies().items()
            if scheme in ("http", "https", "all")
        }

    def close(self) -> None:
        """Closes all connections, those through proxies too."""
        super().close()
        for each in self._through.values():
            each.close()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends the request to the first of the host's addresses that takes the connection."""
        url = request.url
        host = url.raw_host.decode("ascii")
        proxy = self._through.get(url.scheme) or self._through.get("all")
        if proxy is not None and not proxy_bypass(host):
            return proxy.handle_request(request)
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = checked_addresses(host, port, self._reach)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        *others, last = addresses
        for address in others:
            try:
                return self._send(request, address)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return self._send(request, last)

    def _send(self, request: httpx2.Request, address: str) -> httpx2.Response:
        return super().handle_request(
            httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={
                    **request.extensions,
                    "sni_hostname": request.url.raw_host.decode("ascii"),
                },
            )
        )
