"""Background work of the satellite."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from memory.satellites.consent.deciding import expire_requests
from memory.satellites.consent.team_facts import propose_due_team_facts
from teams.tenancy import database_now


@shared_task(name="memory.satellites.consent.tasks.expire_consent_requests")
def expire_consent_requests() -> None:
    """End the consent requests that nobody decided in time."""
    expire_requests(now=database_now())


@shared_task(name="memory.satellites.consent.tasks.propose_team_facts")
def propose_team_facts() -> None:
    """Propose what several people state, of the teams whose hour it is."""
    propose_due_team_facts(now=timezone.now())
