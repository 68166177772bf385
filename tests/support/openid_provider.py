"""A small OpenID provider: discovery, keys, authorization code with PKCE, userinfo."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT_ID, CLIENT_SECRET = "palimpsest", "a secret of the client"


@dataclass
class Provider:
    """The provider and the account that is signed in to it.

    `claims` are what it knows of the person, `token_claims` replace some of an ID token.
    """

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    token_claims: dict[str, Any] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    )
    # What was asked for, by the code that answered it.
    asked: dict[str, dict[str, str]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Its endpoints."""
        names = ("authorization", "token", "userinfo")
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            **{f"{name}_endpoint": f"{self.url}/{name}" for name in names},
        }

    def keys(self) -> dict[str, Any]:
        """Its public keys."""
        public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "1", "alg": "RS256", "use": "sig"}]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the person, who agrees at once, is sent."""
        assert asked["client_id"] == CLIENT_ID
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.asked[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def issue(self, sent: dict[str, str]) -> dict[str, Any] | None:
        """The tokens of a code; None for whoever is not its client."""
        asked = self.asked.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or sent.get("client_secret") != CLIENT_SECRET
            or sent.get("redirect_uri") != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            return None
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": self.claims["sub"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.token_claims,
        }
        signed = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "access", "token_type": "Bearer", "id_token": signed}


@contextmanager
def openid_provider() -> Iterator[Provider]:
    """A provider on a port of this machine."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorization":
                self.send_response(302)
                self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
                return
            answers = {
                "/.well-known/openid-configuration": provider.document,
                "/jwks": provider.keys,
                "/userinfo": lambda: provider.claims,
            }
            self._send(answers[parts.path]())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(provider.issue(dict(parse_qsl(body))))

        def _send(self, answer: dict[str, Any] | None) -> None:
            body = json.dumps(answer or {"error": "invalid_grant"}).encode()
            self.send_response(400 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
