"""Memories, the rows beside each of them, and the team's categories."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone
from pgvector.django import HalfVectorField

from memory.domain.audience import Audience
from memory.domain.forms import ArtifactKind, Form
from memory.domain.levels import Level
from memory.domain.tiers import HOT_IMPORTANCE, KEPT_IMPORTANCE
from memory.domain.types import (
    MAX_SUBJECT_CHARS,
    MAX_TAG_CHARS,
    OF_THE_CONFIRMED,
    UNCONFIRMED,
    MemoryType,
    Scope,
    Source,
    Status,
    Tier,
)
from memory.models.querysets import MemoryQuerySet
from teams.models import Agent, Conversation, EndUser, Project
from teams.models.base import OfTeam, SameTeamKey, SameTeamRow, TeamKey, TeamOwned

MEMORY_TYPES = [(kind.value, kind.value) for kind in MemoryType]
AUDIENCES = [(each.value, each.value) for each in Audience]
SOURCES = [(source.value, source.value) for source in Source]
SCOPES = [(scope.value, scope.value) for scope in Scope]
STATUSES = [(status.value, status.value) for status in Status]
# What is purged is shown by no read.
SHOWN_STATUSES = [each for each in STATUSES if each[0] != Status.PURGED.value]
TIERS = [(tier.value, tier.value) for tier in Tier]
ARTIFACT_KINDS = [(kind.value, kind.value) for kind in ArtifactKind]
TOLD_LEVELS = [
    (level.value, level.value) for level in (Level.CONTENT, Level.SUMMARY, Level.COMPRESSED)
]
LIVE = (Status.ACTIVE.value, Status.DISPUTED.value)
_IS_LIVE = models.Q(status__in=LIVE)
_IS_IMPORTANT = models.Q(status__in=LIVE, importance__gte=7) & ~models.Q(tier=Tier.COLD.value)
# What may expire: a run leaves the others alone, whatever their use.
_IS_UNPROTECTED = models.Q(
    status=Status.ACTIVE.value, is_pinned=False, importance__lt=KEPT_IMPORTANCE
)
_IN_EVERY_PROMPT = models.Q(is_pinned=True) | models.Q(
    memory_type__in=[MemoryType.IDENTITY.value, MemoryType.USER_PROFILE.value]
)
# Before every memory. Only what says so is read by the index of times.
SINCE_EVER = datetime(1, 1, 2, tzinfo=UTC)


def one_of(field: str, choices: list[tuple[str, str]], *, name: str = "") -> models.CheckConstraint:
    """Returns the constraint that the field has one of the choices."""
    condition = models.Q(**{f"{field}__in": [value for value, _ in choices]})
    return models.CheckConstraint(condition=condition, name=name or f"memory_{field}_known")


class Memory(TeamOwned):
    """Something worth knowing, in words that stand for ever.

    A correction is another row that `supersedes` this one. Triggers refuse a change of the text,
    its form and payload and of what identifies it, log every other change, and keep `updated_at`,
    the rows of tags and artifacts and `audience`, which follows from type, agent and end user.
    Without a form, the payload is what the product notes of it. `source` is the strongest one that
    says it; a memory of a tool or a page alone has no pin, no profile and no team-wide type.
    """

    memory_type = models.CharField(max_length=20, choices=MEMORY_TYPES)
    form = models.CharField(max_length=20, blank=True, default="")
    payload = models.JSONField(default=dict, blank=True)
    audience = models.CharField(
        max_length=10,
        choices=AUDIENCES,
        default=Audience.AGENT.value,
        db_default=Audience.AGENT.value,
        editable=False,
    )
    scope = models.CharField(max_length=20, choices=SCOPES)
    source = models.CharField(
        max_length=10,
        choices=SOURCES,
        default=Source.AGENT.value,
        db_default=Source.AGENT.value,
    )
    category = models.CharField(max_length=100, blank=True, default="")
    subject = models.CharField(max_length=MAX_SUBJECT_CHARS, blank=True, default="")
    content = models.TextField()
    importance = models.PositiveSmallIntegerField()
    confidence = models.FloatField(default=1.0)
    corroboration = models.PositiveIntegerField(
        default=0, help_text="How often it was said again after it was first stored."
    )
    is_pinned = models.BooleanField(default=False)
    status = models.CharField(max_length=20, choices=STATUSES, default=Status.ACTIVE.value)
    tier = models.CharField(max_length=20, choices=TIERS, default=Tier.WARM.value)
    version = models.PositiveIntegerField(default=1)
    tags = ArrayField(models.CharField(max_length=MAX_TAG_CHARS), default=list, blank=True)

    supersedes = SameTeamKey("self", null=True, blank=True)
    superseded_by = SameTeamKey("self", null=True, blank=True)
    contradicts = ArrayField(models.UUIDField(), default=list, blank=True)

    agent = SameTeamKey(Agent, null=True, blank=True)
    end_user = SameTeamKey(EndUser, null=True, blank=True, verbose_name="person")
    project = SameTeamKey(Project, null=True, blank=True)
    conversation = SameTeamKey(Conversation, null=True, blank=True)
    source_message_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    source_external_ids = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    extractor = models.CharField(max_length=200)
    extraction_pass = models.PositiveSmallIntegerField(null=True, blank=True)
    actor = models.CharField(max_length=200)
    external_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - null keeps it out of the uniqueness rule
    dedupe_key = models.BinaryField(max_length=32, null=True, editable=False)

    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    purge_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Until then an expired memory can be restored; what people delete has none.",
    )

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        ordering = ["-id"]
        constraints = [
            one_of("memory_type", MEMORY_TYPES),
            one_of("scope", SCOPES),
            one_of("source", SOURCES),
            models.CheckConstraint(
                condition=~models.Q(source__in=UNCONFIRMED)
                | models.Q(is_pinned=False) & ~models.Q(memory_type__in=OF_THE_CONFIRMED),
                name="memory_unconfirmed_is_plain",
            ),
            one_of("status", STATUSES),
            one_of("tier", TIERS),
            models.CheckConstraint(
                condition=models.Q(form__in=["", *(each.value for each in Form)]),
                name="memory_form_known",
            ),
            models.CheckConstraint(
                condition=models.Q(importance__range=(1, 10)), name="memory_importance_range"
            ),
            models.CheckConstraint(
                condition=models.Q(confidence__range=(0.0, 1.0)), name="memory_confidence_range"
            ),
            models.CheckConstraint(
                condition=~models.Q(content=""), name="memory_content_not_empty"
            ),
            models.CheckConstraint(
                condition=models.Q(valid_to__isnull=True)
                | models.Q(valid_from__isnull=True)
                | models.Q(valid_to__gte=models.F("valid_from")),
                name="memory_validity_ordered",
            ),
            models.CheckConstraint(
                condition=models.Q(agent__isnull=False)
                | ~models.Q(memory_type__in=["agent_private", "identity"]),
                name="memory_private_has_agent",
            ),
            models.CheckConstraint(
                condition=models.Q(purge_at__isnull=True)
                | models.Q(status__in=[Status.SOFT_DELETED.value, Status.PURGED.value]),
                name="memory_purge_of_deleted",
            ),
            models.UniqueConstraint(
                fields=["team", "dedupe_key"],
                condition=models.Q(dedupe_key__isnull=False, status__in=LIVE),
                name="memory_fact_once",
            ),
            models.UniqueConstraint(
                fields=["team", "agent", "external_id"],
                condition=models.Q(external_id__isnull=False),
                nulls_distinct=False,
                name="memory_external_id_once",
            ),
            models.UniqueConstraint(
                fields=["team", "supersedes"],
                condition=models.Q(supersedes__isnull=False),
                name="memory_one_successor",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "end_user", "agent", "memory_type"],
                condition=_IS_LIVE,
                name="memory_live_by_owner",
            ),
            models.Index(
                fields=["team", "agent", "memory_type"],
                condition=_IS_LIVE,
                name="memory_live_by_agent",
            ),
            models.Index(
                fields=["team", "project", "importance", "created_at"],
                condition=_IS_LIVE & models.Q(project__isnull=False),
                name="memory_live_of_project",
            ),
            models.Index(
                fields=["team", "form", "-id"],
                condition=_IS_LIVE & ~models.Q(form=""),
                name="memory_live_by_form",
            ),
            models.Index(
                fields=["team", "conversation"],
                condition=models.Q(conversation__isnull=False),
                name="memory_by_conversation",
            ),
            models.Index(
                fields=["team", "subject"],
                condition=~models.Q(subject="") & models.Q(status__in=LIVE),
                name="memory_live_by_subject",
                opclasses=["", "varchar_pattern_ops"],
            ),
            models.Index(
                fields=["team", "superseded_by"],
                condition=models.Q(superseded_by__isnull=False),
                name="memory_superseded_by",
            ),
            # Partial, so that no plan looks up a memory by it: where many teams have few memories,
            # or a table is almost empty, the planner expects next to none of a team's rows and
            # reads them all by any index that knows the team, for each memory that is written.
            models.Index(
                fields=["team", "-created_at"],
                condition=models.Q(created_at__gt=SINCE_EVER),
                name="memory_by_time",
            ),
            models.Index(
                fields=["team", "end_user", "-importance", "-id"],
                condition=_IS_IMPORTANT,
                name="memory_important",
            ),
            models.Index(
                fields=["team", "-importance", "-id"],
                condition=_IS_IMPORTANT,
                name="memory_important_of_all",
            ),
            models.Index(
                fields=["team", "end_user"],
                condition=_IS_LIVE & ~models.Q(tier=Tier.COLD.value) & _IN_EVERY_PROMPT,
                name="memory_mandatory",
            ),
            # What the steps "rank" and "forget" of a consolidation look at, and the purge.
            models.Index(
                fields=["team", "id"],
                condition=_IS_LIVE
                & models.Q(tier=Tier.HOT.value, is_pinned=False, importance__lt=HOT_IMPORTANCE),
                name="memory_hot_by_use",
            ),
            models.Index(
                fields=["team", "id"],
                condition=models.Q(status=Status.SUPERSEDED.value)
                & ~models.Q(tier=Tier.COLD.value),
                name="memory_past_not_cold",
            ),
            models.Index(
                fields=["team", "valid_to", "id"],
                condition=_IS_UNPROTECTED
                & ~models.Q(tier=Tier.COLD.value)
                & models.Q(valid_to__isnull=False),
                name="memory_outdated",
            ),
            models.Index(
                fields=["team", "importance", "created_at", "id"],
                condition=_IS_UNPROTECTED,
                name="memory_unprotected",
            ),
            models.Index(
                fields=["team", "id"],
                condition=_IS_LIVE & models.Q(source__in=UNCONFIRMED),
                name="memory_unconfirmed",
            ),
            models.Index(
                fields=["team", "purge_at"],
                condition=models.Q(status=Status.SOFT_DELETED.value, purge_at__isnull=False),
                name="memory_to_purge",
            ),
        ]

    def __str__(self) -> str:
        return self.content[:80]

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def is_unconfirmed(self) -> bool:
        return self.source in UNCONFIRMED


class MemoryTag(TeamOwned):
    """One tag of one memory, copied by a trigger from `Memory.tags` for lists and filters."""

    memory = SameTeamKey(Memory, related_name="tag_rows")
    name = models.CharField(max_length=100)

    class Meta:
        verbose_name = "tag"
        constraints = [
            models.UniqueConstraint(fields=["team", "memory", "name"], name="memory_tag_once"),
        ]
        indexes = [models.Index(fields=["team", "name", "memory"], name="memory_by_tag")]

    def __str__(self) -> str:
        return self.name


class MemoryArtifact(TeamOwned):
    """Something outside of the memory that its payload names, kept by a trigger from it.

    `name` is the last part of a path, lower case and without leading underscores; `added` and
    `removed` are lines, null where the payload does not tell them; `breadth` is how many artifacts
    of the kind the memory names.
    """

    memory = SameTeamKey(Memory, related_name="artifact_rows")
    kind = models.CharField(max_length=10, choices=ARTIFACT_KINDS)
    ref = models.CharField(max_length=500)
    name = models.CharField(max_length=500, default="", db_default="")
    added = models.PositiveIntegerField(null=True)
    removed = models.PositiveIntegerField(null=True)
    breadth = models.PositiveIntegerField(default=1, db_default=1)

    class Meta:
        verbose_name = "artifact"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "memory", "kind", "ref"], name="memory_artifact_once"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "kind", "ref", "memory"], name="memory_by_artifact"),
            models.Index(fields=["team", "kind", "name", "memory"], name="memory_by_artifact_name"),
            models.Index(fields=["team", "kind", "memory"], name="memory_artifacts_by_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"


class MemoryUsage(OfTeam):
    """Counters of one memory, flushed in batches; not part of the memory's logged state.

    `daily` holds how often it was retrieved by day, such as {"2026-03-01": 4}: days in UTC, of
    which `memory.reading.usage` keeps the last ones.
    """

    memory = SameTeamRow(
        Memory,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="usage",
        db_constraint=False,
    )
    team = TeamKey()
    retrieved = models.PositiveBigIntegerField(default=0)
    cited = models.PositiveBigIntegerField(default=0)
    ignored = models.PositiveBigIntegerField(default=0)
    succeeded = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    last_accessed_at = models.DateTimeField(null=True)
    daily = models.JSONField(default=dict, db_default={}, editable=False)

    class Meta:
        indexes = [
            # Partial, so that the planner cannot look up one memory's counters by it: of an almost
            # empty table it takes any index, and a kept plan then reads all of the team's rows.
            models.Index(
                fields=["team", "-last_accessed_at"],
                name="memory_usage_by_access",
                condition=models.Q(last_accessed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.memory_id)


class ExternalName(TeamOwned):
    """An external id of a repetition of a memory that bears another one, or none.

    So an acknowledged id stays known, whatever becomes of the memory. `text_key` is the digest of
    the normalised text that was sent. Erasing the memory deletes it.
    """

    memory = SameTeamKey(Memory)
    agent = SameTeamKey(Agent, null=True)
    external_id = models.CharField(max_length=200)
    text_key = models.BinaryField(max_length=32, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "external name"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "external_id", "agent"],
                nulls_distinct=False,
                name="memory_external_name_once",
            ),
        ]
        indexes = [models.Index(fields=["team", "memory"], name="memory_names_of_memory")]

    def __str__(self) -> str:
        return self.external_id


class MemoryLevels(OfTeam):
    """The summary, compressed text and index term of one memory.

    The row comes with the memory and has no `writer` until a task fills it; a trigger logs that.
    `writer` names the rules or the model that wrote it. The vector is the summary's. Prompts tell
    no more than the level `told_at_most`, which a consolidation alone changes.
    """

    memory = SameTeamRow(
        Memory,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="stored_levels",
        db_constraint=False,
    )
    team = TeamKey()
    summary = models.TextField(blank=True, default="", db_default="")
    compressed = models.TextField(blank=True, default="", db_default="")
    index_term = models.CharField(max_length=50, blank=True, default="", db_default="")
    writer = models.CharField(max_length=200, blank=True, default="", db_default="")
    told_at_most = models.CharField(
        max_length=20,
        choices=TOLD_LEVELS,
        default=Level.CONTENT.value,
        db_default=Level.CONTENT.value,
    )
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        verbose_name_plural = "levels"
        constraints = [
            one_of("told_at_most", TOLD_LEVELS, name="memory_levels_told_known"),
        ]
        indexes = [
            models.Index(
                fields=["team", "memory"],
                condition=models.Q(writer=""),
                name="memory_levels_waiting",
            ),
        ]

    def __str__(self) -> str:
        return self.index_term or str(self.memory_id)


class Category(TeamOwned):
    """A word of the team's vocabulary; memories name it as text, so it may go without them.

    `length` is how many of its memories one answer holds at most; None means as many as fit.
    """

    class Context(models.TextChoices):
        ALL = "all", "All memories of the category"
        RAG = "rag", "Only memories that match the question"

    name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, blank=True, default="")
    context = models.CharField(max_length=10, choices=Context.choices, default=Context.RAG)
    length = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Maximum number of its memories in an answer; empty for no limit.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "categories"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="category_name_once"),
            models.CheckConstraint(condition=~models.Q(name=""), name="category_name_not_empty"),
            one_of("context", [("all", ""), ("rag", "")], name="category_context_known"),
            models.CheckConstraint(
                condition=models.Q(length__isnull=True) | models.Q(length__gte=1),
                name="category_length_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name
