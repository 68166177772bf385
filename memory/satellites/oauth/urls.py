"""Absolute addresses of the MCP endpoint, its metadata and the authorization server."""

from __future__ import annotations

from django.http import HttpRequest
from rest_framework.request import Request

RESOURCE_PATH = "mcp"
# RFC 9728, section 3.1, and RFC 8414, section 3.
RESOURCE_METADATA_PATH = ".well-known/oauth-protected-resource"
SERVER_METADATA_PATH = ".well-known/oauth-authorization-server"


def issuer_of(request: HttpRequest | Request) -> str:
    """The authorization server: scheme and host under which this server is reached."""
    return request.build_absolute_uri("/").rstrip("/")


def resource_of(request: HttpRequest | Request) -> str:
    """The MCP endpoint, which tokens are for."""
    return f"{issuer_of(request)}/{RESOURCE_PATH}"


def metadata_url(request: HttpRequest | Request) -> str:
    """The address at which a client without a token finds the authorization server."""
    return f"{issuer_of(request)}/{RESOURCE_METADATA_PATH}/{RESOURCE_PATH}"
