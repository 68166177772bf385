"""Every tool, called with the official client over HTTP, whose schemas the client checks."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.support.mcp_client import MODES, Editor

BERLIN = "Sarah lives in Berlin."
TOOLS = {
    "add_memory",
    "search_memories",
    "get_memories",
    "get_memory",
    "update_memory",
    "delete_memory",
    "list_entities",
    "get_context",
    "report_contradictions",
    "assemble_context",
    "predict",
    "expand",
    "record_decision",
    "record_failure",
    "record_convention",
    "begin_task",
    "note_in_task",
    "get_package",
}
WRITING = {"add_memory", "update_memory", "delete_memory", "begin_task", "note_in_task"}
READING = {each for each in TOOLS if each not in WRITING and not each.startswith("record_")}


def test_all_descriptions_fit_a_prompt(editor: Editor) -> None:
    listed = editor.run(lambda client: client.list_tools()).tools

    schemas = json.dumps([each.input_schema for each in listed])
    arguments = re.findall(r'"description": "([^"]*)"', schemas)
    assert sum(map(len, [*arguments, *(each.description or "" for each in listed)])) < 12_000


@pytest.mark.parametrize("mode", MODES)
def test_all_tools_are_listed_with_hints_and_schemas(editor: Editor, mode: str) -> None:
    listed = editor.speaking(mode).run(lambda client: client.list_tools()).tools

    assert {each.name for each in listed} == TOOLS
    for each in listed:
        assert each.title
        assert each.description
        assert each.input_schema["additionalProperties"] is False
        assert each.output_schema is not None
        assert each.annotations is not None
        assert each.annotations.read_only_hint is (each.name in READING)
    destructive = {each.name for each in listed if each.annotations.destructive_hint}  # type: ignore[union-attr]
    assert destructive == {"update_memory", "delete_memory"}


@pytest.mark.parametrize("name", ["null", "true", "[]"])
def test_a_name_that_reads_like_json_is_a_name(editor: Editor, name: str) -> None:
    added = editor.call("add_memory", text='{"city": "Berlin"}', user=name)["memory"]
    editor.call("add_memory", text=BERLIN, user="sarah")

    kept = editor.call("get_memory", memory_id=added["id"])
    assert (kept["user"], kept["content"]) == (name, '{"city": "Berlin"}')
    found = editor.call("search_memories", query="Where does Sarah live? Berlin", user=name)
    assert BERLIN not in [each["content"] for each in found["results"]]


@pytest.mark.parametrize("mode", MODES)
def test_a_memory_is_added_found_corrected_and_deleted(editor: Editor, mode: str) -> None:
    editor = editor.speaking(mode)

    added = editor.call("add_memory", text=BERLIN, user="sarah")["memory"]
    assert added["outcome"] == "created"
    found = editor.call("search_memories", query="Where does Sarah live?", user="sarah")
    assert [each["content"] for each in found["results"]] == [BERLIN]
    assert editor.call("get_memory", memory_id=added["id"])["user"] == "sarah"

    right = editor.call("update_memory", memory_id=added["id"], text="Sarah lives in Kyiv.")
    listed = editor.call("get_memories", user="sarah")
    assert [each["id"] for each in listed["results"]] == [right["id"]]

    gone = editor.call("delete_memory", memory_id=right["id"], reason="moved again")
    assert gone["status"] == "soft_deleted"
    assert editor.call("get_memories", user="sarah")["results"] == []


def test_messages_are_kept_and_found_at_once(editor: Editor) -> None:
    said = [{"role": "user", "content": "My dog Rex is afraid of thunderstorms."}]
    names = {"user": "sarah", "agent": "kyra", "thread_id": "thread-1"}

    first = editor.call("add_memory", messages=said, **names)
    second = editor.call("add_memory", messages=[{"role": "user", "content": "Hello."}], **names)

    assert first["memory"] is None
    assert first["conversation"] == second["conversation"]
    assert len(first["message_ids"]) == 1
    found = editor.call("search_memories", query="Is Rex afraid of thunderstorms?", **_who())
    assert said[0]["content"] in {each["content"] for each in found["messages"]}


def test_filters_in_the_style_of_mem0_name_and_narrow(editor: Editor) -> None:
    editor.call("add_memory", text=BERLIN, user="sarah", tags=["home"])
    editor.call("add_memory", text="Dmitri lives in Berlin too.", user="dmitri")
    hers = {"AND": [{"user_id": "sarah"}]}
    tagged = {"AND": [{"user_id": "sarah"}, {"tags": {"contains": "home"}}]}

    assert len(editor.call("get_memories", filters=hers)["results"]) == 1
    for filters in (hers, tagged):
        found = editor.call("search_memories", query="Berlin", agent="kyra", filters=filters)
        assert [each["content"] for each in found["results"]] == [BERLIN]


def test_pages_of_memories_follow_each_other(editor: Editor) -> None:
    texts = {f"Sarah's door {number} has the code word {number * 37}." for number in range(3)}
    for text in texts:
        editor.call("add_memory", text=text, user="sarah")

    first = editor.call("get_memories", user="sarah", limit=2)
    rest = editor.call("get_memories", user="sarah", cursor=first["next_cursor"], limit=2)

    assert {each["content"] for each in first["results"] + rest["results"]} == texts
    assert rest["next_cursor"] is None


def test_entities_are_those_of_the_team(editor: Editor) -> None:
    entities = editor.call("list_entities")

    assert {each["id"] for each in entities["users"]} == {"sarah", "dmitri"}
    assert {each["id"] for each in entities["agents"]} == {"kyra", "luke"}
    assert entities["is_complete"]
    assert not editor.call("list_entities", limit=1)["is_complete"]


def test_context_tells_facts_with_reasons(editor: Editor) -> None:
    text = "The billing service uses PostgreSQL."
    editor.call("add_memory", text=text, category="technical_fact", scope="team")

    told = editor.call("get_context", user_request="Write a query for the billing service.")

    assert [each["content"] for each in told["facts"]] == [text]
    assert told["facts"][0]["reason"]
    assert text in told["context"]


def test_a_context_of_what_is_known_alone_says_so_also_without_facts(editor: Editor) -> None:
    asked = {"user_request": "Write a query for the billing service."}

    told = editor.call("get_context", **asked, only_known=True)

    assert told["facts"] == []
    assert told["context"]
    assert editor.call("get_context", **asked)["context"] == ""


def test_a_change_of_a_profile_waits_for_a_yes(kyras: Editor) -> None:
    city = {"memory_type": "user_profile", "subject": "user.profile.city", "user": "sarah"}
    kyras.call("add_memory", text="User lives in Oslo.", **city)

    held = kyras.call("add_memory", text="User lives in Bergen.", **city)["memory"]

    assert held["outcome"] == "held"
    assert held["consent_request"]
    assert held["content"] == "User lives in Oslo."


def test_contradictions_are_reported_with_a_recommendation(editor: Editor) -> None:
    for limit in (100, 500):
        editor.call("add_memory", text=f"The API limit is {limit} requests per minute.")

    (conflict,) = editor.call("report_contradictions")["conflicts"]

    assert len(conflict["facts"]) == 2
    assert conflict["recommended"]["reason"]
    assert len(conflict["contradictions"]) == 1


def test_the_state_at_a_moment_is_what_was_known_then(editor: Editor) -> None:
    first = editor.call("add_memory", text=BERLIN, user="sarah")["memory"]
    between = timezone.now()
    editor.call("update_memory", memory_id=first["id"], text="Sarah lives in Kyiv.")

    then = editor.call("get_memories", at=between.isoformat(), user="sarah")

    assert [each["content"] for each in then["results"]] == [BERLIN]
    assert then["results"][0]["status"] == "active"
    before = (between - timedelta(days=1)).isoformat()
    assert editor.call("get_memories", at=before, user="sarah")["results"] == []


def test_arguments_may_have_mem0s_names(editor: Editor) -> None:
    said = [{"role": "user", "content": "Hello."}]
    names = {"user_id": "sarah", "agent_id": "kyra", "app_id": "shop", "run_id": "thread-1"}
    added = editor.call("add_memory", text=BERLIN, user_id="sarah")["memory"]

    first = editor.call("add_memory", messages=said, **names)
    again = editor.call("add_memory", messages=said, **names)
    listed = editor.call("get_memories", user_id="sarah", page_size=1)

    assert first["conversation"] == again["conversation"]
    assert [each["id"] for each in listed["results"]] == [added["id"]]
    assert "no argument user_id" in editor.refusal("get_memories", user="sarah", user_id="dmitri")
    assert "no argument app_id" in editor.refusal("list_entities", app_id="shop")


def test_a_statement_is_stored_with_all_that_is_said_of_it(editor: Editor) -> None:
    said = {"importance": 9, "subject": "user.home", "tags": ["home"], "is_pinned": True}

    stored = editor.call("add_memory", text=BERLIN, user="sarah", **said)["memory"]

    assert {name: stored[name] for name in said} == said


def _who() -> dict[str, str]:
    return {"user": "sarah", "agent": "kyra"}
