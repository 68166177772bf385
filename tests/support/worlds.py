"""Small worlds of teams, agents, people and memories, and the rule of who sees what in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Job, Memory, MemoryRelation, MessageEntry
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft
from memory.writing.indexing.message_index import index_team
from memory.writing.sharing import share_extracted
from memory.writing.write_path import write_memories
from teams.models import Agent, ApiKey, Conversation, EndUser, Project
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.examples import examples

TEAMS = ("acme", "globex")
AGENTS = ("kyra", "luke")
USERS = ("sarah", "dmitri")
PROJECTS = ("apollo", "gemini")
CATEGORIES = ("", "tasks", "salary")
LIVE = ("active", "disputed")
ARCHIVE = (*LIVE, "superseded")
EVERY = (*ARCHIVE, "soft_deleted")
LONG_AGO = datetime(2026, 5, 1, 12, tzinfo=UTC)
QUESTION = "Which vault holds what?"
# A world takes a second or two, so that to make a failing one smaller would take many minutes.
FEW_LARGE_WORLDS = settings(
    max_examples=examples(4),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
_slugs = (f"world-{number}" for number in count())


@dataclass(frozen=True)
class Spec:
    """A memory of the world."""

    team: str
    kind: str
    agent: str | None
    user: str | None
    project: str | None
    category: str
    status: str
    is_pinned: bool
    is_of_talk: bool = False

    @property
    def is_an_agents(self) -> bool:
        """Returns whether the memory belongs to its agent alone."""
        return self.agent is not None and self.kind not in ("shared", "user_profile")


@dataclass(frozen=True)
class Reader:
    """The reader: a key of a team, bound to an agent or naming one, and whom else it names.

    The key is bound to `key_projects`, to none where there are none.
    """

    team: str
    bound: bool
    agent: str
    user: str | None
    project: str | None
    key_projects: tuple[str, ...] = ()


# A team, an agent and a user of it.
Pair = tuple[str, str, str]


@dataclass(frozen=True)
class Talk:
    """A conversation of the world: its project, what is said after it, and how far it came."""

    project: str | None
    is_extracted: bool
    asks_for_silence: bool
    keeps_to_itself: bool
    is_of_work: bool

    @property
    def is_shared(self) -> bool:
        """Returns whether other agents may find the conversation."""
        return self.is_extracted and not (self.asks_for_silence or self.keeps_to_itself)


@dataclass(frozen=True)
class Plan:
    """A world to build: memories, pairs of them that are related and conflict, allowlists.

    `talks` are the conversations: with each pair of an agent and a user of each team there is one.
    `members` are the users who are members of their team.
    """

    specs: tuple[Spec, ...]
    pairs: tuple[tuple[int, int], ...]
    allowed: dict[str, tuple[str, ...]]
    talks: dict[Pair, Talk]
    members: frozenset[str]

    def is_of_team(self, pair: Pair) -> bool:
        """Returns whether what is said in the conversation belongs to the team."""
        talk = self.talks[pair]
        return talk.is_shared and talk.is_of_work and pair[2] in self.members


SPECS = st.builds(
    Spec,
    team=st.sampled_from([TEAMS[0], *TEAMS]),
    kind=st.sampled_from([kind.value for kind in MemoryType]),
    agent=st.sampled_from([None, *AGENTS]),
    user=st.sampled_from([None, *USERS]),
    project=st.sampled_from([None, None, *PROJECTS]),
    category=st.sampled_from(CATEGORIES),
    status=st.sampled_from(["active", *EVERY]),
    is_pinned=st.booleans(),
    is_of_talk=st.booleans(),
).filter(lambda spec: spec.agent is not None or spec.kind not in ("agent_private", "identity"))
READERS = st.builds(
    Reader,
    team=st.sampled_from([TEAMS[0], *TEAMS]),
    bound=st.booleans(),
    agent=st.sampled_from(AGENTS),
    user=st.sampled_from([None, *USERS, "stranger"]),
    project=st.sampled_from([None, *PROJECTS, "unheard-of"]),
    key_projects=st.sampled_from([(), (), ("apollo",), PROJECTS]),
)
PAIRS = [(team, agent, user) for team in TEAMS for agent in AGENTS for user in USERS]


@st.composite
def talks(draw: st.DrawFn) -> dict[Pair, Talk]:
    """A conversation for each pair; whether an agent keeps to itself holds for all of its own."""
    kept = {(team, agent): draw(st.booleans()) for team in TEAMS for agent in AGENTS}
    return {
        (team, agent, user): Talk(
            project=draw(st.sampled_from([None, *PROJECTS])),
            is_extracted=draw(st.sampled_from([True, True, False])),
            asks_for_silence=draw(st.sampled_from([False, False, True])),
            keeps_to_itself=kept[team, agent],
            is_of_work=draw(st.booleans()),
        )
        for team, agent, user in PAIRS
    }


PLANS = st.builds(
    Plan,
    specs=st.lists(SPECS, min_size=2, max_size=10).map(tuple),
    pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6).map(tuple),
    allowed=st.fixed_dictionaries(
        {agent: st.sampled_from([(), ("tasks",), ("salary", "tasks")]) for agent in AGENTS}
    ),
    talks=talks(),
    members=st.frozensets(st.sampled_from(USERS)),
)


@dataclass
class World:
    """A plan that was built; numbers are those of its memories."""

    plan: Plan
    casts: dict[str, Cast] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    contradictions: dict[str, tuple[int, int]] = field(default_factory=dict)
    related: dict[int, set[int]] = field(default_factory=dict)
    talks: dict[Pair, str] = field(default_factory=dict)

    def client(self, reader: Reader) -> APIClient:
        """A client with a new key of the reader."""
        cast = self.casts[reader.team]
        with team_scope(team_ids=[cast.team.id], actor="test"):
            agent = getattr(cast, reader.agent) if reader.bound else None
            token = issue_key(team_id=cast.team.id, agent=agent).token
            of_key = Project.objects.filter(team=cast.team, slug__in=reader.key_projects)
            ApiKey.objects.filter(team=cast.team, prefix=token.split("_")[1]).update(
                project_ids=list(of_key.values_list("pk", flat=True))
            )
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        return client

    def hears(self, reader: Reader, pair: Pair, *, named: bool) -> bool:
        """Returns whether the rule lets a reader find the pair's messages, as in `seen_by`."""
        team, agent, user = pair
        talk = self.plan.talks[pair]
        if team != reader.team or not in_key(talk.project, reader):
            return False
        by = reader.agent if named or reader.bound else None
        is_own = by is None or agent == by
        if not named:
            return is_own
        is_for_all = self.plan.is_of_team(pair) and self.is_told_by_members(reader)
        if not is_own and not (talk.is_shared and not self.plan.allowed[reader.agent]):
            return False
        if reader.user != user and not is_for_all:
            return False
        return reader.project is None or talk.project in (None, reader.project)

    def is_told_by_members(self, reader: Reader) -> bool:
        """Returns whether the reader hears what members said: as a member, or for nobody."""
        return reader.user is None or reader.user in self.plan.members

    def seen_by(
        self,
        reader: Reader,
        *,
        named: bool,
        statuses: tuple[str, ...] = EVERY,
        listed: bool = False,
    ) -> set[int]:
        """The memories that the rule shows; with `named`, to the agent and people it names.

        Who names no person in a question, or in a list (`listed`) with an agent's key, sees none's.
        """
        agent = reader.agent if named or reader.bound else None
        hides_people = (named and reader.user is None) or (listed and reader.bound and not named)
        return {
            number
            for number, spec in enumerate(self.plan.specs)
            if number in self.ids
            and spec.status in statuses
            and may_see(
                spec,
                team=reader.team,
                agent=agent,
                allowed=self.plan.allowed[agent] if agent else (),
                user=reader.user if named else None,
                project=reader.project if named else None,
            )
            and in_key(spec.project, reader)
            and not (hides_people and spec.user is not None)
            and (not named or self.may_be_told(number, reader))
        }

    def may_be_told(self, number: int, reader: Reader) -> bool:
        """Returns whether the reader's person may hear it: guests hear nothing members said."""
        spec = self.plan.specs[number]
        is_of_members = spec.is_of_talk and not spec.is_an_agents and spec.user is None
        return not is_of_members or self.is_told_by_members(reader)


