"""One memory of every kind that Kyra may have."""

from __future__ import annotations

from rest_framework.test import APIClient

FACTS: list[dict[str, object]] = [
    {"content": "Sarah speaks German.", "memory_type": "user_profile", "user": "sarah"},
    {"content": "Sarah lives in Berlin.", "user": "sarah", "importance": 7},
    {"content": "Sarah broke the build.", "memory_type": "episodic", "user": "sarah"},
    {"content": "Restart the worker after a deploy.", "memory_type": "procedural"},
    {"content": "The team meets on Mondays.", "memory_type": "shared"},
    {"content": "Never promise dates.", "is_pinned": True},
    {"content": "Dmitri lives in Paris.", "user": "dmitri"},
]


def tell_one_of_each_kind(api: APIClient, *, of_itself: str) -> None:
    """State them all as Kyra's, with this as what she knows of herself."""
    facts: list[dict[str, object]] = [{"content": of_itself, "memory_type": "identity"}, *FACTS]
    body = [
        {**fact, "agent": "kyra", "check": False, "created_at": "2026-02-09T09:04:00Z"}
        for fact in facts
    ]
    assert api.post("/v1/memories", body, format="json").status_code == 201
