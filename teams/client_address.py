"""The address that a request came from, also where proxies stand in front of the server."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """What the outermost of TRUSTED_PROXIES saw, else who is connected; django-axes asks for it.

    Each of these proxies adds whom it was asked by at the end of X-Forwarded-For, so entries are
    counted from there, and what a client wrote before them does not count. With fewer entries, or
    one that is no address, it is the one that is connected.
    """
    connected = str(request.META.get("REMOTE_ADDR", ""))
    count = settings.TRUSTED_PROXIES
    entries = [each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",")]
    if not 0 < count <= len(entries):
        return connected
    try:
        return str(ipaddress.ip_address(entries[-count]))
    except ValueError:
        return connected
