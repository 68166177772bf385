"""Whoever changes the log behind its back is found out, the tables' owner included."""

from __future__ import annotations

import threading
from collections.abc import Callable
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction
from django.test import override_settings
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import MemoryLog, Seal
from audit.selectors.leaves import LEAF_BYTES
from audit.services.seals import closed_up_to, head_of, seal_keys, seal_team
from audit.services.verification import Verified, verify_team
from audit.tasks import seal_log
from memory.models import Memory
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast
from tests.waiting import until

Sealed = tuple[Cast, list[Memory], list[int]]


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


def memories(town: Cast, *contents: str) -> list[Memory]:
    """New memories of the team, each in a transaction of its own."""
    made = []
    for content in contents:
        with team_scope(team_ids=[town.team.id], actor="test", reason="said so"):
            made.append(
                factories.MemoryFactory.create(
                    team=town.team, end_user=town.sarah, content=content, subject="sarah"
                )
            )
    return made


def seal(town: Cast) -> int:
    """Seal what is closed of the team's log; returns how many rows."""
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None
    return seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now())


def seqs(town: Cast) -> list[int]:
    """The numbers of the team's log rows."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return list(MemoryLog.objects.order_by("seq").values_list("seq", flat=True))


def by_owner(*statements: str) -> None:
    """Run statements as the tables' owner with every trigger of the tables switched off."""
    tables = (
        "audit_memorylog",
        "audit_logcommit",
        "audit_commitclock",
        "audit_seal",
        "memory_memory",
    )
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for statement in statements:
            cursor.execute(statement)
            assert cursor.rowcount
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def kinds(found: Verified) -> list[tuple[str, str]]:
    """What was found, and where."""
    return [(finding.kind, finding.where) for finding in found.findings]


@pytest.fixture
def sealed(town: Cast) -> Sealed:
    """Four memories whose log is sealed in two seals, and one that is not sealed yet."""
    made = memories(town, "One.", "Two.")
    seal(town)
    made += memories(town, "Three.", "Four.")
    seal(town)
    made += memories(town, "Five.")
    return town, made, seqs(town)


def test_an_untouched_log_stands(sealed: Sealed) -> None:
    town, _, _ = sealed

    found = verify_team(team_id=town.team.id)

    assert found.findings == []
    assert (found.seals, found.rows, found.unsealed, found.erased) == (2, 4, 1, 0)


def test_sealing_again_adds_nothing_for_a_quiet_team(sealed: Sealed) -> None:
    town, _, _ = sealed

    assert seal(town) == 1
    assert seal(town) == 0

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Seal.objects.count() == 3


