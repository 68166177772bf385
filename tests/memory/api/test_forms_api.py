"""Memories with a form and a payload: stated, refused, corrected, filtered, found and past."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from hypothesis import HealthCheck, given, settings
from rest_framework.test import APIClient

from audit.models import MemoryLog
from audit.selectors import instant_at
from memory.domain.forms import PROJECT_FORMS, Form, Payload, rendered
from memory.domain.secrets import MASK
from memory.models import Memory, MemoryArtifact
from teams.models import Agent
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients, make_cast
from tests.support.examples import examples
from tests.support.forms import EXAMPLES, payloads
from tests.support.memories_api import listed, post
from tests.support.query_api import ask, refuse

EPISODE = EXAMPLES[Form.EPISODE]


def state(api: APIClient, form: Form, payload: Payload | None = None, **fields: Any) -> Any:
    """The response to a memory of that form; those of projects are of one."""
    if form in PROJECT_FORMS:
        fields = {"project": "atlas", **fields}
    body = {"form": form, "payload": EXAMPLES[form] if payload is None else payload, **fields}
    return api.post("/v1/memories", body, format="json")


def stated(api: APIClient, form: Form, payload: Payload | None = None, **fields: Any) -> Any:
    """The stored memory."""
    response = state(api, form, payload, **fields)
    assert response.status_code == 201, response.content
    return response.json()


# -- stating ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "importance"),
    [(Form.DECISION, 9), (Form.CONVENTION, 8), (Form.FAILURE, 9), (Form.FACT, 8)],
)
def test_the_importance_that_is_left_out_is_that_of_the_form(
    api: APIClient, form: Form, importance: int
) -> None:
    assert stated(api, form)["importance"] == importance


@pytest.mark.parametrize("form", Form)
def test_a_memory_of_each_form_is_stored_and_read_whole(api: APIClient, form: Form) -> None:
    shown = stated(api, form)

    assert (shown["form"], shown["payload"]) == (form, EXAMPLES[form])
    assert shown["content"] == rendered(form, EXAMPLES[form])
    read = api.get(f"/v1/memories/{shown['id']}").json()
    (listed_one,) = api.get("/v1/memories").json()["results"]
    for each in (read, listed_one):
        assert (each["form"], each["payload"]) == (form, EXAMPLES[form])


def test_a_stated_text_stands_beside_the_payload(api: APIClient) -> None:
    shown = stated(api, Form.EPISODE, content="Sessions replaced JWT in the auth refactor.")

    assert shown["content"] == "Sessions replaced JWT in the auth refactor."
    assert shown["payload"] == EPISODE


def test_a_memory_without_a_form_has_no_payload(api: APIClient) -> None:
    shown = post(api, "memories", content="The team meets on Mondays.").json()

    assert (shown["form"], shown["payload"]) == (None, None)


@pytest.mark.parametrize(
    ("form", "memory_type"),
    [(Form.FACT, "semantic"), (Form.EPISODE, "episodic"), (Form.WORKFLOW, "procedural")],
)
def test_a_form_has_a_usual_type(api: APIClient, form: Form, memory_type: str) -> None:
    assert stated(api, form)["memory_type"] == memory_type
    other = stated(api, form, memory_type="insight", content="Another text altogether.")
    assert other["memory_type"] == "insight"


def test_many_may_be_stated_at_once(api: APIClient) -> None:
    body = [
        {"content": "The team meets on Mondays."},
        {"form": "fact", "payload": EXAMPLES[Form.FACT]},
    ]

    rows = api.post("/v1/memories", body, format="json").json()

    assert [each["form"] for each in rows] == [None, "fact"]


# -- refusing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"form": "fact"}, "payload"),
        ({"form": "fact", "payload": None}, "payload"),
        ({"form": "fact", "payload": "key: value"}, "payload"),
        ({"form": "fact", "payload": {"key": "db"}}, "payload.value"),
        ({"form": "fact", "payload": {"key": "db", "value": 7}}, "payload.value"),
        ({"form": "fact", "payload": {"key": "db", "value": "!?"}}, "payload.value"),
        ({"form": "fact", "payload": {"key": "d\0b", "value": "x"}}, "payload.key"),
        ({"form": "fact", "payload": {"key": "k" * 201, "value": "x"}}, "payload.key"),
        ({"form": "fact", "payload": {"key": "db", "value": "x" * 32001}}, "payload.value"),
        ({"form": "fact", "payload": {"key": "db", "value": "x", "why": "y"}}, "payload.why"),
        ({"form": "episode", "payload": {"narrative": "It went well."}}, "payload.title"),
        (
            {"form": "episode", "payload": {"title": "x", "artifacts": [{"kind": "branch"}]}},
            "payload.artifacts[0].kind",
        ),
        (
            {
                "form": "episode",
                "payload": {"title": "x", "artifacts": [{"kind": "pr", "ref": "r" * 501}]},
            },
            "payload.artifacts[0].ref",
        ),
        (
            {"form": "episode", "payload": {"title": "x" * 400, "narrative": "y" * 32000}},
            "payload",
        ),
        ({"form": "pattern", "payload": {"trigger": "x", "template": {}}}, "payload.template"),
        ({"form": "pattern", "payload": {"trigger": "x", "template": 4}}, "payload.template"),
        (
            {"form": "pattern", "payload": {"trigger": "x", "template": {"a": {"b": "c"}}}},
            "payload.template.a",
        ),
        ({"form": "workflow", "payload": {"trigger": "x", "steps": []}}, "payload.steps"),
        (
            {
                "form": "workflow",
                "payload": {"trigger": "x", "steps": ["a"], "details": {"b": "c"}},
            },
            "payload.details.b",
        ),
        ({"form": "failure", "payload": {"signature": "TimeoutError"}}, "payload.lesson"),
        ({"form": "decision", "payload": EXAMPLES[Form.DECISION]}, "project"),
        ({"form": "poem", "payload": {}}, "form"),
        ({"content": "A text.", "payload": {"key": "db", "value": "x"}}, "form"),
        ({"form": None}, "content"),
        ({}, "content"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_and_nothing_is_stored(
    api: APIClient, body: dict[str, Any], field: str
) -> None:
    response = api.post("/v1/memories", body, format="json")

    assert response.status_code == 422, response.content
    assert field in response.json()["errors"]
    assert not Memory.objects.exists()


def test_one_bad_payload_of_many_stores_none(api: APIClient) -> None:
    body = [{"content": "The team meets on Mondays."}, {"form": "fact", "payload": {"key": "db"}}]

    response = api.post("/v1/memories", body, format="json")

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["[1].payload.value"]
    assert not Memory.objects.exists()


def test_secrets_in_a_payload_are_masked_and_told_of(api: APIClient) -> None:
    shown = stated(
        api,
        Form.FACT,
        {
            "key": "router",
            "value": "the login of the router in the cellar has the password: hunter2!x",
        },
    )

    assert "hunter2" not in str(Memory.objects.values())
    assert MASK in shown["payload"]["value"]
    assert MASK in shown["content"]
    assert "masked" in shown["warnings"][0]


def test_a_payload_that_is_nothing_but_a_secret_is_refused(api: APIClient) -> None:
    response = state(api, Form.FACT, {"key": "password", "value": "hunter2!x"})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["payload"]
    assert not Memory.objects.exists()


def test_an_allowlist_holds_for_payloads_too(acme: Cast, client_of: Clients) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(allowed_categories=["work"])
    kyra = client_of(acme, acme.kyra)

    assert state(kyra, Form.FACT, category="health").status_code == 403
    assert state(kyra, Form.FACT, category="work").status_code == 201


# -- once ------------------------------------------------------------------------------------


def test_the_same_text_and_payload_are_stored_once(api: APIClient) -> None:
    first = stated(api, Form.EPISODE)

    again = state(api, Form.EPISODE)

    assert again.status_code == 200
    assert (again.json()["outcome"], again.json()["id"]) == ("duplicate", first["id"])
    assert Memory.objects.count() == 1


def test_the_same_text_with_other_payloads_stands_beside_it_each_once(api: APIClient) -> None:
    said = "The login page was fixed."
    several = [
        {"title": said, "artifacts": [{"kind": "file", "ref": f"src/{number}.ts"}]}
        for number in range(4)
    ]

    ids = [stated(api, Form.EPISODE, each)["id"] for each in several]
    again = [state(api, Form.EPISODE, each).json() for each in several]

    assert len(set(ids)) == 4
    assert [(each["outcome"], each["id"]) for each in again] == [("duplicate", pk) for pk in ids]
    # Without a payload it adds nothing to the first.
    assert post(api, "memories", content=said, memory_type="episodic").status_code == 200


def test_an_external_id_names_one_payload(api: APIClient) -> None:
    first = stated(api, Form.FACT, external_id="e-1")
    other = {**EXAMPLES[Form.FACT], "scope": "go"}
    text = first["content"]

    again = state(api, Form.FACT, external_id="e-1")
    changed = state(api, Form.FACT, other, content=text, external_id="e-1")

    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    assert changed.status_code == 409
    assert list(changed.json()["errors"]) == ["external_id"]


# -- correcting ------------------------------------------------------------------------------


def correct(api: APIClient, memory_id: str, **body: Any) -> Any:
    """The response to a correction."""
    return post(api, f"memories/{memory_id}/correct", **body)


def test_a_correction_is_a_new_version_with_a_payload_of_its_own(api: APIClient) -> None:
    old = stated(api, Form.FACT, project="atlas")
    payload = {**EXAMPLES[Form.FACT], "value": "exceptions at the edges"}

    new = correct(api, old["id"], form="fact", payload=payload).json()

    assert (new["supersedes"], new["version"], new["project"]) == (old["id"], 2, "atlas")
    assert (new["form"], new["payload"]) == ("fact", payload)
    assert new["content"] == "error_handling: exceptions at the edges (typescript)"
    before = api.get(f"/v1/memories/{old['id']}").json()
    assert (before["status"], before["payload"]) == ("superseded", EXAMPLES[Form.FACT])


def test_a_payload_alone_may_be_corrected(api: APIClient) -> None:
    text = "Sessions replaced JWT."
    old = stated(api, Form.EPISODE, content=text)
    payload = {**EPISODE, "artifacts": [{"kind": "pr", "ref": "17"}]}

    response = correct(api, old["id"], corrected_content=text, form="episode", payload=payload)

    assert response.status_code == 201, response.content
    assert response.json()["payload"] == payload
    assert listed(api, "artifact=pr:17") == [text]
    assert listed(api, "artifact=commit") == []


def test_a_text_may_get_a_form(api: APIClient) -> None:
    old = post(api, "memories", content="PostgreSQL holds billing.", project="atlas").json()

    new = correct(api, old["id"], form="decision", payload=EXAMPLES[Form.DECISION]).json()

    assert (new["supersedes"], new["form"]) == (old["id"], "decision")


def test_another_text_does_not_keep_a_payload_that_says_otherwise(api: APIClient) -> None:
    old = stated(api, Form.FACT)

    refused = correct(api, old["id"], corrected_content="Errors are exceptions.")
    alone = correct(api, old["id"], corrected_content="Errors are exceptions.", form=None)

    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == ["payload"]
    assert alone.status_code == 201
    assert (alone.json()["form"], alone.json()["payload"]) == (None, None)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"form": "fact", "payload": EXAMPLES[Form.FACT]}, "payload"),
        ({"form": "fact", "payload": {"key": "x"}}, "payload.value"),
        ({"form": "fact"}, "payload"),
        ({"payload": EXAMPLES[Form.FACT]}, "form"),
        ({"form": "decision", "payload": EXAMPLES[Form.DECISION]}, "form"),
        ({}, "corrected_content"),
    ],
)
def test_a_correction_that_says_nothing_new_or_does_not_fit_is_refused(
    api: APIClient, body: dict[str, Any], field: str
) -> None:
    old = stated(api, Form.FACT)

    response = correct(api, old["id"], **body)

    assert response.status_code == 422, response.content
    assert list(response.json()["errors"]) == [field]
    assert Memory.objects.count() == 1


def test_text_and_payload_cannot_be_patched(api: APIClient) -> None:
    old = stated(api, Form.FACT)

    response = api.patch(
        f"/v1/memories/{old['id']}", {"payload": {"key": "a", "value": "b"}}, format="json"
    )

    assert response.status_code == 422
    assert "new version" in str(response.json()["errors"]["payload"])


@pytest.mark.parametrize("change", [{"payload": {}}, {"form": "episode"}, {"form": ""}])
def test_the_database_refuses_another_payload(api: APIClient, change: dict[str, Any]) -> None:
    memory_id = stated(api, Form.FACT)["id"]

    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        Memory.objects.filter(pk=memory_id).update(**change)

    assert Memory.objects.get(pk=memory_id).payload == EXAMPLES[Form.FACT]


def test_a_text_gets_no_form_in_place(api: APIClient) -> None:
    memory_id = post(api, "memories", content="The team meets on Mondays.").json()["id"]

    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        Memory.objects.filter(pk=memory_id).update(form="fact", payload=EXAMPLES[Form.FACT])


def test_only_the_trigger_writes_artifacts(api: APIClient, acme: Cast) -> None:
    memory_id = stated(api, Form.EPISODE)["id"]
    rows = MemoryArtifact.objects.filter(memory_id=memory_id)
    assert {(each.kind, each.ref) for each in rows} == {
        ("commit", "4f2a9c0"),
        ("adr", "ADR-012"),
        ("file", "src/auth/login.ts"),
    }

    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        MemoryArtifact.objects.create(
            team_id=acme.team.id, memory_id=memory_id, kind="pr", ref="17"
        )
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        rows.delete()


# -- filtering and finding -------------------------------------------------------------------


def test_lists_are_filtered_by_form_and_artifact(api: APIClient) -> None:
    for form in Form:
        stated(api, form)
    post(api, "memories", content="The team meets on Mondays.")
    episode = rendered(Form.EPISODE, EPISODE)

    assert listed(api, "form=fact") == [rendered(Form.FACT, EXAMPLES[Form.FACT])]
    assert len(listed(api, "form=fact,episode&form=decision")) == 3
    assert listed(api, "artifact=commit") == [episode]
    assert listed(api, "artifact=file:src/auth/login.ts&form=episode") == [episode]
    assert listed(api, "artifact=file:src/auth") == []
    assert listed(api, "artifact=file:src/auth/") == listed(api, "artifact=file:src/") == [episode]
    assert listed(api, "artifact=file:src/au/") == listed(api, "artifact=file:auth/") == []
    assert listed(api, "artifact=file:src_auth/") == listed(api, "artifact=commit:4f/") == []
    assert listed(api, "artifact=pr:4f2a9c0") == []


@pytest.mark.parametrize("query", ["form=poem", "artifact=branch:main", "artifact=file:"])
def test_unknown_forms_and_kinds_are_refused_by_name(api: APIClient, query: str) -> None:
    response = api.get(f"/v1/memories?{query}")

    assert response.status_code == 422
    assert query.partition("=")[0] in str(response.json()["errors"])


def test_questions_are_filtered_by_form_and_artifact(api: APIClient) -> None:
    for form in Form:
        stated(api, form)

    def found(**filters: Any) -> set[str]:
        answer = ask(api, "auth", filters=filters, project="atlas", **{"return": "full"})
        return {each["form"] for each in answer["results"]}

    assert found(form="fact") == {"fact"}
    assert found(form=["fact", "workflow"]) == {"fact", "workflow"}
    assert found(artifact="commit:4f2a9c0") == {"episode"}
    assert found(artifact=["pr", "adr:ADR-012"]) == {"episode"}
    assert found(artifact=["pr", "file:src/"]) == {"episode"}
    assert found(**{"not": {"artifact": "commit"}}) == set(Form) - {"episode"}
    assert found(form={"ne": "episode"}, artifact="commit") == set()


@pytest.mark.parametrize(
    ("filters", "place"),
    [
        ({"form": "poem"}, "filters.form"),
        ({"artifact": "branch:main"}, "filters.artifact"),
        ({"artifact": {"gt": "commit"}}, "filters.artifact.gt"),
        ({"artifact": 4}, "filters.artifact"),
    ],
)
def test_a_bad_filter_is_refused_with_its_place(
    api: APIClient, filters: dict[str, Any], place: str
) -> None:
    assert place in refuse(api, 422, filters=filters)["errors"]


@pytest.mark.parametrize(
    "question", ["Who opened the heliotrope?", "What changed in login.ts?", "ADR-012", "4f2a9c0"]
)
def test_a_memory_is_found_by_words_of_its_payload(api: APIClient, question: str) -> None:
    narrative = "We opened the heliotrope after lunch."
    found_one = stated(
        api, Form.EPISODE, {**EPISODE, "narrative": narrative}, content="The refactor went well."
    )
    for number in range(5):
        post(api, "memories", content=f"The meeting number {number} was long.", check=False)

    results = api.get("/v1/memories/search", {"query": question}).json()["results"]

    assert results[0]["id"] == found_one["id"]
    assert results[0]["signals"]["lexical"] > 0
    assert results[0]["payload"]["narrative"] == narrative


# -- who sees it -----------------------------------------------------------------------------


def test_nobody_finds_by_an_artifact_what_is_not_theirs(
    acme: Cast, globex: Cast, client_of: Clients
) -> None:
    kyra, luke, stranger = (
        client_of(acme, acme.kyra),
        client_of(acme, acme.luke),
        client_of(globex),
    )
    stated(kyra, Form.EPISODE, memory_type="agent_private", content="A private refactor.")
    stated(kyra, Form.DECISION, project="atlas")

    assert listed(kyra, "artifact=commit:4f2a9c0") == ["A private refactor."]
    for reader in (luke, stranger):
        assert listed(reader, "artifact=commit:4f2a9c0") == []
        assert listed(reader, "form=episode") == []
    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert not MemoryArtifact.objects.exists()
    answer = ask(luke, "refactor", agent="luke", filters={"artifact": "commit"})
    assert answer["results"] == []
    other = ask(kyra, "billing", project="borealis", filters={"form": "decision"})
    assert other["results"] == []


# -- the log and the past --------------------------------------------------------------------


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team: only what is committed has a place in time."""
    return make_cast(f"town-{uuid4().hex}")


