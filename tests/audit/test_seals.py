"""Whoever changes the log behind its back is found out, the tables' owner included."""

from __future__ import annotations

import threading
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.conf import settings as django_settings
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction
from django.test import override_settings
from django.utils import timezone

from audit.models import MemoryLog, Seal
from audit.services.seals import LEAF_BYTES, closed_up_to, seal_keys, seal_team
from audit.services.verification import verify_team
from audit.tasks import seal_log
from memory.models import Memory
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.seals import Sealed, by_owner, kinds, memories, seal, sealed, seqs, town
from tests.support.waiting import until

__all__ = ["sealed", "town"]


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
    noted = verify_team(team_id=town.team.id).head
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


def test_one_team_does_not_see_the_seals_of_another(sealed: Sealed) -> None:
    town, _, _ = sealed
    other: UUID = make_cast(f"other-{uuid4().hex}").team.id

    with team_scope(team_ids=[other], actor="test"):
        assert Seal.objects.count() == 0
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Seal.objects.count() == 2
