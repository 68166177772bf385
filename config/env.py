"""Typed readers of environment variables; an error names its variable in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_N = TypeVar("_N")
_F = TypeVar("_F", int, float)

# Django's settings of a connection, by libpq's names of them.
_CONNECTION_PARTS = {
    "NAME": "dbname",
    "USER": "user",
    "PASSWORD": "password",
    "HOST": "host",
    "PORT": "port",
}


def read_str(name: str, default: str | None = None) -> str:
    """The variable's text; raises ImproperlyConfigured when it is missing without a default."""
    value = os.environ.get(name, "")
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return default


def read_int(name: str, default: int, *, minimum: int = 0) -> int:
    """The variable as a whole number of at least `minimum`."""
    return _at_least(name, _converted(name, str(default), int, "a whole number"), minimum)


def read_float(name: str, default: float, *, minimum: float = 0.0) -> float:
    """The variable as a number of at least `minimum`."""
    return _at_least(name, _converted(name, str(default), float, "a number"), minimum)


def read_decimal(name: str, default: str, *, maximum: Decimal) -> Decimal:
    """The variable as an exact amount between 0 and `maximum`."""
    value = _converted(name, default, Decimal, "a number")
    if not value.is_finite() or not 0 <= value <= maximum:
        raise ImproperlyConfigured(f"{name} must be between 0 and {maximum}, not {value}.")
    return value


def read_bool(name: str, default: bool) -> bool:
    """The variable as a switch: 1/true/yes/on or 0/false/no/off."""
    raw = read_str(name, "true" if default else "false").lower()
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {raw!r}.")


def read_list(name: str, default: str = "") -> list[str]:
    """The variable as a comma-separated list without blanks."""
    return [item.strip() for item in read_str(name, default).split(",") if item.strip()]


def read_url(name: str, default: str) -> str:
    """The variable as an address by HTTPS, or by HTTP on this machine."""
    value = read_str(name, default)
    parts = urlsplit(value)
    is_local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if value and not (is_local or (parts.scheme == "https" and parts.hostname)):
        raise ImproperlyConfigured(f"{name} must begin with https://, not {value!r}.")
    return value


def read_prefixed(prefix: str) -> dict[str, str]:
    """All variables whose names begin with `prefix` and that are not empty, by name."""
    return {name: value for name, value in os.environ.items() if name.startswith(prefix) and value}


def read_choice(name: str, default: str, *, choices: tuple[str, ...]) -> str:
    """The variable as one of `choices`."""
    value = read_str(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


def database_from_url(name: str, url: str) -> dict[str, Any]:  # Any: Django's loose settings
    """Django's settings of a `postgres://user:password@host:port/database?options` URL.

    Every option that libpq knows is kept: what has no setting of its own is in OPTIONS, by its name
    there, such as `sslmode`. Raises ImproperlyConfigured for another URL and an unknown option.
    """
    # Here, because the settings of an embedded server need no driver.
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    try:
        given = conninfo_to_dict(f"postgres://{hosts}/?{parts.query}")
    except ProgrammingError:  # its words repeat the URL and so the password
        given, parts = {}, urlsplit("")
    database = unquote(parts.path.strip("/")) or str(given.get("dbname") or "")
    if parts.scheme not in {"postgres", "postgresql"} or not database:
        raise ImproperlyConfigured(
            f"{name} must look like postgres://user:password@host:5432/database, with libpq's"
            " connection parameters after a question mark."
        )
    own = {"dbname": database, "user": unquote(user), "password": unquote(password)}
    given |= {option: value for option, value in own.items() if value}
    settings = {key: str(given.pop(option, "")) for key, option in _CONNECTION_PARTS.items()}
    return {**settings, "OPTIONS": given}


def _converted(name: str, default: str, convert: Callable[[str], _N], kind: str) -> _N:
    raw = read_str(name, default)
    try:
        return convert(raw)
    except (ValueError, InvalidOperation):
        raise ImproperlyConfigured(f"{name} must be {kind}, not {raw!r}.") from None


def _at_least(name: str, value: _F, minimum: float) -> _F:
    if not value >= minimum:
        raise ImproperlyConfigured(f"{name} must be at least {minimum}, not {value}.")
    return value
