"""Teams, their staff, their agents and the people the agents talk with."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.core.validators import MinValueValidator
from django.db import models

from teams.ids import new_id

from .base import TeamOwned

DEFAULT_SUMMARIZE_INTERVAL = 20


class StaffUser(AbstractUser):
    """A person who signs in to the web admin."""

    class Meta(AbstractUser.Meta):
        verbose_name = "staff login"
        verbose_name_plural = "staff logins"


class Team(models.Model):
    """A tenant: everything else belongs to exactly one team."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Membership(TeamOwned):
    """What a staff login may do in a team."""

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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="project_slug_once"),
        ]

    def __str__(self) -> str:
        return self.slug


class EndUser(TeamOwned):
    """A person an agent talks with, known by the team's own external id."""

    external_id = models.CharField(max_length=200)
    display_name = models.CharField(max_length=200, blank=True, default="")
    profile = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["external_id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "external_id"], name="end_user_once"),
        ]

    def __str__(self) -> str:
        return self.display_name or self.external_id

    @property
    def is_erased(self) -> bool:
        """Whether the person was erased: then nothing is written for them any more."""
        return self.external_id == f"erased-{self.pk}"


class Agent(TeamOwned):
    """An AI agent of the team and its identity document (seed 000, section 3A)."""

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
    allowed_categories = models.JSONField(default=list, blank=True)
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
