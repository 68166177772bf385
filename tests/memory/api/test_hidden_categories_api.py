"""A writer with an allowlist learns, retires and marks nothing in a category it may not read.

Each story is told twice, in a team that holds hidden memories and in one that does not: the writer
must not be able to tell the two apart, and what is hidden must stand afterwards as it stood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from memory.models import Category, Contradiction, Memory
from teams.models import Agent
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients, make_cast
from tests.support.examples import examples

CODE = "The garage code is 4411."
# What stands in the hidden category of one of the two teams.
HIDDEN = (
    {"content": CODE, "subject": "garage.code", "external_id": "code", "importance": 9},
    {"content": "Paul lives in Lisbon.", "subject": "paul.home"},
    {"content": "The launch is on March 3.", "is_pinned": True},
)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What the time of day, chance and the place in the log of all teams give.
_SINCE = re.compile(
    r'"(?:score|recency|digest|seq|extraction_seconds|seconds_per_message)":"?[\w.-]+"?,?'
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True)
class World:
    """A team with a writer that reads goals only and somebody who reads everything."""

    cast: Cast
    planner: APIClient
    team: APIClient

    def told(self, response: Any) -> tuple[int, str]:  # Any: a test client's response
        """Returns the planner's answer, without the parts that are new each time."""
        names: dict[str, str] = {}

        def numbered(match: re.Match[str]) -> str:
            return names.setdefault(match[0], f"id-{len(names)}")

        text = _TIME.sub("then", _ID.sub(numbered, response.content.decode()))
        return response.status_code, _SINCE.sub("", text)

    def hidden(self) -> list[tuple[Any, ...]]:  # Any: columns of any type
        """Returns the memories in the hidden category, with their state."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            rows = Memory.objects.filter(category="secretcat", actor=self._teller())
            kept = ("content", "status", "tier", "is_pinned", "corroboration", "contradicts")
            return list(rows.order_by("id").values_list(*kept, "superseded_by_id"))

    def _teller(self) -> str:
        rows = Memory.objects.filter(category="secretcat").order_by("id")
        return str(rows.values_list("actor", flat=True).first() or "")


def world(client_of: Clients, slug: str, *, hides: bool) -> World:
    """A team of that name; its hidden memories are of no agent."""
    cast = make_cast(slug)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        planner = Agent.objects.create(
            team=cast.team, slug="planner", name="Planner", allowed_categories=["goals", "event"]
        )
    made = World(cast, client_of(cast, planner), client_of(cast))
    if hides:
        facts = [{**each, "category": "secretcat"} for each in HIDDEN]
        assert made.team.post("/v1/memories", facts, format="json").status_code == 201
    return made


@pytest.fixture
def worlds(db: None, client_of: Clients) -> tuple[World, World]:
    """The two teams."""
    return world(client_of, "full", hides=True), world(client_of, "bare", hides=False)


def said(world: World, **given: object) -> Any:  # Any: a test client's response
    """The planner states a memory."""
    return world.planner.post("/v1/memories", {"category": "goals", **given}, format="json")


def corrected(world: World, text: str) -> Any:  # Any: likewise
    """The planner corrects a memory of its own to that text."""
    own = said(world, content="The garage has a blue door.").json()["id"]
    path = f"/v1/memories/{own}/correct"
    return world.planner.post(path, {"corrected_content": text}, format="json")


def restored(world: World, text: str) -> Any:  # Any: likewise
    """The planner deletes what it said and brings it back."""
    own = said(world, content=text).json()["id"]
    assert world.planner.delete(f"/v1/memories/{own}").status_code == 200
    return world.planner.post(f"/v1/memories/{own}/restore", {}, format="json")


def twice(world: World, **given: object) -> Any:  # Any: likewise
    """The planner sends one request twice under an idempotency key."""
    body = {"category": "goals", **given}
    answers = [
        world.planner.post("/v1/memories", body, format="json", HTTP_IDEMPOTENCY_KEY="again")
        for _ in range(2)
    ]
    assert answers[0].content == answers[1].content
    return answers[1]


WAYS: dict[str, Callable[[World], Any]] = {  # Any: a test client's response
    "equal text": lambda w: said(w, content=CODE),
    "equal text of no category": lambda w: said(w, content=CODE, category=""),
    "equal but for case": lambda w: said(w, content="the garage code is 4411"),
    "near by its words": lambda w: said(w, content="The garage code is known to Paul."),
    "another value": lambda w: said(w, content="The garage code is 9127.", subject="garage.code"),
    "a change in so many words": lambda w: said(w, content="Paul moved from Lisbon to Porto."),
    "the opposite": lambda w: said(w, content="Paul does not live in Lisbon."),
    "another day": lambda w: said(w, content="The launch is on March 9."),
    "of its own": lambda w: said(w, content=CODE, agent="planner"),
    "private": lambda w: said(w, content=CODE, memory_type="agent_private"),
    "shared": lambda w: said(w, content=CODE, memory_type="shared"),
    "correction to the same words": lambda w: corrected(w, CODE),
    "correction to a change": lambda w: corrected(w, "Paul moved from Lisbon to Porto."),
    "restored": lambda w: restored(w, CODE),
    "sent twice": lambda w: twice(w, content=CODE),
    "external id of its own": lambda w: said(
        w, content="x y z", agent="planner", external_id="code"
    ),
    "many at once": lambda w: w.planner.post(
        "/v1/memories",
        [{"content": each["content"], "category": "goals"} for each in (*HIDDEN, HIDDEN[0])],
        format="json",
    ),
    "its contradictions": lambda w: (
        said(w, content="Paul does not live in Lisbon."),
        w.planner.get("/v1/contradictions?state=all"),
    )[1],
    "what is related": lambda w: w.planner.get(
        f"/v1/memories/{said(w, content=CODE).json()['id']}/related"
    ),
    "its history": lambda w: w.planner.get(
        f"/v1/memories/{said(w, content=CODE).json()['id']}/history"
    ),
    "what it finds": lambda w: (
        said(w, content=CODE),
        w.planner.get("/v1/memories/search?query=garage code&include_cold=true"),
    )[1],
    "a message is extracted": lambda w: extracted(w, "Remember: the garage code is 4411."),
}


def extracted(world: World, text: str) -> Any:  # Any: a test client's response
    """Sends a message to the planner, and returns the answer to its extraction."""
    made = world.planner.post(
        "/v1/conversations", {"agent": "planner", "user": "sarah"}, format="json"
    ).json()
    path = f"/v1/conversations/{made['id']}"
    said = {"messages": [{"role": "user", "content": text}]}
    assert world.planner.post(f"{path}/messages", said, format="json").status_code == 201
    return world.planner.post(f"{path}/extract", {"wait": True}, format="json")


@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_writing_shows_or_touches_what_is_hidden(
    worlds: tuple[World, World], way: str
) -> None:
    full, _ = worlds
    before = full.hidden()

    answers = [each.told(WAYS[way](each)) for each in worlds]

    assert answers[0] == answers[1]
    assert answers[0][0] < 300
    assert full.hidden() == before


@settings(max_examples=examples(5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_row_of_writes_tells_the_two_teams_apart(
    db: None, client_of: Clients, data: st.DataObject
) -> None:
    number = len(_made)
    _made.append(number)
    full = world(client_of, f"full-{number}", hides=True)
    bare = world(client_of, f"bare-{number}", hides=False)
    before = full.hidden()
    texts = st.sampled_from(
        [
            *(str(each["content"]) for each in HIDDEN),
            "The garage code is 9127.",
            "The garage code changed from 4411 to 9127.",
            "Paul moved from Lisbon to Porto.",
            "Paul does not live in Lisbon.",
        ]
    )
    categories = st.sampled_from(["goals", "event", ""])
    for text, category in data.draw(st.lists(st.tuples(texts, categories), min_size=1, max_size=5)):
        answers = [each.told(said(each, content=text, category=category)) for each in (full, bare)]
        assert answers[0] == answers[1]
    listed = [each.told(each.planner.get("/v1/memories?status=all")) for each in (full, bare)]
    assert listed[0] == listed[1]
    assert full.hidden() == before


_made: list[int] = []


@pytest.mark.parametrize("has_list", [True, False])
@pytest.mark.parametrize("many", [True, False])
def test_a_category_outside_the_allowlist_is_refused_and_tells_of_no_other(
    worlds: tuple[World, World], has_list: bool, many: bool
) -> None:
    full, _ = worlds
    before = full.hidden()
    if has_list:
        with team_scope(team_ids=[full.cast.team.id], actor="test"):
            for name in ("goals", "secretcat", "other"):
                Category.objects.create(team=full.cast.team, name=name)
    for client, owner in ((full.planner, {}), (full.team, {"agent": "planner"})):
        answers = []
        for name in ("secretcat", "nowhere"):
            fact = {"content": "The cellar is dry.", "category": name, **owner}
            answers.append(client.post("/v1/memories", [fact] if many else fact, format="json"))

        assert [each.status_code for each in answers] == [403, 403]
        told = [each.json()["detail"] for each in answers]
        assert told[0].replace("secretcat", "nowhere") == told[1]
        assert told[1].endswith("it may use: goals, event.")

    # On the allowlist and not in the team's list: of that only what the agent may use is named.
    answer = said(full, content="The cellar is dry.", category="event")
    assert answer.status_code == (422 if has_list else 201)
    assert "secretcat" not in answer.content.decode()
    assert full.hidden() == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "", None),
        ("get", "/history", None),
        ("get", "/related", None),
        ("delete", "", None),
        ("post", "/pin", {"pinned": True}),
        ("post", "/restore", {}),
        ("post", "/feedback", {"signal": "wrong"}),
        ("post", "/correct", {"corrected_content": "The garage code is 1."}),
    ],
)
def test_by_its_id_what_is_hidden_is_not_there(
    worlds: tuple[World, World], method: str, path: str, body: object
) -> None:
    full, _ = worlds
    before = full.hidden()
    with team_scope(team_ids=[full.cast.team.id], actor="test"):
        hidden = Memory.objects.get(content=CODE).pk

    answers = [
        each.told(
            getattr(each.planner, method)(f"/v1/memories/{hidden}{path}", body, format="json")
        )
        for each in worlds
    ]

    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    assert full.hidden() == before


def test_an_external_id_of_a_hidden_memory_says_that_it_is_taken_and_nothing_else(
    worlds: tuple[World, World],
) -> None:
    full, _ = worlds

    answer = said(full, content="Something else.", external_id="code")

    assert answer.status_code == 409
    assert "taken" in answer.json()["detail"]
    assert _ID.search(answer.json()["detail"]) is None
    assert "garage" not in answer.content.decode()


def test_who_reads_both_is_shown_both_and_the_hidden_one_alone_gives_way(
    worlds: tuple[World, World],
) -> None:
    full, _ = worlds

    answer = full.team.post(
        "/v1/memories",
        {"content": "Paul moved from Lisbon to Porto.", "category": "goals"},
        format="json",
    ).json()

    with team_scope(team_ids=[full.cast.team.id], actor="test"):
        old = Memory.objects.get(content="Paul lives in Lisbon.")
    assert (old.status, str(old.superseded_by_id)) == ("superseded", answer["id"])
    assert full.planner.get(f"/v1/memories/{answer['id']}").json()["supersedes"] is None


def test_what_the_writer_knows_is_not_retired_by_what_it_may_not_read(
    worlds: tuple[World, World],
) -> None:
    _, bare = worlds
    own = said(bare, content="Paul lives in Lisbon.").json()

    later = bare.team.post(
        "/v1/memories",
        {"content": "Paul moved from Lisbon to Porto.", "category": "secretcat"},
        format="json",
    ).json()

    assert later["outcome"] == "disputed"
    shown = bare.planner.get(f"/v1/memories/{own['id']}").json()
    assert (shown["status"], shown["contradicts"]) == ("active", [])
    with team_scope(team_ids=[bare.cast.team.id], actor="test"):
        assert Contradiction.objects.count() == 1
    assert bare.planner.get("/v1/contradictions?state=all").json()["results"] == []


def test_equal_words_stand_once_for_the_same_readers(worlds: tuple[World, World]) -> None:
    full, _ = worlds
    body = {"content": CODE, "category": "secretcat"}

    mine = [said(full, content=CODE).json() for _ in range(2)]
    theirs = full.team.post("/v1/memories", body, format="json")

    assert [each["outcome"] for each in mine] == ["created", "duplicate"]
    assert mine[0]["id"] == mine[1]["id"]
    assert theirs.json()["outcome"] == "duplicate"
    assert theirs.json()["id"] != mine[0]["id"]
