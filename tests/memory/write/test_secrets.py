"""Keys, passwords and card numbers never become memory text, through whichever door they come."""

from __future__ import annotations

from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import MemoryLog, OperationalEvent
from memory.domain.secrets import MASK
from memory.domain.types import Role
from memory.models import Contradiction, Memory
from memory.satellites.transfer.transcripts import (
    ImportTarget,
    Transcript,
    Turn,
    import_transcripts,
)
from memory.understanding.tools import Tools
from memory.writing.secrets import safe_statement
from teams.errors import InvalidError
from teams.models import Message
from tests.support.cast import Cast

CARD = "4111 1111 1111 1111"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
WITH_SECRET = f"The deploy job of the billing service authenticates with {TOKEN}."
WITHOUT_SECRET = f"The deploy job of the billing service authenticates with {MASK}."


def post(api: APIClient, path: str, body: object) -> Any:
    """The response to a JSON body."""
    return api.post(f"/v1/{path}", body, format="json")


def stored() -> list[str]:
    """The texts of all memories, oldest first."""
    return list(Memory.objects.order_by("id").values_list("content", flat=True))


def events() -> list[OperationalEvent]:
    """Returns the recorded events of masking."""
    return list(OperationalEvent.objects.filter(op="mask_secret"))


def test_a_stated_memory_is_stored_without_its_secret_and_says_so(
    api: APIClient, acme: Cast
) -> None:
    response = post(api, "memories", {"content": WITH_SECRET, "user": "sarah"})

    assert response.status_code == 201
    shown = response.json()
    # A token is taken with what clings to it, so the sentence may lose its full stop.
    assert shown["content"].rstrip(".") == WITHOUT_SECRET.rstrip(".")
    assert len(shown["warnings"]) == 1
    assert "masked" in shown["warnings"][0]
    (event,) = events()
    assert (str(event.memory_id), event.end_user_id) == (shown["id"], acme.sarah.pk)
    assert TOKEN not in str(event.meta)


def test_a_mask_that_is_longer_than_its_secret_is_cut(api: APIClient, acme: Cast) -> None:
    notes = {"subject": f"{'s' * 191} pin 1234", "tags": [f"{'t' * 91} pin 1234"]}

    shown = post(api, "memories", {"content": "The safe is blue.", **notes}).json()
    recorded = post(api, "workflows/recordings", {"trigger": f"{'w' * 191} pin 1234"})

    assert (shown["subject"], shown["tags"]) == (f"{'s' * 191} pin [mas", [f"{'t' * 91} pin [mas"])
    assert recorded.status_code == 201, recorded.content


def test_a_memory_without_a_secret_has_no_warning(api: APIClient) -> None:
    response = post(api, "memories", {"content": "The deploy job runs at noon."})

    assert response.json()["warnings"] == []
    assert events() == []


def test_only_the_items_of_a_list_that_held_one_are_warned_of(api: APIClient) -> None:
    items = [{"content": "The deploy job runs at noon."}, {"content": WITH_SECRET}]

    shown = post(api, "memories", items).json()

    assert [len(each["warnings"]) for each in shown] == [0, 1]


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "content", [TOKEN, f"My card number is {CARD}.", "password: Tr0ub4dor&3", f"API key: {TOKEN}"]
)
def test_what_is_nothing_but_a_secret_is_refused(api: APIClient, content: str, check: bool) -> None:
    response = post(api, "memories", {"content": content, "check": check})

    assert response.status_code == 422
    assert "never stored" in response.json()["errors"]["content"][0]
    assert content not in response.content.decode()
    assert stored() == []


def test_one_bare_secret_refuses_its_whole_list(api: APIClient) -> None:
    response = post(
        api, "memories", [{"content": "The deploy job runs at noon."}, {"content": TOKEN}]
    )

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["[1].content"]
    assert stored() == []


def test_a_correction_is_stored_without_its_secret_and_says_so(api: APIClient) -> None:
    memory = post(api, "memories", {"content": "The deploy job has no key yet."}).json()["id"]

    response = post(api, f"memories/{memory}/correct", {"corrected_content": WITH_SECRET})

    assert response.status_code == 201
    assert TOKEN not in response.json()["content"]
    assert len(response.json()["warnings"]) == 1
    (event,) = events()
    assert str(event.memory_id) == response.json()["id"]


def test_a_correction_that_is_nothing_but_a_secret_is_refused(api: APIClient) -> None:
    memory = post(api, "memories", {"content": "The deploy job has no key yet."}).json()["id"]

    response = post(api, f"memories/{memory}/correct", {"corrected_content": TOKEN})

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["corrected_content"]
    assert api.get(f"/v1/memories/{memory}").json()["status"] == "active"


def disputed(api: APIClient) -> str:
    """The id of an open contradiction."""
    for limit in (100, 500):
        post(api, "memories", {"content": f"The API limit is {limit} requests per minute."})
    (row,) = api.get("/v1/contradictions").json()["results"]
    return str(row["id"])