def in_key(project: str | None, reader: Reader) -> bool:
    """Returns whether the project exists for the reader's key."""
    return project is None or not reader.key_projects or project in reader.key_projects


def may_see(
    spec: Spec,
    *,
    team: str,
    agent: str | None,
    allowed: tuple[str, ...],
    user: str | None,
    project: str | None,
) -> bool:
    """The rule above, apart from the code it is to check."""
    if spec.team != team:
        return False
    if agent is not None:
        is_for_all = spec.kind in ("shared", "user_profile")
        is_nobodys = spec.agent is None and spec.kind not in ("agent_private", "identity")
        if not (is_for_all or is_nobodys or spec.agent == agent):
            return False
    if allowed and spec.category not in ("", *allowed):
        return False
    if user is not None and spec.user not in (None, user):
        return False
    return project is None or spec.project in (None, project)


def word(number: int) -> str:
    """A word that stands in one memory only."""
    return f"zq{number}qz"


def spoken(team: str, agent: str, user: str) -> str:
    """A word that stands in one message only."""
    return f"said{team}{agent}{user}"


def build(plan: Plan, *, only: set[int] | None = None) -> World:
    """Store a plan in two new teams, or only some of its memories, always in the same order."""
    world = World(plan)
    projects = {}
    for team in TEAMS:
        cast = world.casts[team] = make_cast(next(_slugs))
        with team_scope(team_ids=[cast.team.id], actor="test"):
            for slug in PROJECTS:
                made = factories.ProjectFactory.create(team=cast.team, slug=slug)
                projects[team, slug] = made.pk
            for agent in AGENTS:
                Agent.objects.filter(pk=getattr(cast, agent).pk).update(
                    allowed_categories=list(plan.allowed[agent]),
                    token_budget=5000,
                    keeps_to_itself=plan.talks[team, agent, USERS[0]].keeps_to_itself,
                )
                for user in USERS:
                    role = "member" if user in plan.members else "guest"
                    EndUser.objects.filter(pk=getattr(cast, user).pk).update(role=role)
                    _talk(world, cast, (team, agent, user), projects)
        index_team(team_id=cast.team.id, tools=_TOOLS[0])
    for team, cast in world.casts.items():
        numbers = [
            number
            for number, spec in enumerate(plan.specs)
            if spec.team == team and (only is None or number in only)
        ]
        _store(world, cast, numbers, projects)
    return world