NUMBERS = itertools.count()


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_one=payloads())
def test_text_and_payload_survive_write_log_and_past(
    town: Cast, client_of: Callable[..., APIClient], given_one: tuple[Form, Payload]
) -> None:
    form, payload = given_one
    api = client_of(town)
    stored = state(api, form, payload, check=False, external_id=str(next(NUMBERS)))
    assert stored.status_code == 201, stored.content
    memory_id, written = stored.json()["id"], stored.json()["payload"]
    if not stored.json()["warnings"] or MASK not in str(written):
        assert written == payload
        assert stored.json()["content"] == rendered(form, payload)
    with team_scope(team_ids=[town.team.id], actor="test"):
        then = instant_at(team_id=town.team.id, at=None).at
        (entry,) = MemoryLog.objects.filter(memory_id=memory_id)
        assert (entry.state["form"], entry.state["payload"]) == (form, written)
    api.delete(f"/v1/memories/{memory_id}")

    past = api.get(
        "/v1/audit/state", {"at": then.isoformat(), "form": form.value, "limit": 500}
    ).json()["results"]

    (was,) = [each for each in past if each["id"] == memory_id]
    assert (was["content"], was["payload"]) == (stored.json()["content"], written)


def test_the_past_is_filtered_by_artifact(town: Cast, client_of: Callable[..., APIClient]) -> None:
    api = client_of(town)
    memory_id = stated(api, Form.EPISODE)["id"]
    with team_scope(team_ids=[town.team.id], actor="test"):
        then = instant_at(team_id=town.team.id, at=None).at
    api.delete(f"/v1/memories/{memory_id}")
    assert listed(api, "artifact=commit:4f2a9c0") == []

    def at(artifact: str) -> list[str]:
        query = {"at": then.isoformat(), "artifact": artifact}
        return [each["id"] for each in api.get("/v1/audit/state", query).json()["results"]]

    assert at("commit:4f2a9c0") == [memory_id]
    assert at("commit:other") == []


