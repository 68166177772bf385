"""Teams, their staff, keys and agents, the people the agents talk with, and what they were."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from decimal import Decimal

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from teams.domain.agent_document import MAX_FOCUS_CHARS
from teams.domain.team_settings import default_sensitive_fields, known_zone, zone_or_utc
from teams.ids import new_id

from .base import SameTeamKey, TeamOwned

DEFAULT_SUMMARIZE_INTERVAL = 20
# Memories of a project (seed 003, section 3.3).
DEFAULT_MAX_ITEMS = 1000


class StaffUser(AbstractUser):
    """A person who signs in to the web admin.

    `invited_at` is when the one-time link of its first password was made; None for a login that
    was not invited. `former_team_ids` are teams that it was removed from.
    """

    invited_at = models.DateTimeField(null=True, blank=True, editable=False)
    former_team_ids = ArrayField(
        models.UUIDField(), default=list, db_default=[], blank=True, editable=False
    )

    class Meta(AbstractUser.Meta):
        verbose_name = "login"
        verbose_name_plural = "logins"

    @property
    def link_expires_at(self) -> datetime | None:
        """The expiry of an invitation's link; None once a password is set or it was used."""
        if self.invited_at is None or self.last_login or self.has_usable_password():
            return None
        return self.invited_at + timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT)


def check_time_zone(name: str) -> None:
    """Raise ValidationError for what is no IANA name of a time zone."""
    if known_zone(name) is None:
        raise ValidationError("Write the name of a time zone, such as Europe/Oslo or UTC.")


class Role(models.TextChoices):
    """The role of a person: a member works for the team, a guest is a customer of it."""

    MEMBER = "member", "member"
    GUEST = "guest", "guest"


