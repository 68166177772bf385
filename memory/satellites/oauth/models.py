"""Registered clients, the grants that people give them, and the tokens of these grants."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from teams.ids import new_id
from teams.models import Agent, EndUser, StaffUser
from teams.models.base import SameTeamKey, TeamOwned


class Client(models.Model):
    """A program that registered itself (RFC 7591); it belongs to no team and has no secret."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    redirect_uris = ArrayField(models.CharField(max_length=2000))
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Grant(TeamOwned):
    """The consent of a login that a client acts as an agent, and for a person if one is named.

    `resource` is the address of the MCP endpoint that its tokens are for. `used_at` is when it last
    received tokens.
    """

    client = models.ForeignKey(Client, on_delete=models.PROTECT, related_name="grants")
    user = models.ForeignKey(
        StaffUser, on_delete=models.PROTECT, related_name="+", verbose_name="login"
    )
    agent = SameTeamKey(Agent)
    end_user = SameTeamKey(EndUser, null=True, blank=True, verbose_name="person")
    is_read_only = models.BooleanField("read-only", default=False)
    resource = models.CharField("MCP endpoint", max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "MCP sign-in"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.client} as {self.agent}"


class Token(TeamOwned):
    """An authorization code, access token or refresh token of a grant; only its digest is stored.

    `used_at` is when a code or refresh token was exchanged: a second exchange ends the grant. The
    redirect URI and the challenge are those of a code.
    """

    class Kind(models.TextChoices):
        CODE = "code", "authorization code"
        ACCESS = "access", "access token"
        REFRESH = "refresh", "refresh token"

    grant = SameTeamKey(Grant, related_name="tokens")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    redirect_uri = models.CharField(max_length=2000, blank=True, default="")
    code_challenge = models.CharField(max_length=43, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["team", "grant"], name="oauth_token_by_grant")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"
