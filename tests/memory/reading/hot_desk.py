"""Somebody who asks the same things again, in a committed team."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from memory.clients.tools import Tools
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.reading.answers import Retrieval
from memory.services.reading.built_prompts import BuiltPrompt
from memory.services.reading.prompting import build_prompt
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import retrieve
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.write_path import write_memories
from tests.conftest import Cast, make_cast

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed."""
    return make_cast(f"town-{uuid4().hex}")


@dataclass(frozen=True)
class Desk:
    """Where the tests write and ask, as Kyra."""

    cast: Cast
    tools: Tools

    @property
    def viewer(self) -> Viewer:
        """Kyra."""
        return Viewer(team_id=self.cast.team.id, actor="test", agent_id=self.cast.kyra.pk)

    def remember(self, *contents: str, **fields: Any) -> list[Memory]:
        """Store memories as given."""
        drafts = [
            MemoryDraft(
                **{
                    "team_id": self.cast.team.id,
                    "content": content,
                    "memory_type": MemoryType.SEMANTIC,
                    "importance": 5,
                    "extractor": "test",
                    "created_at": NOON,
                    "check": False,
                    **fields,
                }
            )
            for content in contents
        ]
        written = write_memories(viewer=self.viewer, drafts=drafts, tools=self.tools)
        return [each.memory for each in written]

    def ask(self, text: str = "When is the release?", **fields: Any) -> Retrieval:
        """What Kyra is told."""
        values: dict[str, Any] = {
            "viewer": self.viewer,
            "question": Question(text),
            "weights": Weights(),
            "token_budget": 500,
            "limit": None,
            "include_cold": False,
            "now": NOON,
            **fields,
        }
        return retrieve(tools=self.tools, **values)

    def prompt(self, **fields: Any) -> BuiltPrompt:
        """Kyra's whole prompt."""
        values: dict[str, Any] = {
            "viewer": self.viewer,
            "agent": self.cast.kyra,
            "question": Question("When is the release?"),
            "conversation": None,
            "weights": Weights(),
            "token_budget": 1000,
            "include_cold": False,
            "counter": ESTIMATE,
            "now": NOON,
            **fields,
        }
        return build_prompt(tools=self.tools, **values)


@pytest.fixture
def desk(town: Cast, tools: Tools) -> Desk:
    """A desk with three memories."""
    desk = Desk(town, tools)
    desk.remember("The release is on Friday.", "Billing is done by Kyra.")
    desk.remember("Staging is down on Sundays.", is_pinned=True)
    return desk


def texts(found: Retrieval) -> list[str]:
    """The texts, best first."""
    return [each.memory.content for each in found.memories]
