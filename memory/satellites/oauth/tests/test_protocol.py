"""Discovery, registration, authorization and tokens as the standards have them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client as Browser
from django.utils import timezone

from memory.satellites.oauth import grants
from memory.satellites.oauth.models import Client, Grant, Token
from memory.satellites.oauth.tests.signing_in import (
    REDIRECT,
    RESOURCE,
    Program,
    api_of,
    browser_of,
    parameters_of,
    ping,
    register,
)
from memory.satellites.oauth.views import REGISTRATIONS_A_MINUTE
from teams.models import Membership, StaffUser, Team
from teams.services.people import change_role, remove_member
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.tenants import ask

ISSUER = RESOURCE.removesuffix("/mcp")


def test_a_refusal_of_mcp_leads_to_the_endpoints(db: None) -> None:
    challenge = ping("mcp_wrong")["WWW-Authenticate"]
    prefix = f'resource_metadata="{ISSUER}'
    assert 'error="invalid_token"' in challenge
    path = challenge.split(prefix)[1].split('"')[0]
    resource = Browser().get(path).json()
    server = Browser().get("/.well-known/oauth-authorization-server").json()

    assert resource["resource"] == RESOURCE
    assert resource["authorization_servers"] == [ISSUER] == [server["issuer"]]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["registration_endpoint"] == f"{ISSUER}/register"


# -- registration ----------------------------------------------------------------------------


def test_a_client_is_registered_without_a_secret_whatever_it_asks_for(db: None) -> None:
    answer = register(
        client_name="Chat\n\x00 program",
        token_endpoint_auth_method="client_secret_post",
        grant_types=["authorization_code"],
    )

    assert answer.status_code == 201
    assert answer.json()["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in answer.json()
    assert Client.objects.get(pk=answer.json()["client_id"]).name == "Chat program"


@pytest.mark.parametrize(
    "uri",
    [
        "http://chat.example/callback",
        "http://127.0.0.1.chat.example/",
        "chat://callback",
        "javascript:alert(1)",
        "https://chat.example/#part",
        "https://user@chat.example/",
        "https://chat.example/" + "x" * 2_000,
    ],
)
def test_only_https_and_the_own_machine_may_be_redirected_to(db: None, uri: str) -> None:
    answer = register(redirect_uris=[uri])

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"redirect_uris": []}', b"x" * 70_000])
def test_what_is_no_registration_is_refused_in_the_form_of_the_standard(
    db: None, body: bytes
) -> None:
    answer = Browser().post("/register", body, content_type="application/json")

    assert answer.status_code in (400, 413)
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_request")


def test_an_address_may_register_so_many_a_minute(db: None) -> None:
    answers = [register().status_code for _ in range(REGISTRATIONS_A_MINUTE)]
    refused = register()

    assert set(answers) == {201}
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0


def test_registrations_of_an_hour_are_bounded_without_redis(db: None) -> None:
    uris = [REDIRECT]
    stored = Client.objects.bulk_create(
        Client(name="Chat", redirect_uris=uris) for _ in range(grants.REGISTRATIONS_AN_HOUR)
    )

    refused = register()
    stored[0].delete()
    accepted = register()
    later = grants.wait_to_register(now=timezone.now() + timedelta(hours=1))

    assert refused.status_code == 429
    assert 3_000 < int(refused["Retry-After"]) <= 3_600
    assert accepted.status_code == 201
    assert later <= timedelta(0)


# -- authorization ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://chat.example/other"},
        {"redirect_uri": "https://chat.example/callback"},
        {"redirect_uri": None},
        {"client_id": "nobody"},
        {"client_id": "0193b7a0-0000-7000-8000-000000000000"},
    ],
)
def test_nobody_is_sent_to_an_address_that_is_not_registered(
    program: Program, changes: dict[str, str | None]
) -> None:
    answer = program.asks(**changes)

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": f"{ISSUER}/v1"}, "invalid_target"),
    ],
)
def test_a_wrong_request_is_sent_back_with_its_state_by_who_is_signed_in(
    program: Program, ann: Browser, changes: dict[str, str | None], error: str
) -> None:
    refused = program.asks(**changes)
    answer = program.asks(ann, **changes)
    sent = parameters_of(answer["Location"])

    assert (refused.status_code, refused.json()["error"]) == (400, error)

    assert answer["Location"].startswith("https://chat.example/callback?from=palimpsest&")
    assert (sent["error"], sent["state"]) == (error, "xyz & 1")


def test_a_program_of_the_own_machine_may_listen_on_any_port(db: None) -> None:
    given = register(redirect_uris=["http://127.0.0.1:3000/callback", "http://localhost"])
    local = Program(given.json()["client_id"])

    assert local.asks(redirect_uri="http://127.0.0.1:4000/callback").status_code == 302
    assert local.asks(redirect_uri="http://localhost").status_code == 302
    assert local.asks(redirect_uri="http://127.0.0.1:4000/other").status_code == 400
    assert local.asks(redirect_uri="https://127.0.0.1:3000/callback").status_code == 400


# -- tokens ----------------------------------------------------------------------------------


def test_tokens_last_and_say_what_was_allowed(program: Program, ann: Browser, acme: Cast) -> None:
    written = program.tokens(ann, agent=acme.kyra.pk)
    read = program.tokens(ann, agent=acme.kyra.pk, access="read")

    assert written["expires_in"] == 3600
    assert (written["scope"], read["scope"]) == ("read write", "read")
    assert ping(written["access_token"]).status_code == 200
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        stored = str(ask("SELECT o::text FROM oauth_token o"))
    hidden = (written["access_token"], written["refresh_token"])
    assert [each for each in hidden if each in stored or each.encode().hex() in stored] == []


def test_only_a_form_is_exchanged_for_tokens(program: Program) -> None:
    for content_type in ("multipart/form-data; boundary=x", "application/json", ""):
        answer = Browser().post("/token", b"abc", content_type)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_a_token_is_for_mcp_at_this_address_alone(
    program: Program, ann: Browser, acme: Cast
) -> None:
    token = program.tokens(ann, agent=acme.kyra.pk)["access_token"]

    assert api_of(token).get("/v1/agents").status_code == 401
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        Grant.objects.update(resource="https://other.example/mcp")
    assert ping(token).status_code == 401


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 50}, "invalid_grant"),
        ({"redirect_uri": "https://chat.example/"}, "invalid_request"),
        ({"resource": f"{ISSUER}/v1"}, "invalid_target"),
        ({"code": "wrong"}, "invalid_grant"),
        ({"grant_type": "password"}, "invalid_request"),
    ],
)
def test_a_code_is_exchanged_by_who_asked_for_it(
    program: Program, ann: Browser, acme: Cast, changes: dict[str, str], error: str
) -> None:
    code = program.code(ann, agent=acme.kyra.pk)
    refused = program.posts(
        "token",
        **{
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT,
            "code_verifier": "v" * 50,
            **changes,
        },
    )

    assert refused.status_code == 400
    assert refused.json()["error"] == error


def test_another_client_gets_no_tokens(program: Program, ann: Browser, acme: Cast) -> None:
    other = Program.registered()
    code = program.code(ann, agent=acme.kyra.pk)

    assert other.exchanges(code).json()["error"] == "invalid_grant"
    issued = program.exchanges(code).json()
    assert other.refreshes(issued["refresh_token"]).json()["error"] == "invalid_grant"
    assert Program("nobody").refreshes(issued["refresh_token"]).status_code == 401
    assert other.posts("revoke", token=issued["access_token"]).status_code == 200
    assert ping(issued["access_token"]).status_code == 200


def test_a_code_that_is_used_twice_ends_the_grant(
    program: Program, ann: Browser, acme: Cast
) -> None:
    code = program.code(ann, agent=acme.kyra.pk)
    issued = program.exchanges(code).json()

    assert program.exchanges(code).json()["error"] == "invalid_grant"
    assert ping(issued["access_token"]).status_code == 401


def test_a_refresh_token_that_is_used_twice_ends_the_grant(
    program: Program, ann: Browser, acme: Cast
) -> None:
    first = program.tokens(ann, agent=acme.kyra.pk)
    second = program.refreshes(first["refresh_token"]).json()
    assert ping(second["access_token"]).status_code == 200

    again = program.refreshes(first["refresh_token"])

    assert again.json()["error"] == "invalid_grant"
    assert ping(second["access_token"]).status_code == 401
    assert program.refreshes(second["refresh_token"]).status_code == 400
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        events = list(grants_events())
    assert [op for op, _ in events] == ["grant", "revoke"]
    assert events[1][1]["cause"] == "reuse"


def test_a_race_for_a_refresh_token_is_a_second_use(
    program: Program, ann: Browser, acme: Cast
) -> None:
    token = program.tokens(ann, agent=acme.kyra.pk)["refresh_token"]
    held = grants.held_by(token)
    assert held is not None
    grants.exchange(held=held, now=timezone.now())

    with pytest.raises(grants.UsedTokenError):
        grants.exchange(held=held, now=timezone.now())

    with team_scope(team_ids=[acme.team.pk], actor="test"):
        assert Grant.objects.get().revoked_at is not None


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
def test_a_revoked_token_takes_its_grant_along(
    program: Program, ann: Browser, acme: Cast, name: str
) -> None:
    issued = program.tokens(ann, agent=acme.kyra.pk)

    assert program.posts("revoke", token=issued[name]).status_code == 200
    assert program.posts("revoke", token="unknown").status_code == 200
    assert program.posts("revoke").json()["error"] == "invalid_request"
    assert ping(issued["access_token"]).status_code == 401
    assert program.refreshes(issued["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_token_ends_in_time(program: Program, ann: Browser, acme: Cast) -> None:
    token = program.tokens(ann, agent=acme.kyra.pk)["access_token"]

    assert ping(token).status_code == 200
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        Token.objects.update(expires_at=F("expires_at") - timedelta(hours=2))
    assert ping(token).status_code == 401


def _demoted(login: StaffUser, team: Team) -> None:
    member = Membership.objects.get(user=login, team=team)
    change_role(member=member, role="reviewer")
    change_role(member=member, role="admin")


def _removed(login: StaffUser, team: Team) -> None:
    remove_member(member=Membership.objects.get(user=login, team=team))
    Membership.objects.create(user=login, team=team, role="admin")


def _deactivated(login: StaffUser, team: Team) -> None:
    # As in the admin of a superuser who looks at another team.
    with team_scope(team_ids=[], actor="test"):
        StaffUser.objects.filter(pk=login.pk).update(is_active=False)
        StaffUser.objects.filter(pk=login.pk).update(is_active=True)


@pytest.mark.parametrize("lose_and_regain_role", [_demoted, _removed, _deactivated])
def test_a_grant_ends_for_good_with_the_role_of_its_login(
    program: Program,
    ann: Browser,
    acme: Cast,
    lose_and_regain_role: Callable[[StaffUser, Team], None],
) -> None:
    issued = program.tokens(ann, agent=acme.kyra.pk, person="sarah")
    bob = browser_of(acme.team, "admin", name="bob")
    unaffected = program.tokens(bob, agent=acme.kyra.pk)["access_token"]

    with team_scope(team_ids=[acme.team.pk], actor="test"):
        lose_and_regain_role(StaffUser.objects.get(username="ann"), acme.team)
        events = grants_events()

    assert ping(issued["access_token"]).status_code == 401
    assert program.refreshes(issued["refresh_token"]).status_code == 400
    assert ping(unaffected).status_code == 200
    assert [(op, meta.get("cause"), meta["login"]) for op, meta in events] == [
        ("grant", None, "ann"),
        ("grant", None, "bob"),
        ("revoke", "role", "ann"),
    ]


def test_a_person_who_is_erased_has_no_sign_in(program: Program, ann: Browser, acme: Cast) -> None:
    token = program.tokens(ann, agent=acme.kyra.pk, person="sarah")["access_token"]
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        acme.sarah.external_id = f"erased-{acme.sarah.pk}"
        acme.sarah.save(update_fields=["external_id"])

    assert ping(token).status_code == 401


def test_what_nobody_uses_is_removed(program: Program, ann: Browser, acme: Cast) -> None:
    unused = Program.registered()
    refresh = program.tokens(ann, agent=acme.kyra.pk)["refresh_token"]
    now = timezone.now()

    grants.prune(now=now)
    assert Client.objects.count() == 2
    grants.prune(now=now + timedelta(days=2))
    assert [str(each.pk) for each in Client.objects.all()] == [program.client_id]
    grants.prune(now=now + timedelta(days=45))
    assert grants.held_by(refresh) is not None
    grants.prune(now=now + timedelta(days=100))

    assert unused.client_id != program.client_id
    assert not Client.objects.exists()


def grants_events() -> list[tuple[str, dict[str, str]]]:
    """The operations of the satellite that were recorded, in order."""
    from audit.models import OperationalEvent

    rows = OperationalEvent.objects.filter(node="oauth").order_by("at", "id")
    return list(rows.values_list("op", "meta"))
