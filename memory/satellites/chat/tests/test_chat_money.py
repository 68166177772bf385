"""The cost of a call is reserved and counted whatever happens beside it."""

from __future__ import annotations

import threading
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.utils import timezone

from memory.satellites.chat.answering import Prepared, answer_chat, paid_for, prepare_chat
from memory.satellites.chat.requests import ChatAsk
from memory.understanding.tools import default_tools
from memory.writing.posting import open_conversation
from routing.domain.budgets import CapKind
from routing.domain.complexity import Tier
from routing.models import RoutingDecision, SpendEntry, SpendReservation
from routing.services.cost_guard import BudgetExceededError, reserve, settle_kept
from routing.services.router import Route
from routing.services.spend_record import shared_turn, turn_alone
from teams.errors import ConflictError, NotFoundError
from teams.models import EndUser, Team
from teams.services.moves import freeze_team, thaw_team
from teams.tenancy import before_commit, team_scope
from tests.support.chat import Town
from tests.support.openai_server import FakeOpenAI, answer
from tests.support.waiting import PATIENCE_SECONDS

HARD = (
    "Design a replicated lock service: derive its safety under partitions step by step, prove the"
    " invariant, compare it with Raft and Paxos under five failure modes, and write the report in"
    " about 2,000 words with a table of trade-offs."
)


def prepared(town: Town, *, tier: Tier | None = None) -> Prepared:
    """Sarah's hard question to Kyra, stored, routed and paid for."""
    now = timezone.now()
    ask = ChatAsk(
        agent="kyra",
        user="sarah",
        messages=({"role": "user", "content": HARD},),
        parameters={},
        asked_at=now,
        tier=tier,
        thread_id="t",
    )
    return prepare_chat(
        team_id=town.cast.team.pk, actor="test", ask=ask, tools=default_tools(), now=now
    )


def let_others_take_all_but(town: Town, left: Decimal, before: Prepared) -> None:
    """Others hold Sarah's day but for so much."""
    rest = before.reservation.left.left_in(CapKind.USER_DAY)
    assert rest is not None
    reserve(
        team=before.exchange.team,
        agent=town.cast.kyra,
        end_user=town.cast.sarah,
        estimated_usd=rest - left,
        now=timezone.now(),
    )


def swift_costs(route: Route) -> Decimal:
    return route.alternatives["fast"]


def decisions(town: Town) -> list[RoutingDecision]:
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        return list(RoutingDecision.objects.filter(team=town.cast.team).order_by("id"))


def test_in_a_burst_the_cheapest_tier_that_fits_stands_in(town: Town) -> None:
    first = prepared(town)
    # Chosen while there was money enough; held only once others have taken most of it.
    route = first.exchange.route(first.context)
    let_others_take_all_but(town, swift_costs(route), first)

    second = paid_for(first.exchange, first.context, route, timezone.now())

    assert route.tier is not Tier.FAST
    assert (second.route.tier, second.route.model.name) == (Tier.FAST, "swift")
    assert second.reservation.estimated_usd == swift_costs(route)
    assert second.reservation.left.left_in(CapKind.USER_DAY) == 0
    _, refused, taken = decisions(town)
    assert (refused.tier, refused.outcome) == (route.tier.value, "failed")
    assert refused.attempts[0]["failure"] == "not paid for by the person's day"
    assert (taken.tier, taken.outcome) == ("fast", "advised")
    assert "Others hold what is left of the budget" in taken.reason


def test_where_nothing_fits_it_is_refused(town: Town) -> None:
    first = prepared(town)
    route = first.exchange.route(first.context)
    let_others_take_all_but(town, swift_costs(route) - Decimal("0.000001"), first)

    with pytest.raises(BudgetExceededError):
        paid_for(first.exchange, first.context, route, timezone.now())

    assert [each.outcome for each in decisions(town)] == ["advised", "failed"]


def test_a_tier_that_was_asked_for_is_not_changed(town: Town) -> None:
    first = prepared(town, tier=Tier.POWERFUL)
    route = first.exchange.route(first.context)
    let_others_take_all_but(town, swift_costs(route), first)

    with pytest.raises(BudgetExceededError) as caught:
        paid_for(first.exchange, first.context, route, timezone.now())

    assert caught.value.suggested_tier == "fast"


