"""Claims of requests that are sent again while another run of them ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

from django.db import connection, connections
from django.utils import timezone

from teams.models import IdempotentRequest
from teams.services.idempotency import ACTOR, Answer, ClaimedRequest, claim_request
from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.waiting import until

# Whoever waits for a row waits for the transaction that holds it.
_WAITING = """
SELECT count(*) FROM pg_locks AS wanted JOIN pg_locks AS held USING (transactionid)
WHERE NOT wanted.granted AND held.granted AND held.pid = pg_backend_pid()
"""


def claimed(team_id: UUID) -> ClaimedRequest | Answer:
    """One request of the team, claimed on a connection of the thread's own."""
    return claim_request(
        team_id=team_id, agent_id=None, key="one", digest=b"same", now=timezone.now()
    )


def somebody_waits() -> bool:
    """Returns whether another connection waits for a row that this one has locked."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        row = cursor.fetchone()
    return bool(row and row[0])


def test_a_request_whose_claim_is_released_meanwhile_is_claimed_anew(committed_db: None) -> None:
    team_id = make_cast(f"town-{uuid4().hex}").team.id
    first = claimed(team_id)
    assert isinstance(first, ClaimedRequest)

    def again() -> ClaimedRequest | Answer:
        try:
            return claimed(team_id)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            held = IdempotentRequest.objects.select_for_update().get(pk=first.row_id)
            second = pool.submit(again)
            until(somebody_waits)
            held.delete()
        found = second.result()

    assert isinstance(found, ClaimedRequest)
    assert found.row_id != first.row_id
