"""Answers that come bit by bit, and that break off on either side."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import openai
import pytest
from django.db import connections

from memory.satellites.chat.history import PARTIAL
from routing.models import RoutingDecision, SpendEntry
from routing.services.cost_guard import budget_left
from teams.tenancy import team_scope
from tests.support.chat import Ask, Town, assistant
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call
from tests.support.waiting import until


def spent(town: Town) -> list[Decimal]:
    """Returns the costs of finished calls."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        return list(
            SpendEntry.objects.filter(team=town.cast.team).values_list("cost_usd", flat=True)
        )


def held(town: Town) -> Decimal:
    """Returns the amount reserved for calls under way."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        cast = town.cast
        left = budget_left(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah, now=cast.team.created_at
        )
    return left.caps[0].balance.held_usd


def test_words_come_one_by_one_and_the_end_tells_what_was_used(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    memory = town.remember("Sarah likes stories.")
    model.will(answer("Once upon a time."))

    chunks = list(ask("Tell me a story.", stream=True))

    assert "".join(each.choices[0].delta.content or "" for each in chunks) == "Once upon a time."
    fields = [each.model_extra["palimpsest"] for each in chunks if "palimpsest" in each.model_extra]
    assert [each["memories"] for each in fields] == [[memory], [memory]]
    assert "cost_usd" not in fields[0]
    assert [Decimal(str(fields[1]["cost_usd"]))] == spent(town)
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert town.said("t")[-1] == ("assistant", "Once upon a time.")


def test_usage_is_told_where_it_is_asked_for(town: Town, model: FakeOpenAI, ask: Ask) -> None:
    model.will(answer("Fine."), answer("Fine."))
    plain = list(ask("How are you?", stream=True))
    asked = list(ask("How are you?", stream=True, stream_options={"include_usage": True}))

    assert all(each.usage is None and each.choices for each in plain)
    assert (asked[-1].choices, asked[-1].usage.completion_tokens > 0) == ([], True)


def test_the_answer_is_stored_before_its_end_is_told(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(answer("Once upon a time."))
    for chunk in ask("Tell me a story.", stream=True):
        if chunk.choices[0].finish_reason:
            assert town.said("t")[-1] == ("assistant", "Once upon a time.")
            assert len(spent(town)) == 1


def test_tool_calls_stream_and_are_stored(town: Town, model: FakeOpenAI, ask: Ask) -> None:
    model.will(Behaviour(tool_calls=[tool_call("weather", {"city": "Oslo"})]))
    chunks = list(ask("The weather?", stream=True))

    parts = [call for each in chunks for call in each.choices[0].delta.tool_calls or []]
    assert "".join(part.function.arguments or "" for part in parts) == '{"city": "Oslo"}'
    assert town.said("t")[-1] == ("assistant", '[calls weather {"city": "Oslo"}]')


def test_who_goes_away_leaves_a_partial_answer_and_its_cost(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(Behaviour(content="word " * 400, pause=0.01))
    stream = ask("Go on and on.", stream=True)
    for _, _ in zip(range(5), stream, strict=False):
        pass
    stream.close()
    until(lambda: len(town.rows("t")) == 2 and spent(town))

    question, partial = town.rows("t")
    assert question.content == "Go on and on."
    assert partial.content.startswith("word word")
    assert len(partial.content) < 400 * 5 - 1
    assert str(partial.external_id).endswith(f".{PARTIAL}")
    assert model.abandoned.wait(60)
    assert spent(town)[0] > 0
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        assert RoutingDecision.objects.get(team=town.cast.team).outcome == "cut"


def test_an_answer_that_broke_off_is_asked_for_again_without_storing_the_question(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(Behaviour(content="one two three four", cut_after=3), answer("one two three four"))
    with pytest.raises(openai.APIError, match="broke off"):
        list(ask("Count.", stream=True))
    ask("Count.")

    said = town.said("t")
    assert [role for role, _ in said] == ["user", "assistant", "assistant"]
    assert said[2][1].startswith(said[1][1])
    assert len(spent(town)) == 2


def test_an_endpoint_that_breaks_off_ends_the_stream_with_an_error(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(Behaviour(content="one two three four", cut_after=3))
    received: list[Any] = []
    with pytest.raises(openai.APIError) as caught:
        received.extend(ask("Count.", stream=True))

    assert caught.value.code == "stream_cut"
    (_, partial) = town.rows("t")
    assert partial.content.startswith("one two")
    assert str(partial.external_id).endswith(f".{PARTIAL}")
    assert held(town) == 0


def test_a_model_that_fails_before_its_first_word_costs_nothing(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(*[Behaviour(drop=True)] * 3)
    with pytest.raises(openai.InternalServerError):
        ask("Hi.", stream=True)

    assert spent(town) == []
    assert held(town) == 0
    assert town.said("t") == [("user", "Hi.")]


def test_a_partial_answer_that_the_client_keeps_is_known(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(Behaviour(content="one two three four", cut_after=3))
    with pytest.raises(openai.APIError):
        list(ask("Count.", stream=True))
    partial = town.said("t")[-1][1]
    ask("Count.", assistant(partial), "Go on.")

    assert [text for _, text in town.said("t")] == ["Count.", partial, "Go on.", "OK"]


def test_no_connection_is_held_while_an_answer_streams(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    connections["default"].close()
    model.will(Behaviour(content="word " * 200, pause=0.02))
    stream = ask("Go on and on.", stream=True)
    next(stream)

    def is_none_held() -> bool:
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE usename = 'palimpsest_app' AND datname = current_database()"
            )
            return bool(cursor.fetchone() == (0,))

    # What is indexed behind a request may hold one for a moment.
    until(is_none_held)
    is_streaming = not model.abandoned.is_set() and len(town.rows("t")) == 1
    stream.close()
    assert is_streaming
