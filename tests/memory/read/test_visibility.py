"""Nothing leaks: every read, of several teams, agents, people and projects, against the plain rule.

The rule (seed 000, memory visibility, and seed 004 §5): a memory is seen only in its own team.
There an agent sees what is shared or a user's profile, what is its own, and what belongs to no
agent and is neither private nor an identity; of these, where it has a list of allowed categories,
those of the list and those in no category. A reader who names a person or a project sees what is
that one's and nobody's; an answer to one who names no person, and a list for an agent's key, holds
nothing of any person. What is the team's and was learned in talk is not told to guests. A key that
is bound to projects sees no other one. A conversation is seen by its own agent. Its messages are
found by the team's other agents for the same person once they are extracted, and by all for members
and for nobody where a member speaks of the work, unless they were told in confidence or to an agent
that keeps to itself; an agent with a list of allowed categories finds its own alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.db import transaction
from hypothesis import given
from rest_framework.test import APIClient

from teams.tenancy import team_scope
from tests import factories
from tests.support.worlds import (
    ARCHIVE,
    EVERY,
    FEW_LARGE_WORLDS,
    LIVE,
    PLANS,
    PROJECTS,
    QUESTION,
    READERS,
    TEAMS,
    Plan,
    Reader,
    Spec,
    World,
    ask,
    assert_silent,
    build,
    in_key,
    loaded_tools,
    names_of,
    spoken,
    word,
)

__all__ = ["loaded_tools"]


# -- lists and questions ---------------------------------------------------------------------


def check_lists(world: World, reader: Reader, client: APIClient) -> None:
    """Checks that exactly the memories that the rule shows are listed and found."""
    numbers = {memory_id: number for number, memory_id in world.ids.items()}
    names = names_of(reader)
    body = {"query": QUESTION, **names}
    cold = {**body, "include_cold": True}
    query = "&".join(f"{name}={value}" for name, value in {**names, "query": QUESTION}.items())
    everything = {"or": [{"pinned": True}, {"not": {"pinned": True}}]}
    full = {**body, "top_k": 500, "budget_tokens": 100_000, "return": "full"}
    for method, path, sent, key, statuses in (
        ("GET", "/v1/memories?limit=500", None, "results", LIVE),
        ("GET", "/v1/memories?limit=500&status=all", None, "results", EVERY),
        ("GET", f"/v1/memories/search?limit=500&{query}", None, "results", LIVE),
        ("GET", f"/v1/memories/search?limit=500&include_cold=true&{query}", None, "results",
         ARCHIVE),
        ("POST", "/v1/retrieve", body, "memories", LIVE),
        ("POST", "/v1/retrieve", cold, "memories", ARCHIVE),
        ("POST", "/v1/memory/query", full, "results", LIVE),
        ("POST", "/v1/memory/query", {**full, "filters": everything}, "results", LIVE),
        ("POST", "/v1/memory/query", {**full, "return": "bullets"}, "results", LIVE),
    ):  # fmt: skip
        named = "query" in path or sent is not None
        answer = ask(client, method, path, sent)
        assert answer.status_code == 200, answer.content
        shown = {
            numbers.get(each["id"], each["id"])
            for each in answer.json()[key]
            if each.get("level") != "raw"
        }
        seen = world.seen_by(reader, named=named, statuses=statuses, listed=True)
        if path == "/v1/retrieve":
            seen = {each for each in seen if told_in_talk(world.plan.specs[each])}
        assert shown == seen, (path, sent)
        assert_silent(world, reader, answer, named=named, listed=True)


def told_in_talk(spec: Spec) -> bool:
    """Returns whether an answer for talk may hold it: how to do something is told on request."""
    return spec.is_pinned or spec.kind != "procedural"


def check_messages(world: World, reader: Reader, client: APIClient) -> None:
    """Checks that only a message's agent, and others for the same person, find the message."""
    names = names_of(reader)
    query = "&".join(f"{name}={value}" for name, value in {**names, "query": QUESTION}.items())
    body = {"query": QUESTION, **names, "include_raw": True, "token_budget": 5000}
    path = f"/v1/memories/search?limit=500&include_raw=true&{query}"
    heard = {spoken(*pair) for pair in world.talks if world.hears(reader, pair, named=True)}
    found = ask(client, "GET", path)
    told = ask(client, "POST", "/v1/retrieve", body)
    prompt = ask(client, "POST", "/v1/prompt", body)
    for answer in (found, told, prompt):
        assert answer.status_code == 200, answer.content
        assert_silent(world, reader, answer, named=True)
    for text in (found.content, told.content, prompt.content):
        assert all(word in text.decode() for word in heard)


