"""Money is held before a call and counted once after it, under every cap at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import ProgrammingError, transaction
from django.db.utils import DatabaseError

from routing.domain.budgets import CapKind, Usage
from routing.models import SpendEntry, SpendTotal
from routing.services.cost_guard import BudgetExceededError, settle
from routing.services.spend_record import Cost, count_spend, shared_turn
from teams.errors import ConflictError
from teams.tenancy import before_commit, team_scope
from tests.support.budgets import USAGE, OwnRedis, Till, limit_agent, make_till, no_redis, own_redis


@pytest.fixture(scope="module")
def server() -> Iterator[OwnRedis]:
    """The Redis of these tests."""
    with own_redis() as running:
        yield running


@pytest.fixture
def till(committed_db: None, server: OwnRedis) -> Till:
    """A team with 5 USD a day for each person, and 100 a month."""
    return make_till(server)


@pytest.fixture(params=["with redis", "without redis"])
def any_till(till: Till, request: pytest.FixtureRequest) -> Till:
    """The same rules hold whether the counters decide or the record does."""
    return till if request.param == "with redis" else replace(till, counters=no_redis())


def exceeded(till: Till, amount: str, **given: object) -> BudgetExceededError:
    """The budget left, over HTTP, and the wording of a refusal."""
    with pytest.raises(BudgetExceededError) as caught:
        till.reserve(amount, **given)  # type: ignore[arg-type]
    return caught.value


def test_what_is_held_is_no_longer_left(any_till: Till) -> None:
    reservation = any_till.reserve("1.25")

    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal("3.75")
    assert any_till.left().left_in(CapKind.TEAM_MONTH) == Decimal("98.75")
    assert reservation.left == any_till.left()


def test_what_was_settled_replaces_what_was_held(any_till: Till) -> None:
    settled = any_till.settle(any_till.reserve("1.25"), "0.5")

    assert settled
    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal("4.5")
    assert any_till.left().left_in(CapKind.TEAM_MONTH) == Decimal("99.5")
    assert any_till.outstanding() == 0


def test_what_was_given_up_is_left_again(any_till: Till) -> None:
    reservation = any_till.reserve("5")
    any_till.release(reservation)
    any_till.release(reservation)

    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal(5)
    assert any_till.reserve("5").estimated_usd == Decimal(5)


def test_a_person_may_spend_the_whole_day_and_no_more(any_till: Till) -> None:
    any_till.spend("4.999999")
    refusal = exceeded(any_till, "0.000002")
    any_till.reserve("0.000001")

    assert refusal.tightest.account.kind is CapKind.USER_DAY
    assert refusal.tightest.left_usd == Decimal("0.000001")
    assert "max_tokens" in str(refusal)
    assert any_till.left().left_in(CapKind.USER_DAY) == 0
    assert "max_tokens" not in str(exceeded(any_till, "0.000001"))


def test_another_person_has_a_day_of_their_own(any_till: Till) -> None:
    any_till.spend("5")

    assert any_till.left(end_user=any_till.cast.dmitri).left_in(CapKind.USER_DAY) == Decimal(5)
    assert any_till.reserve("5", end_user=any_till.cast.dmitri).estimated_usd == Decimal(5)


def test_all_people_and_agents_share_the_teams_month(committed_db: None, server: OwnRedis) -> None:
    till = make_till(server, month="7")
    till.spend("5")
    refusal = exceeded(till, "3", end_user=till.cast.dmitri, agent=till.cast.luke)

    assert refusal.tightest.account.kind is CapKind.TEAM_MONTH
    assert refusal.tightest.left_usd == Decimal(2)
    assert till.left(end_user=till.cast.dmitri).left_in(CapKind.USER_DAY) == Decimal(5)


@pytest.mark.parametrize(
    ("limits", "kind"),
    [({"day": 2.5}, CapKind.AGENT_DAY), ({"month": 2.5}, CapKind.AGENT_MONTH)],
)
def test_an_agents_own_cap_holds_for_that_agent(
    limits: dict[str, float], kind: CapKind, any_till: Till
) -> None:
    limit_agent(any_till.cast.kyra, **limits)
    any_till.spend("2")
    refusal = exceeded(any_till, "1", end_user=any_till.cast.dmitri)
    any_till.reserve("1", end_user=any_till.cast.dmitri, agent=any_till.cast.luke)

    assert refusal.tightest.account.kind is kind
    assert refusal.tightest.left_usd == Decimal("0.5")


def test_a_cap_that_is_new_knows_what_was_spent_and_held_before(any_till: Till) -> None:
    any_till.spend("2")
    any_till.reserve("1")
    limit_agent(any_till.cast.kyra, day=3.5)

    assert any_till.left().left_in(CapKind.AGENT_DAY) == Decimal("0.5")
    assert exceeded(any_till, "0.6").tightest.account.kind is CapKind.AGENT_DAY


def test_a_cap_that_comes_back_has_missed_nothing(any_till: Till) -> None:
    limit_agent(any_till.cast.kyra, day=3)
    any_till.spend("1")
    limit_agent(any_till.cast.kyra)
    any_till.spend("1")
    any_till.reserve("0.5")
    limit_agent(any_till.cast.kyra, day=3)

    assert any_till.left().left_in(CapKind.AGENT_DAY) == Decimal("0.5")


def test_without_a_person_only_the_team_and_the_agent_are_bounded(any_till: Till) -> None:
    reservation = any_till.reserve("60", nobody=True)

    assert reservation.left.left_in(CapKind.USER_DAY) is None
    assert any_till.left().left_in(CapKind.TEAM_MONTH) == Decimal(40)
    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal(5)


def test_a_refusal_holds_nothing_anywhere(any_till: Till) -> None:
    exceeded(any_till, "5.000001")

    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal(5)
    assert any_till.left().left_in(CapKind.TEAM_MONTH) == Decimal(100)
    assert any_till.outstanding() == 0


def test_a_refusal_suggests_the_dearest_tier_that_still_fits(any_till: Till) -> None:
    tiers = {"fast": Decimal("0.1"), "balanced": Decimal("0.9"), "powerful": Decimal(3)}
    any_till.spend("4")
    fits = exceeded(any_till, "3", alternatives=tiers)
    any_till.spend("0.95")
    nothing_fits = exceeded(any_till, "3", alternatives=tiers)

    assert fits.suggested_tier == "balanced"
    assert nothing_fits.suggested_tier is None


def test_near_a_caps_end_the_advice_is_to_downgrade(any_till: Till) -> None:
    before = any_till.reserve("4.4")
    after = any_till.reserve("0.1")

    assert (before.left.advice, after.left.advice) == ("go", "downgrade")
    assert any_till.left().advice == "downgrade"
    assert any_till.left(end_user=any_till.cast.dmitri).advice == "go"


def test_what_costs_nothing_is_let_through(any_till: Till) -> None:
    any_till.spend("5")
    any_till.settle(any_till.reserve("0"), "0")

    assert any_till.left().left_in(CapKind.USER_DAY) == 0
    assert len(any_till.entries()) == 2


@pytest.mark.parametrize("amount", ["-0.01", "NaN", "Infinity", "1000000"])
def test_what_is_no_amount_is_refused(amount: str, till: Till) -> None:
    with pytest.raises(ValueError, match="between 0 and"):
        till.reserve(amount)
    reservation = till.reserve("1")
    with pytest.raises(ValueError, match="between 0 and"):
        till.settle(reservation, amount)

    assert till.left().left_in(CapKind.USER_DAY) == Decimal(4)


def test_no_part_of_a_cost_is_lost_in_rounding(any_till: Till) -> None:
    for _ in range(3):
        any_till.settle(any_till.reserve("0.0000001"), "0.0000001")

    assert any_till.spent() == Decimal("0.000003")
    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal("4.999997")


# -- once, and not for ever ------------------------------------------------------------------


def test_a_call_settled_twice_counts_once(any_till: Till) -> None:
    reservation = any_till.reserve("1")
    first = any_till.settle(reservation, "1")
    second = any_till.settle(reservation, "1")

    assert (first, second) == (True, False)
    assert any_till.spent() == Decimal(1)
    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal(4)


def test_a_release_after_the_settlement_gives_nothing_back(any_till: Till) -> None:
    reservation = any_till.reserve("1")
    any_till.settle(reservation, "1")
    any_till.release(reservation)

    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal(4)


def test_a_call_that_cost_something_after_all_counts(any_till: Till) -> None:
    reservation = any_till.reserve("1")
    any_till.release(reservation)
    any_till.settle(reservation, "0.7")

    assert any_till.left().left_in(CapKind.USER_DAY) == Decimal("4.3")


def test_what_nobody_settles_is_free_again_after_ten_minutes(any_till: Till) -> None:
    any_till.reserve("5")
    refusal = exceeded(any_till.later(seconds=599), "1")
    left = any_till.later(seconds=600).left()
    free = any_till.later(seconds=600).reserve("5")

    assert refusal.tightest.left_usd == 0
    assert left.left_in(CapKind.USER_DAY) == Decimal(5)
    assert free.left.left_in(CapKind.USER_DAY) == 0
    assert any_till.outstanding() == 1


def test_a_settlement_after_the_expiry_counts_once(any_till: Till) -> None:
    reservation = any_till.reserve("3")
    late = any_till.later(minutes=11)
    late.reserve("1")
    late.settle(reservation, "2.5")
    late.settle(reservation, "2.5")

    assert late.spent() == Decimal("2.5")
    assert late.left().left_in(CapKind.USER_DAY) == Decimal("1.5")


def test_a_call_dearer_than_reserved_counts_in_full(any_till: Till) -> None:
    any_till.settle(any_till.reserve("4"), "6")

    assert any_till.left().left_in(CapKind.USER_DAY) == 0
    assert any_till.left().left_in(CapKind.TEAM_MONTH) == Decimal(94)
    exceeded(any_till, "0.000001")


def test_a_crash_before_the_counters_heard_of_it_loses_no_spend(till: Till) -> None:
    """The settlement is committed, and the process dies before it tells Redis."""
    reservation = till.reserve("5")
    with shared_turn(till.cast.team.pk):
        count_spend(hold=reservation.hold, cost=Cost(Decimal(4), USAGE, till.now))
    at_once = exceeded(till, "2")
    later = exceeded(till.later(minutes=10), "2")

    assert at_once.tightest.left_usd == 0
    assert later.tightest.left_usd == Decimal(1)


def test_a_cost_counts_though_the_request_may_commit_nothing_more(till: Till) -> None:
    """As when its run lost the claim of an Idempotency-Key to another one."""

    def refuse() -> None:
        raise ConflictError("The claim is lost.")

    reservation = till.reserve("2")
    with before_commit(refuse):
        till.settle(reservation, "1.5")
        till.release(till.reserve("1"))

    assert till.spent() == Decimal("1.5")
    assert till.left().left_in(CapKind.USER_DAY) == Decimal("3.5")


# -- what the database keeps -----------------------------------------------------------------


def test_what_was_spent_is_written_down_for_good(till: Till) -> None:
    till.spend("1.5")
    with team_scope(team_ids=[till.cast.team.id], actor="test"):
        (entry,) = SpendEntry.objects.all()
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            SpendEntry.objects.update(cost_usd=0)
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            SpendEntry.objects.all().delete()

    assert (entry.agent_id, entry.end_user_id) == (till.cast.kyra.pk, till.cast.sarah.pk)
    assert (entry.model, entry.tier) == ("test-model", "balanced")
    assert (entry.input_tokens, entry.output_tokens) == (900, 100)
    assert (entry.cost_usd, entry.at, entry.day) == (Decimal("1.5"), till.now, till.now.date())


def test_the_sums_are_the_databases_own(till: Till) -> None:
    till.spend("1.5")
    till.spend("1", end_user=till.cast.dmitri)
    with team_scope(team_ids=[till.cast.team.id], actor="test"):
        sums = {
            (row.kind, row.end_user_id): (row.spent_usd, row.calls, row.input_tokens)
            for row in SpendTotal.objects.all()
        }
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            SpendTotal.objects.update(spent_usd=0)
        with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
            SpendTotal.objects.create(team=till.cast.team, kind="team_month", begins_on=till.now)

    both = (Decimal("2.5"), 2, 1800)
    assert sums == {
        ("user_day", till.cast.sarah.pk): (Decimal("1.5"), 1, 900),
        ("user_day", till.cast.dmitri.pk): (Decimal(1), 1, 900),
        ("team_day", None): both,
        ("team_month", None): both,
        ("agent_day", None): both,
        ("agent_month", None): both,
    }


def test_a_nonsensical_count_of_a_provider_does_not_lose_the_cost(till: Till) -> None:
    usage = Usage(model="m" * 300, tier="fast", input_tokens=-5, output_tokens=10**12)
    settle(
        reservation=till.reserve("1"),
        actual_usd=Decimal(1),
        usage=usage,
        now=till.now,
        counters=till.counters,
    )
    (entry,) = till.entries()

    assert (entry.input_tokens, entry.output_tokens) == (0, 2**31 - 1)
    assert entry.cost_usd == Decimal(1)
