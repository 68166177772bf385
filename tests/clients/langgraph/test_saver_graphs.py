"""Graphs over the saver: interrupted, resumed, forked, with subgraphs and with deltas."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from palimpsest_client import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    NotFound,
    Palimpsest,
    Unauthorized,
)
from palimpsest_client.langgraph import PalimpsestSaver

from tests.clients.conftest import Place
from tests.clients.langgraph.conftest import Either

T: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


class State(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


def joined(one: list[str], more: list[list[str]]) -> list[str]:
    """Returns the earlier messages, then the new ones."""
    return [*one, *(each for some in more for each in some)]


class Deltas(TypedDict, total=False):
    said: Annotated[list[str], DeltaChannel(joined)]


def flaky(tries: list[str]) -> Any:
    """A node that fails the first time."""

    def run(state: State) -> State:
        tries.append("flaky")
        if len(tries) == 1:
            raise RuntimeError("the first time")
        return {"said": ["flaky"]}

    return run


def test_a_resumed_graph_repeats_only_the_task_that_failed(place: Place) -> None:
    ran: list[str] = []
    tries: list[str] = []

    def steady(state: State) -> State:
        ran.append("steady")
        return {"said": ["steady"]}

    graph = StateGraph(State)
    graph.add_node("flaky", flaky(tries))
    graph.add_node("steady", steady)
    graph.add_edge(START, "flaky")
    graph.add_edge(START, "steady")
    with PalimpsestSaver(place.url, place.key()) as saver:
        both = graph.compile(checkpointer=saver)
        with pytest.raises(RuntimeError):
            both.invoke({"said": ["begin"]}, T)

        ended = both.invoke(None, T)

    assert sorted(ended["said"]) == ["begin", "flaky", "steady"]
    assert ran == ["steady"]
    assert tries == ["flaky", "flaky"]


def asking() -> StateGraph[State, None, State, State]:
    """A graph whose subgraph asks a person."""

    def ask(state: State) -> State:
        return {"said": [interrupt("which?")]}

    inner = StateGraph(State)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    return outer


def test_a_subgraph_waits_for_an_answer_and_is_forked(place: Place) -> None:
    key = place.key()

    async def run() -> list[list[str]]:
        async with PalimpsestSaver(place.url, key, user="sarah") as saver:
            graph = asking().compile(checkpointer=saver)
            asked = await graph.ainvoke({"said": ["begin"]}, T)
            assert asked["__interrupt__"][0].value == "which?"
            ended = await graph.ainvoke(Command(resume="red"), T)
            begun = [each async for each in graph.aget_state_history(T)][-2]
            fork = await graph.aupdate_state(begun.config, {"said": ["forked"]})
            await graph.ainvoke(None, fork)
            forked = await graph.ainvoke(Command(resume="blue"), T)
            return [ended["said"], forked["said"]]

    red, blue = asyncio.run(run())

    assert red[-1] == "red"
    assert blue[-1] == "blue"
    assert "forked" in blue
    with Palimpsest(place.url, key) as client:
        states = list(client.checkpoints.list(thread_id="t"))
    assert {each.namespace.split(":")[0] for each in states} == {"", "inner"}
    assert {each.user for each in states} == {"sarah"}


def test_deltas_are_read_together_and_not_pruned(place: Place) -> None:
    graph = StateGraph(Deltas)
    graph.add_node("answer", lambda state: {"said": [f"answer {len(state['said'])}"]})
    graph.add_edge(START, "answer")
    with PalimpsestSaver(place.url, place.key()) as saver:
        talk = graph.compile(checkpointer=saver)
        for text in ("one", "two", "three"):
            ended = talk.invoke({"said": [text]}, T)
        kept = talk.get_state(T).values
        with pytest.raises(Conflict):
            saver.prune(["t"])

        assert talk.get_state(T).values == kept

    assert ended["said"] == ["one", "answer 1", "two", "answer 3", "three", "answer 5"]
    assert kept == ended


def test_a_state_comes_back_as_it_was_saved(saver: Either) -> None:
    state = empty_checkpoint()
    state["channel_values"] = {"a": [1, 2], "b": b"\x00bytes", "none": None}
    state["channel_versions"] = {"a": "1.0", "b": "1.0", "none": "1.0"}

    saver.put(T, state, {"step": 1}, {})
    found = saver.get_tuple(T)

    assert found.checkpoint == state
    assert found.metadata == {"step": 1}


def test_what_is_unknown_is_none_or_empty(place: Place) -> None:
    with PalimpsestSaver(place.url, place.key(), agent="nobody") as saver:
        assert saver.get_tuple(T) is None
        assert list(saver.list(None)) == []
        saver.delete_thread("t")
        saver.delete_for_runs(["r"])
        saver.prune(["t"])
        with pytest.raises(NotFound):
            saver.copy_thread("t", "u")
        with pytest.raises(ValueError, match="Unknown strategy"):
            saver.prune(["t"], strategy="keep_all")


def test_refusals_are_those_of_the_client(place: Place) -> None:
    kyra = place.key(place.cast.kyra)
    for key, agent, error in (("pal_wrong", None, Unauthorized), (kyra, "luke", Forbidden)):
        with (
            PalimpsestSaver(place.url, key, agent=agent) as saver,
            pytest.raises(error),
        ):
            saver.put(T, empty_checkpoint(), {}, {})
    with (
        PalimpsestSaver("http://127.0.0.1:9", kyra, retries=0) as saver,
        pytest.raises(ConnectionFailed),
    ):
        saver.get_tuple(T)


def test_two_values_of_one_version_are_both_kept(place: Place) -> None:
    with PalimpsestSaver(place.url, place.key()) as saver:
        saved = []
        for number in range(2):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"step": number}
            checkpoint["channel_versions"] = {"step": "1"}
            saved.append(saver.put(T, checkpoint, {}, {"step": "1"}))

        child = empty_checkpoint()
        child["channel_values"] = {"step": 1, "other": 2}
        child["channel_versions"] = {"step": "1", "other": "2"}
        saved.append(saver.put(saved[1], child, {}, {"other": "2"}))

        found = [saver.get_tuple(each) for each in saved]

    assert [each and each.checkpoint["channel_values"] for each in found] == [
        {"step": 0},
        {"step": 1},
        {"step": 1, "other": 2},
    ]


def test_a_state_whose_parent_is_gone_is_kept_with_all_its_values(saver: Either) -> None:
    values = {"step": 1, "unsent": 2, "new": 3}
    for number, given in (("1", {"step": 0}), ("2", values)):
        checkpoint = empty_checkpoint()
        checkpoint["id"] = number
        checkpoint["channel_values"] = given
        checkpoint["channel_versions"] = dict.fromkeys(given, "1")
        saver.put(T, checkpoint, {}, {"step": "1"} if number == "1" else {"new": "1"})

    assert saver.get_tuple(T).checkpoint["channel_values"] == values
