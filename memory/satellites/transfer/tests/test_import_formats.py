"""Files of other systems are read, and the faults of one are named."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.satellites.transfer.formats.items import ImportFileError, Item, ItemMaker, Names
from memory.satellites.transfer.formats.reading import Format, read_items

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = Names(agent="kyra", user="sarah")


def read(
    content: bytes | str | Path | object,
    *,
    given: Format | None = None,
    name: str = "import",
    names: Names = NAMES,
) -> tuple[Format, list[Item]]:
    """The format and the items of a file with this content; other values are written as JSON."""
    if not isinstance(content, bytes | str | Path):
        content = json.dumps(content)
    source = io.BytesIO(content.encode()) if isinstance(content, str) else content
    source = io.BytesIO(source) if isinstance(source, bytes) else source
    assert isinstance(source, io.BytesIO | Path)
    found, items = read_items(source, make=ItemMaker(names=names, now=NOW), given=given, name=name)
    return found, list(items)


def said(items: list[Item]) -> list[tuple[Any, ...]]:
    return [(each["role"], each["content"], each["created_at"]) for each in items]


def node(key: str, parent: str | None, message: object = None, *children: str) -> dict[str, Any]:
    return {"id": key, "parent": parent, "children": list(children), "message": message}


def message(role: str, *parts: object, **more: object) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"author": {"role": role}, "create_time": 1770000000.5, "content": content, **more}


CHATGPT = {
    "title": "Boat",
    "create_time": 1769990000,
    "conversation_id": "conv-1",
    "current_node": "d",
    "mapping": {
        "root": node("root", None, None, "a"),
        "a": node("a", "root", message("system", "You are ChatGPT."), "b"),
        "b": node("b", "a", message("user", "I bought a boat."), "c", "d"),
        "c": node("c", "b", message("assistant", "Another answer.")),
        "d": node("d", "b", message("assistant", "How nice.", {"asset_pointer": "x"})),
    },
}
CLAUDE = {
    "uuid": "talk-1",
    "name": "Boat",
    "created_at": "2026-02-01T10:00:00.000000Z",
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Read this.",
            "content": [{"type": "text", "text": "Read this."}],
            "created_at": "2026-02-01T10:00:01Z",
            "attachments": [{"file_name": "a.txt", "extracted_content": "The mast is up."}],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Done."}],
        },
        {
            "uuid": "m3",
            "sender": "assistant",
            "text": "This block is not supported on your current device yet.",
            "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "name": "x"}],
        },
    ],
}
MEM0 = {
    "id": "8f",
    "memory": "Likes oat milk.",
    "user_id": "dmitri",
    "categories": ["food"],
    "metadata": {"source": "chat", "nested": {"a": 1}},
    "created_at": "2026-01-05T08:00:00-08:00",
}
LETTA: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "Sam",
            "block_ids": ["block-0", "block-1"],
            "messages": [
                {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "Be."}]},
                {
                    "id": "message-1",
                    "role": "user",
                    "content": json.dumps({"type": "user_message", "message": "Hello Sam."}),
                    "created_at": "2026-02-02T10:00:00Z",
                },
                {"id": "message-2", "role": "user", "content": '{"type": "heartbeat"}'},
                {
                    "id": "message-3",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello."}],
                    "created_at": "2026-02-02T10:00:05Z",
                },
            ],
        }
    ],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "Chad likes boats."},
        {"id": "block-1", "label": "persona", "value": "I am Sam."},
    ],
}
LANGGRAPH = {
    "namespace": ["memories", "users", "dmitri"],
    "key": "k1",
    "value": {"text": "Sails on Sundays."},
    "created_at": "2026-01-01T00:00:00+00:00",
}
NOTE = """---
title: Coffee
tags: [drinks, morning]
permalink: coffee-notes
created: 2026-01-02
---
# Coffee

Pour over is [[Clarity|clear]].

