"""Unsupported calls answer 501 with a reason, and docs.md lists all of them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mem0 import MemoryClient
from mem0.exceptions import MemoryError as AnyMem0Error

from memory.satellites.mem0 import inputs
from memory.satellites.mem0.inputs import Mem0Serializer
from memory.satellites.mem0.others import Mem0NotOffered, urlpatterns
from memory.satellites.mem0.tests.conftest import Clients
from tests.support.cast import Cast
from tests.support.mem0_clients import Mem0

ROOT = Path(__file__).parents[4]
# Calls of the client; what they are given where a test cannot tell it from the name.
_GIVEN = {
    "memory_id": "5f0c5a0e-8d5c-4d4e-9b57-0d6b8a5f1c11",
    "webhook_id": 1,
    "event_types": ["memory_add"],
    "messages": "Alice keeps bees.",
    "memories": [{"memory_id": "5f0c5a0e-8d5c-4d4e-9b57-0d6b8a5f1c11", "text": "Bees."}],
    "schema": {"properties": {"memory": {}}},
    "feedback": "POSITIVE",
}


def test_what_is_not_offered_says_why(mem0: Mem0) -> None:
    (made,) = mem0.add("Alice lives in Berlin.", user_id="alice", infer=False)["results"]
    schema = {"properties": {"nickname": {"type": "string"}}}
    asked: list[tuple[str, Callable[[], Any]]] = [
        ("custom_instructions: ", lambda: mem0.add("x", user_id="a", custom_instructions="y")),
        ("immutable: ", lambda: mem0.add("x", user_id="a", immutable=True)),
        ("latest_only: only True", lambda: mem0.get_all(latest_only=False)),
        ("timestamp: ", lambda: mem0.update(made["id"], timestamp=1_700_000_000)),
        ("fills no form of your own", lambda: mem0.create_memory_export(schema=schema)),
        ("POST /v1/memory/query", mem0.get_summary),
        ("GET /v1/users", lambda: mem0.get_profile("alice")),
        ("GET /v1/users", lambda: mem0.generate_profile("alice")),
        ("in the admin", mem0.get_project),
        ("no webhooks", lambda: mem0.get_webhooks("p")),
        ("feedback", lambda: mem0.feedback(made["id"], feedback="POSITIVE")),
    ]
    for told, ask in asked:
        with pytest.raises(AnyMem0Error, match=told) as refused:
            ask()
        assert refused.value.error_code == "HTTP_501"


def listed() -> set[str]:
    """Returns the names and addresses that the documentation lists as not offered."""
    text = (ROOT / "memory/satellites/mem0/docs.md").read_text()
    table = text.partition("## What is not offered")[2]
    firsts = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")]
    return {name for first in firsts for name in re.findall(r"`([^`]+)`", first)}


def serializers() -> Iterator[type[Mem0Serializer]]:
    for _, each in inspect.getmembers(inputs, inspect.isclass):
        if issubclass(each, Mem0Serializer):
            yield each


def test_every_field_that_is_refused_is_listed() -> None:
    refused: set[str] = set()
    for each in serializers():
        refused.update(each.not_offered)
        refused.update(name for name, taken in each.no_effect.items() if taken is not None)

    assert len(refused) > 10
    assert {name for name in refused if not any(name in each for each in listed())} == set()


def test_every_address_that_is_refused_is_listed() -> None:
    refused = {
        str(each.pattern).partition("<")[0]
        for each in urlpatterns
        if getattr(each.callback, "cls", None) is Mem0NotOffered
    }

    assert len(refused) > 4
    assert refused - listed() == set()


def test_every_method_of_the_client_that_is_refused_is_listed(team: Cast, mem0_of: Clients) -> None:
    mem0 = mem0_of(team)
    refused = set()
    for name, method in inspect.getmembers(MemoryClient, inspect.isfunction):
        if name.startswith("_") or name == "chat":
            continue
        needed = [
            each.name
            for each in list(inspect.signature(method).parameters.values())[1:]
            if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
        ]
        try:
            getattr(mem0, name)(**{each: _GIVEN.get(each, "alice") for each in needed})
        except AnyMem0Error as error:
            if error.error_code == "HTTP_501":
                refused.add(name)
        except ValueError:
            continue

    assert len(refused) > 8
    assert refused - listed() == set()


def test_no_refusal_is_made_anywhere_else() -> None:
    """One more place that answers 501 is one that these tests do not know."""
    made = {
        path.name: sum(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "NotOfferedError"
            for node in ast.walk(ast.parse(path.read_text()))
        )
        for path in (ROOT / "memory/satellites/mem0").glob("*.py")
    }

    # Fields not offered and values not taken; profiles and addresses; the schema of an export.
    assert {name: count for name, count in made.items() if count} == {
        "inputs.py": 2,
        "others.py": 2,
        "reads.py": 1,
    }
    assert any("schema" in each for each in listed())
