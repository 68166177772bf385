"""The signing secrets of webhooks, and signatures after the Standard Webhooks specification.

A secret is made of a salt, which the database holds, and a key of the server, which it does not
(those of the log's seals): whoever reads a dump can sign nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from standardwebhooks import Webhook

from audit.services.seals import seal_keys
from teams.models import WebhookEndpoint

# Both secrets sign for so long after a rotation.
OVERLAP = timedelta(hours=24)
_PREFIX = "whsec_"


def new_secret() -> str:
    """What a new secret is made of, as the database keeps it."""
    return f"{next(iter(seal_keys()))}:{secrets.token_hex(16)}"


def secret_of(kept: str) -> str | None:
    """The secret in clear ("whsec_" and 32 bytes in base64); None where its key is gone."""
    key_id, _, salt = kept.partition(":")
    key = seal_keys().get(key_id)
    if key is None:
        return None
    made = hmac.new(key, f"palimpsest webhook {salt}".encode(), hashlib.sha256).digest()
    return _PREFIX + base64.b64encode(made).decode()


def signed_headers(
    *, endpoint: WebhookEndpoint, message_id: str, body: bytes, now: datetime
) -> dict[str, str]:
    """The headers of a message, signed with the endpoint's secrets that are valid at `now` (UTC).

    Empty where no secret can be made, as the server's key was changed.
    """
    kept = [endpoint.secret]
    if endpoint.old_secret_until is not None and now < endpoint.old_secret_until:
        kept.append(endpoint.old_secret)
    known = [secret for each in kept if (secret := secret_of(each)) is not None]
    if not known:
        return {}
    signatures = [Webhook(secret).sign(message_id, now, body.decode()) for secret in known]
    return {
        "Content-Type": "application/json",
        "User-Agent": "Palimpsest-Webhooks",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
