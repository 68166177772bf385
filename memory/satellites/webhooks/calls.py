"""Calls of a team's endpoints: signed, bounded and retried with pauses."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import urlsplit

from standardwebhooks import Webhook

from audit.services.seals import seal_keys
from memory.satellites.webhooks.models import WebhookEndpoint
from routing.clients.addresses import UnreachableAddressError, connect
from routing.domain.endpoints import Reach, address_of, is_public

SETTING = "WEBHOOKS_TO_PRIVATE_ADDRESSES"
# What is read of an answer, beside its head, which http.client bounds (100 lines of 64 KiB).
_MOST_READ = 65_536
_PORTS = {"http": 80, "https": 443}
_PRIVATE = (
    "It leads to an address of a private network or of this machine. Whoever runs the server allows"
    f" that with {SETTING}."
)


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """The status of an answer, or None and why none came, in words without the address."""

    status: int | None
    error: str = ""

    @property
    def is_taken(self) -> bool:
        """Returns whether the receiver accepted the delivery (2xx)."""
        return self.status is not None and 200 <= self.status < 300


def problem_with_target(url: str, *, allow_private: bool) -> str:
    """Returns the problem with the address of a webhook, as a sentence; "" where there is none.

    A name is not resolved here: where it leads is checked whenever something is sent.
    """
    if not url.isascii() or not url.isprintable() or " " in url:
        return "It must be an address in plain characters, such as https://host/path."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "It must look like https://host/path."
    if parts.scheme not in _PORTS or not parts.hostname or port == 0 or "#" in url:
        return "It must look like https://host/path, without a #."
    if parts.username is not None or parts.password is not None:
        return "It must hold no name or password: receivers check the signature."
    if allow_private:
        return ""
    if parts.scheme != "https":
        return f"It must begin with https://. For tests, {SETTING} also allows http://."
    address = address_of(parts.hostname)
    is_local = parts.hostname == "localhost" or parts.hostname.endswith(".localhost")
    return _PRIVATE if is_local or (address is not None and not is_public(address)) else ""


def post(
    *,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    seconds: float,
    allow_private: bool,
    trust: ssl.SSLContext | None = None,
) -> WebhookAnswer:
    """Send the body; it ends after `seconds`, however slowly the other side answers. Never raises.

    The system's resolver has a time limit of its own beside that. `trust` says whose certificates
    count; those of the system by default.
    """
    if problem := problem_with_target(url, allow_private=allow_private):
        return WebhookAnswer(None, problem)
    ends = time.monotonic() + seconds
    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port or _PORTS[parts.scheme]
    connection = http.client.HTTPConnection(host, port)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    reach = Reach.ANY if allow_private else Reach.PUBLIC
    is_cut = threading.Event()
    line: socket.socket | None = None

    def cut() -> None:
        is_cut.set()
        with suppress(OSError):
            if line is not None:
                line.shutdown(socket.SHUT_RDWR)

    # Ends the connection in time, whichever call waits for it at that moment.
    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        line = connection.sock = connect(host, port, ends=ends, reach=reach)
        if is_cut.is_set():
            raise TimeoutError
        if parts.scheme == "https":
            line = connection.sock = (trust or _system_trust()).wrap_socket(
                line, server_hostname=host, do_handshake_on_connect=False
            )
            line.do_handshake()
        connection.request("POST", target, body, {**headers, "Connection": "close"})
        answer = connection.getresponse()
        if is_cut.is_set():  # in the middle of its head, which reads as its end
            raise TimeoutError
        answer.read(_MOST_READ)
        return WebhookAnswer(answer.status)
    except UnreachableAddressError:
        return WebhookAnswer(None, _PRIVATE)
    except (OSError, UnicodeError, http.client.HTTPException, ValueError) as error:
        return WebhookAnswer(None, _words(error, is_late=time.monotonic() >= ends))
    finally:
        timer.cancel()
        if line is not None:
            line.close()


@cache
def _system_trust() -> ssl.SSLContext:
    """Read once: it takes longer than all else here."""
    return ssl.create_default_context()


def _words(error: Exception, *, is_late: bool) -> str:
    """Returns the reason for a missing answer; the error's words may repeat the address."""
    if is_late or isinstance(error, TimeoutError):
        return "It did not answer in time."
    if isinstance(error, socket.gaierror | UnicodeError):
        return "Its name was not found."
    if isinstance(error, ssl.SSLCertVerificationError):
        return "Its certificate is not valid for this address."
    if isinstance(error, ssl.SSLError):
        return "No encrypted connection came about."
    if isinstance(error, http.client.HTTPException | ValueError):
        return "It answered with something that is not HTTP."
    return "The connection was refused or broke."


# Both secrets sign for so long after a rotation.
OVERLAP = timedelta(hours=24)
_PREFIX = "whsec_"


def new_secret() -> str:
    """Returns the source of a new secret, as the database stores it."""
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


# For so long an event is tried, and an endpoint may fail without a pause, before it is given up.
PATIENCE = timedelta(days=3)
# With fewer failures nothing is given up, however long they took.
LEAST_FAILURES = 5
_FIRST = timedelta(seconds=5)
_LONGEST = timedelta(hours=6)
_JITTER = 0.2
# Between two attempts there is more only where nobody was there to send.
_LONGEST_BETWEEN = _LONGEST * (1 + 2 * _JITTER)


def pause_before_next(*, attempts: int, chance: float) -> timedelta:
    """Returns the pause after so many failed attempts (1 or more).

    5 seconds, doubled with each further failure up to 6 hours, then up to a fifth shorter or longer
    by `chance` (0-1), so that what failed together does not come back together.
    """
    pause = min(_FIRST * 2.0 ** min(attempts - 1, 20), _LONGEST)
    return pause * (1 - _JITTER + 2 * _JITTER * chance)


def is_new_start(*, last: datetime | None, now: datetime) -> bool:
    """Returns whether a failure is the first of a row of them: there was no attempt before, or
    the last one is longer ago than any pause, as the workers were away."""
    return last is None or now - last > _LONGEST_BETWEEN


def is_given_up(*, failures: int, since: datetime, now: datetime) -> bool:
    """Returns whether so many failures in a row, the first of them at `since`, are enough."""
    return failures >= LEAST_FAILURES and now - since >= PATIENCE
