"""Keys that expire, keys that only read, and keys that take the place of others."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from teams.errors import ConflictError, InvalidError
from teams.models import ApiKey
from teams.services.keys import (
    IssuedKey,
    KeyExpiredError,
    issue_key,
    principal_of,
    revoke_key,
    rotate_key,
)
from teams.tenancy import team_scope
from tests.support.cast import Cast

HOUR = timedelta(hours=1)


def client_of_key(issued: IssuedKey) -> APIClient:
    """A client that sends this key."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.token}")
    return client


def command(name: str, *arguments: str) -> str:
    """Returns what the command prints."""
    out = io.StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue().strip()


# -- expiry ----------------------------------------------------------------------------------


def test_a_key_is_valid_until_it_expires_and_then_told_so(acme: Cast) -> None:
    now = timezone.now()
    lasting = issue_key(team_id=acme.team.id, expires_at=now + HOUR)
    ended = issue_key(team_id=acme.team.id, expires_at=now - HOUR)

    refused = client_of_key(ended).get("/v1/memories")

    assert client_of_key(lasting).get("/v1/memories").status_code == 200
    assert refused.status_code == 401
    assert "expired" in refused.json()["detail"]
    assert refused["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_key_is_not_told_that_it_expired(acme: Cast) -> None:
    issued = issue_key(team_id=acme.team.id, expires_at=timezone.now() - HOUR)
    revoke_key(team_id=acme.team.id, key_id=issued.key.pk, now=timezone.now())

    assert principal_of(issued.token) is None


# -- read-only -------------------------------------------------------------------------------


@pytest.fixture
def reader(acme: Cast) -> APIClient:
    """A client with a key of Acme that only reads."""
    return client_of_key(issue_key(team_id=acme.team.id, is_read_only=True))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/retrieve", {"agent": "kyra", "query": "tea"}),
        ("/v1/prompt", {"agent": "kyra", "query": "tea"}),
        ("/v1/memory/query", {"agent": "kyra", "query": "tea"}),
        ("/v1/context/assemble", {"agent": "kyra"}),
    ],
)
def test_a_read_only_key_asks(reader: APIClient, path: str, body: dict[str, str]) -> None:
    assert reader.get("/v1/memories").status_code == 200
    assert reader.options("/v1/memories").status_code == 204

    answer = reader.post(path, body, format="json")

    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/memories"),
        ("POST", "/v1/conversations"),
        ("POST", "/v1/chat/completions"),
        ("PUT", "/v1/agents/kyra"),
        ("POST", "/v1/usage"),
        ("POST", "/v1/consolidate"),
        ("DELETE", "/v1/memories/01920000-0000-7000-8000-00000000dead"),
        ("PATCH", "/v1/memories/01920000-0000-7000-8000-00000000dead"),
    ],
)
def test_a_read_only_key_changes_nothing(reader: APIClient, method: str, path: str) -> None:
    answer = reader.generic(method, path, "{", content_type="application/json")

    assert answer.status_code == 403
    assert "read-only" in answer.content.decode()


# -- rotating --------------------------------------------------------------------------------


def test_both_keys_are_valid_for_the_overlap(acme: Cast) -> None:
    now = timezone.now()
    old = issue_key(team_id=acme.team.id, agent=acme.kyra, name="nightly", is_read_only=True)

    new = rotate_key(team_id=acme.team.id, key_id=old.key.pk, now=now, overlap=HOUR)

    assert principal_of(old.token) is not None
    principal = principal_of(new.token)
    assert principal is not None
    assert (principal.agent_slug, principal.is_read_only) == ("kyra", True)
    assert (new.key.name, new.key.expires_at) == ("nightly", None)
    assert ApiKey.objects.get(pk=old.key.pk).expires_at == now + HOUR