def _talk(world: World, cast: Cast, pair: Pair, projects: dict[Any, Any]) -> None:
    team, agent, user = pair
    talk = world.plan.talks[pair]
    made = factories.ConversationFactory.create(
        team=cast.team,
        agent=Agent.objects.get(pk=getattr(cast, agent).pk),
        end_user=getattr(cast, user),
        project_id=projects[team, talk.project] if talk.project else None,
        thread_id=f"{agent}-{user}",
    )
    told = [f"The vault is {spoken(*pair)}."]
    if talk.asks_for_silence:
        told.append("Keep that between us.")
    for position, text in enumerate(told, 1):
        factories.MessageFactory.create(
            team=cast.team, conversation=made, position=position, content=text
        )
    world.talks[pair] = str(made.pk)
    Conversation.objects.filter(pk=made.pk).update(last_position=len(told))
    if talk.is_extracted:
        Conversation.objects.filter(pk=made.pk).update(
            extracted_position=len(told), closed_at=timezone.now()
        )
        job = Job.objects.create(
            team=cast.team,
            conversation=made,
            from_position=1,
            to_position=len(told),
            done_position=len(told),
            state=Job.State.DONE,
        )
        share_extracted(job=job, first=1, last=len(told), private=(), now=timezone.now())
        # Which words are about the work is the reader's to say, and not what is tested here.
        MessageEntry.objects.filter(conversation=made, audience__in=["person", "team"]).update(
            audience="team" if world.plan.is_of_team(pair) else "person"
        )


