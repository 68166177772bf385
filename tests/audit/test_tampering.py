"""A log that was changed, shortened or added to is found, and what was done to it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.services.verification import verify_team
from tests.support.cast import make_cast
from tests.support.examples import examples
from tests.support.seals import Sealed, by_owner, kinds, memories, seal, sealed, seqs, town

__all__ = ["sealed", "town"]
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


@settings(max_examples=examples(5), suppress_health_check=[HealthCheck.function_scoped_fixture])
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
