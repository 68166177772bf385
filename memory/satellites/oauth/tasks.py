"""Background work of the satellite."""

from __future__ import annotations

from celery import shared_task

from memory.satellites.oauth.grants import prune
from teams.tenancy import database_now


@shared_task(name="memory.satellites.oauth.tasks.prune_sign_ins", ignore_result=True)
def prune_sign_ins() -> None:
    """Remove old tokens and sign-ins, and clients that nobody let in."""
    prune(now=database_now())
