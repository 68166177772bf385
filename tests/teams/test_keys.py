"""API keys: shown once, kept as a digest, bound to a team or one agent, gone at once."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from teams.errors import NotFoundError
from teams.models import Agent, ApiKey
from teams.services.keys import (
    NOTED_EVERY,
    USE_KEY,
    IssuedKey,
    issue_key,
    note_key_use,
    principal_of,
    record_key_uses,
    revoke_key,
    take_key_uses,
)
from teams.services.people import team_id_of_slug
from teams.tasks import flush_key_use
from teams.tenancy import team_scope
from tests.support.cast import Cast

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def issued(acme: Cast) -> IssuedKey:
    """A key of Acme, bound to no agent."""
    return issue_key(team_id=acme.team.id, name="ci")


def client_with(header: str) -> APIClient:
    """A client that sends this Authorization header."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)
    return client


# -- issuing ---------------------------------------------------------------------------------


def test_a_token_carries_its_prefix_and_a_long_secret(issued: IssuedKey) -> None:
    assert re.fullmatch(r"pal_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", issued.token)
    assert issued.token.split("_")[1] == issued.key.prefix


def test_tokens_differ(acme: Cast) -> None:
    assert len({issue_key(team_id=acme.team.id).token for _ in range(20)}) == 20


def test_only_the_digest_is_kept(issued: IssuedKey) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_jsonb(k)::text FROM teams_apikey k WHERE id = %s", [issued.key.pk]
        )
        (row,) = cursor.fetchone()

    secret = issued.token.split("_", 2)[2]
    assert secret not in row
    assert bytes(ApiKey.objects.get().digest) == hashlib.sha256(issued.token.encode()).digest()


def test_a_key_knows_its_team(acme: Cast, issued: IssuedKey) -> None:
    principal = principal_of(issued.token)

    assert principal is not None
    assert (principal.team_id, principal.agent_id) == (acme.team.id, None)
    assert principal.actor == f"key:{issued.key.prefix}"


def test_a_bound_key_knows_its_agent(acme: Cast) -> None:
    token = issue_key(team_id=acme.team.id, agent=acme.kyra).token

    principal = principal_of(token)

    assert principal is not None
    assert (principal.agent_id, principal.agent_slug) == (acme.kyra.pk, "kyra")
    assert principal.actor == "agent:kyra"


# -- who is let in ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-1],
        lambda token: token + "x",
        lambda token: token.swapcase(),
        lambda token: token.replace("pal_", "lap_"),
        lambda token: "pal_",
        lambda token: "",
        lambda token: "x" * 10_000,
    ],
    ids=["short", "long", "case", "start", "start only", "empty", "huge"],
)
def test_a_wrong_token_is_nobodys(issued: IssuedKey, spoil: Callable[[str], str]) -> None:
    assert principal_of(spoil(issued.token)) is None


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer pal_00000000_wrong",
        "Bearer one two",
        "Basic dXNlcjpwYXNz",
        "Token {token}",
        "Bearer {token}x",
        "{token}",
        "Bearer pal_é",
        "Bearer \x00",
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/memories"),
        ("POST", "/v1/conversations"),
        ("POST", "/v1/retrieve"),
        ("GET", "/v1/jobs/01920000-0000-7000-8000-00000000dead"),
    ],
)
def test_a_request_without_a_valid_key_is_401(
    issued: IssuedKey, header: str, method: str, path: str
) -> None:
    client = client_with(header.format(token=issued.token))

    response = client.generic(method, path, "{}", content_type="application/json")

    assert response.status_code == 401
    assert response["Content-Type"] == "application/problem+json"
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["status"] == 401


def test_a_request_without_the_header_is_401(db: None) -> None:
    response = APIClient().get("/v1/memories")

    assert response.status_code == 401
    assert response.json()["detail"] == "Send the header «Authorization: Bearer <API key>»."
    assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_valid_key_is_let_in(issued: IssuedKey, scheme: str) -> None:
    assert client_with(f"{scheme} {issued.token}").get("/v1/memories").status_code == 200


