"""Background work on teams."""

from __future__ import annotations

from celery import shared_task

from teams.services.idempotency import prune_requests
from teams.services.keys import forget_key_uses, record_key_uses, take_key_uses
from teams.services.people import all_team_ids, frozen_team_ids
from teams.tenancy import database_now, team_scope


@shared_task(name="teams.tasks.flush_key_use", ignore_result=True)
def flush_key_use() -> None:
    """Write down when keys were last used."""
    frozen = frozen_team_ids()
    for team_id, uses in take_key_uses().items():
        if team_id in frozen:
            continue
        with team_scope(team_ids=[team_id], actor="task:flush_key_use"):
            record_key_uses(team_id=team_id, uses=uses)
    forget_key_uses()


@shared_task(name="teams.tasks.prune_idempotent_requests", ignore_result=True)
def prune_idempotent_requests() -> None:
    """Remove answers that are too old to be repeated."""
    for team_id in all_team_ids():
        with team_scope(team_ids=[team_id], actor="task:prune_idempotent_requests"):
            prune_requests(team_id=team_id, now=database_now())