COLUMNS = {
    "event": "'restored'",
    "actor": "'nobody'",
    "reason": "'another one'",
    "reason_salt": "uuid_send(gen_random_uuid())",
    "reason_digest": "sha256('x')",
    "commit_id": "commit_id + 1000000",
    "is_first": "NOT is_first",
    "at": "at - interval '1 microsecond'",
    "digest": "sha256('x')",
    "memory_id": "gen_random_uuid()",
    "conversation_id": "gen_random_uuid()",
    "revision": "7",
    "state": "state || '{\"importance\": 10}'",
    "state of a person": 'state || \'{"subject": "somebody"}\'',
    "state with another key": "state || '{\"new\": null}'",
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_row_is_named(sealed: Sealed, column: str) -> None:
    town, _, numbers = sealed

    by_owner(
        f"UPDATE audit_memorylog SET {column.split()[0]} = {COLUMNS[column]}"
        f" WHERE seq = {numbers[2]}"
    )

    found = kinds(verify_team(team_id=town.team.id))
    assert ("row_changed", f"log entry {numbers[2]}") in found
    assert {where for kind, where in found if kind == "row_changed"} == {f"log entry {numbers[2]}"}


@pytest.mark.parametrize("change", ["at = at - interval '1 hour'", "position = position + 1000"])
def test_a_row_whose_commit_was_moved_is_named(sealed: Sealed, change: str) -> None:
    town, _, numbers = sealed

    by_owner(
        f"UPDATE audit_logcommit SET {change} WHERE id ="
        f" (SELECT commit_id FROM audit_memorylog WHERE seq = {numbers[2]})"
    )

    found = kinds(verify_team(team_id=town.team.id))
    changed = [where for kind, where in found if kind == "row_changed"]
    assert changed == [f"log entry {numbers[2]}"]
    assert "commit_changed" in {kind for kind, _ in found}


def test_a_missing_row_is_named(sealed: Sealed) -> None:
    town, made, numbers = sealed

    by_owner(f"DELETE FROM audit_memorylog WHERE seq = {numbers[1]}")

    assert kinds(verify_team(team_id=town.team.id)) == [
        ("row_missing", f"log entry {numbers[1]}"),
        ("memory_unlogged", f"memory {made[1].pk}"),
        ("commit_inserted", "commit 2"),
    ]


def test_an_inserted_row_is_named(sealed: Sealed) -> None:
    town, made, numbers = sealed

    by_owner(
        "INSERT INTO audit_memorylog SELECT (jsonb_populate_record(l,"
        f' \'{{"seq": {numbers[0] - 1}, "event": "promoted"}}\')).* FROM audit_memorylog l'
        f" WHERE memory_id = '{made[3].pk}'"
    )

    assert kinds(verify_team(team_id=town.team.id)) == [
        ("row_inserted", f"log entry {numbers[0] - 1}"),
        # Its commit came after the seal that it says to be under.
        ("seal_changed", "seal 1"),
    ]


def test_two_rows_that_changed_places_are_named(sealed: Sealed) -> None:
    town, _, numbers = sealed
    first, second = numbers[0], numbers[3]

    by_owner(
        f"UPDATE audit_memorylog SET seq = -1 WHERE seq = {first}",
        f"UPDATE audit_memorylog SET seq = {first} WHERE seq = {second}",
        f"UPDATE audit_memorylog SET seq = {second} WHERE seq = -1",
    )

    found = kinds(verify_team(team_id=town.team.id))
    changed = [where for kind, where in found if kind == "row_changed"]
    assert changed == [f"log entry {first}", f"log entry {second}"]


def test_a_changed_text_is_named_though_the_log_is_whole(sealed: Sealed) -> None:
    town, made, numbers = sealed

    by_owner(f"UPDATE memory_memory SET content = 'Never said.' WHERE id = '{made[4].pk}'")

    (finding,) = verify_team(team_id=town.team.id).findings
    assert finding.kind == "text_changed"
    assert finding.where == f"memory {made[4].pk}"
    assert str(numbers[4]) in finding.words


def test_a_memory_that_changed_without_its_log_is_named(sealed: Sealed) -> None:
    town, made, _ = sealed

    by_owner(f"UPDATE memory_memory SET importance = 1 WHERE id = '{made[0].pk}'")

    assert kinds(verify_team(team_id=town.team.id)) == [("memory_changed", f"memory {made[0].pk}")]


BOUNDS = {
    "a bound that hides entries": (
        "UPDATE audit_logcommit SET last_seq = 1 WHERE team_id = '{team}' AND position = 3",
        "commit_changed",
        "commit 3",
    ),
    "a bound that hides memories": (
        "UPDATE audit_logcommit SET last_memory_id = '{nil}' WHERE team_id = '{team}'"
        " AND position = 2",
        "commit_changed",
        "commit 2",
    ),
    "a time before that of the commit before": (
        "UPDATE audit_logcommit SET at = at - interval '1 day' WHERE team_id = '{team}'"
        " AND position = 5",
        "commit_changed",
        "commit 5",
    ),
    "a commit of nothing, which hides all": (
        "INSERT INTO audit_logcommit (team_id, transaction_number, began_at, is_last, position, at,"
        " last_seq, last_memory_id)"
        " VALUES ('{team}', 1, now(), true, 99, clock_timestamp(), 0, '{nil}')",
        "commit_inserted",
        "commit 99",
    ),
    "a commit that is gone": (
        "DELETE FROM audit_logcommit WHERE team_id = '{team}' AND position = 5",
        "commit_missing",
        "log entry {newest}",
    ),
    "a clock that was set back": (
        "UPDATE audit_commitclock SET position = 1 WHERE team_id = '{team}'",
        "clock_changed",
        "the clock of commits",
    ),
    "a clock that is gone": (
        "DELETE FROM audit_commitclock WHERE team_id = '{team}'",
        "clock_changed",
        "the clock of commits",
    ),
    "a seal that says of late entries that they were there before": (
        "UPDATE audit_seal SET upto_position = 1 WHERE team_id = '{team}' AND number = 2",
        "seal_changed",
        "seal 2",
    ),
    "a reason that was taken away": (
        "UPDATE audit_memorylog SET reason = '', reason_salt = NULL WHERE seq = {newest}",
        "reason_emptied",
        "log entry {newest}",
    ),
}


@pytest.mark.parametrize("what", BOUNDS)
def test_what_would_make_the_past_another_one_is_named(sealed: Sealed, what: str) -> None:
    town, _, numbers = sealed
    names = {"team": town.team.id, "nil": UUID(int=0), "newest": numbers[4]}
    statement, kind, where = BOUNDS[what]

    by_owner(statement.format(**names))

    assert (kind, where.format(**names)) in kinds(verify_team(team_id=town.team.id))


def test_a_feigned_erasure_is_named(sealed: Sealed) -> None:
    town, made, numbers = sealed

    by_owner(
        "UPDATE memory_memory SET content = palimpsest_erased_text(), salt = NULL,"
        f" erased_at = now() WHERE id = '{made[0].pk}'",
        "UPDATE audit_memorylog SET state = palimpsest_erased_state(state, '\"2026-01-01\"'),"
        f" reason = '' WHERE seq = {numbers[0]}",
    )

    found = kinds(verify_team(team_id=town.team.id))
    assert ("erasure_unlogged", f"memory {made[0].pk}") in found


# -- the seals themselves --------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "leaves = set_byte(leaves, 40, get_byte(leaves, 40) # 1)",
        "rows = rows + 1",
        "last_seq = last_seq + 1",
        "sealed_at = sealed_at - interval '1 day'",
        "digest = sha256('x')",
    ],
)
def test_a_changed_seal_is_named(sealed: Sealed, change: str) -> None:
    town, _, _ = sealed

    by_owner(f"UPDATE audit_seal SET {change} WHERE team_id = '{town.team.id}' AND number = 1")

    assert ("seal_changed", "seal 1") in kinds(verify_team(team_id=town.team.id))


