"""A chat request as the services see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.domain.plans.documents import Document
from memory.satellites.chat.wording import ROLES, spoken_text, storable, text_of
from routing.domain.complexity import Tier

# Any: the protocol's JSON, which goes to the model as it came.
Json = dict[str, Any]


# Whose words those of clients are that name nobody.
ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class ChatAsk:
    """A validated chat completion request.

    Without a `thread_id` the conversation is recognised by its history. `tier` is the caller's
    choice. `parameters` are passed to the model unchanged. With `is_retry` the client says that it
    sent the same before. `asked_at` is when the request arrived. `documents` are told
    beside memory. `project_ids` are those that the key is bound to, none for all.
    Unless it `names_user`, nothing about people is told.
    """

    agent: str
    user: str
    messages: tuple[Json, ...]
    parameters: Mapping[str, Any]
    asked_at: datetime
    tier: Tier | None = None
    thread_id: str | None = None
    project: str | None = None
    is_retry: bool = False
    documents: tuple[Document, ...] = ()
    project_ids: tuple[UUID, ...] = ()
    names_user: bool = True

    @property
    def question(self) -> str:
        """The user's last message; without one, the last message of another role with text."""
        for role in ("user", "tool", "assistant", "system"):
            for message in reversed(self.messages):
                if ROLES[message["role"]] == role:
                    text = storable(spoken_text(message)).strip() or text_of(message).strip()
                    if text:
                        return text
        return ""

    @property
    def max_tokens(self) -> int | None:
        """The client's limit on the answer."""
        limit = self.parameters.get("max_completion_tokens", self.parameters.get("max_tokens"))
        return limit if isinstance(limit, int) and limit > 0 else None

    @property
    def has_history(self) -> bool:
        """Whether it brings earlier turns along."""
        return any(message["role"] == "assistant" for message in self.messages)
