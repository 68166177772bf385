"""The schema tells of the refusals that all endpoints share."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
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


def test_lists_that_may_not_be_empty_say_so(schema: dict[str, Any]) -> None:
    kinds = schema["components"]["schemas"]
    several = kinds["NewMemories"]["oneOf"][1]

    assert (several["minItems"], several["maxItems"]) == (1, settings.MAX_ITEMS_PER_REQUEST)
    assert kinds["ChatCompletion"]["properties"]["messages"]["minItems"] == 1


def test_a_step_to_record_says_more_than_one_that_was_recorded(schema: dict[str, Any]) -> None:
    kinds = schema["components"]["schemas"]

    assert kinds["NewStep"]["properties"]["name"]["minLength"] == 1
    assert kinds["NewStep"]["additionalProperties"] is False
    assert "pattern" not in kinds["RecordedStep"]["properties"]["name"]


def test_the_id_of_a_task_has_its_own_pattern(schema: dict[str, Any]) -> None:
    task = schema["components"]["schemas"]["NewTask"]["properties"]["id"]["pattern"]

    assert re.search(task, "release-1.2")
    assert not re.search(task, "release 1.2")


def test_a_checkpoint_holds_an_object(schema: dict[str, Any]) -> None:
    data = schema["components"]["schemas"]["Checkpoint"]["properties"]["data"]

    assert data["type"] == "object"
    assert not data.get("nullable")


def test_parts_of_an_agent_may_be_null_and_its_skills_are_short(schema: dict[str, Any]) -> None:
    kinds = schema["components"]["schemas"]
    config = kinds["MemoryConfig"]["properties"]["retrieval_weights"]

    assert config["nullable"] is True
    assert kinds["Skills"]["properties"]["disabled"]["anyOf"][0]["items"]["maxLength"] == 100


def test_a_cursor_holds_no_nul(schema: dict[str, Any]) -> None:
    parameters = schema["paths"]["/v1/conversations"]["get"]["parameters"]
    cursor = next(each for each in parameters if each["name"] == "cursor")

    assert cursor["schema"]["pattern"] == "^[^\\u0000]*$"
