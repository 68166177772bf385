"""Somebody who asks the same things again, in a committed team."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson
import pytest

from memory.api.memory_json import packed_memory_json
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.read.answers import Retrieval, RetrievalStats
from memory.services.read.prompting import send_prompt
from memory.services.read.ranking import Question
from memory.services.read.retrieval import packing_for
from memory.services.read.search import Depth
from memory.services.read.sending import send_retrieval
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
    """Where the tests write and ask, as Kyra, on behalf of `person` or nobody."""

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
        """What Kyra is told, from the answer cache where it has it."""
        viewer = fields.pop("viewer", self.viewer)
        sent = send_retrieval(
            viewer=viewer,
            question=fields.pop("question", Question(text)),
            limit=fields.pop("limit", None),
            depth=Depth(fields.pop("include_cold", False), fields.pop("include_raw", None)),
            packing=packing_for(
                weights=fields.pop("weights", Weights()),
                token_budget=fields.pop("token_budget", 500),
            ),
            write=_written,
            form="test",
            tools=self.tools,
            now=fields.pop("now", NOON),
        )
        assert not fields
        return Told(json.loads(sent.body), sent.stats)

    def search(self, text: str, *, limit: int) -> Told:
        """What is found, likewise."""
        sent = send_retrieval(
            viewer=self.viewer,
            question=Question(text),
            limit=limit,
            depth=Depth(),
            write=_written,
            form="test search",
            tools=self.tools,
            now=NOON,
        )
        return Told(json.loads(sent.body), sent.stats)

    def prompt(self) -> Told:
        """Kyra's whole prompt, likewise."""
        sent = send_prompt(
            viewer=self.viewer,
            agent=self.cast.kyra,
            question=Question("When is the release?"),
            weights=Weights(),
            token_budget=1000,
            depth=Depth(include_cold=False),
            counter=ESTIMATE,
            tools=self.tools,
            now=NOON,
            write=lambda built: orjson.dumps(
                {"prompt": built.prompt, "warnings": list(built.warnings)}
            ),
            form="test prompt",
        )
        return Told(json.loads(sent.body), sent.stats)


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
        """What it warns of."""
        return list(self.answer["warnings"])


def _written(found: Retrieval) -> bytes:
    return orjson.dumps(
        {
            "memories": [packed_memory_json(each) for each in found.memories],
            "prompt": found.formatted_prompt,
            "warnings": list(found.warnings),
        }
    )


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
