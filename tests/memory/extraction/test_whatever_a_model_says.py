"""Invariants whatever a model answers: caps, rest, repetitions, retirements and updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import Status
from memory.models import Contradiction, Job, Memory, MemoryRelation
from memory.understanding.tools import Tools, configured_tools
from memory.writing.drafts import Outcome
from memory.writing.jobs import due_jobs, queue_rested
from memory.writing.outcomes import ExtractionCounts
from memory.writing.pipeline import run_job
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.models import Conversation
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.model_extraction import Json, found, proposal
from tests.support.model_judging import judge_of, judged
from tests.support.openai_server import Behaviour, FakeOpenAI, RecordedRequest, answer
from tests.support.writing import draft, live, write

NAMES = ("Ada", "Bo", "Cy", "Di", "Ed")


class SureModel(FakeOpenAI):
    """An endpoint that gives one judgement on every pair, and finds nothing it is not told to."""

    def __init__(self) -> None:
        super().__init__()
        self.judgement = quoting("100", "500")

    def take(self, request: RecordedRequest) -> Behaviour:
        """The judgement for each pair, else as scripted."""
        pairs = request.text.count("</newer-")
        if not pairs:
            return super().take(request)
        self.requests.append(request)
        told = [{**self.judgement, "number": number} for number in range(1, pairs + 1)]
        return answer({"judgements": told})


@pytest.fixture
def model(settings: Settings) -> Iterator[SureModel]:
    """The endpoint of extractor and judge."""
    with SureModel() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.EXTRACTION_MODEL, settings.JUDGE_MODEL = "reader", "judge"
        yield fake


@pytest.fixture
def asked(model: SureModel) -> Tools:
    """The tools that ask it about every pair."""
    return replace(configured_tools(), judge=judge_of(model))


def talk(viewer: Viewer, *said: str) -> Conversation:
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=text) for text in said],
        now=timezone.now(),
    )
    return conversation


def extract(viewer: Viewer, tools: Tools, *said: str) -> ExtractionCounts:
    return extract_now(viewer=viewer, conversation_id=talk(viewer, *said).pk, tools=tools)


def fact(content: str, **fields: Any) -> Json:  # Any: any field of an answer
    return proposal(content=content, subject="", **fields)


def quoting(older: str, newer: str, verdict: str = "supersede") -> Json:
    return judged(verdict, 1, confidence=1.0, older=older, newer=newer)


# -- nothing is forgotten by a cap, and talk at rest is read ---------------------------------------


def test_what_the_caps_keep_out_of_a_models_answer_waits_and_is_written(
    acme: Cast, viewer: Viewer, model: SureModel, asked: Tools
) -> None:
    model.judgement = quoting("", "", verdict="coexist")
    model.will(found(*(fact(f"{name} is one of Sarah's bees.") for name in NAMES)), found())

    counts = extract(viewer, asked, f"My bees are {', '.join(NAMES)}.")
    first = len(live(acme))
    for job in due_jobs(team_id=acme.team.id, now=timezone.now()):
        run_job(team_id=acme.team.id, job_id=job.pk, tools=asked)

    assert (first, counts.left_out) == (3, 2)
    assert {text.split()[0] for text in live(acme)} == set(NAMES)
    job = Job.objects.get()
    assert (job.left_out, job.result["messages_read"]) == (0, 1)


def test_talk_at_rest_is_read_by_the_model(
    acme: Cast, viewer: Viewer, model: SureModel, asked: Tools
) -> None:
    talk(viewer, "I keep bees behind the mill.")
    model.will(found(fact("Sarah keeps bees behind the mill.")), found())

    queue_rested(team_id=acme.team.id, now=timezone.now() + timedelta(hours=1))
    (job,) = Job.objects.all()
    run_job(team_id=acme.team.id, job_id=job.pk, tools=asked)

    assert live(acme) == ["Sarah keeps bees behind the mill."]
    assert Memory.objects.get().extractor == "openai:reader"


# -- a repetition adds nothing ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ida signs invoices.", "Ida signs invoices up to 5,000 euros."),
        ("Ida signs invoices up to 5,000 euros.", "Ida signs invoices."),
        ("The limit is 100 requests.", "The limit is 500 requests."),
    ],
)
def test_what_adds_a_number_is_kept_though_the_model_calls_it_a_duplicate(
    acme: Cast, asked: Tools, model: SureModel, first: str, second: str
) -> None:
    model.judgement = quoting("", "", verdict="duplicate")
    write(acme, asked, draft(acme, first))

    (result,) = write(acme, asked, draft(acme, second, extraction_pass=1))

    assert result.outcome is Outcome.CREATED
    assert live(acme) == [first, second]
    assert MemoryRelation.objects.filter(
        from_memory=result.memory, relation_type="related_to"
    ).exists()


# -- nothing unrelated is retired ------------------------------------------------------------------


UNRELATED = (
    "The mail relay was down for 75 minutes on 9 October 2026.",
    "The mail relay is deployed every Wednesday.",
    "Sarah is allergic to walnuts.",
    "Sarah's brother plays the cello in Antwerp.",
    "The office in Bergen closes on Fridays.",
)


@pytest.mark.parametrize(
    "judgement",
    [
        quoting("", ""),
        quoting("Sarah", "Sarah"),
        quoting("The mail relay", "The mail relay"),
        quoting("100", "500"),
        quoting("all of it", "something else"),
    ],
    ids=["no quotes", "a name", "a subject", "of other texts", "invented"],
)
def test_a_model_that_always_says_supersede_retires_nothing(
    acme: Cast, asked: Tools, model: SureModel, judgement: Json
) -> None:
    model.judgement = judgement

    write(acme, asked, *(draft(acme, text, extraction_pass=1) for text in UNRELATED))

    assert {each.status for each in Memory.objects.all()} <= {Status.ACTIVE, Status.DISPUTED}


def test_behind_the_small_judge_it_disputes_nothing_unrelated_either(
    acme: Cast, model: SureModel
) -> None:
    tools = configured_tools()

    results = write(acme, tools, *(draft(acme, text, extraction_pass=1) for text in UNRELATED))

    assert live(acme) == list(UNRELATED)
    assert {each.outcome for each in results} == {Outcome.CREATED}
    assert not Contradiction.objects.exists()
    assert not Memory.objects.exclude(status=Status.ACTIVE).exists()


def test_a_pair_about_different_matters_is_never_sent(
    acme: Cast, asked: Tools, model: SureModel
) -> None:
    write(acme, asked, draft(acme, UNRELATED[2]), draft(acme, UNRELATED[4]))

    assert model.chats == []


# -- an update replaces what it updates, and only that ---------------------------------------------


RENT = "Sarah's rent is 900 euros a month."
NEW_RENT = "Sarah's rent has gone up to 950 euros a month."
BIKE = "Sarah's bike is insured for 900 euros."


def test_an_update_that_is_quoted_replaces_what_it_updates_alone(
    acme: Cast, asked: Tools, model: SureModel
) -> None:
    model.judgement = quoting("900 euros a month", "950 euros a month")
    write(acme, asked, draft(acme, BIKE), draft(acme, RENT))

    write(acme, asked, draft(acme, NEW_RENT, extraction_pass=1))

    assert live(acme) == [BIKE, NEW_RENT]


def test_an_update_that_is_not_quoted_leaves_both_in_dispute(
    acme: Cast, asked: Tools, model: SureModel
) -> None:
    model.judgement = quoting("900", "")
    write(acme, asked, draft(acme, RENT))

    write(acme, asked, draft(acme, "Sarah's rent is 950 euros a month.", extraction_pass=1))

    assert {each.status for each in Memory.objects.all()} == {Status.DISPUTED}


def test_a_correction_by_the_extractor_changes_no_other_statement(
    acme: Cast, viewer: Viewer, model: SureModel
) -> None:
    model.judgement = quoting("1,500", "800")
    model.will(
        found(fact("Ingrid accepted 1,500 crowns.", messages=[1])),
        found(fact("The monthly ad budget is 800 crowns.", messages=[2])),
    )

    extract(
        viewer,
        configured_tools(),
        "Ingrid accepted 1,500 crowns.",
        "Ad budget? Let's make it 800 crowns.",
    )

    assert "Ingrid accepted 1,500 crowns." in live(acme)
    assert not Memory.objects.filter(status=Status.SUPERSEDED).exists()
