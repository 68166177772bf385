"""The OpenAPI schema is valid, whole, and what the server really answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from rest_framework.test import APIClient

from audit.services.events import flush_events
from memory.api.agents import EXAMPLE, AgentBody
from memory.api.schemas import ApiSerializer
from tests.support.cast import Cast

ENDPOINTS = {
    ("/v1/conversations", "post"),
    ("/v1/conversations/{id}", "get"),
    ("/v1/conversations/{id}/messages", "post"),
    ("/v1/conversations/{id}/messages", "get"),
    ("/v1/conversations/{id}/extract", "post"),
    ("/v1/conversations/{id}/close", "post"),
    ("/v1/jobs/{id}", "get"),
    ("/v1/memories", "post"),
    ("/v1/memories", "get"),
    ("/v1/memories/{id}", "get"),
    ("/v1/memories/{id}", "patch"),
    ("/v1/memories/{id}", "delete"),
    ("/v1/memories/{id}/pin", "post"),
    ("/v1/memories/search", "get"),
    ("/v1/retrieve", "post"),
    ("/v1/memory/query", "post"),
    ("/v1/memory/context", "get"),
    ("/v1/memory/select", "post"),
    ("/v1/memory/conflicts", "get"),
    ("/v1/context/assemble", "post"),
    ("/v1/context/expand", "get"),
    ("/v1/prompt", "post"),
    ("/v1/route", "post"),
    ("/v1/budget", "get"),
    ("/v1/memories/{id}/history", "get"),
    ("/v1/audit/log", "get"),
    ("/v1/audit/export", "get"),
    ("/v1/events", "get"),
    ("/v1/events/counts", "get"),
    ("/v1/threads/{thread_id}/checkpoint", "put"),
    ("/v1/threads/{thread_id}/checkpoint", "get"),
    ("/v1/threads/{thread_id}/changes", "get"),
    ("/v1/agents", "get"),
    ("/v1/agents/{slug}", "get"),
    ("/v1/agents/{slug}", "put"),
    ("/v1/agents/{slug}/versions", "get"),
    ("/v1/tasks", "post"),
    ("/v1/tasks/{task_id}", "get"),
    ("/v1/tasks/{task_id}/items", "post"),
    ("/v1/tasks/{task_id}/items", "get"),
    ("/v1/tasks/{task_id}/items", "delete"),
    ("/v1/tasks/{task_id}/items/{item_id}/promote", "post"),
    ("/v1/tasks/{task_id}/complete", "post"),
    ("/v1/tasks/{task_id}/fail", "post"),
    ("/v1/workflows", "post"),
    ("/v1/workflows/recordings", "get"),
    ("/v1/workflows/recordings", "post"),
    ("/v1/workflows/recordings/{id}", "get"),
    ("/v1/workflows/recordings/{id}/steps", "post"),
    ("/v1/workflows/recordings/{id}/finish", "post"),
    ("/v1/workflows/recordings/{id}/discard", "post"),
    ("/v1/memories/{id}/promote", "post"),
    ("/v1/projects/{slug}", "get"),
    ("/v1/projects/{slug}", "patch"),
    ("/v1/projects/{slug}/clear", "post"),
    ("/v1/team/clear", "post"),
}
Schema = Any  # a JSON document


@pytest.fixture(scope="module")
def schema() -> Schema:
    """The schema as the server publishes it."""
    return json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))


def operations(schema: Schema) -> dict[tuple[str, str], Any]:
    """Every operation by path and method, with the ids in a path called {id}."""
    found = {}
    for path, item in schema["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "put", "patch", "delete"):
                found[path.replace("{uuid}", "{id}").replace("{pk}", "{id}"), method] = operation
    return found


def as_json_schema(node: Schema) -> Schema:
    """OpenAPI 3.0's `nullable` as JSON Schema says it; everything else stays."""
    if isinstance(node, list):
        return [as_json_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {name: as_json_schema(each) for name, each in node.items() if name != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain


def check(schema: Schema, path: str, method: str, response: Any, *statuses: int) -> None:
    """Hold a response against the schema of its operation, status and media type.

    Its status must be one of `statuses`; without any, that of a success.
    """
    assert response.status_code in (statuses or (200, 201, 202)), response.content
    described = operations(schema)[path, method]["responses"]
    assert str(response.status_code) in described, (response.status_code, list(described))
    media = response["Content-Type"].split(";")[0]
    content = described[str(response.status_code)]["content"]
    assert media in content, (media, list(content))
    whole = {
        **as_json_schema(content[media]["schema"]),
        "components": as_json_schema(schema["components"]),
    }
    jsonschema.Draft202012Validator(whole).validate(json.loads(response.content))


def test_the_schema_is_valid_openapi(schema: Schema) -> None:
    validate_schema(schema)
    assert schema["openapi"].startswith("3.")


def test_every_endpoint_is_described(schema: Schema) -> None:
    assert set(operations(schema)) >= ENDPOINTS


@pytest.mark.parametrize(("path", "method"), sorted(ENDPOINTS))
def test_an_endpoint_says_what_it_does_and_how_it_refuses(
    schema: Schema, path: str, method: str
) -> None:
    operation = operations(schema)[path, method]

    assert operation["description"]
    assert {"400", "401", "414", "429", "503"} <= set(operation["responses"])
    assert ({"413", "415"} <= set(operation["responses"])) is ("requestBody" in operation)
    # A PUT makes what it names.
    assert "404" in operation["responses"] or "{" not in path or method == "put"
    for code, response in operation["responses"].items():
        # 414 is the web server's own answer, and has no body.
        if code.startswith(("4", "5")) and code != "414":
            assert list(response["content"]) == ["application/problem+json"]
    assert operation["security"] == [{"apiKey": []}]


def inputs(kind: type[ApiSerializer] = ApiSerializer) -> Iterator[type[ApiSerializer]]:
    """The serializers with an example of their own."""
    for each in kind.__subclasses__():
        yield from inputs(each)
        if vars(each).get("example"):
            yield each


def test_every_example_is_accepted_by_its_serializer(schema: Schema) -> None:
    known = sorted(set(inputs()), key=lambda each: each.__name__)

    for each in known:
        checked = each(data=each.example)
        assert checked.is_valid(), (each.__name__, checked.errors)
    AgentBody.read(EXAMPLE, context={"slugs": {None}})
    shown = {name for name, each in schema["components"]["schemas"].items() if "example" in each}
    assert shown == {each.__name__.removesuffix("Serializer") for each in known} | {"AgentDocument"}


def test_main_operations_show_an_example(schema: Schema) -> None:
    shown = {name for name, each in schema["components"]["schemas"].items() if "example" in each}
    main = {"NewMemory", "Retrieve", "Prompt", "NewConversation", "NewMessages", "ChatCompletion"}

    assert shown >= main | {"AgentDocument", "MemoryQuery", "NewProvider", "NewChatModel"}


def test_the_schema_is_a_file_of_json_for_tools(schema: Schema) -> None:
    response = APIClient().get("/v1/openapi.json")

    assert response["Content-Type"] == "application/json"
    assert response.json() == schema
    assert "max-age" in response["Cache-Control"]
    again = APIClient().get("/v1/openapi.json", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_schema_is_served_without_a_key(db: None) -> None:
    response = APIClient().get("/v1/schema", HTTP_ACCEPT="application/json")

    assert response.status_code == 200
    assert json.loads(response.content)["info"]["title"] == "Palimpsest"
    assert APIClient().get("/v1/docs").status_code == 200


def test_real_answers_are_as_described(schema: Schema, api: APIClient, acme: Cast) -> None:
    def post(path: str, url: str, body: object = None) -> Any:
        response = api.post(url, body if body is not None else {}, format="json")
        check(schema, path, "post", response)
        return response.json()

    def get(path: str, url: str) -> Any:
        response = api.get(url)
        check(schema, path, "get", response)
        return response.json()

    start = {"agent": "kyra", "user": "sarah", "thread_id": "t"}
    conversation = post("/v1/conversations", "/v1/conversations", start)["id"]
    post("/v1/conversations", "/v1/conversations", start)
    base, shape = f"/v1/conversations/{conversation}", "/v1/conversations/{id}"
    said = {"messages": [{"role": "user", "content": "My name is Sarah. I live in Berlin."}]}
    get(shape, base)
    post(f"{shape}/messages", f"{base}/messages", said)
    get(f"{shape}/messages", f"{base}/messages?limit=1")
    job = post(f"{shape}/extract", f"{base}/extract", {"wait": False})["job"]
    extraction = post(f"{shape}/extract", f"{base}/extract", {"wait": True})
    get("/v1/jobs/{id}", f"/v1/jobs/{job}")
    post(f"{shape}/close", f"{base}/close")

    limits = [{"content": f"The API limit is {limit} requests per minute."} for limit in (100, 500)]
    memory = post("/v1/memories", "/v1/memories", limits[0])["id"]
    post("/v1/memories", "/v1/memories", limits[0])
    post("/v1/memories", "/v1/memories", limits)
    get("/v1/memories", "/v1/memories?limit=2")
    get("/v1/memories/{id}", f"/v1/memories/{memory}")
    get("/v1/memories/{id}", f"/v1/memories/{extraction['memories'][0]}")
    post("/v1/memories/{id}/pin", f"/v1/memories/{memory}/pin", {"pinned": True})
    get("/v1/memories/search", "/v1/memories/search?query=limit")
    stated = {"content": "Sarah keeps bees.", "user": "sarah", "scope": "user"}
    plain = post("/v1/memories", "/v1/memories", stated)["id"]
    retrieved = post("/v1/retrieve", "/v1/retrieve", {"agent": "kyra", "query": "API limit"})
    assert retrieved["contradictions"]
    query = {"agent": "kyra", "query": "API limit", "filters": {"pinned": True}}
    assert post("/v1/memory/query", "/v1/memory/query", query)["results"]
    assert post("/v1/memory/query", "/v1/memory/query", {**query, "return": "full"})["results"]
    asked = {"agent": "kyra", "query": "API limit", "conversation": conversation}
    assert post("/v1/prompt", "/v1/prompt", asked)["contradictions"]
    assert post("/v1/prompt", "/v1/prompt", {**asked, "token_budget": 100})["trimmed"]
    check(schema, "/v1/budget", "get", api.get("/v1/budget?agent=kyra&user=sarah"))
    check(schema, "/v1/budget", "get", api.get("/v1/budget?agent=nobody"), 404)
    routed = post("/v1/route", "/v1/route", {"agent": "kyra", "query": "x", "history": ["y"]})
    assert routed["budget_left"]["user_day"] is None
    given = api.patch(f"/v1/memories/{plain}", {"scope": "team"}, format="json")
    check(schema, "/v1/memories/{id}", "patch", given)
    check(schema, "/v1/memories/{id}", "delete", api.delete(f"/v1/memories/{memory}"))
    assert get("/v1/memories/{id}/history", f"/v1/memories/{memory}/history")["results"]
    assert get("/v1/audit/log", "/v1/audit/log?limit=3")["results"]
    assert get("/v1/threads/{thread_id}/changes", "/v1/threads/t/changes")["changes"]
    flush_events()
    assert get("/v1/events", "/v1/events?limit=3")["results"]
    assert get("/v1/events/counts", "/v1/events/counts")["results"]


def test_an_agent_is_as_described(schema: Schema, api: APIClient, acme: Cast) -> None:
    document = {"name": "Mira", "memory_config": {"token_budget": 900}, "reason": "new"}
    calmer = {**document, "tagline": "calm"}
    for body, status in ((document, 201), (calmer, 200), ({"nmae": "Mira"}, 422)):
        answer = api.put("/v1/agents/mira", body, format="json")
        check(schema, "/v1/agents/{slug}", "put", answer, status)

    check(schema, "/v1/agents/{slug}", "get", api.get("/v1/agents/mira"))
    check(schema, "/v1/agents/{slug}", "get", api.get("/v1/agents/nobody"), 404)
    check(schema, "/v1/agents", "get", api.get("/v1/agents?limit=1"))
    check(schema, "/v1/agents/{slug}/versions", "get", api.get("/v1/agents/mira/versions"))


def test_a_checkpoint_is_as_described(schema: Schema, api: APIClient) -> None:
    path, url = "/v1/threads/{thread_id}/checkpoint", "/v1/threads/t/checkpoint"
    saved = {"user": "sarah", "data": {"step": [1]}}
    new = {"If-None-Match": "*"}
    for headers, status in ((new, 201), (new, 412), ({}, 200)):
        answer = api.put(url, saved, format="json", headers=headers)
        check(schema, path, "put", answer, status)
    check(schema, path, "put", api.put(url, {}, format="json"), 422)
    check(schema, path, "get", api.get(f"{url}?user=sarah"))
    check(schema, path, "get", api.get(f"{url}?user=nobody"), 404)


def test_a_job_that_waits_is_as_described(schema: Schema, api: APIClient, acme: Cast) -> None:
    start = {"agent": "kyra", "user": "sarah"}
    conversation = api.post("/v1/conversations", start, format="json").json()["id"]
    base = f"/v1/conversations/{conversation}"
    api.post(
        f"{base}/messages", {"messages": [{"role": "user", "content": "Hello."}]}, format="json"
    )
    job = api.post(f"{base}/extract", {}, format="json").json()["job"]

    check(schema, "/v1/jobs/{id}", "get", api.get(f"/v1/jobs/{job}"))


@pytest.mark.parametrize(
    ("path", "method", "url", "body"),
    [
        ("/v1/conversations", "post", "/v1/conversations", {}),
        ("/v1/memories", "post", "/v1/memories", [{"content": ""}]),
        ("/v1/memories", "get", "/v1/memories?limit=0", None),
        ("/v1/memories/search", "get", "/v1/memories/search", None),
        ("/v1/retrieve", "post", "/v1/retrieve", {"agent": "nobody", "query": "x"}),
        ("/v1/prompt", "post", "/v1/prompt", {"agent": "nobody", "query": "x"}),
        ("/v1/route", "post", "/v1/route", {"agent": "nobody", "query": "x"}),
        ("/v1/route", "post", "/v1/route", {"history": [1]}),
        ("/v1/memory/query", "post", "/v1/memory/query", {"agent": "nobody", "query": "x"}),
        ("/v1/memory/query", "post", "/v1/memory/query", {"filters": {"x": 1}}),
        ("/v1/prompt", "post", "/v1/prompt", {"agent": "nobody", "query": "x", "weights": 5}),
        ("/v1/jobs/{id}", "get", "/v1/jobs/00000000-0000-0000-0000-000000000000", None),
    ],
)
def test_refusals_are_as_described(
    schema: Schema, api: APIClient, path: str, method: str, url: str, body: object
) -> None:
    text = "" if body is None else json.dumps(body)

    response = api.generic(method.upper(), url, text, content_type="application/json")

    check(schema, path, method, response, 404, 422)


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/retrieve", "/v1/workflows"])
def test_what_is_refused_before_an_endpoint_looks_at_it_is_as_described(
    path: str, schema: Schema, api: APIClient
) -> None:
    def post(body: str, media: str = "application/json", query: str = "") -> Any:
        return api.generic("POST", path + query, body, content_type=media)

    check(schema, path, "post", post("{"), 400)
    check(schema, path, "post", post("{}", query="?a=%FF"), 400)
    check(schema, path, "post", post("a", media="text/plain"), 415)


def test_a_refused_key_is_as_described(schema: Schema, db: None) -> None:
    check(schema, "/v1/memories", "get", APIClient().get("/v1/memories"), 401)


def test_tasks_answer_as_described(schema: Schema, api: APIClient, acme: Cast) -> None:
    tool = {"kind": "tool_output", "tool": "grep", "output": {"hits": 2}}
    path, items = "/v1/tasks/{task_id}", "/v1/tasks/{task_id}/items"
    made = api.post("/v1/tasks", {"id": "t", "agent": "kyra", "project": "apollo"}, format="json")
    noted = api.post("/v1/tasks/t/items", tool, format="json")
    item = f"/v1/tasks/t/items/{noted.json()['id']}/promote"
    promoted = api.post(item, {"content": "The worker has two ports."}, format="json")
    given = api.post(f"/v1/memories/{promoted.json()['id']}/promote", {}, format="json")
    body = {"name": "acme", "scope": "team"}

    check(schema, "/v1/tasks", "post", made)
    check(schema, items, "post", noted)
    check(schema, f"{items}/{{item_id}}/promote", "post", promoted)
    check(schema, "/v1/memories/{id}/promote", "post", given)
    check(schema, items, "get", api.get("/v1/tasks/t/items"))
    check(schema, items, "delete", api.delete("/v1/tasks/t/items"))
    check(schema, path, "get", api.get("/v1/tasks/t"))
    check(schema, f"{path}/complete", "post", api.post("/v1/tasks/t/complete"))
    check(schema, f"{path}/fail", "post", api.post("/v1/tasks/t/fail"), 409)
    check(schema, "/v1/projects/{slug}", "get", api.get("/v1/projects/apollo"))
    check(schema, "/v1/team/clear", "post", api.post("/v1/team/clear", body, format="json"))


def test_workflows_answer_as_described(schema: Schema, api: APIClient, acme: Cast) -> None:
    base = "/v1/workflows/recordings"
    workflow = {"trigger": "deploy", "steps": ["test", "prod"], "agent": "kyra"}
    made = api.post("/v1/workflows", workflow, format="json")
    begun = api.post(base, {"trigger": "release", "project": "apollo"}, format="json")
    own = f"{base}/{begun.json()['id']}"
    step = api.post(f"{own}/steps", {"name": "tag", "detail": "git tag"}, format="json")

    check(schema, "/v1/workflows", "post", made)
    check(schema, base, "post", begun)
    check(schema, base, "get", api.get(base))
    check(schema, f"{base}/{{id}}", "get", api.get(own))
    check(schema, f"{base}/{{id}}/steps", "post", step)
    check(schema, f"{base}/{{id}}/finish", "post", api.post(f"{own}/finish"))
    check(schema, f"{base}/{{id}}/discard", "post", api.post(f"{own}/discard"), 409)


def test_contexts_of_work_answer_as_described(schema: Schema, api: APIClient, acme: Cast) -> None:
    decision = {"form": "decision", "payload": {"decision": "Sessions end at midnight."}}
    for stated in ({**decision, "category": "auth"}, {"content": "Yaks are shaggy."}):
        stored = {**stated, "project": "shop", "tags": ["day"]}
        assert api.post("/v1/memories", stored, format="json").status_code == 201
    signals = {"current_file": "src/auth/login.ts", "time": "2026-02-09T09:04:00Z"}
    body = {"agent": "kyra", "project": "shop", "signals": signals}
    told = api.post("/v1/context/assemble", body, format="json")
    opened = api.get("/v1/context/expand", {"agent": "kyra", "project": "shop", "topic": "day"})

    check(schema, "/v1/context/assemble", "post", told)
    check(schema, "/v1/context/expand", "get", opened)
    assert told.json()["memories"]
    assert opened.json()["memories"]
