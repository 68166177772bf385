"""The client has every operation of the schema, and sends and reads what the schema says."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints
from zipfile import ZipFile

import httpx
import palimpsest_client
import pytest
from drf_spectacular.generators import SchemaGenerator
from palimpsest_client import models
from palimpsest_client.calls import Call, Paged, Streamed
from palimpsest_client.client import Palimpsest
from palimpsest_client.operations import Resource, operation
from palimpsest_client.resources import chat

Schema = Any  # a JSON document
PACKAGE = Path(palimpsest_client.__file__).parent
_OF_HEADERS = {"version", "known_version", "is_new"}
# Fields that an operation sends by itself.
_PRESET = {"memories.unpin": {"pinned"}}
# Answers that the schema leaves to OpenAI's protocol.
_OPEN = {chat.ChatAnswer, chat.ModelList, chat.ListedModel}


def described() -> Iterator[tuple[str, operation[Any, Any]]]:
    """Each operation of the client, with a name for it."""
    client = Palimpsest("http://nowhere.example", "pal_none")
    holders = {"client": client} | {
        name: each for name, each in vars(client).items() if isinstance(each, Resource)
    }
    for holder, resource in holders.items():
        for kind in type(resource).__mro__:
            for name, each in vars(kind).items():
                if isinstance(each, operation) and (holder, name) != ("client", "health"):
                    yield f"{holder}.{name}", each
    client.close()


OPERATIONS = dict(described())


def call_of(each: operation[Any, Any]) -> Call[Any]:
    """Returns the call that an operation sends, for arbitrary arguments."""
    given = inspect.signature(each.describe).parameters.values()
    positional = [one for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
    described = each.describe(None, *["x"] * (len(positional) - 1))
    if isinstance(described, Paged):
        return described.first
    return described.call if isinstance(described, Streamed) else described


def address_of(each: operation[Any, Any]) -> tuple[str, str]:
    """Its method and path."""
    call = call_of(each)
    return call.method.lower(), call.path


@pytest.fixture(scope="module")
def schema() -> Schema:
    """The schema as the server publishes it."""
    return SchemaGenerator().get_schema(request=None, public=True)


def test_every_operation_of_the_schema_is_in_the_client(schema: Schema) -> None:
    published = {(method, path) for path, methods in schema["paths"].items() for method in methods}

    assert {address_of(each) for each in OPERATIONS.values()} == published


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_sends_what_the_schema_lists(name: str, schema: Schema) -> None:
    method, path = address_of(OPERATIONS[name])
    published = schema["paths"][path][method]
    listed = [each for each in published.get("parameters", []) if each["in"] == "query"]
    names = {each["name"] for each in listed} | _body_names(published, schema)

    assert len(call_of(OPERATIONS[name]).parts) == len(re.findall(r"\{", path))
    assert _sent_names(OPERATIONS[name]) - {"options"} | _PRESET.get(name, set()) == names


def test_health_tells_of_a_server_that_is_not_ready_without_waiting_for_it() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        parts = {"postgresql": "away", "redis": "ok", "background": "ok"}
        body = {"status": "unavailable", **parts, "oldest_waiting_job_seconds": None}
        return httpx.Response(503, json=body, headers={"Retry-After": "50"})

    with Palimpsest("http://h.example", "k", transport=httpx.MockTransport(answer)) as client:
        health = client.health()

    assert (health.status, health.postgresql) == ("unavailable", "away")
    assert asked == ["/readyz"]


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_reads_what_the_schema_answers(name: str, schema: Schema) -> None:
    method, path = address_of(OPERATIONS[name])
    call = call_of(OPERATIONS[name])
    responses = schema["paths"][path][method]["responses"]
    for code, response in responses.items():
        if int(code) >= 400:
            continue
        kind = call.answers[int(code)]
        if kind in _OPEN or kind is str:
            continue
        if "content" not in response:
            assert kind is None
            continue
        reference = response["content"]["application/json"]["schema"]["$ref"]
        named = getattr(models, reference.rpartition("/")[2])
        members = get_args(named.model_fields["root"].annotation) if _is_root(named) else (named,)
        assert kind in members or get_args(kind)[0] in members


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_is_of_the_type_that_it_says(name: str) -> None:
    """The declared return type, which type checkers see, matches the answers of the call."""
    said = get_type_hints(OPERATIONS[name].describe)["return"]
    if get_origin(said) is not Paged:
        kinds = {kind or type(None) for kind in call_of(OPERATIONS[name]).answers.values()}
        (answer,) = get_args(said)
        members = set(get_args(answer)) if isinstance(answer, UnionType) else {answer}
        assert get_origin(said) is Streamed or kinds == members
        return
    page, item = get_args(said)

    assert call_of(OPERATIONS[name]).answers[200] is page
    assert get_args(page.model_fields["results"].annotation) == (item,)


def test_the_client_imports_nothing_of_the_server() -> None:
    script = (
        "import sys, palimpsest_client; "
        "print([name for name in ('django', 'memory', 'config', 'teams', 'audit', 'routing')"
        " if name in sys.modules])"
    )

    assert run(script, folder=PACKAGE.parent).strip() == "[]"


def test_the_package_builds_with_its_types_and_generated_modules(tmp_path: Path) -> None:
    script = (
        "from setuptools import build_meta as b; "
        "print(b.build_sdist('dist')); print(b.build_wheel('dist'))"
    )
    wheel = run(script, folder=copied(tmp_path)).split()[-1]
    names = ZipFile(tmp_path / "python" / "dist" / wheel).namelist()

    assert "palimpsest_client/py.typed" in names
    assert "palimpsest_client/models.py" in names
    assert "palimpsest_client/params.py" in names
    assert "palimpsest_client/resources/memories.py" in names
    assert "generate.py" not in names


def test_a_build_without_the_generated_modules_says_what_to_run(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "palimpsest_client" / "params.py").unlink()

    with pytest.raises(subprocess.CalledProcessError) as failed:
        run("from setuptools import build_meta as b; b.build_wheel('dist')", folder=folder)

    assert "make client" in failed.value.stderr


def copied(folder: Path) -> Path:
    """A copy of the distribution's folder."""
    copy = folder / "python"
    shutil.copytree(PACKAGE.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def run(script: str, *, folder: Path) -> str:
    """Runs a script with a separate Python in the folder and returns its output."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def _is_root(model: Any) -> bool:
    return "root" in model.model_fields


def _body_names(published: Schema, schema: Schema) -> set[str]:
    """The fields of the body, of any of its shapes."""
    content = published.get("requestBody", {}).get("content", {})
    if "application/json" not in content:  # none, or a file
        return set()
    body = content["application/json"]["schema"]
    body = schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    for shape in body.get("oneOf", []):
        if "$ref" in shape:
            body = schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    return {name for name, each in body.get("properties", {}).items() if not each.get("readOnly")}


def _sent_names(each: operation[Any, Any]) -> set[str]:
    """Returns the names under which the operation sends its keyword arguments."""
    names: set[str] = set()
    hints = get_type_hints(each.describe)
    for name, given in inspect.signature(each.describe).parameters.items():
        if given.kind is given.VAR_KEYWORD:
            names |= set(get_type_hints(get_args(hints[name])[0]))
        elif given.kind is given.KEYWORD_ONLY and name not in _OF_HEADERS:
            names.add(name.rstrip("_"))
        elif get_origin(hints.get(name)) is not None and name == "memories":
            names |= set(get_type_hints(get_args(hints[name])[0]))
    return names
