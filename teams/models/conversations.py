"""Conversations, messages kept verbatim, saved states of threads, and answered requests."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from .base import SameTeamKey, TeamOwned
from .people import Agent, EndUser, Project

MAX_THREAD_CHARS = 200
# Weaker sources than that of the role, which a client states; see `memory.domain.types.Source`.
STATED_SOURCES = [("agent", "Agent"), ("tool", "Tool"), ("web", "Web page")]
ROLES = [("user", "User"), ("assistant", "Assistant"), ("system", "System"), ("tool", "Tool")]


class Conversation(TeamOwned):
    """One thread between an agent and an end user.

    `revision` counts changes of memories that came from it; `last_position` is the number of its
    messages; every message up to `extracted_position` belongs to an extraction job, and of those up
    to `episode_position` it is decided which episode tells them.
    """

    agent = SameTeamKey(Agent)
    end_user = SameTeamKey(EndUser, verbose_name="person")
    project = SameTeamKey(Project, null=True, blank=True)
    thread_id = models.CharField("thread", max_length=MAX_THREAD_CHARS)
    revision = models.BigIntegerField(default=0)
    last_position = models.PositiveIntegerField("messages", default=0)
    extracted_position = models.PositiveIntegerField("messages extracted", default=0)
    episode_position = models.PositiveIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "agent", "end_user", "thread_id"], name="conversation_thread_once"
            ),
            models.CheckConstraint(
                condition=models.Q(extracted_position__lte=models.F("last_position")),
                name="conversation_extracts_what_exists",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "end_user", "-created_at"], name="conversation_by_user"),
            models.Index(fields=["team", "-created_at"], name="conversation_by_time"),
        ]

    def __str__(self) -> str:
        return self.thread_id


class Message(TeamOwned):
    """One message as it was said; inserted once, never changed, never removed.

    `source` is empty where its role says it: a user's is a person's, a tool's is a tool's output.
    """

    conversation = SameTeamKey(Conversation, related_name="messages")
    position = models.PositiveIntegerField()
    role = models.CharField(max_length=20, choices=ROLES)
    content = models.TextField()
    source = models.CharField(
        max_length=10, choices=STATED_SOURCES, blank=True, default="", db_default=""
    )
    name = models.CharField(max_length=200, blank=True, default="")
    external_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - null keeps it out of the uniqueness rule
    created_at = models.DateTimeField(help_text="When it was said.")
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["conversation", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "conversation", "position"], name="message_position_once"
            ),
            models.UniqueConstraint(
                fields=["team", "conversation", "external_id"],
                condition=models.Q(external_id__isnull=False),
                name="message_external_id_once",
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=[role for role, _ in ROLES]), name="message_role_known"
            ),
            models.CheckConstraint(
                condition=models.Q(position__gte=1), name="message_position_from_one"
            ),
            models.CheckConstraint(
                condition=models.Q(source__in=["", *(name for name, _ in STATED_SOURCES)]),
                name="message_source_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.position}"

    @property
    def is_users(self) -> bool:
        """Returns whether a user wrote it, and did not only paste it."""
        return self.role == "user" and not self.source


class Checkpoint(TeamOwned):
    """One saved state of a thread of an end user (seed 004 §15); the highest version is current.

    `data` is the text of a JSON object exactly as `services.checkpoints` wrote it: jsonb would
    lose the order of keys and refuse some strings. `size` is its length in UTF-8 bytes.
    """

    agent = SameTeamKey(Agent, null=True, blank=True, help_text="The owner; empty for the team.")
    end_user = SameTeamKey(EndUser, verbose_name="person")
    thread_id = models.CharField("thread", max_length=MAX_THREAD_CHARS)
    version = models.PositiveIntegerField()
    data = models.TextField()
    size = models.PositiveIntegerField()
    actor = models.CharField(max_length=200)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "end_user", "thread_id", "agent", "version"],
                nulls_distinct=False,
                name="checkpoint_version_once",
            ),
            models.CheckConstraint(
                condition=models.Q(version__gte=1), name="checkpoint_version_from_one"
            ),
        ]
        indexes = [models.Index(fields=["team", "-saved_at"], name="checkpoint_by_time")]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.version}"


class ToldRevision(TeamOwned):
    """The revision up to which prompts reported changes, apart from the row that writers lock."""

    conversation = SameTeamKey(Conversation)
    revision = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "conversation"], name="told_revision_once"),
        ]

    def __str__(self) -> str:
        return str(self.revision)


class IdempotentRequest(TeamOwned):
    """One request under an idempotency key, claimed before it runs.

    Without a `status` it is unfinished: `claim` is the token of the run that may still commit, at
    least until `lease_until`. The first transaction of the request that writes anything sets
    `committed_at`. So for an unfinished request whose run has died it tells what happened: if it
    is empty, nothing was written and the request may run again; otherwise only the answer is lost.
    """

    agent = SameTeamKey(
        Agent,
        null=True,
        blank=True,
        help_text="The agent of the API key; empty for keys of the team.",
    )
    key = models.CharField(max_length=200)
    digest = models.BinaryField(max_length=32, help_text="Of method, address and body.")
    claim = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    media_type = models.CharField(max_length=100, blank=True, default="")
    body = models.TextField(blank=True, default="")
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "agent", "key"],
                nulls_distinct=False,
                name="idempotent_request_once",
            ),
            models.CheckConstraint(
                condition=models.Q(status__isnull=True) | models.Q(claim__isnull=True),
                name="idempotent_request_finished_once",
            ),
        ]
        indexes = [models.Index(fields=["team", "made_at"], name="idempotent_request_by_age")]

    def __str__(self) -> str:
        return self.key
