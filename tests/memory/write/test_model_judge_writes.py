"""The model-backed judge in the write path."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.types import Asker, Judgement, MemoryType, Statement, Verdict
from memory.models import Contradiction
from memory.understanding.ports import Judge, Preparation
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, Outcome, WriteResult
from memory.writing.write_path import write_memories
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.judges import NumbersJudge, PairJudge
from tests.support.model_judging import NAME, Pair, judge_of, says, server
from tests.support.openai_server import FakeOpenAI, error

__all__ = ["server"]


TEA = "Sarah likes tea in the morning."
COFFEE = "Sarah likes coffee in the morning."
LATER = "Sarah likes coffee in the morning and biscuits."


def draft(cast: Cast, content: str, **fields: Any) -> MemoryDraft:  # Any: any field
    values: dict[str, Any] = {
        "memory_type": MemoryType.SEMANTIC,
        "importance": 5,
        "extractor": "test",
        "created_at": timezone.now(),
        "subject": "user.habit.drink",
        **fields,
    }
    return MemoryDraft(team_id=cast.team.id, content=content, **values)


def with_judge(tools: Tools, judge: Judge) -> Tools:
    fields = {name: getattr(tools, name) for name in tools.__dataclass_fields__}
    return Tools(**{**fields, "judge": judge})


def write(cast: Cast, tools: Tools, *drafts: MemoryDraft) -> list[WriteResult]:
    viewer = Viewer(team_id=cast.team.id, actor="test")
    return write_memories(viewer=viewer, drafts=drafts, tools=tools)


def test_the_models_verdict_is_carried_out_under_its_name(
    acme: Cast, tools: Tools, server: FakeOpenAI
) -> None:
    tools = with_judge(tools, judge_of(server))
    write(acme, tools, draft(acme, TEA))
    server.will(says("dispute", reason="tea or coffee", older="tea", newer="coffee"))

    (result,) = write(acme, tools, draft(acme, COFFEE))

    assert result.outcome == Outcome.DISPUTED
    row = Contradiction.objects.get(memory_b=result.memory)
    assert (row.judge, row.reason) == (NAME, "tea or coffee")


def test_stated_facts_are_compared_without_reading_them_one_by_one(
    acme: Cast, tools: Tools, server: FakeOpenAI
) -> None:
    tools = with_judge(tools, judge_of(server))
    write(acme, tools, draft(acme, TEA, extractor="explicit"))
    server.will(says("dispute", older="tea", newer="coffee"))

    with CaptureQueriesContext(connection) as asked:
        (result,) = write(acme, tools, draft(acme, COFFEE, extractor="explicit"))

    assert result.outcome == Outcome.DISPUTED
    assert not [
        each
        for each in asked
        if 'FROM "memory_memory"' in each["sql"] and "LIMIT 21" in each["sql"]
    ]


def test_when_the_rules_stood_in_the_contradiction_says_so(
    acme: Cast, tools: Tools, server: FakeOpenAI
) -> None:
    tools = with_judge(tools, judge_of(server, small=Stern()))
    write(acme, tools, draft(acme, "The API limit is 100 requests per minute."))
    server.will(error(500))

    (result,) = write(acme, tools, draft(acme, "The API limit is now 500 requests per minute."))

    row = Contradiction.objects.get(memory_b=result.memory)
    assert row.judge == "numbers"
    assert row.resolved_by == "judge:numbers"


def test_drafts_of_one_write_are_judged_against_each_other(
    acme: Cast, tools: Tools, server: FakeOpenAI
) -> None:
    tools = with_judge(tools, judge_of(server))
    server.will(says("dispute", older="tea", newer="coffee"))

    results = write(acme, tools, draft(acme, TEA), draft(acme, COFFEE))

    assert [each.outcome for each in results] == [Outcome.CREATED, Outcome.DISPUTED]


def test_a_fact_said_again_costs_no_question(acme: Cast, tools: Tools, server: FakeOpenAI) -> None:
    tools = with_judge(tools, judge_of(server))
    write(acme, tools, draft(acme, TEA), draft(acme, COFFEE))
    asked = len(server.chats)

    (result,) = write(acme, tools, draft(acme, "sarah likes TEA in the morning"))

    assert result.outcome == Outcome.DUPLICATE
    assert len(server.chats) == asked


def test_unchecked_drafts_cost_no_question(acme: Cast, tools: Tools, server: FakeOpenAI) -> None:
    tools = with_judge(tools, judge_of(server))

    write(acme, tools, draft(acme, TEA, check=False), draft(acme, COFFEE, check=False))

    assert server.requests == []


def test_what_others_may_not_see_is_not_sent(acme: Cast, tools: Tools, server: FakeOpenAI) -> None:
    """Only memories of the same audience meet, so no other's text leaves the house for it."""
    tools = with_judge(tools, judge_of(server))
    private = {"memory_type": MemoryType.AGENT_PRIVATE, "agent_id": acme.luke.id}
    write(acme, tools, draft(acme, TEA, **private))

    write(acme, tools, draft(acme, COFFEE, agent_id=acme.kyra.id))

    assert server.requests == []


def test_the_pairs_of_a_write_are_bounded(
    acme: Cast, tools: Tools, server: FakeOpenAI, settings: Any
) -> None:
    settings.JUDGED_NEIGHBOURS = 3
    rows = [draft(acme, f"Sarah likes drink number {n} best.", check=False) for n in range(9)]
    write(acme, tools, *rows)

    write(acme, with_judge(tools, judge_of(server)), draft(acme, COFFEE))

    (chat,) = server.chats
    assert chat.text.count("</newer-") == 3


class Stern(NumbersJudge):
    """A small judge that finds every pair worth asking about."""

    def conflict_chances(self, pairs: Sequence[Pair]) -> list[float]:
        return [0.5 for _ in pairs]


class Witness(PairJudge):
    """A judge that records whether it was called inside a transaction."""

    name = "witness"

    def __init__(self) -> None:
        self.prepared: list[bool] = []
        self.judged: list[bool] = []

    def prepare(
        self,
        pairs: Sequence[Pair],
        *,
        askers: Sequence[Asker] = (),
        most_usd: Decimal | None = None,
    ) -> Preparation:
        self.prepared.append(connection.in_atomic_block)
        return Preparation()

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        self.judged.append(connection.in_atomic_block)
        return Judgement(Verdict.COEXIST, "")


def test_the_judge_prepares_outside_the_transaction_it_judges_in(
    committed_db: None, tools: Tools
) -> None:
    cast, witness = make_cast("witnesses"), Witness()
    tools = with_judge(tools, witness)

    write(cast, tools, draft(cast, TEA))
    write(cast, tools, draft(cast, COFFEE))

    assert witness.prepared == [False, False]
    assert witness.judged == [True]
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert not Contradiction.objects.filter(team=cast.team).exists()
