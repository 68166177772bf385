"""Citations in chat answers are counted, beside the answers."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from memory.models import MemoryUsage
from memory.reading.usage import flush_noted_usage
from teams.tenancy import team_scope
from tests.support.chat import Ask, Town
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call
from tests.support.waiting import until

TEA = "Sarah drinks Darjeeling without sugar from the blue cup."
BREAKFAST = "Sarah eats porridge with cinnamon for breakfast."
QUESTION = "What do I drink in the morning?"
USED = "You drink Darjeeling without sugar."
EATEN = "You eat porridge with cinnamon."


@pytest.fixture
def ids(town: Town) -> tuple[str, str]:
    """Two memories of Sarah."""
    return town.remember(TEA), town.remember(BREAKFAST)


def counted(town: Town) -> dict[str, tuple[int, int]]:
    """Citations and ignores of what was used or ignored."""
    flush_noted_usage()
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        rows = MemoryUsage.objects.filter(team=town.cast.team)
        found = rows.values_list("memory_id", "cited", "ignored")
        return {str(pk): (cited, ignored) for pk, cited, ignored in found if cited or ignored}


def content(chunks: Any) -> str:
    """Returns the content of a stream."""
    return "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_what_an_answer_used_is_cited(
    town: Town, model: FakeOpenAI, ask: Ask, ids: tuple[str, str], is_streamed: bool
) -> None:
    model.will(answer(USED))

    told = ask(QUESTION, stream=is_streamed)
    if is_streamed:
        assert content(told) == USED

    until(lambda: counted(town).get(ids[0]) == (1, 0))


def test_what_ranked_above_the_used_one_is_ignored(
    town: Town, model: FakeOpenAI, ask: Ask, ids: tuple[str, str]
) -> None:
    model.will(answer("Darjeeling, from the blue cup."))

    field = ask("What is for breakfast?").model_extra["palimpsest"]

    assert field["memories"] == [ids[1], ids[0]]
    until(lambda: counted(town) == {ids[0]: (1, 0), ids[1]: (0, 1)})


@pytest.mark.parametrize(
    "behaviour",
    [
        answer("I do not know."),
        Behaviour(tool_calls=[tool_call("brew", {"tea": "Darjeeling without sugar, blue cup"})]),
    ],
    ids=["says nothing", "calls a tool"],
)
def test_an_answer_that_uses_nothing_counts_nothing(
    town: Town, model: FakeOpenAI, ask: Ask, ids: tuple[str, str], behaviour: Behaviour
) -> None:
    model.will(behaviour, answer(EATEN))
    ask(QUESTION)
    ask("What is for breakfast?", thread="other")

    # The second answer was counted after the first one.
    until(lambda: ids[1] in counted(town))
    assert counted(town) == {ids[1]: (1, 0)}


def test_what_the_client_said_itself_is_no_citation(
    town: Town, model: FakeOpenAI, ask: Ask, ids: tuple[str, str]
) -> None:
    model.will(answer(USED), answer(EATEN))
    ask("Is it Darjeeling without sugar from the blue cup that I drink?")
    ask("What is for breakfast?", thread="other")

    until(lambda: ids[1] in counted(town))
    assert counted(town) == {ids[1]: (1, 0)}


def test_of_a_broken_stream_what_it_used_counts_and_nothing_is_ignored(
    town: Town, model: FakeOpenAI, ask: Ask, ids: tuple[str, str]
) -> None:
    words = "It says Darjeeling, from the blue cup, and after that I would say more"
    model.will(Behaviour(content=words, cut_after=9))
    with pytest.raises(openai.APIError, match="broke off"):
        list(ask("What is for breakfast?", stream=True))

    until(lambda: ids[0] in counted(town))
    assert counted(town) == {ids[0]: (1, 0)}
