"""The cost of extraction and judging by a model is reserved, counted, and in the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import QUOTING
from memory.models import Contradiction, Job
from memory.understanding.tools import configured_tools
from memory.writing.counters import work_counts
from memory.writing.outcomes import ExtractionCounts
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from memory.writing.write_path import write_memories
from routing.models import SpendEntry, SpendReservation, SpendTotal
from teams.models import Conversation, Team
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.model_extraction import found, proposal
from tests.support.model_judging import says
from tests.support.openai_server import FakeOpenAI, answer, error
from tests.support.writing import draft

FACT = "I keep bees behind the mill."
BEES = proposal(content="Sarah keeps bees behind the mill.", subject="")


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    """An endpoint that does all of the server's own questions, at a price."""
    with FakeOpenAI() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.EXTRACTION_MODEL = f"reader-{uuid4().hex[:8]}"
        settings.REVIEW_MODEL = f"checker-{uuid4().hex[:8]}"
        settings.JUDGE_MODEL = f"judge-{uuid4().hex[:8]}"
        for task in ("EXTRACTION", "REVIEW", "JUDGE"):
            setattr(settings, f"{task}_INPUT_PRICE", Decimal("0.001"))
            setattr(settings, f"{task}_OUTPUT_PRICE", Decimal("0.004"))
        yield fake


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team whose rows every connection sees."""
    return make_cast(f"town-{uuid4().hex}")


def viewer_of(cast: Cast) -> Viewer:
    return Viewer(team_id=cast.team.id, actor="test")


def talk(cast: Cast, *said: str) -> Conversation:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        conversation, _ = open_conversation(team_id=cast.team.id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer_of(cast),
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=text) for text in said or (FACT,)],
        now=timezone.now(),
    )
    return conversation


def extract(cast: Cast, conversation: Conversation) -> ExtractionCounts:
    return extract_now(
        viewer=viewer_of(cast), conversation_id=conversation.pk, tools=configured_tools()
    )


def spent(cast: Cast) -> list[SpendEntry]:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return list(SpendEntry.objects.filter(team=cast.team).order_by("id"))


def held(cast: Cast) -> int:
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        return SpendReservation.objects.filter(team=cast.team).count()


def leave_nothing(cast: Cast) -> None:
    """A budget that pays for no call."""
    with team_scope(team_ids=[cast.team.pk], actor="test"):
        Team.objects.filter(pk=cast.team.pk).update(daily_user_budget_usd=Decimal("0.000001"))


def tell(cast: Cast, text: str, **fields: Any) -> list[str]:  # Any: any field
    """Write a memory; what the writer is told of the judging."""
    (result,) = write_memories(
        viewer=viewer_of(cast),
        drafts=[draft(cast, text, subject="office.place", **fields)],
        tools=configured_tools(),
    )
    return list(result.judging)


def test_each_pass_is_counted_under_its_tier_and_for_those_who_talked(
    town: Cast, server: FakeOpenAI, settings: Settings
) -> None:
    server.will(found(BEES), found())

    extract(town, talk(town))

    first, second = spent(town)
    assert (first.model, first.tier) == (settings.EXTRACTION_MODEL, "extraction")
    assert (second.model, second.tier) == (settings.REVIEW_MODEL, "review")
    assert {(each.agent_id, each.end_user_id) for each in (first, second)} == {
        (town.kyra.pk, town.sarah.pk)
    }
    paid = first.input_tokens * Decimal("0.001") + first.output_tokens * Decimal("0.004")
    assert first.cost_usd == (paid / 1000).quantize(Decimal("0.000001"), rounding="ROUND_CEILING")
    assert held(town) == 0


def test_the_job_says_what_a_message_took_and_cost(town: Cast, server: FakeOpenAI) -> None:
    server.will(found(BEES), found())
    conversation = talk(town, FACT, "It is cold.")

    counts = extract(town, conversation)

    with team_scope(team_ids=[town.team.pk], actor="test"):
        result = Job.objects.get(conversation=conversation).result
    cost = sum(each.cost_usd for each in spent(town))
    assert counts.messages_read == result["messages_read"] == 2
    assert counts.extraction_cost_usd == pytest.approx(float(cost))
    assert result["cost_usd_per_message"] == pytest.approx(float(cost) / 2, abs=1e-6)
    assert counts.extraction_seconds > 0
    assert result["seconds_per_message"] == counts.seconds_per_message > 0


def test_over_budget_the_small_reader_extracts_and_the_job_says_so(
    town: Cast, server: FakeOpenAI
) -> None:
    leave_nothing(town)

    counts = extract(town, talk(town))

    assert server.chats == []
    assert counts.extractor == QUOTING
    assert len(counts.warnings) == 2
    assert all("over budget" in each for each in counts.warnings)
    assert (spent(town), held(town)) == ([], 0)


def test_an_answer_that_cannot_be_used_is_paid_for_all_the_same(
    town: Cast, server: FakeOpenAI
) -> None:
    server.will(answer("oops"), answer("oops"), found())

    counts = extract(town, talk(town))

    first, _ = spent(town)
    assert counts.pass1_extractor == QUOTING
    assert first.tier == "extraction"
    assert counts.extraction_cost_usd >= float(first.cost_usd) > 0


def test_a_model_that_does_not_answer_costs_nothing(town: Cast, server: FakeOpenAI) -> None:
    server.will(error(401), error(401))

    counts = extract(town, talk(town))

    assert counts.extraction_cost_usd == 0
    assert (spent(town), held(town)) == ([], 0)


def test_an_endpoint_that_counts_nothing_is_booked_by_estimate(
    town: Cast, server: FakeOpenAI
) -> None:
    server.will(replace(found(BEES), counts=False), replace(found(), counts=False))

    extract(town, talk(town))

    assert all(each.cost_usd > 0 for each in spent(town))
    assert len(spent(town)) == 2


def test_each_judged_pair_is_counted(town: Cast, server: FakeOpenAI, settings: Settings) -> None:
    server.will(says("coexist"))

    told = [*tell(town, "The office is in Oslo."), *tell(town, "The office is in Bergen.")]

    (entry,) = spent(town)
    assert (told, len(server.chats)) == ([], 1)
    assert (entry.model, entry.tier) == (settings.JUDGE_MODEL, "judge")
    assert entry.cost_usd > 0
    assert held(town) == 0


def test_what_no_agent_asked_for_counts_for_the_team_alone(town: Cast, server: FakeOpenAI) -> None:
    server.will(says("coexist"))
    nobody = {"agent_id": None, "author_id": None, "end_user_id": None}

    tell(town, "The office is in Oslo.", **nobody)
    tell(town, "The office is in Bergen.", **nobody)

    (entry,) = spent(town)
    assert (entry.agent_id, entry.end_user_id) == (None, None)
    with team_scope(team_ids=[town.team.pk], actor="test"):
        kinds = set(SpendTotal.objects.filter(team=town.team).values_list("kind", flat=True))
    assert kinds == {"team_day", "team_month"}


def test_over_budget_the_small_judge_judges_and_the_answer_says_so(
    town: Cast, server: FakeOpenAI
) -> None:
    leave_nothing(town)
    tell(town, "The office is in Oslo.", end_user_id=town.sarah.pk)

    (told,) = tell(town, "The office is in Bergen.", end_user_id=town.sarah.pk)

    assert server.chats == []
    assert told.startswith("small-judge judged 1 of 1 pairs where the model did not (over budget: ")
    with team_scope(team_ids=[town.team.pk], actor="test"):
        assert {each.judge for each in Contradiction.objects.filter(team=town.team)} <= {
            "small-judge"
        }


def test_metrics_hold_what_a_message_took_and_cost_by_model(
    town: Cast, server: FakeOpenAI, settings: Settings
) -> None:
    server.will(found(BEES), found())
    extract(town, talk(town, FACT, "It is cold.", "It rains."))

    text = Client().get("/metrics").content.decode()
    samples = {
        (sample.name, sample.labels.get("model"), sample.labels.get("le")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }

    model = f"openai:{settings.EXTRACTION_MODEL}"
    first, _ = spent(town)
    for name in ("palimpsest_extraction_seconds", "palimpsest_extraction_cost_usd"):
        assert (
            samples[f"{name}_bucket", model, "+Inf"] == samples[f"{name}_count", model, None] == 3
        )
    assert samples["palimpsest_extraction_cost_usd_sum", model, None] == pytest.approx(
        float(first.cost_usd)
    )
    assert samples["palimpsest_extraction_seconds_sum", model, None] > 0
    assert work_counts("seconds")[model][0][-1] == ("+Inf", 3)
