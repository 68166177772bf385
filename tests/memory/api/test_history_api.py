"""A memory's history, the log, and all that is held about a person."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import MemoryLog
from audit.services.erasure import plan_erasure
from memory.domain.audience import Viewer
from memory.models import Contradiction, Memory
from memory.satellites.transfer.exporting import export_person
from routing.models import RoutingDecision
from teams.models import Message
from tests import factories
from tests.support.cast import Cast


def state(api: APIClient, content: str, **more: object) -> str:
    answer = api.post("/v1/memories", {"content": content, **more}, format="json")
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def correct(api: APIClient, memory: str, content: str) -> str:
    body = {"corrected_content": content, "reason": "she said so"}
    answer = api.post(f"/v1/memories/{memory}/correct", body, format="json")
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def history(api: APIClient, memory: str, query: str = "") -> Any:
    return api.get(f"/v1/memories/{memory}/history?{query}")


def talk_of(api: APIClient, *said: str, user: str = "sarah") -> tuple[str, list[str]]:
    start = {"agent": "kyra", "user": user, "thread_id": "t"}
    conversation = api.post("/v1/conversations", start, format="json").json()["id"]
    messages = {"messages": [{"role": "user", "content": each} for each in said]}
    rows = api.post(f"/v1/conversations/{conversation}/messages", messages, format="json").json()
    return str(conversation), [str(each["id"]) for each in rows["messages"]]


def lines_of(response: Any) -> list[Any]:
    return [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]


def test_what_came_late_is_in_the_history_of_what_stands(api: APIClient) -> None:
    first = state(api, "The beta starts on May 3.", created_at="2026-01-05T10:00:00Z")
    newest = "Correction: the beta starts on June 9, not on May 5."
    stands = state(api, newest, created_at="2026-03-05T10:00:00Z")
    told = "The beta now starts on May 5."
    body = {"content": told, "created_at": "2026-02-05T10:00:00Z"}
    late = api.post("/v1/memories", body, format="json").json()

    versions = [each["memory"]["id"] for each in history(api, stands).json()["versions"]]

    assert (late["outcome"], late["superseded_by"]) == ("superseded", stands)
    assert sorted(versions) == sorted([first, stands, late["id"]])


def test_the_history_says_what_each_step_changed(api: APIClient) -> None:
    first = state(api, "Sarah lives in Berlin.", importance=5)
    api.post(f"/v1/memories/{first}/pin", {"pinned": True}, format="json")
    second = correct(api, first, "Sarah lives in Paris.")

    for memory in (first, second):
        page = history(api, memory).json()
        steps = page["results"]
        seqs = [step["entry"]["seq"] for step in steps]
        assert seqs == sorted(seqs, reverse=True)
        (born,) = (step for step in steps if step["entry"]["event"] == "created")
        assert born == steps[-1]
        assert born["text_diff"] == "{+Sarah lives in Berlin.+}"
        assert {"field": "importance", "from": None, "to": 5} in born["changes"]
        (pinned,) = (step for step in steps if step["entry"]["event"] == "pinned")
        assert {"field": "is_pinned", "from": False, "to": True} in pinned["changes"]
        assert {each["field"] for each in pinned["changes"]} == {"is_pinned", "tier"}
        assert pinned["text_diff"] == ""
        (version,) = (step for step in steps if step["entry"]["event"] == "corrected")
        assert version["text_diff"] == "Sarah lives in [-Berlin-]{+Paris+}."
        assert (version["version"], version["entry"]["memory"]) == (2, second)
        assert version["entry"]["reason"] == "she said so"
        assert version["entry"]["actor"].startswith("key:")
        (gone,) = (step for step in steps if step["entry"]["event"] == "superseded")
        assert {"field": "superseded_by", "from": None, "to": second} in gone["changes"]
        assert [each["memory"]["id"] for each in page["versions"]] == [second, first]


def test_steps_name_things_as_the_api_does(api: APIClient) -> None:
    conversation, said = talk_of(api, "I live in Berlin.")
    memory = state(
        api, "Sarah lives in Berlin.", user="sarah", conversation=conversation, message_ids=said
    )

    (step,) = history(api, memory).json()["results"]

    changes = {each["field"]: each["to"] for each in step["changes"]}
    assert changes.items() >= {"user": "sarah", "conversation": conversation}.items()
    assert changes["message_ids"] == said


def test_whoever_pins_deletes_or_restores_can_say_why(api: APIClient) -> None:
    memory = state(api, "Sarah lives in Berlin.")
    api.post(f"/v1/memories/{memory}/pin", {"pinned": True, "reason": "hers"}, format="json")
    api.delete(f"/v1/memories/{memory}?reason=stale")
    back = api.post(f"/v1/memories/{memory}/restore", {"reason": "a mistake"}, format="json")

    steps = history(api, memory).json()["results"]
    refused = api.post(f"/v1/memories/{memory}/restore", {"why": "?"}, format="json")

    assert back.status_code == 200
    assert [(each["entry"]["event"], each["entry"]["reason"]) for each in steps] == [
        ("restored", "a mistake"),
        ("soft_deleted", "stale"),
        ("pinned", "hers"),
        ("created", ""),
    ]
    assert refused.status_code == 422


def test_provenance_goes_down_to_what_was_said(
    api: APIClient, acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    conversation, said = talk_of(api, "I live in Berlin.", "Since May.")
    memory = state(
        api, "Sarah lives in Berlin.", user="sarah", conversation=conversation, message_ids=said
    )

    (version,) = history(api, memory).json()["versions"]
    (of_luke,) = history(client_of(acme, acme.luke), memory).json()["versions"]

    assert [each["content"] for each in version["messages"]] == ["I live in Berlin.", "Since May."]
    assert {each["conversation"] for each in version["messages"]} == {conversation}
    assert version["message_count"] == 2
    assert version["memory"]["provenance"]["message_ids"] == said
    # Another agent's conversation stays its own.
    assert (of_luke["messages"], of_luke["message_count"]) == ([], 2)


def test_a_long_history_comes_in_pages(api: APIClient) -> None:
    memory = state(api, "Sarah lives in Berlin.", importance=1)
    for importance in range(2, 10):
        Memory.objects.filter(pk=memory).update(importance=importance)
    found, url = [], f"/v1/memories/{memory}/history?limit=4"
    while url:
        page = api.get(url).json()
        found += page["results"]
        url = page["next"]

    assert len(found) == MemoryLog.objects.filter(memory_id=memory).count() >= 9
    froms = [
        (change["from"], change["to"])
        for step in found
        for change in step["changes"]
        if change["field"] == "importance"
    ]
    assert froms == [(n - 1, n) for n in range(9, 1, -1)] + [(None, 1)]


def test_what_is_invisible_has_no_history(
    api: APIClient, acme: Cast, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    memory = state(api, "A note of Luke's.", memory_type="agent_private", agent="luke")

    assert history(client_of(acme, acme.kyra), memory).status_code == 404
    assert history(client_of(globex), memory).status_code == 404
    assert history(api, str(uuid4())).status_code == 404
    assert history(api, memory, "cursor=x").status_code == 422
    assert history(client_of(acme, acme.luke), memory).status_code == 200


def test_an_invisible_version_is_not_part_of_the_history(
    acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    first = factories.MemoryFactory.create(team=acme.team, content="For all.")
    second = factories.MemoryFactory.create(
        team=acme.team,
        agent=acme.luke,
        memory_type="agent_private",
        content="For Luke.",
        supersedes=first,
        version=2,
    )
    Memory.objects.filter(pk=first.pk).update(status="superseded", superseded_by=second)

    page = history(client_of(acme, acme.kyra), str(first.pk)).json()

    assert [each["memory"]["content"] for each in page["versions"]] == ["For all."]
    assert {step["entry"]["memory"] for step in page["results"]} == {str(first.pk)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"one", "two"}),
        ("memory={one}", {"one"}),
        ("event=soft_deleted", {"two"}),
        ("event=soft_deleted&event=pinned", {"one", "two"}),
        ("event=merged", set()),
        ("actor={actor}", {"one", "two"}),
        ("actor=nobody", set()),
        ("conversation={conversation}", {"one"}),
        ("user=sarah", {"one"}),
        ("user=nobody", set()),
        ("from={later}", set()),
        ("from={before}&to={later}", {"one", "two"}),
        ("to={before}", set()),
    ],
)
def test_the_log_is_narrowed(api: APIClient, query: str, expected: set[str]) -> None:
    before = timezone.now()
    conversation, _ = talk_of(api, "Hello.")
    one = state(api, "Sarah lives in Berlin.", user="sarah", conversation=conversation)
    two = state(api, "The office is in Hamburg.")
    api.post(f"/v1/memories/{one}/pin", {"pinned": True}, format="json")
    api.delete(f"/v1/memories/{two}")
    names = {one: "one", two: "two"}
    actor = MemoryLog.objects.filter(memory_id=one).values_list("actor", flat=True)[0]
    later = (timezone.now() + timedelta(minutes=1)).isoformat().replace("+", "%2B")
    words = {
        "one": one,
        "actor": actor,
        "conversation": conversation,
        "before": before.isoformat().replace("+", "%2B"),
        "later": later,
    }

    answer = api.get(f"/v1/audit/log?{query.format(**words)}")

    assert answer.status_code == 200, answer.content
    rows = answer.json()["results"]
    assert {names[row["memory"]] for row in rows} == expected
    assert [row["seq"] for row in rows] == sorted((row["seq"] for row in rows), reverse=True)
    assert all("dedupe_key" not in row["state"] for row in rows)


def test_the_log_comes_in_pages(api: APIClient) -> None:
    for number in range(5):
        state(api, f"Plan number {number} is good.", check=False)
    found, url = [], "/v1/audit/log?limit=2"
    while url:
        page = api.get(url).json()
        assert len(page["results"]) <= 2
        found += [row["seq"] for row in page["results"]]
        url = page["next"]

    assert found == list(MemoryLog.objects.order_by("-seq").values_list("seq", flat=True))


def test_a_key_of_an_agent_reads_the_log_of_what_it_may_see(
    api: APIClient, acme: Cast, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    state(api, "A note of Luke's.", memory_type="agent_private", agent="luke")
    shared = state(api, "The office is in Hamburg.", memory_type="shared")

    of_kyra = client_of(acme, acme.kyra).get("/v1/audit/log").json()["results"]

    assert {row["memory"] for row in of_kyra} == {shared}
    assert client_of(globex).get("/v1/audit/log").json()["results"] == []


@pytest.mark.parametrize(
    "query",
    ["from=2026-01-01", "memory=x", "limit=0", "cursor=x", "event=nonsense", "agent=kyra"],
)
def test_a_wrong_filter_is_refused(api: APIClient, query: str) -> None:
    assert api.get(f"/v1/audit/log?{query}").status_code == 422


def test_an_export_holds_everything_about_a_person_and_nothing_else(
    api: APIClient, acme: Cast
) -> None:
    conversation, said = talk_of(api, "I live in Berlin.", "I have a cat.")
    first = state(
        api, "Sarah lives in Berlin.", user="sarah", conversation=conversation, message_ids=said[:1]
    )
    second = correct(api, first, "Sarah lives in Paris.")
    api.post(f"/v1/memories/{second}/feedback", {"signal": "wrong"}, format="json")
    for url in ("t", "u"):
        saved = {"user": "sarah", "data": {"step": 1}}
        api.put(f"/v1/threads/{url}/checkpoint", saved, format="json")
    api.post(f"/v1/conversations/{conversation}/extract", {"wait": True}, format="json")
    state(api, "Dmitri lives in Oslo.", user="dmitri")
    state(api, "The office is in Hamburg.")

    answer = api.get("/v1/audit/export?user=sarah")
    lines = lines_of(answer)

    assert answer["Content-Type"] == "application/x-ndjson"
    counts = Counter(line["kind"] for line in lines)
    assert counts.pop("end") == 1
    assert lines[-1]["counts"] == dict(counts)
    assert counts["person"] == counts["conversation"] == counts["job"] == 1
    assert counts["message"] == counts["checkpoint"] == 2
    assert counts["contradiction"] == 1
    ids = {
        str(each)
        for each in Memory.objects.filter(end_user=acme.sarah).values_list("pk", flat=True)
    }
    assert {line["id"] for line in lines if line["kind"] == "memory"} == ids >= {first, second}
    assert {line["memory_id"] for line in lines if line["kind"] == "log"} == ids
    assert counts["log"] == MemoryLog.objects.filter(memory_id__in=ids).count()
    contents = {line["content"] for line in lines if line["kind"] in ("memory", "message")}
    assert {"Sarah lives in Berlin.", "Sarah lives in Paris.", "I have a cat."} <= contents
    text = json.dumps(lines)
    for others in ("Dmitri", "Hamburg", "salt", "dedupe_key", "claim"):
        assert others not in text


def test_a_row_of_an_export_is_one_line_to_every_reader(api: APIClient) -> None:
    said = "A line\u2028of three\u2029or four\x85parts."
    talk_of(api, said)

    response: Any = api.get("/v1/audit/export?user=sarah")
    lines = b"".join(response.streaming_content).decode().splitlines()

    rows = [json.loads(line) for line in lines]
    assert [row["content"] for row in rows if row["kind"] == "message"] == [said]


def test_an_export_holds_what_rests_on_the_persons_words_alone(api: APIClient, acme: Cast) -> None:
    hers, (said, more) = talk_of(api, "The harbour is closed.", "It is closed for good.")
    his, (also,) = talk_of(api, "It is closed, yes.", user="dmitri")
    only, second = (
        state(api, content, conversation=hers, message_ids=[said, more], check=False)
        for content in ("The harbour is closed.", "The harbour stays closed.")
    )
    about_her = state(api, "Sarah works at the harbour.", user="sarah")
    state(api, "Both say it.", conversation=his, message_ids=[said, also])
    for first, other in ((only, second), (about_her, only), (second, about_her)):
        factories.ContradictionFactory.create(
            team=acme.team,
            memory_a_id=first,
            memory_b_id=other,
            strategy="same_subject",
            judge="test",
            verdict="dispute",
            resolution="both_valid",
            resolved_at=timezone.now(),
        )

    lines = lines_of(api.get("/v1/audit/export?user=sarah"))

    assert {line["id"] for line in lines if line["kind"] == "memory"} == {only, second, about_her}
    assert {line["memory_id"] for line in lines if line["kind"] == "log"} == {
        only,
        second,
        about_her,
    }
    told = [line["id"] for line in lines if line["kind"] == "contradiction"]
    assert sorted(told) == sorted(map(str, Contradiction.objects.values_list("id", flat=True)))
    assert len(told) >= 3
    plan = plan_erasure(team_id=acme.team.id, external_id="sarah", actor="test")
    assert plan.memories == 3


def test_an_export_says_what_models_were_asked_for_a_person(api: APIClient, acme: Cast) -> None:
    for person in (acme.sarah, acme.dmitri):
        RoutingDecision.objects.create(
            team=acme.team,
            agent=acme.kyra,
            end_user=person,
            query_hash=f"hash of {person.external_id}",
            scores={},
            score=2.0,
            scorer="heuristics",
            tier="fast",
            model=f"model for {person.external_id}",
            provider="p",
            reason="short",
            estimated_usd=0,
        )

    lines = lines_of(api.get("/v1/audit/export?user=sarah"))

    (decision,) = (line for line in lines if line["kind"] == "routing_decision")
    assert decision["model"] == "model for sarah"
    assert "hash of" not in json.dumps(lines)


def test_an_export_is_for_keys_of_the_team(
    api: APIClient, acme: Cast, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    assert client_of(acme, acme.kyra).get("/v1/audit/export?user=sarah").status_code == 403
    assert api.get("/v1/audit/export?user=stranger").status_code == 404
    assert api.get("/v1/audit/export").status_code == 422
    assert (
        api.get("/v1/audit/export?user=sarah", HTTP_ACCEPT="application/x-ndjson").status_code
        == 200
    )
    factories.EndUserFactory.create(team=acme.team, external_id="only-here")
    assert client_of(globex).get("/v1/audit/export?user=only-here").status_code == 404


def test_an_export_takes_no_more_memory_for_more_rows(acme: Cast, viewer: Viewer) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )

    def say(count: int, first: int) -> None:
        Message.objects.bulk_create(
            Message(
                team=acme.team,
                conversation=talk,
                position=position,
                role="user",
                content="word " * 400,
                created_at=timezone.now(),
            )
            for position in range(first, first + count)
        )

    def peak() -> tuple[int, int]:
        rows = export_person(viewer=viewer, user="sarah", now=timezone.now(), batch=50)
        tracemalloc.start()
        try:
            lines = sum(1 for _ in rows)
            return lines, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    say(200, 1)
    peak()
    few, small = peak()
    say(2_000, 201)
    many, large = peak()

    assert (few, many) == (203, 2_203)
    # Ten times the rows are 4 MB more of text; a batch is a tenth of a megabyte.
    assert large < small + 500_000
