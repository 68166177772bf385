"""Memories stated and listed over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

BERLIN = "Sarah lives in Berlin."


def remember(api: APIClient, content: str = BERLIN, **fields: object) -> Any:
    """The response to one stated memory."""
    return api.post("/v1/memories", {"content": content, **fields}, format="json")


def listed(api: APIClient, query: str = "") -> list[str]:
    """The contents of a list, as given."""
    response = api.get(f"/v1/memories?{query}")
    assert response.status_code == 200, response.content
    return [each["content"] for each in response.json()["results"]]
