"""OPTIONS at every address: what may be done there, or a refusal, and never an error of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import UUIDConverter
from django.urls.resolvers import RegexPattern
from rest_framework.test import APIClient

from tests.factories import StaffUserFactory

NO_ROW = "0198c0de-0000-7000-8000-000000000000"


def addresses(resolver: URLResolver, before: str = "/") -> Iterator[str]:
    """An address for every pattern below the resolver, with a value for each of its parts."""
    for each in resolver.url_patterns:
        address = before + _filled(each)
        if isinstance(each, URLResolver):
            yield from addresses(each, address)
        else:
            yield address


def _filled(pattern: URLPattern | URLResolver) -> str:
    if isinstance(pattern.pattern, RegexPattern):  # in Django's own admin
        return "x/"
    text = str(pattern.pattern)
    for name, converter in pattern.pattern.converters.items():
        value = NO_ROW if isinstance(converter, UUIDConverter) else "1"
        text = re.sub(rf"<(?:\w+:)?{name}>", value, text)
    return text


ALL = sorted(set(addresses(get_resolver())))
API = [each for each in ALL if each.startswith("/v1/")]
DOCUMENTS = ["/v1/docs", "/v1/schema", "/v1/openapi.json"]


def test_every_address_is_among_them() -> None:
    assert f"/v1/memories/{NO_ROW}/correct" in ALL
    assert "/v1/agents/1/versions" in ALL
    assert "/admin/memory/memory/" in ALL
    assert not [each for each in ALL if "<" in each]


@pytest.mark.parametrize("address", API)
@pytest.mark.parametrize("body", ["", "{"])
def test_options_tell_which_methods_there_are(address: str, body: str, api: APIClient) -> None:
    answer: Any = api.generic("OPTIONS", address, body, content_type="application/json")

    assert answer.status_code == (405 if address in DOCUMENTS else 204), answer.content
    assert {"GET", "POST", "PUT", "DELETE"} & set(answer["Allow"].split(", "))


def test_options_without_a_key_are_refused(db: None) -> None:
    assert APIClient().options("/v1/memories").status_code == 401


@pytest.mark.parametrize("address", [each for each in ALL if each not in API])
def test_other_addresses_answer_options_without_an_error(address: str, db: None) -> None:
    client = Client()
    client.force_login(StaffUserFactory.create(username="root", is_superuser=True))

    assert client.options(address).status_code < 500