def test_a_removed_seal_is_missed(sealed: Sealed) -> None:
    town, _, _ = sealed

    by_owner(f"DELETE FROM audit_seal WHERE team_id = '{town.team.id}' AND number = 1")

    assert ("seal_missing", "seal 2") in kinds(verify_team(team_id=town.team.id))


def test_rows_and_their_leaves_changed_together_are_still_found(sealed: Sealed) -> None:
    town, _, numbers = sealed

    by_owner(
        f"UPDATE audit_memorylog SET actor = 'nobody' WHERE seq = {numbers[0]}",
        "UPDATE audit_seal SET leaves = overlay(leaves PLACING (SELECT open FROM"
        f" palimpsest_log_leaves('{town.team.id}', 0, {numbers[0]}, 1)) FROM 9 FOR 32)"
        f" WHERE team_id = '{town.team.id}' AND number = 1",
    )

    assert kinds(verify_team(team_id=town.team.id)) == [("seal_changed", "seal 1")]


def test_seals_made_anew_with_a_key_of_ones_own_are_found(sealed: Sealed) -> None:
    town, _, numbers = sealed
    by_owner(
        f"UPDATE audit_memorylog SET actor = 'nobody' WHERE seq = {numbers[0]}",
        f"DELETE FROM audit_seal WHERE team_id = '{town.team.id}'",
    )
    with override_settings(SEAL_KEYS=["a key of somebody else"]):
        seal(town)
        assert verify_team(team_id=town.team.id).findings == []

    assert kinds(verify_team(team_id=town.team.id)) == [("seal_of_unknown_key", "seal 1")]


