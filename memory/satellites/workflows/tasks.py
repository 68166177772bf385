"""Background work of the satellite."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from memory.satellites.workflows.proposing import PROPOSE_TASK, propose_workflows


@shared_task(
    name=PROPOSE_TASK,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    retry_jitter=True,
    max_retries=3,
)
def propose_recurring_workflows(team_id: str, conversation_id: str) -> None:
    """Propose the workflows that recur in the talk of a conversation's agent."""
    propose_workflows(
        team_id=UUID(team_id), conversation_id=UUID(conversation_id), now=timezone.now()
    )
