"""The model's input when a conversation outgrows it, and when parts are switched off."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from django.test import override_settings

from memory.models import Compaction, Job
from routing.domain.chat_answers import tokens_of_request
from routing.models import ChatModel
from teams.models import Agent, Team
from teams.tenancy import team_scope
from tests.support.chat import Ask, Town, assistant, user
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, error, tool_call

FACTS = [
    "My sister Nora lives in Porto and works as a nurse at the harbour clinic.",
    "We adopted a grey cat called Miso from the shelter in March this year.",
    "I am allergic to hazelnuts, so please never suggest a cake that has them.",
    "Our team deploys the billing service on Tuesdays from the release branch.",
]


def history(turns: int) -> list[dict[str, Any]]:
    """A talk of so many questions with their answers."""
    return [
        message
        for number in range(turns)
        for message in (
            user(f"{FACTS[number % len(FACTS)]} Did you get that, number {number}?"),
            assistant(f"Thank you, I have heard note number {number} and will think about it."),
        )
    ]


def set_window(town: Town, tokens: int) -> None:
    """Give every model so large a context."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        ChatModel.objects.filter(team=town.cast.team).update(
            context_window=tokens, max_output_tokens=100
        )


def set_flags(town: Town, **flags: bool) -> None:
    """Switch parts of the team on or off."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        Team.objects.filter(pk=town.cast.team.pk).update(feature_flags=flags)


def set_kyra(town: Town, **fields: Any) -> None:
    """Change Kyra's document."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        Agent.objects.filter(pk=town.cast.kyra.pk).update(**fields)