def exported(api: APIClient, **query: str) -> bytes:
    """The lines of a person's export."""
    response: Any = api.get("/v1/audit/export", query)
    return b"".join(response.streaming_content)


def test_history_and_export_tell_payloads(api: APIClient, acme: Cast) -> None:
    memory_id = stated(api, Form.EPISODE, user="sarah")["id"]

    history = api.get(f"/v1/memories/{memory_id}/history").json()
    export = exported(api, user="sarah")

    assert "ADR-012" in str(history)
    assert b"src/auth/login.ts" in export
    assert b'"form": "episode"' in export


def test_an_export_may_be_of_some_forms_alone(api: APIClient) -> None:
    episode = stated(api, Form.EPISODE, user="sarah")["id"]
    stated(api, Form.FACT, user="sarah")
    post(api, "memories", content="Sarah lives in Berlin.", user="sarah")
    talk = {"agent": "kyra", "user": "sarah", "thread_id": "t"}
    api.post("/v1/conversations", talk, format="json")

    sent = exported(api, user="sarah", form="episode")
    lines = [json.loads(line) for line in sent.splitlines()]

    assert {each["kind"] for each in lines} <= {"memory", "log", "relation", "end"}
    assert [each["id"] for each in lines if each["kind"] == "memory"] == [episode]
    assert lines[-1]["counts"]["memory"] == 1


def test_a_held_draft_keeps_its_payload(api: APIClient, acme: Cast, client_of: Clients) -> None:
    kyra = client_of(acme, acme.kyra)
    fields = {"memory_type": "user_profile", "user": "sarah", "subject": "user.city"}
    post(api, "memories", content="Sarah lives in Berlin.", **fields)
    payload = {"key": "city", "value": "Sarah lives in Paris."}
    held = state(kyra, Form.FACT, payload, content="Sarah lives in Paris.", **fields)
    assert held.status_code == 202, held.content

    request_id = held.json()["consent_request"]
    approved = post(api, f"consent-requests/{request_id}/approve")
    assert approved.status_code == 200, approved.content

    memory = Memory.objects.get(team=acme.team, content="Sarah lives in Paris.")
    assert (memory.form, memory.payload) == ("fact", payload)
