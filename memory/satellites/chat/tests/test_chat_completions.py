"""A client of the OpenAI API talks with Kyra, who remembers."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from memory.models import Job
from routing.models import RoutingDecision, SpendEntry
from teams.models import Agent
from teams.tenancy import team_scope
from tests.support.chat import Ask, Town, assistant, user
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call


def test_only_address_key_and_model_change(town: Town, model: FakeOpenAI) -> None:
    model.will(answer("Hello Sarah."))

    completion = town.client().chat.completions.create(
        model="kyra", messages=[{"role": "user", "content": "Hi, I am Sarah."}]
    )

    assert completion.choices[0].message.content == "Hello Sarah."
    assert town.said() == [("user", "Hi, I am Sarah."), ("assistant", "Hello Sarah.")]


def test_what_is_remembered_reaches_the_model_and_is_told(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    memory = town.remember("Sarah takes her tea without sugar.")
    model.will(answer("Without sugar."))

    completion = ask("How do I take my tea?")

    first, last = model.chats[-1].body["messages"]
    assert first["role"] == "system"
    assert "Sarah takes her tea without sugar." in first["content"]
    assert last == {"role": "user", "content": "How do I take my tea?"}
    assert completion.palimpsest["memories"] == [memory]


def test_the_answer_tells_what_was_used_in_field_and_headers(
    town: Town, client: openai.OpenAI
) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="kyra/powerful",
        user="sarah",
        messages=[user("Hello.")],  # type: ignore[list-item]
        extra_headers={"X-Palimpsest-Thread": "the thread"},
    )
    field = raw.parse().model_extra["palimpsest"]  # type: ignore[index]

    (conversation,) = town.conversations()
    assert field["conversation"] == raw.headers["X-Palimpsest-Conversation"] == str(conversation.pk)
    assert field["thread_id"] == raw.headers["X-Palimpsest-Thread"] == "the thread"
    assert (field["tier"], field["model"]) == ("powerful", "mighty")
    assert raw.headers["X-Palimpsest-Tier"] == "powerful"
    assert field["tokens"]["input"] == int(raw.headers["X-Palimpsest-Tokens-Input"]) > 0
    assert field["cost_usd"] == float(raw.headers["X-Palimpsest-Cost-Usd"]) > 0
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        spent = SpendEntry.objects.get(team=town.cast.team)
        decision = RoutingDecision.objects.get(team=town.cast.team)
    assert float(spent.cost_usd) == field["cost_usd"]
    assert spent.end_user_id == town.cast.sarah.pk
    assert (str(decision.pk), decision.outcome) == (field["decision"], "answered")


@pytest.mark.parametrize("thread", ["t", None])
def test_an_unknown_agent_is_created_for_a_key_of_the_team_and_the_answer_says_so(
    town: Town, ask: Ask, thread: str | None
) -> None:
    first = ask("Hello.", model="mira", thread=thread).palimpsest
    second = ask("Hello again.", model="mira", thread=thread).palimpsest

    assert [first["agent_created"], second["agent_created"]] == [True, False]
    assert "there was no agent 'mira'" in first["warnings"][0]
    assert second["warnings"] == []


def test_a_stream_says_that_the_agent_is_new(town: Town, ask: Ask) -> None:
    chunks = list(ask("Hello.", model="mira", stream=True))

    told = [chunk.palimpsest for chunk in chunks if getattr(chunk, "palimpsest", None)]
    assert [each["agent_created"] for each in told] == [True, True]


def test_a_key_of_one_agent_creates_no_other(town: Town) -> None:
    with pytest.raises(openai.PermissionDeniedError):
        town.client(agent=town.cast.kyra).chat.completions.create(
            model="mira", messages=[{"role": "user", "content": "Hi."}]
        )

    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        assert not Agent.objects.filter(team=town.cast.team, slug="mira").exists()


def test_user_thread_and_project_may_come_in_headers(town: Town, client: openai.OpenAI) -> None:
    client.chat.completions.create(
        model="kyra/auto",
        messages=[{"role": "user", "content": "Hi."}],
        extra_headers={
            "X-Palimpsest-User": "dmitri",
            "X-Palimpsest-Thread": "h",
            "X-Palimpsest-Project": "apollo",
        },
    )

    (conversation,) = town.conversations()
    assert conversation.end_user_id == town.cast.dmitri.pk
    assert conversation.thread_id == "h"
    assert conversation.project_id is not None


def test_a_name_of_any_script_goes_out_and_comes_in_by_the_same_header(
    town: Town, client: openai.OpenAI
) -> None:
    sent: Any = [user("Hi.")]

    def say(headers: dict[str, str], **options: Any) -> Any:
        return client.chat.completions.with_raw_response.create(
            model="kyra", messages=sent, extra_headers=headers, **options
        )

    first = say({}, user="sarah", metadata={"thread_id": "чай 100%"})
    name = first.headers["X-Palimpsest-Thread"]
    say({"X-Palimpsest-Thread": name, "X-Palimpsest-User": "sarah"})

    assert name.isascii()
    assert [each.thread_id for each in town.conversations()] == ["чай 100%"]


def test_tools_and_sampling_go_through_and_calls_come_back(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {}}}]
    model.will(
        Behaviour(tool_calls=[tool_call("weather", {"city": "Oslo"})]), answer("It rains in Oslo.")
    )

    first = ask("And the weather?", tools=tools, tool_choice="auto", temperature=0.3, stop=["END"])
    called = first.choices[0].message
    result = {"role": "tool", "tool_call_id": "call_1", "content": "rain, 9 degrees"}
    second = ask("And the weather?", called.to_dict(), result, tools=tools)

    sent = model.chats[0].body
    assert (sent["tools"], sent["tool_choice"]) == (tools, "auto")
    assert (sent["temperature"], sent["stop"]) == (0.3, ["END"])
    assert "user" not in sent
    assert "metadata" not in sent
    assert called.tool_calls[0].function.name == "weather"
    assert model.chats[1].body["messages"][-1] == result
    assert second.choices[0].message.content == "It rains in Oslo."
    assert town.said("t") == [
        ("user", "And the weather?"),
        ("assistant", '[calls weather {"city": "Oslo"}]'),
        ("tool", "rain, 9 degrees"),
        ("assistant", "It rains in Oslo."),
    ]
    assert town.rows("t")[2].name == "weather"


def test_the_clients_own_instructions_follow_the_prompt_in_one_message(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    ask({"role": "system", "content": "Be brief."}, "Hi.")
    ask({"role": "system", "content": "Be brief."}, "Hi.", assistant("OK"), "More.")

    roles = [message["role"] for message in model.chats[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.chats[-1].body["messages"][0]["content"].endswith("\n\nBe brief.")
    assert [role for role, _ in town.said("t")].count("system") == 1


def test_what_was_said_in_a_thread_is_told_to_who_sends_new_messages_alone(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("Blue."))
    ask("Which colour is the sky?")
    ask("And the sea?")

    talk = model.chats[-1].body["messages"][1:]
    assert talk == [user("Which colour is the sky?"), assistant("Blue."), user("And the sea?")]


def test_parts_are_sent_as_they_are_and_kept_as_text(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    ask({"role": "user", "content": parts})

    assert model.chats[-1].body["messages"][-1]["content"] == parts
    kept = town.said("t")[0][1]
    assert kept.startswith("What is this?\n[image https://example.com/cat.png]\n[image image/png,")
    assert "AAAA" not in kept


def test_a_message_longer_than_a_row_is_kept_in_parts(town: Town, ask: Ask) -> None:
    text = "word " * 10_000
    ask(text)
    ask(text, assistant("OK"), "Go on.")

    said = town.said("t")
    assert "".join(words for role, words in said[:-3]) == text
    assert said[-3:] == [("assistant", "OK"), ("user", "Go on."), ("assistant", "OK")]


def test_extraction_is_queued_at_the_agents_interval_and_reads_no_prompt(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    town.remember("Sarah takes her tea without sugar.")
    history = [each for n in range(10) for each in (user(f"Fact {n}."), assistant(f"Noted {n}."))]
    ask(*history, "And one more.")

    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        job = Job.objects.get(team=town.cast.team)
    assert (job.from_position, job.to_position) == (1, 21)
    assert not any("without sugar" in text for _, text in town.said())


def test_the_agents_are_the_models(town: Town, client: openai.OpenAI) -> None:
    listed = {each.id for each in client.models.list()}

    assert {"kyra", "kyra/auto", "kyra/fast", "kyra/powerful", "luke"} <= listed
    assert client.models.retrieve("kyra/powerful").owned_by == town.cast.team.slug
    bound = town.client(agent=town.cast.luke).models.list()
    own = {each.id.partition("/")[0] for each in bound if each.owned_by != "palimpsest"}
    assert own == {"luke"}
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")