def check_prompt(world: World, reader: Reader, client: APIClient) -> None:
    """A prompt tells nothing hidden, and whatever must be told."""
    answer = ask(client, "POST", "/v1/prompt", {"query": QUESTION, **names_of(reader)})

    assert answer.status_code == 200, answer.content
    assert_silent(world, reader, answer, named=True)
    for number in world.seen_by(reader, named=True, statuses=LIVE):
        spec = world.plan.specs[number]
        if spec.is_pinned or spec.kind == "identity":
            assert word(number) in answer.json()["prompt"]


def check_counts(world: World, reader: Reader, client: APIClient) -> None:
    """Checks that an answer counts what its reader may see."""
    body = {"query": QUESTION, **names_of(reader), "top_k": 500, "budget_tokens": 100}
    answer = ask(client, "POST", "/v1/memory/query", body).json()

    seen = world.seen_by(reader, named=True, statuses=LIVE)
    assert len(answer["results"]) + answer["left_out"] == len(seen)


def check_categories(world: World, reader: Reader, client: APIClient) -> None:
    """A category outside the allowlist is refused, whether anything is in it or not."""
    allowed = world.plan.allowed[reader.agent]
    for name in ("tasks", "salary", "never-used"):
        body = {"query": QUESTION, **names_of(reader), "categories": [name]}
        answer = ask(client, "POST", "/v1/memory/query", body)
        assert answer.status_code == (403 if allowed and name not in allowed else 200)
        assert_silent(world, reader, answer, named=True)


# -- what is asked for by its id ---------------------------------------------------------------


def check_ids(world: World, reader: Reader, client: APIClient) -> None:
    """An id of what is hidden answers as an id of nothing, to the letter."""
    seen = world.seen_by(reader, named=False, statuses=EVERY)
    requests = [
        ("GET", "/v1/memories/{}", None),
        ("GET", "/v1/memories/{}/related", None),
        ("DELETE", "/v1/memories/{}", None),
        ("POST", "/v1/memories/{}/pin", {"pinned": True}),
        ("POST", "/v1/memories/{}/feedback", {"signal": "helpful"}),
        ("POST", "/v1/memories/{}/correct", {"corrected_content": "The vault is empty."}),
        ("POST", "/v1/memories/{}/promote", {}),
    ]
    hidden = [memory_id for number, memory_id in world.ids.items() if number not in seen]
    for method, path, body in requests:
        assert_nowhere(client, method, path, hidden, body)
    for number, memory_id in world.ids.items():
        if number not in seen:
            continue
        for method, path, body in requests[:2]:
            answer = ask(client, method, path.format(memory_id), body)
            assert answer.status_code == 200
            assert_silent(world, reader, answer, named=False)
        around = {each["id"] for each in answer.json()["results"]}
        live = world.seen_by(reader, named=False, statuses=LIVE)
        # As for a question about its person: a team's key sees around nobody's memory everybody's.
        person = world.plan.specs[number].user
        asking = replace(reader, user=person)
        if person is not None or reader.bound:
            live &= {
                each
                for each in live
                if world.plan.specs[each].user in (None, person)
                and (person is None or world.may_be_told(each, asking))
            }
        assert around == {world.ids[each] for each in world.related.get(number, set()) & live}


def check_contradictions(world: World, reader: Reader, client: APIClient) -> None:
    """A contradiction is seen by those who see both sides."""
    seen = world.seen_by(reader, named=False)
    both = {key for key, pair in world.contradictions.items() if set(pair) <= seen}
    in_list = world.seen_by(reader, named=False, listed=True)

    listed = ask(client, "GET", "/v1/contradictions?state=all&limit=500")

    assert {each["id"] for each in listed.json()["results"]} == {
        key for key, pair in world.contradictions.items() if set(pair) <= in_list
    }
    assert_silent(world, reader, listed, named=False, listed=True)
    for key in both:
        assert ask(client, "GET", f"/v1/contradictions/{key}").status_code == 200
    hidden = [key for key in world.contradictions if key not in both]
    assert_nowhere(client, "GET", "/v1/contradictions/{}", hidden)
    body = {"resolution": "a_wins"}
    assert_nowhere(client, "POST", "/v1/contradictions/{}/resolve", hidden, body)


def check_conversations(world: World, reader: Reader, client: APIClient) -> None:
    """A conversation and its messages are seen by their own agent, or by the whole team's key."""
    message = {"messages": [{"role": "user", "content": "Hello."}]}
    hidden = []
    for (team, agent, user), talk in world.talks.items():
        is_own = team == reader.team and (agent == reader.agent or not reader.bound)
        if is_own and in_key(world.plan.talks[team, agent, user].project, reader):
            told = ask(client, "GET", f"/v1/conversations/{talk}/messages")
            assert spoken(team, agent, user) in told.content.decode()
        else:
            hidden.append(talk)
    for method, path, body in (
        ("GET", "/v1/conversations/{}", None),
        ("GET", "/v1/conversations/{}/messages", None),
        ("POST", "/v1/conversations/{}/messages", message),
        ("POST", "/v1/conversations/{}/extract", {"wait": True}),
        ("POST", "/v1/conversations/{}/close", None),
    ):
        assert_nowhere(client, method, path, hidden, body)
    for path in ("/v1/retrieve", "/v1/prompt"):
        answers = {
            ask(client, "POST", path, {"query": QUESTION, "agent": reader.agent,
                                       "conversation": talk}).content
            for talk in [*hidden, str(uuid4())]
        }  # fmt: skip
        assert [json.loads(each)["status"] for each in answers] == [404]


