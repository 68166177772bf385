"""Each feature flag switches its part off cleanly, for one team or the whole installation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.domain.types import Judgement, MemoryType, Statement
from memory.models import Compaction, Contradiction, Job, Memory
from memory.reading.questions import Question
from memory.understanding.judging import small_judge
from memory.understanding.ports import Preparation
from memory.understanding.tools import Tools
from memory.writing.compaction import compact_conversation
from memory.writing.drafts import MemoryDraft, Outcome, WriteResult
from memory.writing.jobs import due_jobs, start_extraction
from memory.writing.pipeline import run_job
from memory.writing.posting import close_conversation, post_messages
from memory.writing.waiting import extract_now
from memory.writing.write_path import write_memories
from teams.domain.team_settings import FLAGS
from teams.errors import ForbiddenError
from teams.models import Agent, Conversation, Message
from teams.services.conversations import NewMessage
from teams.services.team_settings import flags_of
from tests import factories
from tests.support.cast import Cast, switch
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extraction import CountingExtractor
from tests.support.judges import PairJudge
from tests.support.reading import retrieve

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def talk(acme: Cast) -> Conversation:
    """A conversation of Kyra with Sarah; Kyra's talk is extracted every two messages."""
    Agent.objects.filter(pk=acme.kyra.pk).update(summarize_interval=2)
    return factories.ConversationFactory.create(
        team=acme.team, agent=Agent.objects.get(pk=acme.kyra.pk), end_user=acme.sarah
    )


@pytest.fixture
def plain(tools: Tools) -> Tools:
    """Tools under which every message becomes one memory of its own."""
    return replace(tools, embedder=OrthogonalEmbedder(), extractor=CountingExtractor())


def say(viewer: Viewer, talk: Conversation, *texts: str) -> None:
    post_messages(
        viewer=viewer,
        conversation_id=talk.pk,
        messages=[NewMessage("user", text) for text in texts],
        now=timezone.now(),
    )


def tell(acme: Cast, tools: Tools, text: str, *, day: int = 0, own: bool = False) -> WriteResult:
    draft = MemoryDraft(
        team_id=acme.team.id,
        content=text,
        memory_type=MemoryType.SEMANTIC,
        importance=8,
        extractor="test",
        created_at=NOON + timedelta(days=day),
        subject="infra.staging.port",
        agent_id=acme.kyra.pk if own else None,
        author_id=acme.kyra.pk if own else acme.luke.pk,
    )
    viewer = Viewer(team_id=acme.team.id, actor="test")
    (result,) = write_memories(viewer=viewer, drafts=[draft], tools=tools)
    return result


@pytest.mark.parametrize("name", FLAGS)
def test_a_team_overrides_what_is_installed(name: str, acme: Cast, settings: Any) -> None:
    team = acme.team

    assert getattr(flags_of(team=team), name)
    team.feature_flags = {name: False}
    assert not getattr(flags_of(team=team), name)
    setattr(settings, f"ENABLE_{name.upper()}", False)
    team.feature_flags = {name: True}
    assert getattr(flags_of(team=team), name)
    team.feature_flags = {}
    assert not getattr(flags_of(team=team), name)
    team.feature_flags = ["what", "raw SQL", "left"]
    assert not getattr(flags_of(team=team), name)


REMEMBERING: list[tuple[str, str, object]] = [
    ("post", "/v1/memories", {"content": "Sarah lives in Oslo."}),
    ("get", "/v1/memories", None),
    ("get", "/v1/memories/search?query=Oslo", None),
    ("post", "/v1/retrieve", {"agent": "kyra", "query": "Oslo"}),
    ("post", "/v1/memory/query", {"agent": "kyra", "query": "Oslo"}),
    ("get", "/v1/contradictions", None),
    ("get", "/v1/memories/{memory}", None),
    ("delete", "/v1/memories/{memory}", None),
    ("get", "/v1/memories/{memory}/related", None),
    ("post", "/v1/memories/{memory}/pin", {}),
    ("post", "/v1/memories/{memory}/restore", {}),
    ("post", "/v1/memories/{memory}/feedback", {"signal": "helpful"}),
    ("post", "/v1/memories/{memory}/correct", {"corrected_content": "Sarah lives in Rome."}),
    ("post", "/v1/usage", {"cited": ["01920000-0000-7000-8000-00000000dead"]}),
    ("post", "/v1/conversations/{talk}/extract", {}),
    ("post", "/v1/conversations/{talk}/compact", {"keep_last": 0}),
    ("get", "/v1/threads/{talk}/changes", None),
]