def _store(world: World, cast: Cast, numbers: list[int], projects: dict[Any, Any]) -> None:
    specs = [world.plan.specs[number] for number in numbers]
    drafts = [
        MemoryDraft(
            team_id=cast.team.id,
            content=f"The vault holds {word(number)}.",
            memory_type=MemoryType(spec.kind),
            importance=5,
            extractor="test",
            created_at=LONG_AGO,
            is_pinned=spec.is_pinned,
            category=spec.category,
            agent_id=getattr(cast, spec.agent).pk if spec.agent else None,
            end_user_id=getattr(cast, spec.user).pk if spec.user else None,
            project_id=projects[spec.team, spec.project] if spec.project else None,
            conversation_id=_talk_of(world, spec) if spec.is_of_talk else None,
            check=False,
        )
        for number, spec in zip(numbers, specs, strict=True)
    ]
    with team_scope(team_ids=[cast.team.id], actor="test"):
        viewer = Viewer(team_id=cast.team.id, actor="test")
        written = write_memories(viewer=viewer, drafts=drafts, tools=_TOOLS[0])
        MemoryRelation.objects.filter(team=cast.team).delete()
        rows = {}
        for number, spec, result in zip(numbers, specs, written, strict=True):
            rows[number] = result.memory.pk
            Memory.objects.filter(pk=result.memory.pk).update(status=spec.status)
        world.ids |= {number: str(pk) for number, pk in rows.items()}
        for one, other in {(min(pair), max(pair)) for pair in world.plan.pairs}:
            if one == other or one not in rows or other not in rows:
                continue
            MemoryRelation.objects.create(
                team=cast.team,
                from_memory_id=rows[one],
                to_memory_id=rows[other],
                relation_type="contradicts",
                strength=0.9,
            )
            pair = factories.ContradictionFactory.create(
                team=cast.team,
                memory_a_id=rows[one],
                memory_b_id=rows[other],
                strategy="same_subject",
                judge="test",
                verdict="dispute",
            )
            for this, that in ((one, other), (other, one)):
                world.related.setdefault(this, set()).add(that)
                memory = Memory.objects.get(pk=rows[this])
                Memory.objects.filter(pk=memory.pk).update(
                    contradicts=[*memory.contradicts, rows[that]]
                )
            world.contradictions[str(pair.pk)] = (one, other)


def _talk_of(world: World, spec: Spec) -> UUID:
    """A conversation from which the memory may come."""
    return UUID(world.talks[spec.team, spec.agent or AGENTS[0], spec.user or USERS[0]])


# The rules and the embedder are loaded once, by the fixture below.
_TOOLS: list[Tools] = []


@pytest.fixture(autouse=True)
def loaded_tools(tools: Tools) -> Iterator[None]:
    """Hand the session's tools to the builders, which Hypothesis calls many times a test."""
    _TOOLS.append(tools)
    yield
    _TOOLS.clear()


def ask(client: APIClient, method: str, path: str, body: Any = None) -> Any:
    """The response to a JSON request."""
    text = "" if body is None else json.dumps(body)
    return client.generic(method, path, text, content_type="application/json")


def names_of(reader: Reader) -> dict[str, str]:
    """Whom the reader names."""
    named = {"agent": reader.agent, "user": reader.user, "project": reader.project}
    return {name: value for name, value in named.items() if value is not None}


def assert_silent(
    world: World, reader: Reader, answer: Any, *, named: bool, listed: bool = False
) -> None:
    """No word and no id of anything hidden stands anywhere in the answer.

    `contradicts` may name ids: the write path keeps contradictions inside one audience, and these
    worlds draw them across audiences to see that their texts are still withheld.
    """
    text = answer.content.decode()
    seen = world.seen_by(reader, named=named, listed=listed)
    for number in set(world.ids) - seen:
        assert word(number) not in text
    plain = json.dumps(_without_contradicts(json.loads(text)))
    for number in set(world.ids) - seen:
        assert world.ids[number] not in plain
    for pair in world.talks:
        if not world.hears(reader, pair, named=named):
            assert spoken(*pair) not in text


def _without_contradicts(data: Any) -> Any:
    if isinstance(data, list):
        return [_without_contradicts(each) for each in data]
    if isinstance(data, dict):
        return {key: _without_contradicts(value) for key, value in data.items()
                if key != "contradicts"}  # fmt: skip
    return data