def test_a_refusal_does_not_repeat_the_key(issued: IssuedKey) -> None:
    response = client_with(f"Bearer {issued.token}x").get("/v1/memories")

    assert issued.token not in response.content.decode()


# -- revoking --------------------------------------------------------------------------------


def test_a_revoked_key_is_out_at_once(acme: Cast, issued: IssuedKey) -> None:
    client = client_with(f"Bearer {issued.token}")
    before = client.get("/v1/memories").status_code

    revoke_key(team_id=acme.team.id, key_id=issued.key.pk, now=NOON)

    assert (before, client.get("/v1/memories").status_code) == (200, 401)
    assert principal_of(issued.token) is None


def test_revoking_again_keeps_the_first_time(acme: Cast, issued: IssuedKey) -> None:
    revoke_key(team_id=acme.team.id, key_id=issued.key.pk, now=NOON)

    again = revoke_key(team_id=acme.team.id, key_id=issued.key.pk, now=NOON + timedelta(hours=1))

    assert again.revoked_at == NOON


def test_revoking_one_key_leaves_the_others(acme: Cast, issued: IssuedKey) -> None:
    other = issue_key(team_id=acme.team.id)

    revoke_key(team_id=acme.team.id, key_id=issued.key.pk, now=NOON)

    assert principal_of(other.token) is not None


def test_another_teams_key_cannot_be_revoked(globex: Cast, issued: IssuedKey) -> None:
    with (
        team_scope(team_ids=[globex.team.id], actor="test"),
        pytest.raises(NotFoundError),
    ):
        revoke_key(team_id=globex.team.id, key_id=issued.key.pk, now=NOON)

    assert principal_of(issued.token) is not None


# -- last use --------------------------------------------------------------------------------


def last_use(issued: IssuedKey) -> datetime | None:
    """Returns the time of the key's last use in the database."""
    return ApiKey.objects.get(pk=issued.key.pk).last_used_at


def test_a_request_writes_nothing_about_its_key(issued: IssuedKey) -> None:
    client = client_with(f"Bearer {issued.token}")

    with CaptureQueriesContext(connection) as queries:
        client.get("/v1/memories")

    written = [q["sql"] for q in queries if re.match(r"\s*(UPDATE|INSERT|DELETE)", q["sql"])]
    assert written == []
    assert last_use(issued) is None


def test_the_last_use_is_written_down_by_the_task(issued: IssuedKey) -> None:
    before = timezone.now().replace(microsecond=0)
    client_with(f"Bearer {issued.token}").get("/v1/memories")

    flush_key_use()

    used = last_use(issued)
    assert used is not None
    assert before <= used <= timezone.now()


def test_many_uses_are_one_note(issued: IssuedKey) -> None:
    principal = principal_of(issued.token)
    assert principal is not None
    for minute in range(5):
        note_key_use(principal=principal, now=NOON + timedelta(minutes=minute))

    assert get_redis_connection("default").hlen(USE_KEY) == 1
    flush_key_use()
    assert last_use(issued) == NOON + timedelta(minutes=4)


def test_a_process_notes_the_use_of_a_key_every_few_seconds(issued: IssuedKey) -> None:
    principal = principal_of(issued.token)
    assert principal is not None
    for moment in (NOON, NOON + NOTED_EVERY / 2, NOON + NOTED_EVERY, NOON + 1.5 * NOTED_EVERY):
        note_key_use(principal=principal, now=moment)

    flush_key_use()
    assert last_use(issued) == NOON + NOTED_EVERY


def test_an_older_note_does_not_turn_the_time_back(acme: Cast, issued: IssuedKey) -> None:
    record_key_uses(team_id=acme.team.id, uses={issued.key.pk: NOON})
    record_key_uses(team_id=acme.team.id, uses={issued.key.pk: NOON - timedelta(hours=1)})

    assert last_use(issued) == NOON