- [technique] Water at 96 degrees #brewing
- pairs_with [[Breakfast]]
- [x] buy beans
"""


def test_chatgpt_follows_the_branch_that_was_shown() -> None:
    found, items = read([CHATGPT])

    assert found is Format.CHATGPT
    at = "2026-02-02T02:40:00.500000+00:00"
    assert said(items) == [("user", "I bought a boat.", at), ("assistant", "How nice.", at)]
    assert {(each["thread_id"], each["agent"], each["user"]) for each in items} == {
        ("conv-1", "kyra", "sarah")
    }
    assert [each["external_id"] for each in items] == ["b", "d"]


def test_a_message_of_chatgpt_without_content_says_nothing() -> None:
    empty = {"author": None, "content": None, "create_time": None}
    end = {"id": "d", "children": [], "message": empty}
    talk = {"id": "t", "mapping": {"d": {**end, "parent": None}}}

    assert read([talk]) == (Format.CHATGPT, [])


def test_claude_keeps_attachments_and_leaves_out_tools() -> None:
    found, items = read([CLAUDE])

    assert found is Format.CLAUDE
    assert said(items) == [
        ("user", "Read this.\nThe mast is up.", "2026-02-01T10:00:01+00:00"),
        ("assistant", "Done.", "2026-02-01T10:00:00+00:00"),
    ]


@pytest.mark.parametrize(
    "shape", [[MEM0], {"results": [MEM0]}, {"memories": [MEM0]}], ids=["list", "results", "named"]
)
def test_mem0_keeps_ids_times_and_people(shape: object) -> None:
    found, (item,) = read(shape)

    assert found is Format.MEM0
    assert item.pop("external_id").startswith("mem0:8f:")
    assert item == {
        "at": "[0]",
        "agent": "kyra",
        "user": "dmitri",
        "content": "Likes oat milk.",
        "memory_type": "semantic",
        "subject": "",
        "tags": ["food", 'source="chat"', 'nested={"a":1}'],
        "created_at": "2026-01-05T16:00:00+00:00",
    }


def test_rows_of_mem0s_vector_store_are_its_memories() -> None:
    payload = {"data": "Likes oat milk.", "user_id": "dmitri", "topic": "food", "hash": "1c"}
    row = {"id": "8f", "payload": payload, "vector": [0.1, 0.2]}

    found, (item,) = read([row])
    _, (same,) = read([{**MEM0, "categories": []}])

    assert found is Format.MEM0
    assert (item["content"], item["user"]) == ("Likes oat milk.", "dmitri")
    assert item["tags"] == ['topic="food"']
    assert item["external_id"] == same["external_id"], "as in an export of the same memory"


def test_letta_has_blocks_and_what_was_said() -> None:
    found, items = read(json.dumps(LETTA, indent=2), names=Names(user="sarah"))

    assert found is Format.LETTA
    assert [(each["memory_type"], each["content"], each["agent"]) for each in items[:2]] == [
        ("user_profile", "Chad likes boats.", "Sam"),
        ("identity", "I am Sam.", "Sam"),
    ]
    assert [each["content"] for each in items[2:]] == ["Hello Sam.", "Hello."]


def test_letta_agents_of_one_file_keep_their_names() -> None:
    other = {**LETTA["agents"][0], "name": "Ada"}

    _, items = read({**LETTA, "agents": [*LETTA["agents"], other]})
    _, renamed = read(LETTA)

    assert [each["agent"] for each in items] == ["Sam"] * 4 + ["Ada"] * 4
    assert {each["agent"] for each in renamed} == {"kyra"}, "one agent has the name that is given"


def sends(message_id: str, arguments: str, reasoning: str = "Greet them.") -> dict[str, Any]:
    """A message of a Letta agent that answers by its tool, with its reasoning as the text."""
    return {
        "id": message_id,
        "role": "assistant",
        "content": [{"type": "text", "text": reasoning}],
        "tool_calls": [{"function": {"name": "send_message", "arguments": arguments}}],
    }


def test_letta_agents_say_what_they_send_and_not_their_reasoning() -> None:
    silent = sends("message-2", "{}")
    silent["tool_calls"][0]["function"]["name"] = "archival_memory_search"
    messages = [
        sends("message-1", json.dumps({"message": "I am Loop."})),
        silent,
        sends("message-3", '{"message": ""}'),
    ]

    _, items = read({"agents": [{"id": "agent-0", "name": "Loop", "messages": messages}]})

    assert [each["content"] for each in items] == ["I am Loop.", "Greet them."]


def test_a_letta_file_may_be_one_string_of_json() -> None:
    found, items = read(json.dumps(json.dumps(LETTA)))

    assert found is Format.LETTA
    assert items == read(LETTA)[1]


@pytest.mark.parametrize("record", [MEM0, LANGGRAPH], ids=["mem0", "langgraph"])
def test_a_changed_text_has_the_time_of_its_change(record: dict[str, Any]) -> None:
    _, (item,) = read([record] if record is MEM0 else json.dumps(record))
    changed = {**record, "updated_at": "2026-02-03T10:00:00Z"}
    _, (later,) = read([changed] if record is MEM0 else json.dumps(changed))

    assert later == {**item, "created_at": "2026-02-03T10:00:00+00:00"}


def test_an_older_letta_file_is_of_one_agent() -> None:
    older = {
        "agent_type": "memgpt_agent",
        "name": "Sam",
        "core_memory": [{"label": "human", "value": "Likes boats."}],
        "messages": [{"role": "user", "text": "Hello."}],
    }

    found, items = read(older)

    assert found is Format.LETTA
    assert [each["content"] for each in items] == ["Likes boats.", "Hello."]


def test_graphiti_keeps_the_time_for_which_a_fact_holds() -> None:
    # As `EntityEdge.model_dump(mode="json")` of graphiti-core 0.31.2 gives it.
    moved_away: dict[str, Any] = {
        "uuid": "6f0c2d1e-0000-4000-8000-000000000001",
        "group_id": "dmitri",
        "source_node_uuid": "a",
        "target_node_uuid": "b",
        "created_at": "2026-02-01T09:00:00Z",
        "name": "LIVES_IN",
        "fact": "Dmitri lives in Ghent.",
        "fact_embedding": None,
        "episodes": ["e1"],
        "expired_at": "2026-02-01T09:00:00Z",
        "valid_at": "2024-05-01T00:00:00Z",
        "invalid_at": "2026-01-31T00:00:00Z",
        "reference_time": None,
        "attributes": {},
    }
    present = {
        **moved_away,
        "uuid": "6f0c2d1e-0000-4000-8000-000000000002",
        "fact": "Dmitri lives in Antwerp.",
        "expired_at": None,
        "valid_at": "2026-01-31T00:00:00Z",
        "invalid_at": "2099-01-31T00:00:00Z",
    }

    for shape in ([moved_away, present], {"edges": [moved_away, present]}):
        found, (first, second) = read(shape)

        assert found is Format.GRAPHITI
        assert (first["user"], first["tags"]) == ("dmitri", ["LIVES_IN"])
        assert first["external_id"].startswith(f"graphiti:{moved_away['uuid']}:")
        assert [first["valid_from"], first["valid_to"]] == [
            "2024-05-01T00:00:00+00:00",
            "2026-01-31T00:00:00+00:00",
        ]
        assert second["valid_to"] == "2099-01-31T00:00:00+00:00"


def test_a_record_may_say_that_a_page_says_it() -> None:
    page = {"content": "The library ends in June.", "source": "web"}
    person = {"content": "We use the library.", "source": "person"}

    _, items = read(f"{json.dumps(page)}\n{json.dumps(person)}\n")

    assert [each.get("source") for each in items] == ["web", None]


@pytest.mark.parametrize("is_list", [False, True])
def test_langgraph_reads_whose_it_is_from_the_namespace(is_list: bool) -> None:
    second = {"namespace": ["facts"], "key": "k2", "value": {"colour": "red", "size": 2}}

    lines = f"{json.dumps(LANGGRAPH)}\n\n{json.dumps(second)}\n"
    found, items = read([LANGGRAPH, second] if is_list else lines)

    assert found is Format.LANGGRAPH
    assert [(each["user"], each["content"], each["tags"]) for each in items] == [
        ("dmitri", "Sails on Sundays.", ["memories"]),
        ("sarah", '{"colour": "red", "size": 2}', ["facts"]),
    ]
    assert items[0]["external_id"].startswith("langgraph:memories:users:dmitri:k1:")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"content": "Likes tea."}, "Likes tea."),
        ({"colour": "red"}, '{"kind": "Memory", "content": {"colour": "red"}}'),
    ],
)
def test_memories_of_langmem_have_their_words(content: object, words: str) -> None:
    _, (item,) = read([{**LANGGRAPH, "value": {"kind": "Memory", "content": content}}])

    assert item["content"] == words


def test_a_note_is_told_in_statements_that_stand_alone() -> None:
    found, items = read(NOTE, name="drinks/coffee.md")

    assert found is Format.MARKDOWN
    tags = ["drinks", "morning"]
    assert [(each["at"], each["content"], each["tags"]) for each in items] == [
        ("drinks/coffee.md:11", "Coffee: Water at 96 degrees", [*tags, "technique", "brewing"]),
        ("drinks/coffee.md:12", "Coffee pairs with Breakfast", tags),
        ("drinks/coffee.md:9", "Coffee: Pour over is clear.\n\n- [x] buy beans", tags),
    ]
    assert {each["created_at"] for each in items} == {"2026-01-02T00:00:00+00:00"}


def test_a_longer_note_is_cut_where_paragraphs_end() -> None:
    paragraph = "A sentence about the harbour. " * 30

    _, items = read("\n\n".join([paragraph.strip()] * 6), name="long.md")

    assert len(items) == 3
    assert all(each["content"].startswith("long: A sentence") for each in items)


@pytest.mark.parametrize(
    "line",
    ["- " + " " * 200_000, "x" * 50_000, "[[" * 50_000, "#a " * 50_000],
    ids=["spaces", "word", "links", "tags"],
)
def test_a_note_of_one_long_line_is_read_at_once(line: str) -> None:
    assert all(len(each["content"]) < 32_000 for each in read(line, given=Format.MARKDOWN)[1])


def zipped(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return packed.getvalue()


def test_archives_are_notes_or_an_export_as_it_is_downloaded() -> None:
    notes = zipped(**{"vault__a.md": "Alpha is first.", "vault__.obsidian__b.md": "Not this."})
    chats = zipped(**{"conversations.json": json.dumps([CHATGPT]), "chat.html": "<html>"})

    assert [each["content"] for each in read(notes)[1]] == ["a: Alpha is first."]
    assert (read(chats)[0], len(read(chats)[1])) == (Format.CHATGPT, 2)


def test_an_export_in_several_files_is_read_whole() -> None:
    second = {**CHATGPT, "conversation_id": "conv-2"}
    parts = {"conversations-001.json": [CHATGPT], "conversations-002.json": [second]}
    texts = {name: json.dumps(talks) for name, talks in parts.items()}

    found, items = read(zipped(**{"conversations-000.json": "[]", "readme.md": "Notes.", **texts}))

    assert found is Format.CHATGPT
    assert [each["thread_id"] for each in items] == ["conv-1", "conv-1", "conv-2", "conv-2"]
    assert items[2]["at"] == "conversations-002.json[0].mapping.b"


def test_a_folder_of_notes(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("Beta is second.")
    (tmp_path / "a.md").write_text("Alpha is first.")
    (tmp_path / "c.txt").write_text("Not a note.")

    _, items = read(tmp_path)

    assert [each["at"] for each in items] == ["a.md:1", "sub/b.md:1"]


def test_plain_lines_are_messages_and_memories() -> None:
    lines = [
        {"role": "user", "content": "Hello.", "thread_id": "t", "created_at": "2026-01-01T00:00Z"},
        {"content": "Likes tea.", "tags": ["food"], "importance": 6, "user": "dmitri"},
    ]

    found, items = read("\n".join(map(json.dumps, lines)))
    again = read("\n".join(map(json.dumps, lines)))[1]

    assert found is Format.JSONL
    assert (items[0]["thread_id"], items[0]["role"]) == ("t", "user")
    assert (items[1]["user"], items[1]["importance"]) == ("dmitri", 6)
    assert [each["external_id"] for each in items] == [each["external_id"] for each in again]


def test_a_table_of_memories() -> None:
    table = (
        '\ufeffcontent,user,tags,created_at\n"Likes tea, green",dmitri,"a, b",2026-01-01\nB,,,\n'
    )

    found, items = read(table)

    assert found is Format.CSV
    assert [(each["content"], each["user"], each["tags"]) for each in items] == [
        ("Likes tea, green", "dmitri", ["a", "b"]),
        ("B", "sarah", []),
    ]


def test_a_long_message_is_kept_in_parts(settings: Any) -> None:
    settings.MAX_CONTENT_CHARS = 10
    long = {**CLAUDE, "chat_messages": [{"uuid": "m", "sender": "human", "text": "word " * 5}]}

    items = read([long])[1]

    assert "".join(each["content"] for each in items) == "word " * 5
    assert [each["external_id"] for each in items] == ["m", "m#10", "m#20"]


def cyclic() -> object:
    mapping = {"a": node("a", "b"), "b": node("b", "a")}
    return [{"id": "x", "mapping": mapping, "current_node": "a"}]


def torn() -> object:
    return [{"id": "x", "mapping": {"a": node("a", "gone")}, "current_node": "a"}]


BROKEN: dict[str, tuple[object, str]] = {
    "letta's call": (
        {"agents": [{"name": "Loop", "messages": [sends("message-1", "{")]}]},
        r"messages\[0\].tool_calls\[0\].function.arguments: Is not JSON",
    ),
    "nothing": ("", r"The file is empty\."),
    "words": ("Just words.", "none of the formats chatgpt, claude, mem0"),
    "other json": ('{"a": 1}', "none of the formats"),
    "cut json": (json.dumps([CHATGPT, CHATGPT])[:-30], "is not JSON"),
    "cut line": (json.dumps(LANGGRAPH) + '\n{"namespace": [', "line 2: Is not JSON"),
    "no utf-8": (b'[{"memory": "\xff\xfe", "id": "1"}]', "is not"),
    "cyclic": (cyclic(), "is above itself"),
    "torn": (torn(), "There is no node 'gone'"),
    "no list": ([{**CLAUDE, "chat_messages": {}}], r"\[0\].chat_messages: Expected a list"),
    "sender": (
        [{**CLAUDE, "chat_messages": [{"uuid": "m", "sender": "x", "text": "y"}]}],
        r"\[0\].chat_messages\[0\].sender",
    ),
    "no id": ([{"memory": "Likes tea."}], r"\[0\].id: Is missing"),
    "no text": ([MEM0, {"memory": 3, "id": "2"}], r"\[1\]: Must be text"),
    "a number for text": ('{"content": "x"}\n{"content": 5}\n', r"line 2\.content: Must be text\."),
    "blank": (" \n", r"The file is empty\."),
    "time": ([{**MEM0, "created_at": "yesterday"}], r"\[0\].created_at: Is no time"),
    "to come": ([{**MEM0, "created_at": "2027-01-01T00:00:00Z"}], "must not lie|Must not lie"),
    "ragged table": ("content,user\na,b,c\n", "line 2: It has not as many columns"),
    "bad zip": (b"PK\x03\x04 and nothing", "archive cannot be read"),
    "other zip": (zipped(**{"a.txt": "x"}), "neither conversations.json nor notes"),
    "a team's": ('{"palimpsest_export": 1}\n', "manage.py import_team"),
    "importance": ('{"content": "x", "importance": 11}', "line 1: The importance must be"),
    "nested deep": ("[" * 100_000, "more than 100 deep"),
    "nested later": (
        '[{"memory": "a", "id": "1"}, {"\\\\": "]", "x": ' + "[" * 100_000,
        "100 deep",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_named(case: str) -> None:
    content, words = BROKEN[case]

    with pytest.raises(ImportFileError, match=words):
        read(content)


def test_a_character_that_cannot_be_stored_is_replaced() -> None:
    odd = {**MEM0, "memory": "Likes\0tea.", "categories": ["a\0b", None]}
    agent = {"name": "Sam\u200b", "messages": [{"role": "user", "content": "a\0b"}]}

    _, (item,) = read([odd])
    _, (said_to_letta,) = read({"agents": [agent]}, names=Names(user="sarah"))

    assert (item["content"], item["tags"][0]) == ("Likes\ufffdtea.", "a b")
    assert (said_to_letta["agent"], said_to_letta["content"]) == ("Sam", "a\ufffdb")


@pytest.mark.parametrize("front", ["title: {{title}}", "title: [", "just words"])
def test_front_matter_that_is_no_yaml_is_text(front: str) -> None:
    _, (item,) = read(f"---\n{front}\n---\nTea is green.", name="a.md")

    assert item["content"] == f"a: ---\n{front}\n---\nTea is green."


@pytest.mark.parametrize(
    "front", ["created: Friday, January 2nd 2026", "date: 2027-05-01", "tags: 7", "tags: {a: 1}"]
)
def test_odd_fields_of_front_matter_refuse_no_note(front: str) -> None:
    _, (item,) = read(f"---\n{front}\n---\nTea is green.", name="a.md")

    assert (item["content"], item["created_at"]) == ("a: Tea is green.", None)


def test_brackets_in_strings_are_no_nesting() -> None:
    text = "[" * 200 + '\\" {' + "x" * 20_000 + "\\"
    talks = [{**MEM0, "id": str(number), "memory": text} for number in range(400)]

    assert len(read(talks)[1]) == 400


def test_a_string_of_quotes_is_read_at_once() -> None:
    with pytest.raises(ImportFileError, match="is not JSON"):
        read('[{"memory": "' + '\\"' * 2_000_000, given=Format.MEM0)


def test_conversations_need_an_agent_and_a_user() -> None:
    with pytest.raises(ImportFileError, match="name the agent") as refused:
        read([CHATGPT], names=Names(user="sarah"))
    assert refused.value.field == "agent"
    with pytest.raises(ImportFileError, match="name the user"):
        read([CHATGPT], names=Names(agent="kyra"))


def test_a_format_that_is_given_is_not_guessed() -> None:
    with pytest.raises(ImportFileError, match="mapping: Expected an object"):
        read([{**CLAUDE, "id": "x"}], given=Format.CHATGPT)
    assert read("Just words.", given=Format.MARKDOWN, name="a")[1][0]["content"] == "a: Just words."
