"""Settings read from the environment: typed, with one clear line for what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.embedded import PROJECT_ROOT
from config.env import (
    database_from_url,
    read_bool,
    read_choice,
    read_decimal,
    read_float,
    read_int,
    read_list,
    read_str,
    read_url,
)

NAME = "PALIMPSEST_TEST_VALUE"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Sets or removes the variable."""

    def put(value: str | None) -> None:
        if value is None:
            monkeypatch.delenv(NAME, raising=False)
        else:
            monkeypatch.setenv(NAME, value)

    return put


READERS: list[tuple[Callable[[], Any], str, Any]] = [
    (lambda: read_str(NAME, "d"), "words", "words"),
    (lambda: read_int(NAME, 3), "12", 12),
    (lambda: read_float(NAME, 0.5), "1.5", 1.5),
    (lambda: read_decimal(NAME, "5", maximum=Decimal(9)), "0.1", Decimal("0.1")),
    (lambda: read_bool(NAME, False), "TRUE", True),
    (lambda: read_bool(NAME, True), "off", False),
    (lambda: read_bool(NAME, True), "0", False),
    (lambda: read_list(NAME), " a, ,b ,", ["a", "b"]),
    (lambda: read_choice(NAME, "x", choices=("x", "y")), "y", "y"),
    (lambda: read_url(NAME, ""), "https://login.example", "https://login.example"),
    (lambda: read_url(NAME, ""), "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
]


@pytest.mark.parametrize(("reader", "value", "expected"), READERS)
def test_a_value_is_read_as_its_type(
    given: Callable[[str | None], None], reader: Callable[[], Any], value: str, expected: Any
) -> None:
    given(value)

    assert reader() == expected


@pytest.mark.parametrize("value", [None, ""])
def test_an_unset_or_empty_variable_is_its_default(
    given: Callable[[str | None], None], value: str | None
) -> None:
    given(value)

    assert read_str(NAME, "d") == "d"
    assert read_int(NAME, 3) == 3
    assert read_float(NAME, 0.5) == 0.5
    assert read_bool(NAME, True) is True
    assert read_list(NAME, "a,b") == ["a", "b"]
    assert read_choice(NAME, "x", choices=("x",)) == "x"


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: read_int(NAME, 3), "three"),
    (lambda: read_int(NAME, 3), "1.5"),
    (lambda: read_int(NAME, 3), "-1"),
    (lambda: read_int(NAME, 3, minimum=2), "1"),
    (lambda: read_float(NAME, 0.5), "half"),
    (lambda: read_float(NAME, 0.5), "-0.1"),
    (lambda: read_float(NAME, 0.5), "nan"),
    (lambda: read_decimal(NAME, "5", maximum=Decimal(9)), "ten"),
    (lambda: read_decimal(NAME, "5", maximum=Decimal(9)), "9.01"),
    (lambda: read_decimal(NAME, "5", maximum=Decimal(9)), "-1"),
    (lambda: read_decimal(NAME, "5", maximum=Decimal(9)), "nan"),
    (lambda: read_bool(NAME, True), "maybe"),
    (lambda: read_choice(NAME, "x", choices=("x", "y")), "z"),
    (lambda: read_url(NAME, ""), "http://login.example"),
    (lambda: read_url(NAME, ""), "login.example"),
]


@pytest.mark.parametrize(("reader", "value"), BAD)
def test_a_bad_value_names_its_variable_in_one_line(
    given: Callable[[str | None], None], reader: Callable[[], Any], value: str
) -> None:
    given(value)

    with pytest.raises(ImproperlyConfigured) as refusal:
        reader()

    assert NAME in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_a_missing_secret_names_itself(given: Callable[[str | None], None]) -> None:
    given(None)

    with pytest.raises(ImproperlyConfigured, match=NAME):
        read_str(NAME)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgres://ann:s%40cret%2F@db.example:5433/palim%20psest",
            {
                "NAME": "palim psest",
                "USER": "ann",
                "PASSWORD": "s@cret/",
                "HOST": "db.example",
                "PORT": "5433",
            },
        ),
        (
            "postgresql:///palimpsest?host=/var/run/postgresql&port=5434",
            {
                "NAME": "palimpsest",
                "USER": "",
                "PASSWORD": "",
                "HOST": "/var/run/postgresql",
                "PORT": "5434",
            },
        ),
    ],
)
def test_a_database_url_is_taken_apart(url: str, expected: dict[str, str]) -> None:
    parts = database_from_url("DATABASE_URL", url)

    assert {name: parts[name] for name in expected} == expected


@pytest.mark.parametrize(
    "url", ["", "words", "mysql://db/palimpsest", "postgres://db", "postgres://db/"]
)
def test_another_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as refusal:
        database_from_url("DATABASE_URL", url)

    assert not url or url not in str(refusal.value)


def test_a_database_url_keeps_all_its_options() -> None:
    parts = database_from_url(
        "DATABASE_URL",
        "postgres://ann@one:5432,two:5433/palimpsest?sslmode=verify-full"
        "&sslrootcert=%2Fetc%2Fca.pem&target_session_attrs=read-write&options=-c%20a.b%3Dc%26d",
    )

    assert (parts["HOST"], parts["PORT"]) == ("one,two", "5432,5433")
    assert parts["OPTIONS"] == {
        "sslmode": "verify-full",
        "sslrootcert": "/etc/ca.pem",
        "target_session_attrs": "read-write",
        "options": "-c a.b=c&d",
    }


def test_a_password_may_hold_signs_that_are_not_encoded() -> None:
    parts = database_from_url(
        "DATABASE_URL", "postgres://ann:100%p@ss@db/palimpsest?sslmode=require"
    )

    assert (parts["USER"], parts["PASSWORD"], parts["HOST"]) == ("ann", "100%p@ss", "db")
    assert parts["OPTIONS"] == {"sslmode": "require"}


def test_an_option_that_nobody_knows_is_refused_and_the_password_not_repeated() -> None:
    url = "postgres://ann:s3cret@db/palimpsest?ssl_mode=verify-full"

    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as refusal:
        database_from_url("DATABASE_URL", url)

    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize("url", ["rediss://r:6379/0", "rediss://r:6379/0?ssl_cert_reqs=required"])
def test_the_certificate_of_a_redis_with_tls_is_verified(url: str) -> None:
    code = (
        "from config.celery import app; import ssl;"
        "used = app.connection_for_write().ssl; print(used['ssl_cert_reqs'] == ssl.CERT_REQUIRED)"
    )
    environment = {**os.environ, "REDIS_URL": url, "BROKER_URL": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "True\n"
