"""Check a running web process: `python -m config.healthcheck`, exit 0 or 1."""

import http.client
import os
import sys


def is_healthy(*, host: str, port: int, timeout: float = 3.0) -> bool:
    """Tell whether `GET /healthz` answers 200 within `timeout` seconds."""
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not a bind
    connection = http.client.HTTPConnection(target, port, timeout=timeout)
    try:
        # As a proxy in front would send them: an allowed host name, over TLS.
        headers = {"Host": allowed_name(), "X-Forwarded-Proto": "https"}
        connection.request("GET", "/healthz", headers=headers)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def allowed_name() -> str:
    """Returns a host name that the application accepts."""
    first = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".")
    return first if first and first != "*" else "localhost"


if __name__ == "__main__":
    sys.exit(
        not is_healthy(
            host=os.environ.get("HOST") or "127.0.0.1", port=int(os.environ.get("PORT") or 8000)
        )
    )
