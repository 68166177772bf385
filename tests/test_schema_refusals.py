"""The schema tells of the refusals that all endpoints share."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:  # Any: an OpenAPI document
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


def test_a_name_in_an_address_may_be_answered_by_nothing(schema: dict[str, Any]) -> None:
    named = [each for path, each in schema["paths"].items() if "{" in path]

    assert len(named) > 20
    for methods in named:
        assert all("404" in operation["responses"] for operation in methods.values())


def test_every_parameter_of_a_path_stands_in_it(schema: dict[str, Any]) -> None:
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            for each in operation.get("parameters", ()):
                assert each["in"] != "path" or f"{{{each['name']}}}" in path, path


def test_a_request_takes_no_fields_that_nobody_knows(schema: dict[str, Any]) -> None:
    memory = schema["components"]["schemas"]["NewMemory"]

    assert memory["additionalProperties"] is False
    assert memory["properties"]["user"]["pattern"].startswith("^")
    assert memory["properties"]["content"]["minLength"] == 1


def test_older_names_of_options_are_marked(schema: dict[str, Any]) -> None:
    retrieve = schema["components"]["schemas"]["Retrieve"]

    assert retrieve["properties"]["budget_tokens"]["deprecated"] is True
    assert {"required": ["budget_tokens", "token_budget"]} in retrieve["not"]["anyOf"]