def compactions(town: Town) -> list[Compaction]:
    """The team's own."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        return list(Compaction.objects.filter(team=town.cast.team))


def test_a_context_that_would_overflow_is_extracted_and_summed_up_first(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    set_window(town, 2_000)
    completion = ask(*history(40), "What do I never eat?")

    prompt, *talk = model.chats[-1].body["messages"]
    assert completion.palimpsest["compacted"] is True
    assert completion.palimpsest["left_out"] == 81 - len(talk)
    assert talk == [*history(40)[81 - len(talk) :], user("What do I never eat?")]
    assert talk[0]["role"] == "user"
    assert "[SUMMARY]" in prompt["content"]
    (compaction,) = compactions(town)
    assert compaction.to_position == 81 - len(talk)
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        done = Job.objects.filter(team=town.cast.team, state=Job.State.DONE)
        assert max(job.to_position for job in done) >= compaction.to_position
    assert len(town.rows("t")) == 82


def test_what_is_summed_up_stays_out_without_another_compaction(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    set_window(town, 2_000)
    ask(*history(40), "What do I never eat?")
    talk = [*history(40), user("What do I never eat?"), assistant("OK"), user("And the cat?")]
    completion = ask(*talk)

    assert completion.palimpsest["compacted"] is False
    assert completion.palimpsest["left_out"] == compactions(town)[0].to_position
    assert len(compactions(town)) == 1
    assert model.chats[-1].body["messages"][-3:] == talk[-3:]


def test_after_a_compaction_several_turns_fit_before_the_next(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    set_window(town, 4_096)
    talk = history(80)
    compacted = []
    for number in range(5):
        talk.append(user(f"{FACTS[number % len(FACTS)]} " + "It is as I say. " * 20))
        model.will(answer("That is as you say. " * 15))
        completion = ask(*talk)
        compacted.append(completion.palimpsest["compacted"])
        talk.append(assistant(completion.choices[0].message.content))
        assert tokens_of_request(model.chats[-1].body["messages"], {}) + 100 < 4_096

    assert compacted == [True, False, False, False, False]


def test_a_call_of_a_tool_is_never_parted_from_its_result(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    set_window(town, 2_000)
    call = {"role": "assistant", "content": None, "tool_calls": [tool_call("look", {"n": 1})]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "word " * 900}
    ask(*history(20), "Look.", call, result)

    talk = model.chats[-1].body["messages"][1:]
    assert talk == [user("Look."), call, result]


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_the_models_find_too_long_is_made_shorter_once(
    town: Town, model: FakeOpenAI, ask: Ask, stream: bool
) -> None:
    too_long = error(400, code="context_length_exceeded", message="Too long.")
    model.will(*[too_long] * 3)
    answer = ask(*history(20), "What do I never eat?", stream=stream)
    told = list(answer)[-1] if stream else answer

    assert told.palimpsest["compacted"] is True
    assert len(model.chats[-1].body["messages"]) < 30
    model.will(*[too_long] * 6)
    with pytest.raises(openai.UnprocessableEntityError, match="Too long"):
        ask(*history(20), "What do I never eat?", assistant("OK"), "And now?")


def test_what_came_to_be_known_in_a_thread_is_told_once_after_its_first_prompt(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    ask("Hi.")
    (conversation,) = town.conversations()
    town.remember("Sarah has a boat.", conversation=str(conversation.pk))
    ask("And then?")
    ask("And now?")

    _, second, third = [each.body["messages"][0]["content"] for each in model.chats]
    assert second.startswith(
        "Memory updates since rev 0:\n- +created: [semantic] Sarah has a boat.\n\n"
    )
    assert "Memory updates" not in third


@pytest.mark.parametrize("fails", [True, False])
def test_news_waits_for_an_answer(town: Town, model: FakeOpenAI, ask: Ask, fails: bool) -> None:
    ask("Hi.")
    (conversation,) = town.conversations()
    town.remember("Sarah has a boat.", conversation=str(conversation.pk))
    if fails:
        model.will(*[Behaviour(drop=True)] * 3)
        with pytest.raises(openai.InternalServerError):
            ask("And then?")
    else:
        set_window(town, 2_000)
    told = ask(*(() if fails else history(40)), "And then?")

    assert told.palimpsest["compacted"] is not fails
    head = model.chats[-1].body["messages"][0]["content"]
    news, _, _ = head.partition("\n\n")
    assert news.startswith("Memory updates since rev 0:\n")
    assert "\n- +created: [semantic] Sarah has a boat." in news


def test_what_fits_is_sent_whole(town: Town, model: FakeOpenAI, ask: Ask) -> None:
    completion = ask(*history(40), "What do I never eat?")

    assert len(model.chats[-1].body["messages"]) == 82
    assert completion.palimpsest["left_out"] == 0
    assert compactions(town) == []


@override_settings(COMPACT_WAIT_SECONDS=0, EXTRACTION_WINDOW_MESSAGES=5)
def test_an_extraction_that_takes_long_is_waited_for_by_the_client(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    set_window(town, 2_000)
    with pytest.raises(openai.InternalServerError) as caught:
        ask(*history(40), "What do I never eat?")
    refusal = caught.value

    assert refusal.status_code == 503
    assert int(refusal.response.headers["Retry-After"]) >= 1
    assert "nothing is lost" in refusal.message
    assert model.chats == []
    assert compactions(town) == []


def test_memory_off_is_a_plain_proxy_that_keeps_the_log(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    town.remember("Sarah likes stories.")
    set_flags(town, memory=False)
    sent = [{"role": "developer", "content": "Be brief."}, *history(12), user("What do I like?")]
    completion = ask(*sent)

    assert model.chats[-1].body["messages"] == sent
    assert completion.palimpsest["memories"] == []
    assert len(town.rows("t")) == 27
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        assert not Job.objects.filter(team=town.cast.team).exists()


def test_memory_off_leaves_an_agent_its_document(town: Town, model: FakeOpenAI, ask: Ask) -> None:
    set_flags(town, memory=False)
    set_kyra(town, tagline="Keeper of the lighthouse")
    ask("Who are you?")

    prompt, question = model.chats[-1].body["messages"]
    assert "Keeper of the lighthouse" in prompt["content"]
    assert question == user("Who are you?")


def test_routing_off_asks_the_agents_one_model(town: Town, model: FakeOpenAI, ask: Ask) -> None:
    set_flags(town, model_routing=False)
    set_kyra(town, model_config={"model_name": "mighty"})
    ask("Hi.")

    assert model.chats[-1].body["model"] == "mighty"


def test_a_document_that_cannot_be_used_is_named(town: Town, ask: Ask) -> None:
    set_kyra(town, model_config={"force_tier": "strongest"})
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        ask("Hi.")

    assert caught.value.param in {"model", "agent"}
    assert "force_tier" in caught.value.message
