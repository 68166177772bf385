"""A team behind a real server, and the messages sent to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import openai
from rest_framework.test import APIClient

from teams.models import Agent, Conversation, Message
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast


@dataclass(frozen=True)
class Town:
    """A team of its own, where its clients reach it, and what its log holds."""

    cast: Cast
    url: str

    def client(self, *, agent: Agent | None = None, **options: Any) -> openai.OpenAI:
        """The official client with a new key; it tries nothing again unless told to."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            token = issue_key(team_id=self.cast.team.id, agent=agent).token
        given = {"max_retries": 0, "timeout": 30.0, **options}
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=token, **given)

    def remember(self, content: str, **more: Any) -> str:
        """A memory of Sarah, stored as anybody stores one; returns its id."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            token = issue_key(team_id=self.cast.team.id).token
        api = APIClient()
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        body = {"content": content, "agent": "kyra", "user": "sarah", **more}
        return str(api.post("/v1/memories", body, format="json").json()["id"])

    def said(self, thread: str | None = None) -> list[tuple[str, str]]:
        """Roles and texts of a thread's log, or of all that the team's logs hold."""
        return [(row.role, row.content) for row in self.rows(thread)]

    def rows(self, thread: str | None = None) -> list[Message]:
        """The same as rows."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            rows = Message.objects.filter(team=self.cast.team)
            if thread is not None:
                rows = rows.filter(conversation__thread_id=thread)
            return list(rows.order_by("conversation__created_at", "position"))

    def conversations(self) -> list[Conversation]:
        """All of the team."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return list(Conversation.objects.filter(team=self.cast.team).order_by("created_at"))


Ask = Callable[..., Any]


def assistant(text: str) -> dict[str, str]:
    """An answer as clients send it back."""
    return {"role": "assistant", "content": text}


def user(text: str) -> dict[str, str]:
    """A question."""
    return {"role": "user", "content": text}