@pytest.mark.parametrize(("method", "path", "body"), REMEMBERING)
def test_without_memory_nothing_is_remembered_or_retrieved(
    method: str, path: str, body: object, acme: Cast, api: APIClient, talk: Conversation
) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, content="Sarah lives in Oslo.")
    before = Memory.objects.values_list("pk", "content", "status", "is_pinned").get()
    switch(acme, memory=False)

    url = path.format(memory=memory.pk, talk=talk.pk)
    answer = getattr(api, method)(url, *([body] if body is not None else []), format="json")

    assert answer.status_code == 403, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert "switched off" in answer.json()["detail"]
    assert Memory.objects.values_list("pk", "content", "status", "is_pinned").get() == before


def test_without_memory_the_record_stays_open(
    acme: Cast, api: APIClient, talk: Conversation
) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)
    switch(acme, memory=False)

    for url in (
        f"/v1/memories/{memory.pk}/history",
        "/v1/audit/log",
        "/v1/audit/export?user=sarah",
        f"/v1/conversations/{talk.pk}/messages",
        "/v1/agents/kyra",
    ):
        assert api.get(url).status_code == 200, url


def test_without_memory_an_agent_still_knows_who_it_is(
    acme: Cast, api: APIClient, talk: Conversation
) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(
        tagline="an engineer", skills={"custom": ["charts"]}
    )
    fact = {"content": "Sarah lives in Oslo.", "is_pinned": True}
    assert api.post("/v1/memories", fact, format="json").status_code == 201
    asked = {"agent": "kyra", "query": "Where is Oslo?", "conversation": str(talk.pk)}
    remembered = api.post("/v1/prompt", asked, format="json").json()
    switch(acme, memory=False)

    answer = api.post("/v1/prompt", asked, format="json").json()

    assert "Oslo" in remembered["prompt"]
    assert answer["prompt"].startswith("You are Kyra, an engineer.")
    assert "- charts" in answer["prompt"]
    assert "Oslo" not in answer["prompt"]
    assert (answer["memories"], answer["messages"], answer["updates"]) == ([], [], None)
    assert any("switched off" in each for each in answer["warnings"])


def test_without_memory_words_are_kept_and_extracted_once_it_is_on_again(
    acme: Cast, viewer: Viewer, talk: Conversation, plain: Tools
) -> None:
    switch(acme, memory=False)
    say(viewer, talk, "one", "two", "three")
    close_conversation(viewer=viewer, conversation_id=talk.pk, now=timezone.now())

    assert Message.objects.count() == 3
    assert not Job.objects.exists()
    for refused in (
        lambda: extract_now(viewer=viewer, conversation_id=talk.pk, tools=plain),
        lambda: start_extraction(viewer=viewer, conversation_id=talk.pk),
        lambda: compact_conversation(
            viewer=viewer, conversation_id=talk.pk, tools=plain, keep_last=0
        ),
    ):
        with pytest.raises(ForbiddenError):
            refused()

    switch(acme)
    extract_now(viewer=viewer, conversation_id=talk.pk, tools=plain)
    assert Memory.objects.count() == 3


def test_without_memory_a_job_that_waits_goes_on_waiting(
    acme: Cast, viewer: Viewer, talk: Conversation, plain: Tools
) -> None:
    say(viewer, talk, "one", "two")
    job = Job.objects.get()
    switch(acme, memory=False)

    assert not run_job(team_id=acme.team.id, job_id=job.pk, tools=plain)
    assert due_jobs(team_id=acme.team.id, now=timezone.now()) == []
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.QUEUED, 0)
    switch(acme)
    assert due_jobs(team_id=acme.team.id, now=timezone.now()) == [job]
    assert run_job(team_id=acme.team.id, job_id=job.pk, tools=plain)


def test_without_memory_the_one_door_is_shut(acme: Cast, tools: Tools) -> None:
    switch(acme, memory=False)

    with pytest.raises(ForbiddenError):
        tell(acme, tools, "The staging database listens on port 5432.")
    assert not Memory.objects.exists()


