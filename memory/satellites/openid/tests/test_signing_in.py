"""Signing in to the admin by an OpenID provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.plugins.otp_totp.models import TOTPDevice

from teams.errors import ConflictError
from teams.models import StaffUser
from teams.services.people import invite_again
from tests.factories import StaffUserFactory
from tests.support.openid_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    Provider,
    openid_provider,
)

pytestmark = pytest.mark.urls("memory.satellites.openid.tests.urls")
BACKEND = "memory.satellites.openid.backend.OpenIdBackend"
LOGIN = reverse("admin:login")


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    """The provider of the server, at which Ann is signed in."""
    with openid_provider() as running:
        settings.OIDC_ISSUER = running.url
        settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, BACKEND]
        running.claims = {"sub": "1", "email": "ann@acme.example", "email_verified": True}
        yield running


@pytest.fixture
def ann(db: None) -> StaffUser:
    """A login with an address."""
    return StaffUserFactory.create(username="ann", email="Ann@acme.example", is_superuser=True)


def sign_in(browser: Client, *, then: str = "") -> Any:
    """The answer once the provider has sent the browser back."""
    asked = browser.get("/admin/openid/login/", {"next": then} if then else {})
    sent_back = httpx.get(asked["Location"]).headers["Location"]
    return browser.get(sent_back.removeprefix("http://testserver"))


def is_signed_in(browser: Client) -> bool:
    """Returns whether the admin lets the browser in."""
    return browser.get(reverse("admin:index")).status_code == 200


def test_a_person_with_the_verified_address_of_a_login_is_let_in(
    provider: Provider, ann: StaffUser
) -> None:
    browser = Client()
    page = browser.get(LOGIN, {"next": "/admin/teams/agent/?q=a b"}).content.decode()

    answer = sign_in(browser, then="/admin/teams/agent/")

    assert "/admin/openid/login/?next=/admin/teams/agent/%3Fq%3Da%20b" in page
    assert (answer.status_code, answer["Location"]) == (302, "/admin/teams/agent/")
    assert is_signed_in(browser)
    assert browser.session["_auth_user_id"] == str(ann.pk)


def test_an_address_elsewhere_is_not_followed(provider: Provider, ann: StaffUser) -> None:
    answer = sign_in(Client(), then="https://evil.example/")

    assert answer["Location"] == reverse("admin:index")


@pytest.mark.parametrize(
    "claims",
    [
        {"email_verified": False},
        {"email_verified": "true"},
        {"email": "bob@acme.example"},
        {"email": ""},
    ],
)
def test_nobody_else_is_let_in(
    provider: Provider, ann: StaffUser, claims: dict[str, object]
) -> None:
    provider.claims |= claims

    assert_refused()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT_ID, "another-client"]},
        {"nonce": "another"},
        {"exp": 1},
        {"sub": "2"},
    ],
)
def test_a_token_for_somebody_else_is_refused(
    provider: Provider, ann: StaffUser, claims: dict[str, object]
) -> None:
    provider.token_claims = claims

    assert_refused()


def test_a_token_of_another_key_is_refused(provider: Provider, ann: StaffUser) -> None:
    published = provider.keys()
    provider.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    provider.keys = lambda: published  # type: ignore[method-assign]  # of the fake

    assert_refused()


def test_a_login_with_an_app_or_that_is_inactive_or_shared_is_refused(
    provider: Provider, ann: StaffUser
) -> None:
    device = TOTPDevice.objects.create(user=ann, name="app")
    assert_refused()
    device.delete()
    StaffUser.objects.update(is_active=False)
    assert_refused()
    StaffUser.objects.update(is_active=True)
    twin = StaffUserFactory.create(username="twin", email="ann@acme.example")
    assert_refused()
    twin.delete()

    assert sign_in(Client())["Location"] == reverse("admin:index")


def test_an_invited_login_keeps_no_password_and_is_not_invited_again(
    provider: Provider, ann: StaffUser
) -> None:
    # Whoever invited her typed the address, and may have followed the link as well.
    ann.is_superuser, ann.invited_at = False, timezone.now()
    ann.set_password("of-the-inviter")
    ann.save()

    assert sign_in(Client())["Location"] == reverse("admin:index")

    ann.refresh_from_db()
    assert not ann.has_usable_password()
    with pytest.raises(ConflictError):
        invite_again(user=ann, inviter_team_ids=[], now=timezone.now())


def test_a_session_ends_with_its_login(provider: Provider, ann: StaffUser) -> None:
    browser = Client()
    sign_in(browser)
    StaffUser.objects.update(is_active=False)

    assert not is_signed_in(browser)


def test_a_login_is_created_only_where_the_setting_says_so(
    provider: Provider, db: None, settings: Any
) -> None:
    settings.OIDC_CREATE_USER = False
    assert_refused()
    assert not StaffUser.objects.exists()
    settings.OIDC_CREATE_USER = True

    browser = Client()
    sign_in(browser)

    assert is_signed_in(browser)
    made = StaffUser.objects.get()
    assert (made.username, made.is_staff, made.is_superuser) == ("ann@acme.example", True, False)


def test_an_answer_that_was_not_asked_for_is_refused(provider: Provider, ann: StaffUser) -> None:
    browser = Client()

    answer = browser.get("/admin/openid/callback/", {"code": "x", "state": "y"})

    assert answer["Location"] == LOGIN
    assert not is_signed_in(browser)


def test_a_code_in_the_address_spares_no_password_the_lockout(
    provider: Provider, ann: StaffUser
) -> None:
    browser = Client()
    address = f"{LOGIN}?code=x&state=y"

    for _ in range(5):
        browser.post(address, {"username": "ann", "password": "wrong"})
    browser.post(address, {"username": "ann", "password": "secret"})

    assert not is_signed_in(browser)


def test_a_password_goes_on_working_while_the_provider_is_away(
    provider: Provider, ann: StaffUser, settings: Any
) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    browser = Client()

    refused = browser.get("/admin/openid/login/")
    page = browser.get(LOGIN).content.decode()
    answer = browser.post(LOGIN, {"username": "ann", "password": "secret"})

    assert refused["Location"] == LOGIN
    assert "could not be logged in" in page
    assert answer.status_code == 302


def assert_refused() -> None:
    """The provider sends the browser back, and the login page says why it is not let in."""
    browser = Client()
    answer = sign_in(browser)

    assert (answer.status_code, answer["Location"]) == (302, LOGIN)
    assert "could not be logged in" in browser.get(LOGIN).content.decode()
    assert not is_signed_in(browser)
