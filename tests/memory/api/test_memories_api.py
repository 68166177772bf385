"""Memories over HTTP: state, pin, take away."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.models import Contradiction, Memory
from tests.support.cast import Cast
from tests.support.memories_api import BERLIN, listed
from tests.support.memories_api import post_memory as remember

# -- stating one -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "how"),
    [
        ("x" * 500, "characters"),
        ("It rained. It snowed. It froze.", "two sentences"),
        ("Is Sarah a nurse?", "question"),
    ],
)
def test_what_is_hard_to_understand_alone_is_stored_as_worded_and_warned_of(
    api: APIClient, content: str, how: str
) -> None:
    shown = api.post("/v1/memories", {"content": content}, format="json").json()

    assert shown["content"] == content
    assert how in shown["warnings"][0]


def test_an_identity_may_address_the_agent(api: APIClient) -> None:
    body = {"content": "You are Kyra.", "memory_type": "identity", "agent": "kyra"}

    assert api.post("/v1/memories", body, format="json").json()["warnings"] == []


def test_a_memory_is_stored_and_shown_whole(api: APIClient, acme: Cast) -> None:
    given = {
        "content": "  Sarah prefers tea.\n",
        "memory_type": "user_profile",
        "importance": 3,
        "confidence": 0.5,
        "is_pinned": True,
        "agent": "kyra",
        "user": "sarah",
        "project": "apollo",
        "subject": "user.preference.drink",
        "category": "preferences",
        "tags": ["drinks", "home"],
        "created_at": "2026-02-09T09:04:00Z",
        "valid_from": "2026-01-01T00:00:00Z",
        "valid_to": "2026-12-31T00:00:00Z",
        "external_id": "e-1",
    }

    response = api.post("/v1/memories", given, format="json")

    assert response.status_code == 201
    shown = response.json()
    assert {name: shown[name] for name in given} == given
    assert (shown["outcome"], shown["status"], shown["version"]) == ("created", "active", 1)
    assert shown["provenance"]["extractor"] == "explicit"
    assert shown["usage"]["retrieved"] == 0
    read = api.get(f"/v1/memories/{shown['id']}").json()
    told = ("outcome", "warnings", "consent_request")
    assert read.pop("merged_from") == []
    assert read.pop("levels").keys() == {
        *("summary", "compressed", "index_term", "told_at_most"),
    }
    assert read == {name: value for name, value in shown.items() if name not in told}


def test_what_is_left_out_has_its_documented_default(api: APIClient) -> None:
    shown = remember(api).json()

    assert (shown["memory_type"], shown["importance"], shown["confidence"]) == ("semantic", 8, 1.0)
    assert (shown["is_pinned"], shown["tier"], shown["tags"]) == (False, "warm", [])
    assert (shown["agent"], shown["user"], shown["project"]) == (None, None, None)


@pytest.mark.parametrize("ttl", [86_400, "P1D", "PT24H"])
def test_a_time_to_live_sets_the_end(api: APIClient, ttl: object) -> None:
    shown = remember(api, valid_from="2026-03-01T09:00:00Z", ttl=ttl).json()

    assert shown["valid_to"] == "2026-03-02T09:00:00Z"
    assert "ttl" not in shown


def test_a_time_to_live_counts_from_the_statement_or_from_now(api: APIClient) -> None:
    told = remember(api, created_at="2026-02-09T09:04:00Z", ttl=60).json()
    before = timezone.now()
    new = remember(api, "Dana has lent the ladder.", ttl="P1W").json()

    assert told["valid_to"] == "2026-02-09T09:05:00Z"
    end = datetime.fromisoformat(new["valid_to"])
    assert before + timedelta(days=7) <= end <= timezone.now() + timedelta(days=7)


@pytest.mark.parametrize("importance", [1, 10])
def test_importance_goes_from_1_to_10(api: APIClient, importance: int) -> None:
    assert remember(api, importance=importance).json()["importance"] == importance


def test_a_repeated_fact_is_a_duplicate(api: APIClient) -> None:
    first = remember(api)

    again = remember(api, "sarah LIVES in  berlin")

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["outcome"] == "duplicate"
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["content"] == BERLIN
    assert Memory.objects.count() == 1


def test_a_repeated_fact_that_was_to_be_pinned_warns_that_it_is_not(api: APIClient) -> None:
    first = remember(api).json()

    again = remember(api, is_pinned=True).json()

    assert (again["outcome"], again["is_pinned"]) == ("duplicate", False)
    assert f"/v1/memories/{first['id']}/pin" in again["warnings"][0]


def test_a_memory_shows_how_often_it_was_said_again_and_in_which_messages(api: APIClient) -> None:
    talk = {"agent": "kyra", "user": "sarah", "thread_id": "t"}
    conversation = api.post("/v1/conversations", talk, format="json").json()["id"]
    messages = [{"role": "user", "content": f"Berlin it is ({number})."} for number in range(3)]
    sent = api.post(f"/v1/conversations/{conversation}/messages", {"messages": messages}, "json")
    said = [each["id"] for each in sent.json()["messages"]]

    told = [
        remember(api, user="sarah", conversation=conversation, message_ids=[each]).json()
        for each in [*said, said[0]]
    ]

    # The last delivery brings a message that is known already, which is no further witness.
    assert [each["corroboration"] for each in told] == [0, 1, 2, 2]
    shown = api.get(f"/v1/memories/{told[0]['id']}").json()
    assert (shown["corroboration"], shown["provenance"]["message_ids"]) == (2, said)
    found = api.get("/v1/memories/search?query=Berlin&user=sarah&include_raw=false").json()[
        "results"
    ][0]
    assert found["corroboration"] == 2


@pytest.mark.parametrize("check", [True, False])
def test_a_known_external_id_is_a_duplicate(api: APIClient, check: bool) -> None:
    first = remember(api, external_id="e-1", check=check).json()

    again = remember(api, "sarah LIVES in  berlin", external_id="e-1", check=check)

    assert again.status_code == 200
    assert (again.json()["outcome"], again.json()["id"]) == ("duplicate", first["id"])
    assert again.json()["content"] == BERLIN
    assert Memory.objects.count() == 1


@pytest.mark.parametrize("check", [True, False])
def test_another_text_under_a_known_external_id_is_refused_and_says_what_to_do(
    api: APIClient, check: bool
) -> None:
    first = remember(api, external_id="e-1").json()["id"]

    again = remember(api, "Something else.", external_id="e-1", check=check)

    assert again.status_code == 409
    assert list(again.json()["errors"]) == ["external_id"]
    words = (f"/v1/memories/{first}/correct", "another external_id", "something else")
    assert all(word in again.json()["detail"] for word in words)
    assert Memory.objects.get().content == BERLIN


def test_another_text_under_a_known_external_id_among_many_refuses_them_all(
    api: APIClient,
) -> None:
    remember(api, external_id="e-1")

    body = [{"content": "The dam holds."}, {"content": "The dam leaks.", "external_id": "e-1"}]
    response = api.post("/v1/memories", body, format="json")

    assert response.status_code == 409
    assert list(response.json()["errors"]) == ["[1].external_id"]
    assert Memory.objects.count() == 1


def test_the_external_id_of_a_corrected_memory_answers_with_what_stands(api: APIClient) -> None:
    first = remember(api, external_id="e-1").json()["id"]
    correct = f"/v1/memories/{first}/correct"
    fixed = api.post(correct, {"corrected_content": "Sarah lives in Bern."}, "json").json()

    by_old = remember(api, external_id="e-1")
    by_new = remember(api, "Sarah lives in Bern.", external_id="e-1")
    other = remember(api, "Sarah lives in Basel.", external_id="e-1")

    assert [each.status_code for each in (by_old, by_new, other)] == [200, 200, 409]
    assert {each.json()["id"] for each in (by_old, by_new)} == {fixed["id"]}
    assert {each.json()["status"] for each in (by_old, by_new)} == {"active"}
    assert f"/v1/memories/{fixed['id']}/correct" in other.json()["detail"]


def test_the_external_id_of_a_memory_deleted_after_its_correction_is_refused(
    api: APIClient,
) -> None:
    first = remember(api, external_id="e-1").json()["id"]
    correct = f"/v1/memories/{first}/correct"
    fixed = api.post(correct, {"corrected_content": "Sarah lives in Bern."}, "json").json()["id"]
    api.delete(f"/v1/memories/{fixed}")

    again = remember(api, external_id="e-1")

    assert again.status_code == 409
    assert all(word in again.json()["detail"] for word in ("was deleted", "Restore", fixed))


@pytest.mark.parametrize("check", [True, False])
def test_the_external_id_of_a_deleted_memory_is_refused_and_says_what_to_do(
    api: APIClient, check: bool
) -> None:
    first = remember(api, external_id="e-1").json()["id"]
    api.delete(f"/v1/memories/{first}")

    again = remember(api, "Something else.", external_id="e-1", check=check)

    assert again.status_code == 409
    assert list(again.json()["errors"]) == ["external_id"]
    assert all(word in again.json()["detail"] for word in ("Restore", first, "another external_id"))
    assert Memory.objects.count() == 1


def test_a_deleted_external_id_among_many_refuses_them_all(api: APIClient) -> None:
    first = remember(api, external_id="e-1").json()["id"]
    api.delete(f"/v1/memories/{first}")

    body = [{"content": "The dam holds."}, {"content": "The dam leaks.", "external_id": "e-1"}]
    response = api.post("/v1/memories", body, format="json")

    assert response.status_code == 409
    assert list(response.json()["errors"]) == ["[1].external_id"]
    assert Memory.objects.count() == 1


def test_a_deleted_external_id_of_one_agent_is_free_for_another(api: APIClient) -> None:
    first = remember(api, external_id="e-1", agent="kyra").json()["id"]
    api.delete(f"/v1/memories/{first}")

    assert remember(api, external_id="e-1", agent="luke").status_code == 201


def test_a_newer_value_of_a_subject_is_a_version(api: APIClient) -> None:
    old = remember(api, "Sarah lives in Berlin.", user="sarah", subject="user.city").json()

    new = remember(api, "Sarah moved to Madrid.", user="sarah", subject="user.city")

    assert new.status_code == 201
    assert (new.json()["outcome"], new.json()["version"]) == ("versioned", 2)
    assert new.json()["supersedes"] == old["id"]
    before = api.get(f"/v1/memories/{old['id']}").json()
    assert (before["status"], before["tier"]) == ("superseded", "cold")
    assert before["superseded_by"] == new.json()["id"]


def test_a_change_without_a_subject_supersedes(api: APIClient) -> None:
    remember(api, "The API limit is 100 requests per minute.")

    new = remember(api, "The API limit is now 500 requests per minute.")

    assert new.json()["outcome"] == "superseded_existing"
    assert listed(api) == ["The API limit is now 500 requests per minute."]


def test_two_values_without_a_sign_of_change_are_disputed(api: APIClient) -> None:
    first = remember(api, "The API limit is 100 requests per minute.").json()

    second = remember(api, "The API limit is 500 requests per minute.")

    assert (second.status_code, second.json()["outcome"]) == (201, "disputed")
    assert second.json()["status"] == "disputed"
    assert second.json()["contradicts"] == [first["id"]]
    other = api.get(f"/v1/memories/{first['id']}").json()
    assert (other["status"], other["contradicts"]) == ("disputed", [second.json()["id"]])


@pytest.mark.parametrize(
    ("times", "is_disputed"),
    [
        ({"valid_from": "2026-03-01T00:00:00Z"}, False),
        ({"valid_from": "2026-02-28T00:00:00Z"}, True),
        ({}, True),
    ],
)
def test_a_stated_fact_that_ended_is_not_disputed_by_its_successor(
    api: APIClient, times: dict[str, str], is_disputed: bool
) -> None:
    ended = {"valid_from": "2024-05-01T00:00:00Z", "valid_to": "2026-03-01T00:00:00Z"}
    first = remember(api, "The API limit is 100 requests per minute.", **ended)

    second = remember(api, "The API limit is 500 requests per minute.", **times)

    assert second.json()["outcome"] == ("disputed" if is_disputed else "created")
    assert Contradiction.objects.exists() == is_disputed
    assert Memory.objects.get(pk=first.json()["id"]).status == (
        "disputed" if is_disputed else "active"
    )


def test_without_the_check_it_is_stored_as_given(api: APIClient) -> None:
    remember(api)

    same = remember(api, check=False)
    other = remember(api, "Sarah lives in Madrid.", check=False)

    assert [each.json()["outcome"] for each in (same, other)] == ["created", "created"]
    assert Memory.objects.filter(status="active").count() == 3


@pytest.mark.parametrize("kind", ["agent_private", "identity"])
def test_a_bound_key_need_not_name_its_agent(client_of: Any, acme: Cast, kind: str) -> None:
    shown = remember(client_of(acme, acme.kyra), memory_type=kind).json()

    assert shown["agent"] == "kyra"


def test_the_log_names_the_caller(client_of: Any, acme: Cast) -> None:
    remember(client_of(acme, acme.kyra))

    assert MemoryLog.objects.get().actor == "agent:kyra"


# -- stating many ----------------------------------------------------------------------------


def test_a_list_is_answered_in_its_order_with_each_outcome(api: APIClient) -> None:
    remember(api)
    texts = [
        "The API limit is 100 requests per minute.",
        BERLIN,
        "The API limit is now 500 requests per minute.",
        "Dmitri likes tea.",
        "dmitri likes tea",
    ]

    response = api.post("/v1/memories", [{"content": text} for text in texts], format="json")

    assert response.status_code == 201
    assert [(each["content"], each["outcome"]) for each in response.json()] == [
        (texts[0], "created"),
        (BERLIN, "duplicate"),
        (texts[2], "superseded_existing"),
        (texts[3], "created"),
        (texts[3], "duplicate"),
    ]


def test_500_memories_are_taken_at_once(api: APIClient) -> None:
    body = [{"content": f"Fact number {n} of the batch.", "check": False} for n in range(500)]

    response = api.post("/v1/memories", body, format="json")

    assert response.status_code == 201
    assert [each["content"] for each in response.json()] == [each["content"] for each in body]
    assert Memory.objects.count() == 500


def test_one_bad_memory_spoils_its_list(api: APIClient) -> None:
    body = [{"content": BERLIN}, {"content": "Tea.", "conversation": str(uuid4())}]

    response = api.post("/v1/memories", body, format="json")

    assert response.status_code == 404
    assert Memory.objects.count() == 0


def test_a_list_of_duplicates_is_answered_in_full(api: APIClient) -> None:
    response = api.post("/v1/memories", [{"content": BERLIN}, {"content": BERLIN}], format="json")

    assert [each["outcome"] for each in response.json()] == ["created", "duplicate"]
    assert len({each["id"] for each in response.json()}) == 1


# -- pin and take away -----------------------------------------------------------------------


def test_pinning_and_unpinning_move_the_tier(api: APIClient) -> None:
    path = f"/v1/memories/{remember(api).json()['id']}"

    pinned = api.post(f"{path}/pin", {"pinned": True}, format="json")
    loose = api.post(f"{path}/pin", {"pinned": False}, format="json")

    assert [(each.status_code, each.json()["is_pinned"], each.json()["tier"]) for each in
            (pinned, loose)] == [(200, True, "hot"), (200, False, "warm")]  # fmt: skip


def test_pinning_what_is_pinned_changes_nothing(api: APIClient) -> None:
    path = f"/v1/memories/{remember(api, is_pinned=True).json()['id']}"

    response = api.post(f"{path}/pin", {"pinned": True}, format="json")

    assert response.status_code == 200
    assert MemoryLog.objects.count() == 1


def test_a_deleted_memory_is_out_of_every_read_but_its_own(api: APIClient) -> None:
    memory_id = remember(api, is_pinned=True).json()["id"]

    response = api.delete(f"/v1/memories/{memory_id}")

    assert response.status_code == 200
    assert response.json()["status"] == "soft_deleted"
    assert listed(api) == []
    read = api.get(f"/v1/memories/{memory_id}").json()
    assert (read["content"], read["status"], read["is_pinned"]) == (BERLIN, "soft_deleted", False)
    for cold in ("true", "false"):
        found = api.get(f"/v1/memories/search?query=Berlin&include_cold={cold}").json()
        assert found["results"] == []


def test_deleting_again_changes_nothing(api: APIClient) -> None:
    path = f"/v1/memories/{remember(api).json()['id']}"

    codes = [api.delete(path).status_code for _ in range(2)]

    assert codes == [200, 200]
    assert MemoryLog.objects.count() == 2


def test_a_deleted_memory_cannot_be_pinned(api: APIClient) -> None:
    path = f"/v1/memories/{remember(api).json()['id']}"
    api.delete(path)

    response = api.post(f"{path}/pin", {"pinned": True}, format="json")

    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"


def test_a_deleted_fact_may_be_said_again(api: APIClient) -> None:
    first = remember(api).json()["id"]
    api.delete(f"/v1/memories/{first}")

    again = remember(api)

    assert (again.status_code, again.json()["outcome"]) == (201, "created")
    assert again.json()["id"] != first


def test_deleting_one_side_settles_the_dispute(api: APIClient) -> None:
    first = remember(api, "The API limit is 100 requests per minute.").json()["id"]
    second = remember(api, "The API limit is 500 requests per minute.").json()["id"]

    api.delete(f"/v1/memories/{second}")

    left = api.get(f"/v1/memories/{first}").json()
    assert (left["status"], left["contradicts"]) == ("active", [])