def test_the_whole_installation_may_do_without(
    api: APIClient, settings: Any, acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    settings.ENABLE_MEMORY = False
    assert api.get("/v1/memories").status_code == 403
    switch(acme, memory=True)
    assert api.get("/v1/memories").status_code == 200


def test_without_the_shield_a_context_is_trimmed_before_it_is_extracted(
    acme: Cast, viewer: Viewer, talk: Conversation, plain: Tools
) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(summarize_interval=100)
    say(viewer, talk, "one", "two", "three")
    switch(acme, compaction_shield=False)

    done = compact_conversation(
        viewer=viewer, conversation_id=talk.pk, tools=plain, keep_last=1, seconds=0.0
    )

    assert (done.first, done.last) == (1, 2)
    assert [message.content for message in done.kept] == ["three"]
    assert isinstance(plain.extractor, CountingExtractor)
    assert plain.extractor.read == []
    assert Compaction.objects.count() == 1
    # What went is not lost: the workers extract it as they do talk.
    job = Job.objects.get()
    assert (job.state, job.from_position, job.to_position, job.is_capped) == (
        Job.State.QUEUED,
        1,
        2,
        True,
    )
    assert run_job(team_id=acme.team.id, job_id=job.pk, tools=plain)
    assert Message.objects.count() == 3
    assert Memory.objects.exclude(extractor__startswith="summary").count() == 2


class CountingJudge(PairJudge):
    """The rules, and how often they were asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0
        self._rules = small_judge()

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        self.asked += 1
        return self._rules.judge(existing=existing, new=new)

    def prepare(
        self, pairs: object, *, askers: object = (), most_usd: object = None
    ) -> Preparation:
        self.asked += 1
        return Preparation()


def test_without_contradictions_nothing_is_judged_and_both_stand(acme: Cast, tools: Tools) -> None:
    judge = CountingJudge()
    switch(acme, contradiction_detection=False)

    results = [
        tell(acme, replace(tools, judge=judge), text, day=day)
        for day, text in enumerate(
            [
                "The staging database listens on port 5432.",
                "The staging database now listens on port 5433.",
            ]
        )
    ]

    assert judge.asked == 0
    assert [each.outcome for each in results] == [Outcome.CREATED, Outcome.CREATED]
    assert not Contradiction.objects.exists()
    assert set(Memory.objects.values_list("status", flat=True)) == {"active"}
    switch(acme)
    again = tell(
        acme, replace(tools, judge=judge), "The staging database now listens on port 5434.", day=3
    )
    assert judge.asked > 0
    assert again.outcome is not Outcome.CREATED


def test_without_contradictions_repetitions_are_still_left_out(acme: Cast, tools: Tools) -> None:
    switch(acme, contradiction_detection=False)
    text = "The staging database listens on port 5432."
    tell(acme, tools, text)

    same = tell(acme, tools, text, day=1)
    alike = tell(acme, tools, "The staging database  LISTENS on port 5432", day=2)

    assert (same.outcome, alike.outcome) == (Outcome.DUPLICATE, Outcome.DUPLICATE)


def test_without_contradictions_what_is_stated_to_replace_does(
    acme: Cast, api: APIClient, tools: Tools
) -> None:
    old = tell(acme, tools, "The staging database listens on port 5432.").memory
    switch(acme, contradiction_detection=False)

    body = {"corrected_content": "The staging database listens on port 5433.", "reason": "moved"}
    answer = api.post(f"/v1/memories/{old.pk}/correct", body, format="json")

    assert answer.status_code in (200, 201), answer.content
    old.refresh_from_db()
    assert old.status == "superseded"


def test_without_contradictions_readers_see_no_marks_of_new_ones(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, "The staging database listens on port 5433.", own=True)
    tell(acme, tools, "The staging database listens on port 5432.", day=1)

    def ask(query: str) -> str:
        return retrieve(
            viewer=Viewer(team_id=acme.team.id, actor="test", agent_id=acme.kyra.pk),
            question=Question(query),
            weights=Weights(),
            token_budget=2000,
            limit=None,
            include_cold=False,
            tools=tools,
            now=NOON + timedelta(days=9),
        ).formatted_prompt

    assert "DISPUTED" in ask("Which port does staging use?")
    switch(acme, contradiction_detection=False)
    assert "DISPUTED" not in ask("On which port is the staging database?")