def test_an_answer_that_cannot_be_stored_is_paid_for_all_the_same(
    town: Town, model: FakeOpenAI
) -> None:
    first = prepared(town)
    sarah = town.cast.sarah
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        EndUser.objects.filter(pk=sarah.pk).update(external_id=f"erased-{sarah.pk}")
    model.will(answer("Here it is."))

    with pytest.raises(NotFoundError):
        answer_chat(prepared=first)

    assert [role for role, _ in town.said("t")] == ["user"]
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        spent = SpendEntry.objects.get(team=town.cast.team)
    assert spent.reservation_id == first.reservation.hold.id
    assert [each.outcome for each in decisions(town)] == ["answered"]


def test_a_call_of_a_team_that_is_being_moved_is_counted_once_it_is_not(
    town: Town, model: FakeOpenAI
) -> None:
    first = prepared(town)
    model.will(answer("Here it is."))
    freeze_team(team_id=town.cast.team.pk, now=timezone.now())

    with pytest.raises(DatabaseError):
        answer_chat(prepared=first)
    thaw_team(team_id=town.cast.team.pk)

    assert settle_kept() == 1
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        spent = SpendEntry.objects.get(team=town.cast.team)
    assert spent.reservation_id == first.reservation.hold.id


def test_what_became_of_a_call_is_known_though_its_answer_may_not_be_stored(
    town: Town, model: FakeOpenAI
) -> None:
    """As when its run lost the claim of an Idempotency-Key to another one."""

    def refuse() -> None:
        raise ConflictError("The claim is lost.")

    first = prepared(town)
    model.will(answer("Here it is."))

    with before_commit(refuse), pytest.raises(ConflictError):
        answer_chat(prepared=first)

    assert [role for role, _ in town.said("t")] == ["user"]
    assert [each.outcome for each in decisions(town)] == ["answered"]
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        assert SpendEntry.objects.filter(team=town.cast.team).count() == 1


def test_what_is_told_of_waits_for_the_disk_and_what_goes_before_it_need_not(
    town: Town, model: FakeOpenAI
) -> None:
    """A commit that waits takes all before it along: the hold's before the model is asked."""
    waited: list[bool] = []

    def note() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('synchronous_commit') <> 'off'"
                " WHERE pg_current_xact_id_if_assigned() IS NOT NULL"
            )
            waited.extend(row[0] for row in cursor.fetchall())

    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        open_conversation(team_id=town.cast.team.pk, agent="kyra", user="sarah", thread_id="t")
    model.will(answer("Here it is."))
    with before_commit(note):
        first = prepared(town)
        of_the_request = list(waited)
        answer_chat(prepared=first)
    with shared_turn(town.cast.team.pk), connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        of_the_hold = cursor.fetchone()[0]

    assert of_the_request == [False]
    assert of_the_hold != "off"
    assert waited == [False, True]


def wait_briefly(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Let a new connection wait for locks no longer than 200 ms."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 200")


def test_an_answer_is_stored_though_its_cost_cannot_be_counted_now(
    town: Town, model: FakeOpenAI
) -> None:
    """Somebody keeps the team's money to himself for longer than a writer waits."""
    first = prepared(town)
    model.will(answer("Here it is."))
    taken, given_back = threading.Event(), threading.Event()

    def keep() -> None:
        with turn_alone(town.cast.team.pk):
            taken.set()
            given_back.wait(PATIENCE_SECONDS)
        connection.close()

    other = threading.Thread(target=keep)
    other.start()
    assert taken.wait(PATIENCE_SECONDS)
    # The call gives its connection back and takes another one for the answer.
    connection_created.connect(wait_briefly)
    try:
        answered = answer_chat(prepared=first)
    finally:
        connection_created.disconnect(wait_briefly)
        given_back.set()
        other.join()
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")

    assert answered.body["choices"][0]["message"]["content"] == "Here it is."
    assert [role for role, _ in town.said("t")] == ["user", "assistant"]
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        assert not SpendEntry.objects.filter(team=town.cast.team).exists()
        assert SpendReservation.objects.filter(team=town.cast.team).exists()


def test_what_was_left_a_moment_ago_is_not_relied_on(town: Town) -> None:
    first = prepared(town)
    route = first.exchange.route(first.context)
    with team_scope(team_ids=[town.cast.team.pk], actor="test"):
        Team.objects.filter(pk=town.cast.team.pk).update(daily_user_budget_usd=Decimal(0))
        first.exchange.team.refresh_from_db()

    with pytest.raises(BudgetExceededError):
        paid_for(first.exchange, first.context, route, timezone.now())


def test_a_thread_that_a_chat_begins_is_on_the_disk_before_another_is_told_of_it(
    town: Town,
) -> None:
    settings: list[str] = []

    def note() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW synchronous_commit")
            settings.append(cursor.fetchone()[0])

    with before_commit(note):
        prepared(town)

    assert settings[0] != "off"
