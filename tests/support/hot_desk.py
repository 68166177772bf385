"""Somebody who asks the same things again, in a committed team."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson
import pytest

from memory.api.found import packed_memory_json
from memory.domain.audience import Viewer
from memory.domain.rendering import ESTIMATE
from memory.domain.scoring import Weights
from memory.models import Memory
from memory.reading.answers import Prompt, Retrieval, RetrievalStats
from memory.reading.cache import Sent
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import retrieve, send_search
from memory.reading.seven_layers import send_prompt
from memory.understanding.tools import Tools
from teams.models import EndUser
from tests.support.cast import Cast, make_cast
from tests.support.writing import store

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed."""
    return make_cast(f"town-{uuid4().hex}")


@dataclass(frozen=True)
class Desk:
    """A desk at which the tests write and ask, as Kyra, on behalf of `person` or nobody."""

    cast: Cast
    tools: Tools
    person: EndUser | None = None

    @property
    def viewer(self) -> Viewer:
        """Kyra."""
        return Viewer(
            team_id=self.cast.team.id,
            actor="test",
            agent_id=self.cast.kyra.pk,
            end_user_id=self.person.pk if self.person else None,
        )

    @property
    def of_sarah(self) -> Desk:
        """The desk where Kyra asks on behalf of Sarah."""
        return replace(self, person=self.cast.sarah)

    def remember(self, *contents: str, **fields: Any) -> list[Memory]:
        """Store memories as given."""
        return store(self.cast, self.tools, *contents, **fields)

    def ask(self, text: str = "When is the release?", **fields: Any) -> Told:
        """Returns the prompt for Kyra, from the answer cache where it is cached."""
        read = Read(
            viewer=fields.pop("viewer", self.viewer),
            question=fields.pop("question", Question(text)),
            limit=fields.pop("limit", None),
            depth=Depth(fields.pop("include_cold", False), fields.pop("include_raw", None)),
            tools=self.tools,
            now=fields.pop("now", NOON),
        )
        packing = Packing(
            weights=fields.pop("weights", Weights()), token_budget=fields.pop("token_budget", 500)
        )
        assert not fields
        return _told(retrieve(read, packing=packing, render=_prompt, form="test"))

    def search(self, text: str, *, limit: int) -> Told:
        """Returns the search results, from the answer cache where they are cached."""
        return _told(send_search(self._read(text, limit), render=_found, form="test search"))

    def prompt(self) -> Told:
        """Kyra's whole prompt, likewise."""
        sent = send_prompt(
            self._read("When is the release?"),
            agent=self.cast.kyra,
            weights=Weights(),
            token_budget=1000,
            counter=ESTIMATE,
            render=lambda built: {"prompt": built.prompt, "warnings": list(built.warnings)},
            form="test prompt",
        )
        return _told(sent)

    def _read(self, text: str, limit: int | None = None) -> Read:
        return Read(
            viewer=self.viewer, question=Question(text), limit=limit, tools=self.tools, now=NOON
        )


@dataclass(frozen=True)
class Told:
    """An answer as its reader has it, and what it took."""

    answer: dict[str, Any]
    stats: RetrievalStats

    @property
    def memories(self) -> list[dict[str, Any]]:
        """Its memories, best first."""
        return list(self.answer["memories"])

    @property
    def text(self) -> str:
        """Its prompt."""
        return str(self.answer["prompt"])

    @property
    def warnings(self) -> list[str]:
        """The warnings in the answer."""
        return list(self.answer["warnings"])


def _told(sent: Sent) -> Told:
    """The answer as its reader has it."""
    return Told(json.loads(orjson.dumps(sent.body)), sent.stats)


def _found(found: Retrieval) -> dict[str, Any]:
    return {
        "memories": [packed_memory_json(each) for each in found.memories],
        "warnings": list(found.warnings),
    }


def _prompt(found: Prompt) -> dict[str, Any]:
    return _found(found) | {"prompt": found.formatted_prompt}


@pytest.fixture
def desk(town: Cast, tools: Tools) -> Desk:
    """A desk with three memories."""
    desk = Desk(town, tools)
    desk.remember("The release is on Friday.", "Billing is done by Kyra.")
    desk.remember("Staging is down on Sundays.", is_pinned=True)
    return desk


def texts(found: Told) -> list[str]:
    """The texts, best first."""
    return [each["content"] for each in found.memories]
