"""Conversations over HTTP: open, post, read, extract, close."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as site
from django.utils import timezone
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.jobs import taken
from memory.writing.pipeline import run_job
from memory.writing.posting import post_messages
from teams.models import Agent, Conversation, EndUser, Message, Project, Team
from teams.services.conversations import NewMessage
from tests import factories
from tests.support.cast import Cast

SAID = "2026-02-09T09:04:00Z"


def post(api: APIClient, path: str, body: object = None) -> Any:
    """The response to a JSON body."""
    return api.post(path, body if body is not None else {}, format="json")


@pytest.fixture
def path(api: APIClient) -> str:
    """The address of a conversation of Kyra with Sarah."""
    body = {"agent": "kyra", "user": "sarah"}
    return f"/v1/conversations/{post(api, '/v1/conversations', body).json()['id']}"


def messages(count: int, **fields: object) -> dict[str, object]:
    """A body with that many messages."""
    return {
        "messages": [{"role": "user", "content": f"Message {n}.", **fields} for n in range(count)]
    }


# -- opening ---------------------------------------------------------------------------------


def test_a_conversation_is_opened_with_the_names_it_needs(api: APIClient, acme: Cast) -> None:
    body = {"agent": "nora", "user": "ann@example.com", "project": "apollo", "thread_id": "t-1"}

    response = post(api, "/v1/conversations", body)

    assert response.status_code == 201
    shown = response.json()
    assert {name: shown[name] for name in body} == body
    assert shown["revision"] == 0
    assert Agent.objects.filter(slug="nora").exists()
    assert EndUser.objects.filter(external_id="ann@example.com").exists()
    assert Project.objects.filter(slug="apollo").exists()


def test_the_same_thread_is_the_same_conversation(api: APIClient, acme: Cast) -> None:
    body = {"agent": "kyra", "user": "sarah", "thread_id": "t-1"}

    first, second = post(api, "/v1/conversations", body), post(api, "/v1/conversations", body)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert Conversation.objects.count() == 1


def test_a_conversation_is_read_back(api: APIClient, path: str) -> None:
    response = api.get(path)

    assert response.status_code == 200
    assert (response.json()["agent"], response.json()["user"]) == ("kyra", "sarah")


# -- messages --------------------------------------------------------------------------------


def test_messages_are_stored_to_the_letter(api: APIClient, path: str) -> None:
    texts = ["  spaces  ", "line\r\nline\n", "Cafe\u0301 🎉 \u202e", "<b>&amp;", '"\\', "\ttab"]
    body = {
        "messages": [
            {"role": "user", "content": text, "created_at": SAID, "name": "Ann"} for text in texts
        ]
    }

    posted = post(api, f"{path}/messages", body)
    read = api.get(f"{path}/messages")

    assert posted.status_code == 201
    assert [each["content"] for each in posted.json()["messages"]] == texts
    assert [each["content"] for each in read.json()["results"]] == texts
    assert read.json()["results"] == posted.json()["messages"]
    assert posted.json()["messages"][0] == {
        "id": posted.json()["messages"][0]["id"],
        "position": 1,
        "role": "user",
        "source": "person",
        "content": "  spaces  ",
        "name": "Ann",
        "created_at": SAID,
        "external_id": None,
    }


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
def test_every_role_may_speak(api: APIClient, path: str, role: str) -> None:
    response = post(api, f"{path}/messages", messages(1, role=role))

    assert response.json()["messages"][0]["role"] == role


@pytest.mark.parametrize("count", [1, 500])
def test_1_to_500_messages_are_taken_at_once(api: APIClient, path: str, count: int) -> None:
    response = post(api, f"{path}/messages", messages(count))

    assert response.status_code == 201
    numbers = [each["position"] for each in response.json()["messages"]]
    assert numbers == list(range(1, count + 1))


def test_a_message_sent_again_answers_with_the_stored_row(api: APIClient, path: str) -> None:
    first = post(api, f"{path}/messages", messages(1, external_id="m-1")).json()["messages"]

    again = post(api, f"{path}/messages", messages(1, external_id="m-1", role="tool"))

    assert again.status_code in (200, 201)
    assert again.json()["messages"] == first
    assert Message.objects.count() == 1


def test_a_known_external_id_with_another_text_is_refused(api: APIClient, path: str) -> None:
    (first,) = post(api, f"{path}/messages", messages(1, external_id="m-1")).json()["messages"]
    said = [
        {"role": "user", "content": "New."},
        {"role": "user", "content": "Other.", "external_id": "m-1"},
    ]

    refused = post(api, f"{path}/messages", {"messages": said})

    assert refused.status_code == 409
    assert list(refused.json()["errors"]) == ["messages[1].external_id"]
    assert [each["content"] for each in api.get(f"{path}/messages").json()["results"]] == [
        first["content"]
    ]


def test_one_external_id_with_two_texts_in_one_request_is_refused(
    api: APIClient, path: str
) -> None:
    said = [{"role": "user", "content": text, "external_id": "m"} for text in ("One.", "Two.")]

    assert post(api, f"{path}/messages", {"messages": said}).status_code == 409
    assert not Message.objects.exists()


def test_a_time_in_another_zone_is_the_same_moment(api: APIClient, path: str) -> None:
    response = post(api, f"{path}/messages", messages(1, created_at="2026-02-09T10:04:00+01:00"))

    assert response.json()["messages"][0]["created_at"] == SAID


def test_pages_of_messages_hold_each_once_in_order(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", messages(7))
    numbers: list[int] = []
    address: str | None = f"{path}/messages?limit=3"

    while address:
        page = api.get(address).json()
        numbers += [each["position"] for each in page["results"]]
        address = page["next"]

    assert numbers == list(range(1, 8))


# -- extraction ------------------------------------------------------------------------------


FACTS = {
    "messages": [
        {
            "role": "user",
            "content": "My name is Sarah and I live in Berlin.",
            "created_at": SAID,
            "external_id": "m-1",
        },
        {"role": "assistant", "content": "Nice to meet you, Sarah!", "created_at": SAID},
        {
            "role": "user",
            "content": "We decided to use PostgreSQL for the billing service.",
            "created_at": SAID,
            "external_id": "m-3",
        },
    ]
}


def test_extract_and_wait_tells_what_was_found(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", FACTS)

    response = post(api, f"{path}/extract", {"wait": True})

    assert response.status_code == 200
    counts = response.json()
    assert counts["created"] == len(counts["memories"]) > 0
    assert counts["pass1_count"] + counts["pass2_additions"] >= counts["created"]
    assert (counts["extractor"], counts["pass1_extractor"], counts["pass2_extractor"]) == (
        "small-reader",
        "small-reader",
        "",
    )
    assert (counts["left_out"], counts["warnings"]) == (0, [])


def test_an_extracted_memory_names_its_exact_messages(api: APIClient, path: str) -> None:
    rows = post(api, f"{path}/messages", FACTS).json()["messages"]
    by_id = {row["id"]: row for row in rows}

    found = post(api, f"{path}/extract", {"wait": True}).json()["memories"]

    for memory_id in found:
        provenance = api.get(f"/v1/memories/{memory_id}").json()["provenance"]
        assert provenance["conversation"] == path.rsplit("/", 1)[1]
        assert provenance["message_ids"]
        assert set(provenance["message_ids"]) <= set(by_id)
        external = [by_id[each]["external_id"] for each in provenance["message_ids"]]
        assert provenance["external_ids"] == [each for each in external if each]
        assert provenance["pass"] in (1, 2)


def test_extracting_again_finds_nothing_new(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", FACTS)
    post(api, f"{path}/extract", {"wait": True})
    stored = Memory.objects.count()

    again = post(api, f"{path}/extract", {"wait": True}).json()

    assert (again["created"], again["memories"], again["pass1_count"]) == (0, [], 0)
    assert Memory.objects.count() == stored


def test_extracting_without_messages_finds_nothing(api: APIClient, path: str) -> None:
    response = post(api, f"{path}/extract", {"wait": True})

    assert response.status_code == 200
    assert response.json()["created"] == 0


def test_extracting_without_messages_in_the_background_is_a_conflict(
    api: APIClient, path: str
) -> None:
    response = post(api, f"{path}/extract", {"wait": False})

    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("body", [{}, {"wait": False}])
def test_extract_without_waiting_answers_with_a_job(
    api: APIClient, acme: Cast, path: str, tools: Tools, body: dict[str, object]
) -> None:
    post(api, f"{path}/messages", FACTS)

    response = post(api, f"{path}/extract", body)

    assert response.status_code == 202
    job = response.json()["job"]
    waiting = api.get(f"/v1/jobs/{job}").json()
    assert (waiting["state"], waiting["result"]) == ("queued", None)
    run_job(team_id=acme.team.id, job_id=Job.objects.get().pk, tools=tools)
    done = api.get(f"/v1/jobs/{job}").json()
    assert done["state"] == "done"
    assert done["result"]["created"] > 0
    assert done["finished_at"] is not None


@pytest.mark.parametrize("state", ["done", "set_aside"])
def test_a_job_tells_of_the_messages_that_are_set_aside(
    api: APIClient, path: str, state: str
) -> None:
    post(api, f"{path}/messages", FACTS)
    polled = post(api, f"{path}/extract", {"wait": False}).json()["job"]
    before = api.get(f"/v1/jobs/{polled}").json()["warnings"]
    Job.objects.update(state=state, to_position=1)
    first = Job.objects.get()
    if state == "done":
        factories.JobFactory.create(
            team_id=first.team_id,
            conversation=first.conversation,
            from_position=2,
            to_position=2,
            state="set_aside",
        )

    (warning,) = api.get(f"/v1/jobs/{polled}").json()["warnings"]

    assert before == []
    at = 2 if state == "done" else 1
    assert warning.startswith(f"Messages {at} to {at} could not be extracted")


def test_a_waiting_extract_reports_what_began_by_itself(
    api: APIClient, acme: Cast, path: str, tools: Tools
) -> None:
    post(api, f"{path}/messages", FACTS)
    post(api, f"{path}/extract", {"wait": False})
    run_job(team_id=acme.team.id, job_id=Job.objects.get().pk, tools=tools)

    first = post(api, f"{path}/extract", {"wait": True}).json()
    second = post(api, f"{path}/extract", {"wait": True}).json()

    assert first["created"] > 0
    assert second["created"] == 0


def test_extraction_begins_by_itself_at_the_agents_interval(api: APIClient, path: str) -> None:
    assert Agent.objects.get(slug="kyra").summarize_interval == 20
    post(api, f"{path}/messages", messages(19))
    before = Job.objects.count()

    post(api, f"{path}/messages", messages(1))

    assert before == 0
    job = Job.objects.get()
    assert (job.from_position, job.to_position) == (1, 20)


def test_each_interval_begins_where_the_last_one_ended(api: APIClient, path: str) -> None:
    for count in (15, 10, 19, 30):
        post(api, f"{path}/messages", messages(count))

    ranges = Job.objects.order_by("id").values_list("from_position", "to_position")
    assert list(ranges) == [(1, 25), (26, 74)]


def test_an_agents_own_interval_holds(api: APIClient, acme: Cast, path: str) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(summarize_interval=3)

    post(api, f"{path}/messages", messages(2))
    before = Job.objects.count()
    post(api, f"{path}/messages", messages(1))

    assert (before, Job.objects.count()) == (0, 1)


def test_a_repeated_message_does_not_count_towards_the_interval(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", messages(1, external_id="m-1"))
    for _ in range(25):
        post(api, f"{path}/messages", messages(1, external_id="m-1"))

    assert Job.objects.count() == 0


def test_closing_queues_what_is_left(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", messages(3))

    response = post(api, f"{path}/close")

    assert response.status_code == 200
    job = Job.objects.get()
    assert (job.from_position, job.to_position, job.state) == (1, 3, "queued")
    assert Conversation.objects.get().closed_at is not None


@pytest.mark.parametrize("body", [b"{", b'{"reason": "done"}', b"[]"])
def test_closing_takes_no_body_that_it_does_not_know(
    api: APIClient, path: str, body: bytes
) -> None:
    post(api, f"{path}/messages", messages(1))

    refused = api.generic("POST", f"{path}/close", body, content_type="application/json")  # type: ignore[arg-type]

    assert refused.status_code in (400, 422)
    assert Conversation.objects.get().closed_at is None


def test_closing_twice_queues_once(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", messages(3))

    post(api, f"{path}/close")
    again = post(api, f"{path}/close")

    assert again.status_code == 200
    assert Job.objects.count() == 1


def test_closing_an_empty_conversation_queues_nothing(api: APIClient, path: str) -> None:
    assert post(api, f"{path}/close").status_code == 200
    assert Job.objects.count() == 0


def unfinished(state: str) -> Job:
    """The only job, in that state, as if a worker had it or had given it up."""
    Job.objects.update(state=state, attempts=1)
    return Job.objects.get()


@pytest.mark.parametrize("call", ["extract", "close"])
@pytest.mark.parametrize("state", ["queued", "running"])
def test_extract_and_close_leave_a_job_under_way_alone_and_queue_the_rest(
    api: APIClient, path: str, call: str, state: str
) -> None:
    post(api, f"{path}/messages", messages(3))
    post(api, f"{path}/extract")
    first = unfinished(state)
    post(api, f"{path}/messages", messages(2))

    for _ in range(2):
        assert post(api, f"{path}/{call}").status_code in (200, 202)

    rows = Job.objects.order_by("id")
    ranges = [(each.from_position, each.to_position, each.state) for each in rows]
    assert ranges == [(1, 3, state), (4, 5, "queued")]
    assert rows[0].attempts == first.attempts


@pytest.mark.parametrize("call", ["extract", "close"])
def test_extract_and_close_try_again_what_was_given_up(
    api: APIClient, path: str, call: str
) -> None:
    post(api, f"{path}/messages", messages(3))
    post(api, f"{path}/extract")
    unfinished("failed")

    post(api, f"{path}/{call}")

    job = Job.objects.get()
    assert (job.state, job.attempts) == ("queued", 0)


def test_extract_names_the_job_under_way_when_nothing_else_is_left(
    api: APIClient, path: str
) -> None:
    post(api, f"{path}/messages", messages(3))
    post(api, f"{path}/extract")
    running = unfinished("running")

    response = post(api, f"{path}/extract")

    assert (response.status_code, response.json()["job"]) == (202, str(running.pk))
    assert response["Location"] == f"/v1/jobs/{running.pk}"


def test_a_waiting_extract_that_takes_too_long_names_the_job(
    api: APIClient, path: str, settings: Any
) -> None:
    # Any: pytest-django's settings wrapper
    settings.EXTRACT_WAIT_SECONDS = 0.0
    post(api, f"{path}/messages", messages(3))
    post(api, f"{path}/extract")
    running = unfinished("running")

    with taken(job=running):
        response = post(api, f"{path}/extract", {"wait": True})

    assert (response.status_code, response.json()) == (202, {"job": str(running.pk)})


def test_a_closed_conversation_still_takes_messages(api: APIClient, path: str) -> None:
    post(api, f"{path}/close")

    assert post(api, f"{path}/messages", messages(1)).status_code == 201


def test_the_revision_counts_the_changes_of_its_memories(api: APIClient, path: str) -> None:
    post(api, f"{path}/messages", FACTS)
    found = post(api, f"{path}/extract", {"wait": True}).json()["memories"]
    before = api.get(path).json()["revision"]

    is_pinned = api.get(f"/v1/memories/{found[0]}").json()["is_pinned"]
    post(api, f"/v1/memories/{found[0]}/pin", {"pinned": not is_pinned})

    assert before >= len(found) > 0
    assert api.get(path).json()["revision"] == before + 1


def test_the_limit_of_a_request_is_the_documented_one() -> None:
    assert site.MAX_ITEMS_PER_REQUEST == 500
    assert site.MAX_CONTENT_CHARS == 32_000


def test_a_time_of_year_1_is_refused_and_a_stored_one_harms_no_prompt(
    api: APIClient, acme: Cast
) -> None:
    Team.objects.filter(pk=acme.team.pk).update(time_zone="America/New_York")
    talk = api.post("/v1/conversations", {"agent": "kyra", "user": "sarah"}, format="json").json()
    path = f"/v1/conversations/{talk['id']}/messages"
    message = {"role": "user", "content": "The crane is in Lund."}

    early = {"messages": [{**message, "created_at": "0001-01-01T00:00:00Z"}]}
    refused = api.post(path, early, format="json")
    assert refused.status_code == 422
    assert "1900" in str(refused.json()["errors"])

    post_messages(
        viewer=Viewer(team_id=acme.team.id, actor="test"),
        conversation_id=UUID(talk["id"]),
        messages=[NewMessage(**message, created_at=datetime(1, 1, 1, tzinfo=UTC))],
        now=timezone.now(),
    )
    extracted = api.post(f"/v1/conversations/{talk['id']}/extract", {"wait": True}, format="json")
    asked = {"agent": "kyra", "user": "sarah", "query": "Where is the crane?"}
    prompt = api.post("/v1/prompt", asked, format="json")
    assert (extracted.status_code, prompt.status_code) == (200, 200)
