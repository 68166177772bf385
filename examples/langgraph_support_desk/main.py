"""A support desk of two agents in LangGraph that goes on where it was killed.

    pip install './clients/python[langgraph]'
    export PALIMPSEST_URL=http://127.0.0.1:8000 PALIMPSEST_API_KEY=pal_…
    python examples/langgraph_support_desk/main.py --ticket 17 --customer sarah "My kettle leaks."

The first agent reads the ticket and looks up what is known of the customer; the second one writes
the answer and keeps what was learned. Each step is saved under the ticket: run the same command
again after it was killed, and what is done is not done twice. No language model is asked; put your
own calls into the nodes. `--pause` waits so many seconds between the agents, to have time to kill
it.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config, get_store
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from palimpsest_client.langgraph import PalimpsestSaver, PalimpsestStore


def joined(one: list[str], other: list[str]) -> list[str]:
    """Returns the earlier steps followed by the new ones."""
    return one + other


class Ticket(TypedDict, total=False):
    """The state of a ticket."""

    customer: str
    text: str
    known: list[str]
    topic: str
    answer: str
    done: Annotated[list[str], joined]


def reception(state: Ticket) -> Ticket:
    """The first agent: what is it about, and what do we know of the customer?"""
    found = get_store().search(("users", state["customer"]), query=state["text"], limit=3)
    topic = "repair" if "leak" in state["text"].lower() else "question"
    print(f"reception: a {topic}", flush=True)
    return {
        "topic": topic,
        "known": [str(item.value["said"]) for item in found],
        "done": ["reception"],
    }


def wait(state: Ticket) -> Ticket:
    """Time to kill it in, between the agents."""
    del state
    time.sleep(float(get_config()["configurable"].get("pause", 0)))
    return {"done": ["wait"]}


def workshop(state: Ticket) -> Ticket:
    """The second agent: answer, and keep what the customer said."""
    thread = get_config()["configurable"]["thread_id"]
    get_store().put(("users", state["customer"]), thread, {"said": state["text"]})
    before = f" You told us before: {' '.join(state['known'])}" if state["known"] else ""
    print("workshop: answered", flush=True)
    return {"answer": f"We take care of your {state['topic']}.{before}", "done": ["workshop"]}


def desk(saver: PalimpsestSaver, store: PalimpsestStore) -> CompiledStateGraph[Ticket]:
    """The graph over both."""
    graph = StateGraph(Ticket)
    graph.add_node("reception", reception)
    graph.add_node("wait", wait)
    graph.add_node("workshop", workshop)
    graph.add_edge(START, "reception")
    graph.add_edge("reception", "wait")
    graph.add_edge("wait", "workshop")
    graph.add_edge("workshop", END)
    return graph.compile(checkpointer=saver, store=store)


def main() -> None:
    """Read the command line; begin the ticket, or go on with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticket", required=True, help="its number, the thread of the graph")
    parser.add_argument("--customer", required=True)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between the agents")
    parser.add_argument("text")
    given = parser.parse_args()
    config: RunnableConfig = {
        "configurable": {
            "thread_id": f"ticket-{given.ticket}",
            "user_id": given.customer,
            "pause": given.pause,
        }
    }
    url = os.environ.get("PALIMPSEST_URL", "http://127.0.0.1:8000")
    key = os.environ["PALIMPSEST_API_KEY"]
    with PalimpsestSaver(url, key) as saver, PalimpsestStore(url, key) as store:
        graph = desk(saver, store)
        begun = bool(graph.get_state(config).values)
        ticket: Ticket | None = {"customer": given.customer, "text": given.text}
        # Without an input a graph goes on where its thread stands. Each step is saved before the
        # next one begins.
        ended = graph.invoke(None if begun else ticket, config, durability="sync")
        print(ended["answer"])
        print("done:", ", ".join(ended["done"]))


if __name__ == "__main__":
    main()
