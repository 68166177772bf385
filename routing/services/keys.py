"""Encryption of the providers' API keys that team admins type."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import cache
from urllib.parse import urlsplit
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

MAX_KEY_CHARS = 1_000
_PURPOSE = b"palimpsest: API keys of providers"


def encrypt_key(key: str, *, team_id: UUID, base_url: str) -> str:
    """Returns the key encrypted for one team and the server of one address."""
    text = json.dumps([str(team_id), _server(base_url), key])
    return _fernet(tuple(settings.PROVIDER_KEYS_SECRETS)).encrypt(text.encode()).decode()


def decrypt_key(encrypted: str, *, team_id: UUID, base_url: str) -> str:
    """Returns the key; empty if it is of another team or server, or no known secret opens it."""
    try:
        text = _fernet(tuple(settings.PROVIDER_KEYS_SECRETS)).decrypt(encrypted)
    except InvalidToken:
        return ""
    team, server, key = json.loads(text)
    return str(key) if (team, server) == (str(team_id), _server(base_url)) else ""


def problem_with_key(key: str) -> str:
    """Returns the problem with a typed key, without repeating it; empty if it is valid."""
    if len(key) > MAX_KEY_CHARS or not key.isascii() or not key.isprintable() or " " in key:
        return "Enter the API key alone: one word of plain characters."
    return ""


def _server(base_url: str) -> str:
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}".lower()


@cache
def _fernet(secrets: tuple[str, ...]) -> MultiFernet:
    """The first secret encrypts, all of them decrypt."""
    return MultiFernet(
        Fernet(urlsafe_b64encode(HKDF(SHA256(), 32, None, _PURPOSE).derive(secret.encode())))
        for secret in secrets
    )