def test_a_chain_that_was_cut_is_found_by_a_noted_head(sealed: Sealed) -> None:
    town, made, numbers = sealed
    with team_scope(team_ids=[town.team.id], actor="test"):
        noted = head_of(team_id=town.team.id)
    by_owner(
        f"DELETE FROM audit_seal WHERE team_id = '{town.team.id}' AND number = 2",
        f"DELETE FROM audit_memorylog WHERE seq >= {numbers[2]}",
        f"DELETE FROM memory_memory WHERE id IN ('{made[2].pk}', '{made[3].pk}', '{made[4].pk}')",
        f"DELETE FROM audit_logcommit WHERE team_id = '{town.team.id}' AND position > 2",
        "UPDATE audit_commitclock k SET position = c.position, at = c.at, last_seq = c.last_seq,"
        " last_memory_id = c.last_memory_id FROM audit_logcommit c"
        f" WHERE c.position = 2 AND c.team_id = k.team_id AND k.team_id = '{town.team.id}'",
    )

    assert verify_team(team_id=town.team.id).findings == []
    assert kinds(verify_team(team_id=town.team.id, expected=noted)) == [("seal_missing", "seal 2")]


def test_a_new_key_leaves_old_seals_verifiable(town: Cast) -> None:
    memories(town, "One.")
    seal(town)
    (old,) = settings_keys()
    with override_settings(SEAL_KEYS=["a new key", old]):
        memories(town, "Two.")
        seal(town)

        found = verify_team(team_id=town.team.id)

        assert found.findings == []
        assert found.seals == 2
        assert len(seal_keys()) == 2
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert len(set(Seal.objects.values_list("key_id", flat=True))) == 2


def settings_keys() -> list[str]:
    """The keys of the tests' settings."""
    return list(django_settings.SEAL_KEYS)


@pytest.mark.parametrize("statement", ["UPDATE audit_seal SET rows = 0", "DELETE FROM audit_seal"])
def test_a_seal_is_refused_any_change(sealed: Sealed, statement: str) -> None:
    town, _, _ = sealed
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        team_scope(team_ids=[town.team.id], actor="test"),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(using="owner"),
        connections["owner"].cursor() as cursor,
    ):
        cursor.execute(statement)


# -- closed ranges ---------------------------------------------------------------------------


def test_a_row_that_commits_late_is_waited_for(town: Cast) -> None:
    """A transaction holds a lower number than one that has committed already."""
    drawn, commit = threading.Event(), threading.Event()

    def late() -> None:
        try:
            with team_scope(team_ids=[town.team.id], actor="test"):
                factories.MemoryFactory.create(team=town.team, content="Late.")
                drawn.set()
                commit.wait(60)
        finally:
            connection.close()

    writer = threading.Thread(target=late)
    writer.start()
    try:
        assert drawn.wait(60)
        memories(town, "Early.")

        assert closed_up_to(seconds=0.2) is None
    finally:
        commit.set()
        writer.join()

    assert seal(town) == 2
    found = verify_team(team_id=town.team.id)
    assert (found.findings, found.rows) == ([], 2)


