"""Workflows that agents record step by step while they carry them out."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from memory.models.memory import Memory
from teams.models import Agent, Project
from teams.models.base import SameTeamKey, TeamOwned


class WorkflowRecording(TeamOwned):
    """Steps as they are taken, each `{"name", "detail"}`, until a memory is made of them.

    `agent` is whose the memory will be alone, `author` the agent whose key records. A finished one
    without a `memory` was interrupted: to finish it again completes it.
    """

    class State(models.TextChoices):
        RECORDING = "recording", "Recording"
        FINISHED = "finished", "Finished"
        DISCARDED = "discarded", "Discarded"

    trigger = models.CharField(max_length=200)
    steps = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=20, choices=State.choices, default=State.RECORDING)
    agent = SameTeamKey(Agent, null=True, blank=True)
    author = SameTeamKey(Agent, null=True, blank=True)
    project = SameTeamKey(Project, null=True, blank=True)
    memory = SameTeamKey(Memory, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "memory_workflowrecording"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="recording", ended_at__isnull=True)
                | models.Q(state__in=["finished", "discarded"], ended_at__isnull=False),
                name="workflow_recording_state_known",
            ),
        ]
        indexes = [models.Index(fields=["team", "state"], name="workflow_recording_by_state")]

    def __str__(self) -> str:
        return self.trigger
