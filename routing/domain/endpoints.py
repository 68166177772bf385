"""Validates the addresses and key names of endpoints that teams enter."""

from __future__ import annotations

import re
import socket
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

KEY_PREFIX = "PROVIDER_KEY_"
_KEY_NAME = re.compile(rf"{KEY_PREFIX}[A-Z0-9_]{{1,80}}")
_BRACKETED = re.compile(r"\[[0-9A-Fa-f:.]+\](:\d*)?")
_DOTTED = re.compile(r"\d+(\.\d+){3}")
_NAT64 = IPv6Network("64:ff9b::/96")
# Some clouds have their metadata in it, which `is_global` of older Pythons lets pass.
_PROTOCOLS = IPv4Network("192.0.0.0/24")
# IPv4-compatible, translated within one network, and site-local: each may lead into a private one.
_LOCAL_FORMS = tuple(IPv6Network(each) for each in ("::/96", "64:ff9b:1::/48", "fec0::/10"))


class Reach(Enum):
    """The addresses that a server may connect to.

    `PRIVATE` includes those of private networks and of the machine, but not link-local ones, where
    cloud machines keep their credentials. `ANY` is for what the operator of the server entered.
    """

    PUBLIC = "public"
    PRIVATE = "private"
    ANY = "any"

    def covers(self, address: str) -> bool:
        """Returns whether a resolved address is within reach."""
        found = ip_address(address.partition("%")[0])
        if self is Reach.ANY or is_public(found):
            return True
        inner = _inner(found)
        return self is Reach.PRIVATE and not (
            inner.is_link_local or inner.is_multicast or inner.is_unspecified
        )


def problem_with_url(url: str) -> str:
    """The problem with an endpoint's address, without repeating it; empty if it is valid."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return "It must be an address in plain characters, such as https://host/v1."
    if not is_http_url(url):
        return "It must look like https://host/v1."
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        return "It must hold no name or password; a key goes into the environment."
    if "?" in url or "#" in url:
        return "It must end with its path: no ? and no #."
    # Models run at private addresses; at link-local ones cloud machines keep their credentials.
    address = address_of(parts.hostname or "")
    if address and (address.is_link_local or address.is_multicast or address.is_unspecified):
        return "Link-local, multicast and unspecified addresses are refused."
    return ""


def is_http_url(url: str) -> bool:
    """Returns whether the address is an http or https URL with a host that clients can read."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme not in {"http", "https"} or not host or parts.port == 0:
            return False
        if "[" in parts.netloc:
            return bool(_BRACKETED.fullmatch(parts.netloc.rpartition("@")[2])) and ":" in host
        # Four numbers are an address and no name.
        return not _DOTTED.fullmatch(host) or bool(IPv4Address(host))
    except ValueError:
        return False


def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is, in any notation that resolvers accept; None for a name."""
    try:
        address = ip_address(host)
    except ValueError:
        try:
            return IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    return getattr(address, "ipv4_mapped", None) or address


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Returns whether an address is on the public internet, however an IPv4 address is wrapped.

    Neither of a private network, the link, or this machine, nor reserved, nor of several machines.
    """
    if isinstance(address, IPv6Address) and any(address in each for each in _LOCAL_FORMS):
        return False
    inner = _inner(address)
    return inner.is_global and not inner.is_multicast and inner not in _PROTOCOLS


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address wraps, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def problem_with_key_name(name: str) -> str:
    """Returns the problem with the name of a key's variable; the name is not repeated."""
    if name and not _KEY_NAME.fullmatch(name):
        return (
            f"Give the name of an environment variable that begins with {KEY_PREFIX}, in capital"
            " letters, digits and _; never the key itself."
        )
    return ""
