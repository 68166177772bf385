"""The launcher's options from the environment, and the environment of its children."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from config import embedded


class LaunchError(RuntimeError):
    """The server cannot start; the message is for the person at the shell."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a launch."""

    home: Path
    host: str
    port: int
    production: bool
    own_postgres: bool
    own_redis: bool

    @classmethod
    def from_environment(cls) -> "Options":
        """Read the variables; raises LaunchError for an invalid PORT."""
        port = os.environ.get("PORT") or "8000"
        if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
            raise LaunchError(f"PORT must be a number from 1 to 65535, not {port!r}")
        return cls(
            home=embedded.home(),
            host=os.environ.get("HOST") or "127.0.0.1",
            port=int(port),
            production=os.environ.get("PALIMPSEST_ENV") == "production",
            own_postgres=not os.environ.get("DATABASE_URL"),
            own_redis=not os.environ.get("REDIS_URL"),
        )


def child_environment(options: Options) -> dict[str, str]:
    """Return the environment of a child process, with the launcher's options made explicit."""
    environment = {
        **os.environ,
        "PALIMPSEST_HOME": str(options.home),
        "HOST": options.host,
        "PORT": str(options.port),
        "PYTHONUNBUFFERED": "1",
    }
    if not environment.get("DJANGO_SECRET_KEY") and not options.production:
        environment["DJANGO_SECRET_KEY"] = _secret_key(options.home)
    return environment


def _secret_key(home: Path) -> str:
    """Return the secret key of this home; it is made at the first start, for its owner alone."""
    kept = home / "secret_key"
    if not kept.exists():
        fresh = home / "secret_key.new"
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
        fresh.replace(kept)
    return kept.read_text().strip()
