"""Questions to the read path, and what it answers."""

from __future__ import annotations

from typing import Any

from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.reading.answers import Prompt
from memory.reading.questions import Question
from memory.understanding.tools import Tools
from tests.support.cast import Cast
from tests.support.reading import retrieve
from tests.support.writing import NOON


def ask(acme: Cast, tools: Tools, text: str = "billing", **fields: Any) -> Prompt:
    """Returns the prompt for Kyra."""
    values: dict[str, Any] = {
        "viewer": Viewer(team_id=acme.team.id, actor="test", agent_id=acme.kyra.pk),
        "question": Question(text),
        "weights": Weights(),
        "token_budget": 500,
        "limit": None,
        "include_cold": False,
        "now": NOON,
        **fields,
    }
    return retrieve(tools=tools, **values)


def contents(found: Prompt) -> list[str]:
    """The texts, best first."""
    return [each.memory.content for each in found.memories]