def test_a_merged_text_is_stored_without_its_secret_and_says_so(api: APIClient) -> None:
    body = {
        "resolution": "merged",
        "merged_content": f"The API limit is 100 requests per minute without {TOKEN} and 500 with.",
    }

    response = post(api, f"contradictions/{disputed(api)}/resolve", body)

    assert response.status_code == 200
    told = response.json()
    assert len(told["warnings"]) == 1
    merged = Memory.objects.get(pk=UUID(told["merged_memory"]))
    assert TOKEN not in merged.content
    assert MASK in merged.content
    (event,) = events()
    assert event.memory_id == merged.pk


def test_a_merge_into_nothing_but_a_secret_is_refused_and_stays_open(api: APIClient) -> None:
    contradiction = disputed(api)

    response = post(
        api,
        f"contradictions/{contradiction}/resolve",
        {"resolution": "merged", "merged_content": TOKEN},
    )

    assert response.status_code == 422
    assert api.get(f"/v1/contradictions/{contradiction}").json()["resolved_at"] is None


def test_an_extraction_masks_what_a_message_keeps(api: APIClient, acme: Cast) -> None:
    said = f"We decided that the billing service deploys with {TOKEN}."
    start = {"agent": "kyra", "user": "sarah"}
    conversation = post(api, "conversations", start).json()["id"]
    path = f"conversations/{conversation}"
    post(api, f"{path}/messages", {"messages": [{"role": "user", "content": said}]})

    told = post(api, f"{path}/extract", {"wait": True}).json()

    assert Message.objects.get(conversation_id=conversation).content == said
    assert not any(TOKEN in text for text in stored())
    assert told["secrets_masked"] >= 1
    assert told["secrets_masked"] == sum(event.meta["candidates"] for event in events())


def test_an_import_masks_memories_keeps_messages_and_refuses_nothing(
    acme: Cast, tools: Tools
) -> None:
    turns = (
        Turn(Role.USER, f"Remember that I deploy the billing service with {TOKEN}.", "t-1"),
        Turn(Role.USER, TOKEN, "t-2"),
        Turn(Role.USER, "The deploy job runs at noon.", "t-3"),
    )

    done = import_transcripts(
        target=ImportTarget(team_id=acme.team.id, agent="kyra", user="sarah"),
        transcripts=[Transcript(thread_id="t", turns=turns)],
        extract=True,
        tools=tools,
        actor="test",
        now=timezone.now(),
    )

    assert done.masked_memories == sum(event.meta["candidates"] for event in events()) >= 1
    said = Message.objects.order_by("position").values_list("content", flat=True)
    assert list(said) == [turn.content for turn in turns]
    assert not any(TOKEN in text for text in stored())


@pytest.mark.parametrize(
    "text", ["The password of the vault is in the safe.", "The pin code was changed.", "Order 4711"]
)
def test_talk_about_secrets_is_left_alone(text: str) -> None:
    safe = safe_statement(text=text, text_field="content")

    assert (safe.text, safe.is_masked) == (text, False)


def test_a_secret_with_something_to_tell_is_no_bare_one() -> None:
    assert safe_statement(text=f"Dmitri rotates {TOKEN} monthly", text_field="content").is_masked
    with pytest.raises(InvalidError):
        safe_statement(text=f"here is my token: {TOKEN}", text_field="content")


def test_what_is_said_about_a_memory_is_kept_without_its_secret(api: APIClient) -> None:
    stated = {
        "content": "The deploy job runs at noon.",
        "subject": f"deploy.{TOKEN}",
        "tags": ["deploy", TOKEN],
    }
    first = post(api, "memories", stated).json()
    path = f"memories/{first['id']}/correct"
    told = {"corrected_content": "The deploy job runs at one.", "reason": f"see {TOKEN}"}

    corrected = post(api, path, told).json()
    wrong = post(api, f"memories/{corrected['id']}/feedback", {"signal": "wrong", "note": TOKEN})

    assert wrong.status_code == 200
    assert (MASK in first["subject"], MASK in first["tags"]) == (True, True)
    kept = [*MemoryLog.objects.values_list("reason", "state")]
    assert any(f"see {MASK}" in str(each) for each in kept)
    assert TOKEN not in str(kept)
    assert TOKEN not in str(list(Contradiction.objects.values()))


@pytest.mark.parametrize("check", [True, False])
def test_texts_that_differ_in_an_id_or_digest_alone_are_memories_of_their_own(
    api: APIClient, check: bool
) -> None:
    kinds = [lambda n: str(UUID(int=n * 7**40)), lambda n: sha256(bytes([n])).hexdigest()]
    texts = [
        f"The artifact of the nightly build is {kinds[number % 2](number + 1)}."
        for number in range(72)
    ]

    response = post(api, "memories", [{"content": text, "check": check} for text in texts])

    assert "duplicate" not in {each["outcome"] for each in response.json()}
    assert stored() == texts
