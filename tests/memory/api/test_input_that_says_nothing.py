"""Signs without words, times that have not come, and texts that nobody would read are refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory
from tests import factories
from tests.support.cast import Cast


def refused(response: Any) -> dict[str, list[str]]:  # Any: a response of the test client
    """The errors of a refusal."""
    assert response.status_code == 422, response.content[:300]
    errors: dict[str, list[str]] = response.json()["errors"]
    return errors


@pytest.mark.parametrize("said", ["?", "...", "🙂", "🎉 🎉 !", "— ?!", "👍🏽"])
def test_signs_alone_are_no_memory(api: APIClient, acme: Cast, said: str) -> None:
    before = Memory.objects.count()

    errors = refused(api.post("/v1/memories", {"content": said}, format="json"))

    assert "words" in errors["content"][0]
    assert Memory.objects.count() == before


@pytest.mark.parametrize("said", ["5", "да", "猫が好き", "ok 🙂"])
def test_a_word_or_a_figure_is_enough(api: APIClient, acme: Cast, said: str) -> None:
    assert api.post("/v1/memories", {"content": said}, format="json").status_code == 201


def test_a_memory_or_message_of_the_far_future_is_refused(api: APIClient, acme: Cast) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    far = (timezone.now() + timedelta(days=2)).isoformat()
    soon = (timezone.now() + timedelta(hours=12)).isoformat()
    messages = f"/v1/conversations/{talk.pk}/messages"

    def memory(at: str) -> dict[str, str]:
        return {"content": "Dana lives in Quito.", "created_at": at}

    def message(at: str) -> dict[str, list[dict[str, str]]]:
        return {"messages": [{"role": "user", "content": "Hello.", "created_at": at}]}

    assert "created_at" in refused(api.post("/v1/memories", memory(far), format="json"))
    errors = refused(api.post(messages, message(far), format="json"))
    assert "messages[0].created_at" in errors
    assert api.post("/v1/memories", memory(soon), format="json").status_code == 201
    assert api.post(messages, message(soon), format="json").status_code == 201


def test_a_merged_text_belongs_to_a_merge(api: APIClient, acme: Cast) -> None:
    first, second = (factories.MemoryFactory.create(team=acme.team) for _ in range(2))
    dispute = factories.ContradictionFactory.create(
        team=acme.team, memory_a=first, memory_b=second, verdict="dispute", strategy="same_subject"
    )

    errors = refused(
        api.post(
            f"/v1/contradictions/{dispute.pk}/resolve",
            {"resolution": "b_wins", "merged_content": "Dana lives in Lima."},
            format="json",
        )
    )

    assert "merged" in errors["merged_content"][0]
    dispute.refresh_from_db()
    assert dispute.resolved_at is None
