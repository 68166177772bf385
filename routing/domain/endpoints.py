"""Which addresses and key names a provider may have."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

KEY_PREFIX = "PROVIDER_KEY_"
_KEY_NAME = re.compile(rf"{KEY_PREFIX}[A-Z0-9_]{{1,80}}")


def problem_with_url(url: str) -> str:
    """What is wrong with an endpoint's address, as a sentence that does not repeat it; or nothing.

    Plain http and addresses of the own network are allowed, since models run there. Addresses of
    the link itself are not: there machines of a cloud keep their credentials.
    """
    if not url.isascii() or not url.isprintable() or " " in url:
        return "It must be an address in plain characters, such as https://host/v1."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "It must look like https://host/v1."
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        return "It must look like https://host/v1."
    if parts.username is not None or parts.password is not None:
        return "It must hold no name or password; a key goes into the environment."
    if "?" in url or "#" in url:
        return "It must end with its path: no ? and no #."
    address = address_of(parts.hostname)
    if address is not None and (
        address.is_link_local or address.is_multicast or address.is_unspecified
    ):
        return "Nothing is called at such an address."
    return ""


def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host stands for by itself, in any of the ways resolvers read one."""
    try:
        address = ip_address(host)
    except ValueError:
        try:
            return IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    return getattr(address, "ipv4_mapped", None) or address


def problem_with_key_name(name: str) -> str:
    """What is wrong with the name of a key's variable; it is not repeated, it may be a key."""
    if name and not _KEY_NAME.fullmatch(name):
        return (
            f"Give the name of an environment variable that begins with {KEY_PREFIX}, in capital"
            " letters, digits and _; never the key itself."
        )
    return ""


def host_of(url: str) -> str:
    """The host of a valid address, in lower case."""
    return urlsplit(url).hostname or ""
