"""Model judgements in a consolidation, and their cost limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from memory.domain.audience import Viewer
from memory.satellites.lifecycle.models import ConsolidationRun, JudgedPair, Step
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import start_run
from memory.understanding.tools import Tools
from routing.models import SpendEntry
from routing.services.paid_calls import Tariff
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.lifecycle import again
from tests.support.model_judging import NAME, judge_of, says_of
from tests.support.openai_server import FakeOpenAI, error
from tests.support.writing import NEW_LIMIT, NOON, OLD_LIMIT, live, store

NOW = datetime(2026, 5, 2, 3, tzinfo=UTC)
TARIFF = Tariff("judge", Decimal("0.001"), Decimal("0.004"))


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team whose rows every connection sees."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def asking(server: FakeOpenAI, tools: Tools) -> Tools:
    """With a model that is paid for."""
    return replace(tools, judge=judge_of(server, tariff=TARIFF))


def fill(cast: Cast, tools: Tools, *, plans: int, people: int = 1) -> None:
    """Of each plan two limits, each person's own: as many pairs as plans and people."""
    for end_user in (cast.sarah, cast.dmitri)[:people]:
        texts = [
            f"The {word} plan of {end_user.external_id} has a limit of {limit}00 requests a minute."
            for word in ("free", "silver", "golden", "nightly", "family")[:plans]
            for limit in (1, 5)
        ]
        for text in texts:
            subject = f"plan.{text.split()[1]}.{end_user.external_id}"
            store(cast, tools, text, end_user_id=end_user.pk, subject=subject)


def run(cast: Cast, tools: Tools, *, now: datetime = NOW, is_dry: bool = False) -> ConsolidationRun:
    """Judges everything without carrying anything out, so that the next run finds it as it was."""
    viewer = Viewer(team_id=cast.team.id, actor="admin:test")
    started = start_run(viewer=viewer, now=now, steps=[Step.CONTRADICTIONS], is_dry=is_dry)
    while not (done := again(started)).is_planned:
        run_consolidation(team_id=cast.team.id, run_id=started.pk, tools=tools, seconds=0)
    if not is_dry:
        with team_scope(team_ids=[cast.team.id], actor="test"):
            ConsolidationRun.objects.filter(pk=started.pk).update(state="failed")
    return done


def judges(cast: Cast) -> list[str]:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = JudgedPair.objects.filter(team_id=cast.team.id)
        return sorted(rows.values_list("judge", flat=True))


def setting(cast: Cast, **fields: object) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Team.objects.filter(pk=cast.team.pk).update(**fields)


def test_a_run_says_what_its_model_cost(town: Cast, asking: Tools, server: FakeOpenAI) -> None:
    fill(town, asking, plans=2)

    done = run(town, asking)

    with team_scope(team_ids=[town.team.id], actor="test"):
        spent = [each.cost_usd for each in SpendEntry.objects.filter(team=town.team)]
    assert done.cost_usd == sum(spent) > 0
    assert len(spent) == len(server.chats) <= 2, "one prompt holds the pairs of a person"


def test_a_dry_run_asks_no_model(town: Cast, asking: Tools, server: FakeOpenAI) -> None:
    fill(town, asking, plans=2)

    done = run(town, asking, is_dry=True)
    run_consolidation(team_id=town.team.id, run_id=done.pk, tools=asking)

    assert (done.cost_usd, server.chats) == (Decimal(0), [])
    assert done.judged > 0, "the small judge answers"
    assert judges(town) == []


def test_people_share_no_prompt(town: Cast, asking: Tools, server: FakeOpenAI) -> None:
    fill(town, asking, plans=2, people=2)

    run(town, asking)

    assert server.chats
    assert not [one for one in server.chats if "of sarah" in one.text and "of dmitri" in one.text]


def test_what_a_run_may_not_pay_for_waits(town: Cast, asking: Tools, server: FakeOpenAI) -> None:
    fill(town, asking, plans=3, people=2)
    setting(town, lifecycle_settings={"cost_usd": 0.000001})

    first = run(town, asking)
    second = run(town, asking, now=NOW + timedelta(days=1))

    assert len(server.chats) == 2, "one group a run, which spends it all"
    assert first.judged > 0
    assert second.judged > 0
    assert first.judged + second.judged == len(judges(town))


def test_what_no_budget_pays_for_waits(town: Cast, asking: Tools, server: FakeOpenAI) -> None:
    fill(town, asking, plans=2)
    setting(town, daily_user_budget_usd=Decimal("0.000001"))

    done = run(town, asking)

    assert server.chats == []
    assert done.error == ""
    assert (done.judged, done.cost_usd) == (0, Decimal(0))
    assert judges(town) == [], "nor does another judge in the model's place"


def test_what_nobody_answers_waits_for_the_next_run(
    town: Cast, asking: Tools, server: FakeOpenAI
) -> None:
    fill(town, asking, plans=2)
    server.will(error(503))

    assert run(town, asking).judged == 0
    assert run(town, asking, now=NOW + timedelta(days=1)).judged > 0


def test_what_another_judge_said_is_asked_again(
    town: Cast, asking: Tools, server: FakeOpenAI
) -> None:
    fill(town, asking, plans=2)
    server.will(says_of("coexist"))
    first = run(town, asking)
    assert set(judges(town)) == {NAME, "rules"}

    second = run(town, asking, now=NOW + timedelta(days=1))

    assert second.judged == first.judged - 1


def test_what_goes_may_have_been_stored_after_what_stands(town: Cast, tools: Tools) -> None:
    # The neighbour of a candidate is read again, which a transaction around the test would hide.
    store(town, tools, NEW_LIMIT, created_at=NOON + timedelta(days=1))
    store(town, tools, OLD_LIMIT)
    viewer = Viewer(team_id=town.team.id, actor="admin:test")
    started = start_run(viewer=viewer, now=NOW, steps=[Step.CONTRADICTIONS])

    run_consolidation(team_id=town.team.id, run_id=started.pk, tools=tools)

    assert live(town) == [NEW_LIMIT]
