"""An erasure empties rows, and nobody and nothing else does; what it emptied stays so."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import IntegrityError, OperationalError, ProgrammingError, connections, transaction
from django.utils import timezone
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from audit.services.erasure import clear_caches_of_erased, erase_user, plan_erasure
from memory.models import Memory
from teams.errors import NotFoundError
from teams.models import Message
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.erasure import ERASED, NEEDLE, erase, found_in_tables, said

EMPTYINGS = {
    "message": "UPDATE teams_message SET content = '[erased]', name = '', external_id = NULL"
    " WHERE team_id = '{team}'",
    "memory": "UPDATE memory_memory SET content = '[erased]', salt = NULL, erased_at = now()"
    " WHERE team_id = '{team}'",
    "log": "UPDATE audit_memorylog SET state = palimpsest_erased_state(state, '\"x\"'),"
    " reason = '', reason_salt = NULL WHERE team_id = '{team}'",
    "reason": "UPDATE audit_memorylog SET reason = '', reason_salt = NULL WHERE team_id = '{team}'",
}
FEIGNED = (
    "DO $do$ BEGIN EXECUTE $q${} /*"
    "\nPL/pgSQL function palimpsest_erase_user(uuid,uuid,text) line 1"
    "\nPL/pgSQL function palimpsest_erase_purged(uuid,uuid[],text) line 1 */$q$; END $do$"
)
BY_HAND = (
    "INSERT INTO audit_erasure (id, team_id, end_user_id, actor, reason, counts, at)"
    " VALUES (gen_random_uuid(), '{team}', gen_random_uuid(), 'x', '', '{{}}', now())"
)


def as_owner(*statements: str) -> None:
    """Run statements as the tables' owner in one transaction."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def as_application(town: Cast, *statements: str) -> None:
    """Run statements as the application in one transaction of the team's scope."""
    with (
        team_scope(team_ids=[town.team.id], actor="test"),
        connections["default"].cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.parametrize("what", EMPTYINGS)
@pytest.mark.parametrize("recorded", [False, True])
def test_the_owner_cannot_empty_a_row_by_hand(
    held: tuple[Cast, Memory, Message], what: str, recorded: bool
) -> None:
    town, _, _ = held
    statements = [BY_HAND, EMPTYINGS[what]] if recorded else [EMPTYINGS[what]]

    with pytest.raises(IntegrityError, match=r"append-only|never change"):
        as_owner(*(each.format(team=town.team.id) for each in statements))


@pytest.mark.parametrize(
    ("what", "refusal"),
    [
        ("message", "permission denied"),
        ("memory", "never change"),
        ("log", "permission denied"),
        ("reason", "permission denied"),
    ],
)
def test_the_application_cannot_after_an_erasure_nor_by_feigning_one(
    held: tuple[Cast, Memory, Message], what: str, refusal: str
) -> None:
    town, _, _ = held
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory = factories.MemoryFactory.create(team=town.team, end_user=town.dmitri)
        said(town, town.dmitri, "Mine.")
    erasing = f"SELECT palimpsest_erase_user('{town.team.id}', '{town.sarah.pk}', '')"
    emptying = EMPTYINGS[what].format(team=town.team.id)
    if what == "memory":
        # Else the row that is erased already would be what is refused.
        emptying += f" AND id = '{memory.pk}'"

    with pytest.raises((ProgrammingError, IntegrityError), match=refusal):
        as_application(town, erasing, FEIGNED.format(emptying))

    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content != ERASED
        assert set(Message.objects.values_list("content", flat=True)) == {"Hello.", "Mine."}


def test_the_application_cannot_write_an_erasures_record(town: Cast) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        as_application(town, BY_HAND.format(team=town.team.id))


def test_nobody_erases_in_a_team_outside_the_scope(held: tuple[Cast, Memory, Message]) -> None:
    town, memory, _ = held
    other = make_cast(f"other-{uuid4().hex}")
    with (
        pytest.raises(ProgrammingError, match="outside the transaction's scope"),
        team_scope(team_ids=[other.team.id], actor="test"),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute("SELECT palimpsest_erase_user(%s, %s, '')", [town.team.id, town.sarah.pk])

    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content != ERASED


def test_an_erased_row_is_not_written_back_by_who_read_it_before(
    held: tuple[Cast, Memory, Message],
) -> None:
    town, memory, _ = held
    memory.subject = NEEDLE
    person = town.sarah
    person.display_name = NEEDLE
    erase(town, "sarah")

    for stale in (memory, person):
        with (
            pytest.raises(OperationalError, match="was erased"),
            team_scope(team_ids=[town.team.id], actor="test"),
        ):
            stale.save()

    assert found_in_tables(NEEDLE) == {}


def test_erasing_again_finds_nobody(held: tuple[Cast, Memory, Message]) -> None:
    town, _, _ = held
    erase(town, "sarah")

    with pytest.raises(NotFoundError):
        erase(town, "sarah")
    with pytest.raises(NotFoundError):
        plan_erasure(team_id=town.team.id, external_id="nobody", actor="test")


def test_a_plan_changes_nothing_and_tells_what_the_erasure_then_does(
    town: Cast, story: APIClient
) -> None:
    before = found_in_tables(NEEDLE)

    plan = plan_erasure(team_id=town.team.id, external_id="sarah", actor="test")

    assert found_in_tables(NEEDLE) == before
    assert plan == erase_user(team_id=town.team.id, external_id="sarah", actor="test")
    assert plan.memories > 3
    assert plan.items == 1
    assert (plan.conversations, plan.messages, plan.compactions, plan.checkpoints) == (1, 5, 1, 2)


def test_a_cache_that_was_filled_too_late_is_cleared_by_the_sweep(
    held: tuple[Cast, Memory, Message],
) -> None:
    town, _, _ = held
    erase(town, "sarah")
    client = get_redis_connection("default")
    late = f"{settings.REDIS_PREFIX}:summary:{town.team.id}:{uuid4()}"
    state = f"{settings.REDIS_PREFIX}:task:{town.team.id}:kyra:fix-17"
    for key in (late, state):
        client.set(key, NEEDLE)

    clear_caches_of_erased(now=timezone.now())

    assert client.get(late) is None
    assert client.get(state) is not None


# Tables of a team that hold no word of a person; a new one must be added here or to the erasure.
WORDLESS = {
    "audit_commitclock",
    "audit_logcommit",
    "audit_seal",
    "audit_teamrevision",
    "audit_writtenbatch",
    "confirmation_confirmation",
    "memory_category",
    "memory_consolidationrun",
    "memory_embeddingstate",
    "memory_importrun",
    "memory_memoryrelation",
    "memory_searchgraph",
    "memory_settlement",
    "oauth_grant",
    "oauth_token",
    "routing_chatmodel",
    "routing_provider",
    "routing_spendentry",
    "routing_spendepoch",
    "routing_spendreservation",
    "routing_spendtotal",
    "teams_agent",
    "teams_agentalias",
    "teams_agentversion",
    "teams_apikey",
    "teams_membership",
    "teams_project",
    "teams_teamversion",
    "teams_toldrevision",
    "teams_webhookdelivery",
    "teams_webhookendpoint",
}


def test_the_planner_remembers_nothing_of_it(town: Cast, story: APIClient) -> None:
    remembered = (
        "SELECT count(*) FROM pg_stats WHERE tablename IN ('teams_message', 'memory_memory')"
        " AND concat(most_common_vals, histogram_bounds, most_common_elems) ILIKE %s"
    )
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE teams_message, memory_memory")
        cursor.execute(remembered, [f"%{NEEDLE}%"])
        assert cursor.fetchone() > (0,)

        erase(town, "sarah")

        cursor.execute(remembered, [f"%{NEEDLE}%"])
        assert cursor.fetchone() == (0,)


def test_every_table_it_empties_is_looked_at_anew(committed_db: None) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(prosrc, ' ') FROM pg_proc WHERE proname IN ("
            "'palimpsest_erase_user', 'palimpsest_empty_memories')"
            " OR proname LIKE 'palimpsest\\_forget\\_%'"
        )
        (sources,) = cursor.fetchone()
        emptied = set(re.findall(r"(?:UPDATE|DELETE FROM) (?:public\.)?(\w+_\w+)", sources))
        cursor.execute("SELECT palimpsest_forget_statistics(), pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT relname FROM pg_stat_user_tables WHERE last_analyze IS NOT NULL"
            " AND relname = ANY (%s)",
            [list(emptied)],
        )
        analysed = {name for (name,) in cursor.fetchall()}

    assert len(emptied) > 20
    assert analysed == emptied


def test_every_table_of_a_team_is_known_to_the_erasure(committed_db: None) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE a.attname = 'team_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
            " AND c.relnamespace = 'public'::regnamespace"
        )
        tables = {name for (name,) in cursor.fetchall()}
        cursor.execute(
            "SELECT string_agg(prosrc, '') FROM pg_proc"
            " WHERE proname IN ('palimpsest_erase_user', 'palimpsest_empty_memories')"
            " OR proname LIKE 'palimpsest\\_forget\\_%'"
        )
        (source,) = cursor.fetchone()
    with_a_thread = {"memory_graphcheckpoint", "memory_channelvalue", "memory_pendingwrite"}

    unknown = {name for name in tables if name not in source} - WORDLESS - with_a_thread

    assert unknown == set()