@pytest.mark.parametrize("ends", [None, timedelta(days=30)])
def test_a_key_is_rotated_once(acme: Cast, ends: timedelta | None) -> None:
    now = timezone.now()
    old = issue_key(team_id=acme.team.id, expires_at=None if ends is None else now + ends)
    new = rotate_key(team_id=acme.team.id, key_id=old.key.pk, now=now, overlap=24 * HOUR)

    with pytest.raises(ConflictError, match="rotate the key that replaced it"):
        rotate_key(team_id=acme.team.id, key_id=old.key.pk, now=now + HOUR, overlap=24 * HOUR)
    newest = rotate_key(team_id=acme.team.id, key_id=new.key.pk, now=now + HOUR, overlap=24 * HOUR)

    assert ApiKey.objects.count() == 3
    assert (newest.key.expires_at is None) == (ends is None)


def test_without_an_overlap_the_old_key_ends_at_once(acme: Cast) -> None:
    old = issue_key(team_id=acme.team.id)

    rotate_key(
        team_id=acme.team.id, key_id=old.key.pk, now=timezone.now() - HOUR, overlap=timedelta(0)
    )

    with pytest.raises(KeyExpiredError):
        principal_of(old.token)


def test_an_overlap_does_not_prolong_and_a_limited_key_is_renewed_for_as_long(acme: Cast) -> None:
    now = timezone.now()
    old = issue_key(team_id=acme.team.id, expires_at=now + HOUR)
    life = now + HOUR - old.key.created_at

    new = rotate_key(team_id=acme.team.id, key_id=old.key.pk, now=now, overlap=24 * HOUR)

    assert ApiKey.objects.get(pk=old.key.pk).expires_at == now + HOUR
    assert new.key.expires_at == now + life


def test_what_is_no_longer_valid_is_not_rotated(acme: Cast) -> None:
    now = timezone.now()
    ended = issue_key(team_id=acme.team.id, expires_at=now - HOUR).key
    revoked = issue_key(team_id=acme.team.id).key
    revoke_key(team_id=acme.team.id, key_id=revoked.pk, now=now)

    for key in (ended, revoked):
        with pytest.raises(ConflictError):
            rotate_key(team_id=acme.team.id, key_id=key.pk, now=now, overlap=HOUR)
    with pytest.raises(InvalidError):
        rotate_key(team_id=acme.team.id, key_id=ended.pk, now=now, overlap=-HOUR)
    assert ApiKey.objects.count() == 2


# -- commands --------------------------------------------------------------------------------


def test_the_commands_issue_rotate_and_revoke(db: None) -> None:
    first = command("issue_key", "--team", "hooli", "--read-only", "--days", "2")
    second = command("rotate_key", first.split("_")[1], "--team", "hooli", "--overlap-hours", "0.5")
    said = command("revoke_key", second.split("_")[1], "--team", "hooli")

    principal = principal_of(first)
    assert principal is not None
    assert principal.is_read_only
    assert principal_of(second) is None
    assert "is revoked since" in said
    with team_scope(team_ids=[principal.team_id], actor="test"):
        old = ApiKey.objects.get(pk=principal.key_id)
    assert old.expires_at is not None
    assert timedelta(0) < old.expires_at - timezone.now() <= timedelta(hours=0.5)


@pytest.mark.parametrize(
    "arguments",
    [
        ["revoke_key", "00000000", "--team", "acme"],
        ["rotate_key", "00000000", "--team", "acme"],
        ["revoke_key", "00000000", "--team", "nowhere"],
        ["rotate_key", "00000000", "--team", "acme", "--overlap-hours", "0"],
        ["issue_key", "--team", "acme", "--days", "-1"],
        ["issue_key", "--team", "acme", "--days", "nan"],
    ],
)
def test_the_commands_refuse_in_one_line(acme: Cast, arguments: list[str]) -> None:
    with pytest.raises(CommandError) as refusal:
        command(*arguments)

    assert len(str(refusal.value).splitlines()) == 1
    assert not ApiKey.objects.exists()
