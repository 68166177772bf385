"""Talk at rest becomes one episode of each sitting, which is found by when it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.models import Job, Memory, MemoryArtifact, MessageEntry
from memory.satellites.episodes.making import queue_episodes
from memory.understanding.asked_model import AskedModel
from memory.understanding.model_writers import ModelEpisodes
from memory.understanding.tools import Tools
from routing.clients.structured_calls import StructuredCompletions
from teams.models import Agent, Message, Team
from tests.support.cast import Cast, Clients, switch
from tests.support.erasure import ERASED, erase
from tests.support.openai_server import FakeOpenAI, answer
from tests.support.sittings import DAY, WORK, episodes, extract, post, run_episode, tell, waiting


@pytest.fixture
def last_week() -> datetime:
    """Wednesday noon of the week before."""
    now = timezone.now()
    monday = now - timedelta(days=now.weekday() + 7)
    return (monday + timedelta(days=2)).replace(hour=12, minute=0)


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def by_model(tools: Tools, server: FakeOpenAI) -> Tools:
    completions = StructuredCompletions(
        base_url=server.base_url, api_key="", model="fake-model", max_retries=0
    )
    return replace(tools, episodes=ModelEpisodes(AskedModel(completions=completions)))


def found(api: APIClient, query: str, *, agent: str = "kyra", user: str = "sarah") -> list[Any]:
    body = {"agent": agent, "user": user, "query": query, "return": "full"}
    response = api.post("/v1/retrieve", body, format="json")
    assert response.status_code == 200, response.json()
    return list(response.json()["memories"])


def test_a_sitting_is_told_in_the_words_of_the_talk_with_what_it_names(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    conversation = post(api, WORK, at=last_week)

    (episode,) = tell(acme, tools)

    said = list(Message.objects.filter(conversation_id=conversation).order_by("position"))
    for sentence in episode.content.replace("sarah: ", "|").replace("Kyra: ", "|").split("|"):
        assert any(sentence.strip() in row.content for row in said)
    assert episode.payload["title"] in " ".join(row.content for row in said)
    assert (episode.memory_type, episode.importance, episode.tier) == ("episodic", 5, "warm")
    assert (episode.agent, episode.end_user, episode.project) == (None, acme.sarah, None)
    assert str(episode.conversation_id) == conversation
    assert set(episode.source_message_ids) == {row.pk for row in said[:5]}
    assert (episode.valid_from, episode.created_at) == (said[0].created_at, said[5].created_at)
    artifacts = MemoryArtifact.objects.filter(memory=episode).values_list("kind", "ref")
    assert set(artifacts) == {
        ("file", "src/auth/login.ts"),
        ("commit", "4f2a9bc"),
        ("pr", "#42"),
        ("link", "https://ci.example.org/runs/7"),
    }
    log = MemoryLog.objects.get(memory_id=episode.pk, event="created")
    assert (log.actor, log.reason) == ("task:episodes", "told messages 1 to 6 as an episode")


def test_what_was_done_last_week_is_answered_by_the_episode_of_that_week(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    before = [(role, text.replace("login", "checkout")) for role, text in WORK]
    post(api, before, at=last_week - timedelta(days=14), thread="earlier")
    post(api, WORK, at=last_week)
    for number in range(60):
        body = {"content": f"Sarah noted that shelf {number} is empty.", "user": "sarah"}
        assert api.post("/v1/memories", body, format="json").status_code == 201

    assert len(tell(acme, tools)) == 2

    for query in ("What did we do last week?", "what happened last week", "Recap last week."):
        told = [each for each in found(api, query) if each["form"] == "episode"]
        assert "login" in told[0]["content"]


def test_a_sitting_is_told_once_however_often_and_late_the_work_runs(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, WORK, at=last_week)
    post(api, [(role, f"Then: {text}") for role, text in WORK], at=last_week + DAY)

    told = tell(acme, tools)
    again = [tell(acme, tools, now=timezone.now() + times * DAY) for times in (1, 2)]
    jobs = list(Job.objects.filter(kind="episode").order_by("from_position"))
    repeated = [run_episode(job, tools, now=timezone.now() + 3 * DAY) for job in jobs]

    assert len(told) == 2
    assert again == [told, told]
    assert repeated == [None, None]
    assert [(job.from_position, job.to_position, job.state) for job in jobs] == [
        (1, 6, "done"),
        (7, 12, "done"),
    ]


def test_a_conversation_that_goes_on_gets_an_episode_of_what_is_new(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    conversation = post(api, WORK, at=last_week)
    (first,) = tell(acme, tools)

    post(api, [(role, f"Later on: {text}") for role, text in WORK], at=last_week + DAY)
    _, second = tell(acme, tools)

    assert str(second.conversation_id) == conversation
    assert set(first.source_message_ids).isdisjoint(second.source_message_ids)


@pytest.mark.parametrize(
    "lines",
    [
        WORK[:3],
        [("user", "Hello!"), ("assistant", "How are you?"), ("user", "Good."), ("user", "Bye!")],
        [("assistant", text) for _, text in WORK],
    ],
    ids=["few", "courtesies", "nobody's"],
)
def test_talk_that_tells_too_little_gets_none(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime, lines: list[tuple[str, str]]
) -> None:
    post(api, lines, at=last_week)

    assert tell(acme, tools) == []
    assert waiting(acme, Job.Kind.EPISODE) == []


def test_a_team_says_how_long_talk_rests(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, WORK, at=last_week)
    extract(acme, tools)
    now, hour = timezone.now(), timedelta(hours=1)

    usual = [queue_episodes(team_id=acme.team.pk, now=now + each * hour) for each in (5, 7)]
    Team.objects.filter(pk=acme.team.pk).update(episode_rest_hours=2)
    post(api, WORK, at=last_week, thread="other")
    extract(acme, tools)
    own = [queue_episodes(team_id=acme.team.pk, now=now + each * hour) for each in (1, 3)]

    assert usual == [0, 1]
    assert own == [0, 1]


@pytest.mark.parametrize("flag", ["memory", "episodes"])
def test_what_is_switched_off_waits(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime, flag: str
) -> None:
    post(api, WORK, at=last_week)
    extract(acme, tools)
    switch(acme, **{flag: False})
    assert tell(acme, tools) == []
    switch(acme)
    queue_episodes(team_id=acme.team.pk, now=timezone.now() + DAY)
    switch(acme, **{flag: False})
    assert tell(acme, tools) == []

    switch(acme)
    assert len(tell(acme, tools)) == 1


def test_what_is_confided_is_told_to_its_agent_alone(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    secret = "Between us, I am leaving for the buyer Orlando. Please don't tell anyone."
    post(api, [*WORK[:5], ("user", secret)], at=last_week)

    (episode,) = tell(acme, tools)

    assert "Orlando" not in episode.content
    assert episode.agent is None
    assert found(api, "What did we do last week?", agent="luke")[0]["id"] == str(episode.pk)


def test_what_was_withheld_is_told_to_its_agent_alone(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, [*WORK[:5], ("user", "The buyer Orlando signs the lease on Monday.")], at=last_week)
    extract(acme, tools)
    withheld = Message.objects.get(content__contains="Orlando")
    MessageEntry.objects.filter(message=withheld).update(audience="agent")

    (episode,) = tell(acme, tools)

    assert "Orlando" not in episode.content
    assert withheld.pk not in episode.source_message_ids


def test_talk_in_confidence_and_that_of_a_reserved_agent_stays_with_the_agent(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    silent = [("user", f"{text} Don't tell anybody about this.") for _, text in WORK[:5]]
    post(api, silent, at=last_week)
    Agent.objects.filter(pk=acme.luke.pk).update(keeps_to_itself=True)
    post(api, WORK, at=last_week, agent="luke", user="dmitri")

    private, reserved = sorted(tell(acme, tools), key=lambda each: each.memory_type)

    assert (private.memory_type, private.agent) == ("agent_private", acme.kyra)
    assert (reserved.memory_type, reserved.agent) == ("episodic", acme.luke)
    for agent, user, each in (("luke", "sarah", private), ("kyra", "dmitri", reserved)):
        told = found(api, "What did we do last week?", agent=agent, user=user)
        assert str(each.pk) not in {row["id"] for row in told}


def test_secrets_and_deleted_words_are_not_told(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    leak = "The deploy key of the proxy is sk-proj-4f9aK2LmQ8xZ71bTnv0c and it works."
    gone = "The bakery contract with Ferdinand ends in March and stays secret to all."
    conversation = post(api, [*WORK, ("user", leak), ("user", gone)], at=last_week)
    extract(acme, tools)
    for memory in Memory.objects.filter(content__contains="Ferdinand"):
        assert api.delete(f"/v1/memories/{memory.pk}").status_code in (200, 204)
    assert Memory.objects.filter(
        content__contains="Ferdinand", conversation_id=conversation
    ).exists()

    (episode,) = tell(acme, tools)

    assert "sk-proj" not in episode.content + str(episode.payload)
    assert "Ferdinand" not in episode.content


def test_an_episode_is_not_told_once_a_memory_of_its_words_is_deleted(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, WORK, at=last_week)
    (episode,) = tell(acme, tools)
    memory = Memory.objects.filter(form="", content__contains="cookie").get()

    assert api.delete(f"/v1/memories/{memory.pk}").status_code in (200, 204)

    assert str(episode.pk) not in {each["id"] for each in found(api, "What did we do last week?")}


def test_no_statement_repeats_or_replaces_an_episode(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, WORK, at=last_week)
    (episode,) = tell(acme, tools)
    for text in (episode.content, "The session is no longer kept on the server."):
        body = {"content": text, "user": "sarah", "agent": "kyra"}
        assert api.post("/v1/memories", body, format="json").status_code == 201

    episode.refresh_from_db()
    assert (episode.status, episode.corroboration) == ("active", 0)


def test_an_erasure_takes_the_episode_along(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, WORK, at=last_week)
    (episode,) = tell(acme, tools)
    post(api, WORK, at=last_week, thread="untold")

    erase(acme, "sarah")

    episode.refresh_from_db()
    assert (episode.content, episode.payload, episode.status) == (ERASED, {}, "soft_deleted")
    assert not MemoryArtifact.objects.filter(memory=episode).exists()
    assert queue_episodes(team_id=acme.team.pk, now=timezone.now() + DAY) == 0


def test_a_job_whose_person_is_erased_meanwhile_ends_without_an_episode(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime
) -> None:
    post(api, WORK, at=last_week)
    extract(acme, tools)
    now = timezone.now() + DAY
    queue_episodes(team_id=acme.team.pk, now=now)
    (job,) = waiting(acme, Job.Kind.EPISODE)
    erase(acme, "sarah")

    made = run_episode(job, tools, now=now)

    assert made is None
    assert episodes(acme) == []


def test_what_a_compaction_summed_up_is_told_from_it_without_a_model(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime, server: FakeOpenAI
) -> None:
    conversation = post(api, WORK, at=last_week)
    path = f"/v1/conversations/{conversation}/compact"
    response = api.post(path, {"keep_last": 0}, format="json")
    assert response.status_code == 200, response.json()

    (episode,) = tell(acme, by_model(tools, server))

    assert server.requests == []
    assert episode.content in response.json()["summary"]


def test_a_model_tells_it_and_what_it_invents_is_told_by_the_rules(
    acme: Cast, api: APIClient, tools: Tools, last_week: datetime, server: FakeOpenAI
) -> None:
    own = {
        "title": "Session moved to the server",
        "narrative": "The login broke because the session token was too large for the proxy. The"
        " session is kept on the server now, and the tests pass.",
    }
    invented = {**own, "narrative": "Ottokar moved 17 logins to Kubernetes."}
    server.will(answer(own), answer(invented), answer(invented))
    post(api, WORK, at=last_week)
    post(api, WORK, at=last_week + DAY, thread="other")

    first, second = tell(acme, by_model(tools, server))

    assert (first.content, first.payload["title"]) == (own["narrative"], own["title"])
    assert first.extractor == "episode:openai:fake-model"
    assert len(first.source_message_ids) == 6
    assert second.extractor == "episode:rules"
    assert "Ottokar" not in second.content
    assert server.requests[0].body["temperature"] == 0.0
    assert server.requests[0].body["max_tokens"] == 400


def test_others_teams_and_people_see_none(
    acme: Cast, globex: Cast, client_of: Clients, tools: Tools, last_week: datetime
) -> None:
    api = client_of(acme)
    post(api, WORK, at=last_week, project="apollo")
    (episode,) = tell(acme, tools)

    others = found(api, "What did we do last week?", user="dmitri")
    assert str(episode.pk) not in {each["id"] for each in others}
    other = client_of(globex).get(f"/v1/memories/{episode.pk}")
    assert other.status_code == 404
    assert episode.project is not None
