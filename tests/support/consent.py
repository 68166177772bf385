"""Talk that changes a person's profile, and what waits for a yes after it."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from tests.support.learning import extract
from tests.support.memories_api import post

OSLO = "I live in Oslo."
BERGEN = "I live in Bergen now."


def talk(client: APIClient, *turns: str, user: str = "sarah", agent: str = "kyra") -> str:
    """A conversation, extracted; a turn that begins with ">" is the agent's. Its id."""
    made = post(client, "conversations", agent=agent, user=user).json()["id"]
    messages = [
        {"role": "assistant", "content": turn[1:].strip()}
        if turn.startswith(">")
        else {"role": "user", "content": turn}
        for turn in turns
    ]
    assert post(client, f"conversations/{made}/messages", messages=messages).status_code < 300
    extract(client, made)
    return str(made)


def waiting(client: APIClient, **filters: str) -> list[dict[str, Any]]:
    """The consent requests that the key sees, those that wait unless the filters say else."""
    answer = client.get("/v1/consent-requests", filters)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def person(client: APIClient, user: str = "sarah") -> dict[str, Any]:
    """The person with the approved profile."""
    answer = client.get(f"/v1/users/{user}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def profile(client: APIClient, user: str = "sarah") -> dict[str, str]:
    """By field what the profile says."""
    return {each["field"]: each["value"] for each in person(client, user)["profile"]}