def test_a_flush_that_crashed_is_finished_by_the_next(issued: IssuedKey) -> None:
    principal = principal_of(issued.token)
    assert principal is not None
    note_key_use(principal=principal, now=NOON)
    take_key_uses()  # and then the worker dies

    flush_key_use()

    assert last_use(issued) == NOON


def test_notes_made_while_a_flush_was_lost_are_not_lost(issued: IssuedKey) -> None:
    principal = principal_of(issued.token)
    assert principal is not None
    note_key_use(principal=principal, now=NOON)
    take_key_uses()
    note_key_use(principal=principal, now=NOON + timedelta(minutes=1))

    flush_key_use()
    flush_key_use()

    assert last_use(issued) == NOON + timedelta(minutes=1)


def test_flushing_without_notes_does_nothing(issued: IssuedKey) -> None:
    flush_key_use()

    assert last_use(issued) is None


def test_uses_of_two_teams_are_written_in_their_own(
    acme: Cast, globex: Cast, issued: IssuedKey
) -> None:
    with team_scope(team_ids=[globex.team.id], actor="test"):
        theirs = issue_key(team_id=globex.team.id)
    for token in (issued.token, theirs.token):
        client_with(f"Bearer {token}").get("/v1/memories")

    flush_key_use()

    assert last_use(issued) is not None
    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert last_use(theirs) is not None


# -- the command -----------------------------------------------------------------------------


def command(*arguments: str) -> str:
    """Returns what `manage.py issue_key` prints."""
    out = io.StringIO()
    call_command("issue_key", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_says_what_it_created_beside_the_key(acme: Cast) -> None:
    out, err = io.StringIO(), io.StringIO()

    call_command("issue_key", "--team", "acm", "--agent", "ky", stdout=out, stderr=err)

    assert "Created the team 'acm'. Existing teams with a similar name: 'acme'." in err.getvalue()
    assert "Created the agent 'ky'." in err.getvalue()
    assert len(out.getvalue().split()) == 1


def test_the_command_names_a_slug_for_an_agent_of_several_words(acme: Cast) -> None:
    keys = ApiKey.objects.count()

    with pytest.raises(CommandError, match="such as 'support-bot'"):
        command("--team", "acme", "--agent", "Support Bot")

    assert ApiKey.objects.count() == keys


def test_the_command_prints_the_key_alone(db: None) -> None:
    printed = command("--team", "hooli")

    assert re.fullmatch(r"pal_\S+\n", printed)
    principal = principal_of(printed.strip())
    assert principal is not None
    assert principal.team_id == team_id_of_slug("hooli")
    assert principal.agent_id is None


def test_the_command_creates_the_agent_and_binds_the_key(db: None) -> None:
    principal = principal_of(command("--team", "hooli", "--agent", "gavin").strip())

    assert principal is not None
    assert principal.agent_slug == "gavin"
    with team_scope(team_ids=[principal.team_id], actor="test"):
        assert Agent.objects.get().pk == principal.agent_id


def test_the_command_uses_what_exists(acme: Cast) -> None:
    principal = principal_of(command("--team", "acme", "--agent", "kyra").strip())

    assert principal is not None
    assert (principal.team_id, principal.agent_id) == (acme.team.id, acme.kyra.pk)
    assert Agent.objects.count() == 2


def test_each_call_is_another_key_and_the_old_one_stays_valid(db: None) -> None:
    first, second = command("--team", "hooli").strip(), command("--team", "hooli").strip()

    assert first != second
    assert principal_of(first) is not None
    assert principal_of(second) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        ["--team", "no spaces"],
        ["--team", ""],
        ["--team", "é"],
        ["--team", "x" * 101],
        ["--team", "hooli", "--agent", "x" * 101],
        [],
    ],
    ids=["spaces", "empty", "letters", "long team", "long agent", "no team"],
)
def test_the_command_refuses_a_bad_name_in_one_line(db: None, arguments: list[str]) -> None:
    with pytest.raises(CommandError) as refusal:
        command(*arguments)

    assert len(str(refusal.value).splitlines()) == 1
