"""Bodies whose length nobody told are read whole."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from django.core.signals import request_started
from django.db import close_old_connections
from pytest_django import Settings
from rest_framework.test import APIClient

from config.wsgi import application

BODY = json.dumps({"content": "Redis listens on port 6379."}).encode()


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """What the test has written stands on a connection that is not given back in between."""
    request_started.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)


def send(api: APIClient, body: bytes, **headers: Any) -> tuple[str, dict[str, Any]]:
    """The status and the answer of a POST of a memory, as gunicorn hands it over."""
    said: list[str] = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/v1/memories",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": "application/json",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
        "wsgi.input_terminated": True,
        **{name: str(value) for name, value in cast(Any, api)._credentials.items()},
        **headers,
    }
    answer = application(environ, lambda status, _: said.append(status))
    return said[0], json.loads(b"".join(answer))


def test_a_body_in_pieces_is_read(api: APIClient) -> None:
    status, answer = send(api, BODY, HTTP_TRANSFER_ENCODING="chunked")

    assert status.startswith("201")
    assert answer["content"] == "Redis listens on port 6379."


def test_a_body_with_its_length_is_read_as_ever(api: APIClient) -> None:
    status, _ = send(api, BODY + b"more", CONTENT_LENGTH=str(len(BODY)))

    assert status.startswith("201")


@pytest.mark.parametrize("headers", [{"HTTP_TRANSFER_ENCODING": "chunked"}, {}])
def test_one_that_is_too_long_is_refused_with_what_may_be_sent(
    headers: dict[str, str], api: APIClient, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024
    body = BODY[:-1] + b" " * 5000 + b"}"
    length = {} if headers else {"CONTENT_LENGTH": str(len(body))}

    status, answer = send(api, body, **headers, **length)

    assert status.startswith("413")
    assert "1,024 bytes" in answer["detail"]
