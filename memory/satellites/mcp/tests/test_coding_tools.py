"""The tools of coding agents, called with the official client."""

from __future__ import annotations

from tests.support.mcp_client import Editor

FILE = "src/auth/login.ts"


def test_what_is_recorded_stands_in_the_context_of_its_file(kyras: Editor) -> None:
    kyras.call("record_decision", decision="Sessions replace tokens.", project="shop", files=[FILE])
    kyras.call(
        "record_failure",
        signature="TypeError: token is undefined",
        lesson="Read the cookie first.",
        project="shop",
        files=[FILE],
    )
    kyras.call("record_convention", convention="Files are named in lower case.", project="shop")

    made = kyras.call("assemble_context", project="shop", current_file=FILE)

    for line in (
        "[DECISION]: Sessions replace tokens.",
        "[FAILURE]: TypeError: token is undefined: Read the cookie first.",
        "[CONVENTION]: Files are named in lower case.",
    ):
        assert line in made["context"]
    assert made["token_count"] > 0


def test_what_is_recorded_is_the_projects_unless_an_agent_is_named(kyras: Editor) -> None:
    everybodys = kyras.call("record_decision", decision="Sessions replace tokens.", project="shop")
    kyras_own = kyras.call(
        "record_decision", decision="Cookies last a week.", project="shop", agent="kyra"
    )

    assert (everybodys["agent"], kyras_own["agent"]) == (None, "kyra")


def test_a_topic_is_expanded_and_a_file_predicted(kyras: Editor) -> None:
    kept = kyras.call(
        "record_decision", decision="Sessions replace tokens.", project="shop", files=[FILE]
    )

    topic = kyras.call("expand", topic="src/auth", project="shop")
    foreseen = kyras.call("predict", file_opened=FILE, project="shop")

    assert "Sessions replace tokens." in topic["context"]
    assert [each["id"] for each in foreseen["predicted_memories"]] == [kept["id"]]


def test_a_task_is_begun_noted_and_packaged(kyras: Editor) -> None:
    kyras.call("begin_task", task="T-1", project="shop")
    kyras.call("note_in_task", task="T-1", text="The cookie is read too late.")

    package = kyras.call("get_package", task="T-1", project="shop")

    assert "The cookie is read too late." in package["text"]


def test_a_note_names_the_agent_where_two_have_a_task_of_that_name(editor: Editor) -> None:
    for agent in ("kyra", "luke"):
        editor.call("begin_task", task="T-1", project="shop", agent=agent)
    note = {"task": "T-1", "text": "The cookie is read too late."}

    refused = editor.refusal("note_in_task", **note)
    editor.call("note_in_task", **note, agent="luke")

    assert "agent: Several agents have a task of that id" in refused
    packages = {
        agent: editor.call("get_package", task="T-1", project="shop", agent=agent)["text"]
        for agent in ("kyra", "luke")
    }
    assert [agent for agent, text in packages.items() if note["text"] in text] == ["luke"]