def check_projects(world: World, reader: Reader, client: APIClient) -> None:
    """A reader of one project is told nothing of another, nor whether a team has it."""
    theirs = next(each for each in TEAMS if each != reader.team)
    with team_scope(team_ids=[world.casts[theirs].team.id], actor="test"):
        factories.ProjectFactory.create(team=world.casts[theirs].team, slug="secret")
    for project in [*PROJECTS, "unheard-of", "secret"]:
        asking = replace(reader, project=project)
        seen = world.seen_by(asking, named=True, statuses=ARCHIVE)
        body = {"query": QUESTION, **names_of(asking), "include_cold": True, "top_k": 500}
        full = {**body, "budget_tokens": 100_000, "return": "full"}
        answer = ask(client, "POST", "/v1/memory/query", full)
        assert answer.status_code == 200, answer.content
        found = {each["id"] for each in answer.json()["results"] if each.get("level") != "raw"}
        assert found <= {world.ids[each] for each in seen}
        assert_silent(world, asking, answer, named=True)
    for method, path, sent in (
        ("GET", "/v1/projects/{}", None),
        ("PATCH", "/v1/projects/{}", {"max_items": 1}),
        ("POST", "/v1/projects/{}/clear", {"name": "secret"}),
    ):
        hidden = ask(client, method, path.format("secret"), sent)
        nothing = ask(client, method, path.format("secreu"), sent)
        assert hidden.status_code == nothing.status_code in (403, 404)
        assert hidden.content.replace(b"secret", b"secreu") == nothing.content


def assert_nowhere(
    client: APIClient, method: str, path: str, hidden: list[str], body: Any = None
) -> None:
    """The answer for each hidden thing is that for something that never was."""
    if not hidden:
        return
    nothing = ask(client, method, path.format(uuid4()), body)
    assert nothing.status_code == 404
    for each in hidden:
        theirs = ask(client, method, path.format(each), body)
        assert theirs.status_code == 404
        assert theirs.content == nothing.content
        assert set(theirs.headers) == set(nothing.headers)


CHECKS = (
    check_lists,
    check_messages,
    check_prompt,
    check_counts,
    check_categories,
    check_ids,
    check_contradictions,
    check_conversations,
    check_projects,
)


@FEW_LARGE_WORLDS
@given(plan=PLANS, reader=READERS)
def test_no_read_shows_what_the_rule_hides(db: None, plan: Plan, reader: Reader) -> None:
    with transaction.atomic():
        world = build(plan)
        client = world.client(reader)
        for check in CHECKS:
            check(world, reader, client)
        transaction.set_rollback(True)


# -- what can be inferred ----------------------------------------------------------------------


def told(world: World, reader: Reader) -> list[Any]:
    """All that a reader learns from its questions, with numbers in the place of ids."""
    client, numbers = world.client(reader), {each: key for key, each in world.ids.items()}
    names = names_of(reader)
    body = {"query": QUESTION, **names}
    query = "&".join(f"{name}={value}" for name, value in {**names, "query": QUESTION}.items())
    found = ask(client, "GET", f"/v1/memories/search?limit=500&{query}").json()["results"]
    answered = ask(client, "POST", "/v1/memory/query", body).json()
    retrieved = ask(client, "POST", "/v1/retrieve", body).json()
    prompt = ask(client, "POST", "/v1/prompt", body).json()
    scored = [*found, *answered["results"], *retrieved["memories"]]
    return [
        [(numbers.get(each["id"], each.get("content")), each["score"]) for each in scored],
        [each["signals"] for each in [*found, *retrieved["memories"]]],
        answered["left_out"],
        retrieved["formatted_prompt"],
        retrieved["stats"]["signals_hit"],
        prompt["prompt"],
    ]


def alike(one: Any, other: Any) -> bool:
    """Returns whether two answers are equal but for the moment at which they were given."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) < 1e-4
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


@FEW_LARGE_WORLDS
@given(plan=PLANS, reader=READERS)
def test_what_is_hidden_changes_no_answer(db: None, plan: Plan, reader: Reader) -> None:
    """Scores, order and counts are those of a world in which the hidden memories never were."""
    with transaction.atomic():
        whole = build(plan)
        seen = whole.seen_by(reader, named=True, statuses=EVERY)
        bare = build(plan, only=seen)

        assert alike(told(whole, reader), told(bare, reader))
        transaction.set_rollback(True)