class Team(models.Model):
    """A tenant: everything else belongs to exactly one team.

    Days and months of its budgets begin in its time zone. `feature_flags` holds overrides of the
    installation's flags alone; a budget of None is the installation's. While `frozen_at` is set
    nothing of it is written; `exported_at` says when the file of its move was complete, and
    `moved_to` is the address of the deployment that has it by now.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    time_zone = models.CharField(
        max_length=100,
        default="UTC",
        validators=[check_time_zone],
        help_text="The time zone of the team's days and months, for example Europe/Oslo.",
    )
    person_role = models.CharField(
        "role of new people",
        max_length=10,
        choices=Role.choices,
        default=Role.GUEST,
        db_default=Role.GUEST,
        help_text="Members' agents can use what other members said about work. Guests' agents"
        " cannot. Guests are, for example, customers.",
    )
    feature_flags = models.JSONField(default=dict, blank=True)
    sensitive_fields = models.JSONField(
        default=default_sensitive_fields,
        db_default=models.Value(default_sensitive_fields(), models.JSONField()),
        blank=True,
        help_text="Profile fields of a person that change only with consent.",
    )
    context_settings = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="Overrides of the defaults for read-only context.",
    )
    lifecycle_settings = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="Overrides of the defaults for merging, shortening, ranking and forgetting.",
    )
    monthly_budget_usd = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text="Maximum model cost of the team per month in USD; empty: the server's default.",
    )
    daily_user_budget_usd = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text="Maximum model cost per person and day in USD; empty: the server's default.",
    )
    episode_rest_hours = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Hours without a message after which a conversation is summarised as an episode;"
        " empty for the default.",
    )
    extraction_instructions = models.TextField(
        max_length=MAX_FOCUS_CHARS,
        blank=True,
        default="",
        db_default="",
        validators=[MaxLengthValidator(MAX_FOCUS_CHARS)],
        help_text="What to look for and what to leave out when memories are extracted from what is"
        " said. Only a language model reads them.",
    )
    frozen_at = models.DateTimeField(null=True, editable=False)
    exported_at = models.DateTimeField(null=True, editable=False)
    moved_to = models.URLField(blank=True, default="", db_default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        indexes = [
            models.Index(
                fields=["id"], condition=models.Q(frozen_at__isnull=False), name="team_frozen"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(moved_to="")
                | models.Q(frozen_at__isnull=False, exported_at__isnull=False),
                name="team_moved_is_frozen",
            ),
            models.CheckConstraint(
                condition=models.Q(episode_rest_hours__isnull=True)
                | models.Q(episode_rest_hours__gte=1),
                name="team_episode_rest_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(monthly_budget_usd__isnull=True)
                | models.Q(monthly_budget_usd__gte=0),
                name="team_monthly_budget_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(daily_user_budget_usd__isnull=True)
                | models.Q(daily_user_budget_usd__gte=0),
                name="team_daily_budget_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> tzinfo:
        """Its time zone; UTC where this machine does not know the name."""
        return zone_or_utc(self.time_zone)


class Membership(TeamOwned):
    """The role of a staff login in a team."""

    class Role(models.TextChoices):
        ADMIN = "admin", "Admin"
        REVIEWER = "reviewer", "Reviewer"
        VIEWER = "viewer", "Viewer"

    user = models.ForeignKey(StaffUser, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "member"
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=["admin", "reviewer", "viewer"]),
                name="membership_role_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class Project(TeamOwned):
    """A namespace of work; memories of one project are not seen from another."""

    slug = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    max_items = models.PositiveIntegerField(
        "memory limit",
        default=DEFAULT_MAX_ITEMS,
        db_default=DEFAULT_MAX_ITEMS,
        validators=[MinValueValidator(1)],
        help_text="Maximum number of current memories. Above it, the least important tenth is"
        " archived, oldest first; pinned memories stay.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="project_slug_once"),
            models.CheckConstraint(
                condition=models.Q(max_items__gte=1), name="project_max_items_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.slug


def erased_name(path: str = "") -> Concat:
    """The external id that the person at `path` has once erased, to compare it with the present."""
    return Concat(models.Value("erased-"), Cast(f"{path}id", models.CharField()))


class EndUser(TeamOwned):
    """A person an agent talks with, known by the team's own external id."""

    external_id = models.CharField(max_length=200)
    display_name = models.CharField(max_length=200, blank=True, default="")
    role = models.CharField(
        max_length=10,
        choices=Role.choices,
        blank=True,
        default="",
        db_default="",
        help_text="Members' agents can use what other members said about work. Guests' agents"
        " cannot. Empty: the team's default for new people.",
    )
    profile = models.JSONField(default=dict, blank=True)
    has_insights = models.BooleanField(
        "insights",
        default=True,
        db_default=True,
        help_text="Derive insights about this person.",
    )
    insights_at = models.DateTimeField(
        null=True, editable=False, help_text="The last search for insights."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"
        ordering = ["external_id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "external_id"], name="end_user_once"),
        ]

    def __str__(self) -> str:
        return self.display_name or self.external_id

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the person, the preferred one first."""
        return tuple(filter(None, (self.display_name, self.external_id)))

    @property
    def is_erased(self) -> bool:
        """True once the person was erased: then nothing more is written for them."""
        return self.external_id == f"erased-{self.pk}"


class Agent(TeamOwned):
    """An AI agent of the team and its identity document (seed 000, section 3A).

    `version` counts the document's changes; the database alone moves it and keeps each one as an
    `AgentVersion`.
    """

    slug = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    tagline = models.CharField(max_length=300, blank=True, default="")
    personality = models.JSONField(default=dict, blank=True)
    rules = models.JSONField(default=dict, blank=True)
    skills = models.JSONField(default=dict, blank=True)
    model_config = models.JSONField(default=dict, blank=True)
    retrieval_weights = models.JSONField(default=dict, blank=True)
    token_budget = models.PositiveIntegerField(default=2000, validators=[MinValueValidator(1)])
    summarize_interval = models.PositiveIntegerField(
        default=DEFAULT_SUMMARIZE_INTERVAL, validators=[MinValueValidator(1)]
    )
    extraction_instructions = models.TextField(blank=True, default="", db_default="")
    allowed_categories = models.JSONField(default=list, blank=True)
    keeps_to_itself = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Other agents do not see what it learns in conversations.",
    )
    context_policy = models.JSONField(default=dict, db_default={}, blank=True)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="agent_slug_once"),
            models.CheckConstraint(
                condition=models.Q(summarize_interval__gte=1), name="agent_interval_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(token_budget__gte=1), name="agent_budget_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.slug


class Version(TeamOwned):
    """The state of a row from `created_at` on, saved in the change's transaction, whoever made it.

    The database alone writes versions (sql/agent_versions.sql, sql/team_versions.sql).
    """

    number = models.PositiveIntegerField("version")
    document = models.JSONField()
    actor = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True
        ordering = ["-number"]


class AgentVersion(Version):
    """An agent's document as it stood."""

    agent = SameTeamKey(Agent, related_name="versions")

    class Meta(Version.Meta):
        constraints = [
            models.UniqueConstraint(fields=["team", "agent", "number"], name="agent_version_once"),
            models.CheckConstraint(
                condition=models.Q(number__gte=1), name="agent_version_from_one"
            ),
        ]

    def __str__(self) -> str:
        return f"Version {self.number} of {self.agent}"


class TeamVersion(Version):
    """A team's name, time zone, budgets and other settings as they stood."""

    class Meta(Version.Meta):
        constraints = [
            models.UniqueConstraint(fields=["team", "number"], name="team_version_once"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="team_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"Version {self.number} of {self.team}"


class ApiKey(TeamOwned):
    """A credential of a team, or of one of its agents; only its digest is kept.

    It is refused from `expires_at` on, by the database's clock. A read-only one is refused where a
    request writes.
    """

    agent = SameTeamKey(Agent, related_name="keys", null=True, blank=True)
    name = models.CharField(max_length=200, blank=True, default="")
    prefix = models.CharField(max_length=16, editable=False)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    project_ids = ArrayField(
        models.UUIDField(),
        default=list,
        db_default=models.Value([]),
        blank=True,
        help_text="The projects that the key can see; empty for all.",
    )
    is_read_only = models.BooleanField(
        "read-only",
        default=False,
        db_default=False,
        help_text="The key can read, but not change anything.",
    )
    expires_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The key stops working at this time. Empty: it never expires.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    rotated_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["team", "prefix"], name="api_key_prefix_once"),
        ]

    def __str__(self) -> str:
        return self.prefix


class AgentAlias(TeamOwned):
    """Another name by which the API finds an agent, such as the slug it had before.

    No alias is the slug of an agent of the team: the database refuses both ways, and turns the old
    slug into an alias where a slug is changed by SQL (sql/agent_aliases.sql).
    """

    agent = SameTeamKey(Agent, related_name="aliases")
    slug = models.CharField(max_length=100)
    actor = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="agent_alias_once"),
        ]
        indexes = [models.Index(fields=["team", "agent"], name="agent_alias_by_agent")]

    def __str__(self) -> str:
        return self.slug