def test_sealing_while_many_write_misses_nothing(town: Cast) -> None:
    """Six writers, two sealers: each row ends in exactly one seal."""
    stop = threading.Event()
    failed: list[BaseException] = []

    def work(act: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                act()
        except BaseException as error:
            failed.append(error)
        finally:
            connection.close()

    def write() -> None:
        with team_scope(team_ids=[town.team.id], actor="test"):
            factories.MemoryFactory.create_batch(2, team=town.team)
            Memory.objects.filter(team=town.team).order_by("?")[:1].get()

    def enough() -> bool:
        with team_scope(team_ids=[town.team.id], actor="test"):
            return MemoryLog.objects.count() > 50 and Seal.objects.count() > 3

    threads = [threading.Thread(target=work, args=[write]) for _ in range(6)]
    threads += [threading.Thread(target=work, args=[lambda: seal(town)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: failed or enough())
    finally:
        stop.set()
    for thread in threads:
        thread.join()

    assert failed == []
    seal(town)
    found = verify_team(team_id=town.team.id)
    assert found.findings == []
    assert found.rows == len(seqs(town)) > 50
    assert found.seals > 3
    assert found.unsealed == 0


def test_a_long_range_is_sealed_in_parts(town: Cast) -> None:
    memories(town, *(f"Fact {number}." for number in range(7)))
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None

    rows = seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now(), rows_per_seal=3)

    assert rows == 7
    with team_scope(team_ids=[town.team.id], actor="test"):
        made = list(Seal.objects.order_by("number"))
    assert [each.rows for each in made] == [3, 3, 1]
    assert [len(each.leaves) // LEAF_BYTES for each in made] == [3, 3, 1]
    assert verify_team(team_id=town.team.id).findings == []


def test_the_task_seals_every_team(town: Cast) -> None:
    other = make_cast(f"other-{uuid4().hex}")
    memories(town, "Here.")
    memories(other, "There.")

    seal_log()

    for each in (town, other):
        found = verify_team(team_id=each.team.id)
        assert (found.rows, found.unsealed, found.findings) == (1, 0, [])


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_row_is_tampered_with_is_the_one_that_is_named(
    committed_db: None, data: st.DataObject
) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    for size in data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)):
        memories(town, *(f"Fact {uuid4()}." for _ in range(size)))
        seal(town)
    numbers = seqs(town)
    chosen = data.draw(st.sets(st.sampled_from(numbers), min_size=1))
    how = data.draw(
        st.sampled_from(
            [
                ("row_missing", "DELETE FROM audit_memorylog"),
                ("row_changed", "UPDATE audit_memorylog SET at = at + interval '1 second'"),
                ("row_changed", "UPDATE audit_memorylog SET reason = reason || '.'"),
            ]
        )
    )

    by_owner(*(f"{how[1]} WHERE seq = {seq}" for seq in chosen))

    found = verify_team(team_id=town.team.id)
    named = {where for kind, where in kinds(found) if kind == how[0]}
    assert named == {f"log entry {seq}" for seq in chosen}


# -- the command -----------------------------------------------------------------------------


def run(*args: str) -> str:
    """What the command writes."""
    out = StringIO()
    call_command("verify_log", *args, stdout=out)
    return out.getvalue()


def test_the_command_says_that_a_log_stands(sealed: Sealed) -> None:
    town, _, _ = sealed

    said = run("--team", town.team.slug)

    assert "4 entries under 2 seals; 1 not sealed yet" in said
    assert "as it was sealed" in said
    head = said.split("head ")[1].split(";")[0]
    assert "as it was sealed" in run("--team", town.team.slug, "--head", head)


def test_the_command_names_what_was_changed_and_fails(sealed: Sealed) -> None:
    town, _, numbers = sealed
    by_owner(f"UPDATE audit_memorylog SET actor = 'nobody' WHERE seq = {numbers[0]}")
    out = StringIO()

    with pytest.raises(CommandError, match=r"1 finding\."):
        call_command("verify_log", "--team", town.team.slug, stdout=out)

    assert f"log entry {numbers[0]}: it was changed" in out.getvalue()


@pytest.mark.parametrize("args", [["--team", "nowhere"], ["--head", "1:00"]])
def test_the_command_refuses_what_it_cannot_mean(committed_db: None, args: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*args)


def test_a_head_that_is_none_is_refused(town: Cast) -> None:
    with pytest.raises(CommandError, match="NUMBER:DIGEST"):
        run("--team", town.team.slug, "--head", "x")


def test_one_team_does_not_see_the_seals_of_another(sealed: Sealed) -> None:
    town, _, _ = sealed
    other: UUID = make_cast(f"other-{uuid4().hex}").team.id

    with team_scope(team_ids=[other], actor="test"):
        assert Seal.objects.count() == 0
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Seal.objects.count() == 2
