"""Signing in to the web admin."""

from __future__ import annotations

import io
import re
import time
from base64 import b32decode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from teams.models import StaffUser
from tests.factories import StaffUserFactory
from tests.support.waiting import until

LOGIN = reverse("admin:login")


@pytest.fixture
def ann(db: None) -> StaffUser:
    """A staff login with the password "secret"."""
    return StaffUserFactory.create(username="ann", is_superuser=True)


def sign_in(password: str = "secret", *, name: str = "ann", **form: str) -> HttpResponse:
    """The answer to a sign-in from a new browser."""
    client = Client(REMOTE_ADDR=form.pop("address", "192.0.2.1"))
    if "forwarded" in form:
        client.defaults["HTTP_X_FORWARDED_FOR"] = form.pop("forwarded")
    answer: Any = client.post(LOGIN, {"username": name, "password": password, **form})
    return answer  # type: ignore[no-any-return]


@pytest.mark.parametrize("then", ["", "admin:audit_memorylog_changelist"])
def test_who_signs_in_gets_to_the_admin(db: None, then: str) -> None:
    user = StaffUserFactory.create(is_superuser=True)
    user.set_password("a long word of hers")
    user.save()
    page = reverse(then or "admin:index")
    query = {"next": page} if then else {}

    answer = Client().post(
        reverse("admin:login"),
        {"username": user.username, "password": "a long word of hers"},
        query_params=query,
    )

    assert answer.status_code == 302
    assert answer["Location"] == page


def test_a_session_ends_after_twelve_hours(ann: StaffUser) -> None:
    answer = sign_in()

    assert answer.cookies["sessionid"]["max-age"] == 12 * 3600


# -- lockout ---------------------------------------------------------------------------------


def test_five_wrong_passwords_lock_a_login_out_for_a_while(ann: StaffUser) -> None:
    wrong = [sign_in("guess").status_code for _ in range(5)]

    refused = sign_in()
    from_elsewhere = sign_in(address="192.0.2.2")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    later = sign_in()

    assert wrong == [200, 200, 200, 200, 429]
    assert refused.status_code == 429
    assert "Try again in 15 minutes" in refused.content.decode()
    assert from_elsewhere.status_code == 302
    assert later.status_code == 302


def locked_out_from(forwarded: str) -> bool:
    """Returns whether a correct password is refused with that X-Forwarded-For header."""
    return sign_in(forwarded=forwarded).status_code == 429


def test_behind_a_proxy_a_lockout_is_of_the_address_that_the_proxy_saw(
    ann: StaffUser, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = 1
    for number in range(5):
        sign_in("guess", forwarded=f"203.0.113.{number}, 198.51.100.7")

    assert locked_out_from("198.51.100.7")
    assert locked_out_from("192.0.2.9,198.51.100.7")
    assert not locked_out_from("198.51.100.7, 192.0.2.9")
    assert not locked_out_from("nonsense")
    settings.TRUSTED_PROXIES = 2
    assert locked_out_from("198.51.100.7, 10.0.0.1")
    assert not locked_out_from("198.51.100.7")


def test_without_a_trusted_proxy_a_forwarded_address_is_not_believed(ann: StaffUser) -> None:
    for number in range(5):
        sign_in("guess", forwarded=f"203.0.113.{number}")

    assert locked_out_from("203.0.113.99")


def test_attempts_during_a_lockout_do_not_prolong_it(ann: StaffUser) -> None:
    for _ in range(5):
        sign_in("guess")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))

    assert sign_in("guess").status_code == 429
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=2))

    assert sign_in().status_code == 302


def test_a_right_password_begins_the_count_anew(ann: StaffUser) -> None:
    for _ in range(3):
        assert [sign_in("guess").status_code for _ in range(4)] == [200] * 4
        assert sign_in().status_code == 302


def test_an_operator_ends_a_lockout(ann: StaffUser) -> None:
    for _ in range(5):
        sign_in("guess")

    call_command("axes_reset_username", "ann", stdout=io.StringIO())

    assert sign_in().status_code == 302


def test_what_is_kept_of_a_failed_sign_in_holds_no_secret(ann: StaffUser) -> None:
    sign_in("a mistyped password", otp_token="123456")

    with connection.cursor() as cursor:
        cursor.execute("SELECT a::text FROM axes_accessattempt a")
        (row,) = cursor.fetchone()
    assert "ann" in row
    assert "mistyped" not in row
    assert "123456" not in row


# -- second factor ---------------------------------------------------------------------------


def code(device: TOTPDevice, *, steps: int = 0) -> str:
    """Returns the code that the app shows now, or `steps` half minutes later."""
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    totp.time = time.time() + steps * device.step
    return f"{totp.token():06d}"


@pytest.fixture
def device(ann: StaffUser) -> TOTPDevice:
    """Ann's authenticator app."""
    made: TOTPDevice = TOTPDevice.objects.create(user=ann, name="app")
    return made


def test_a_login_with_an_app_needs_its_code(ann: StaffUser, device: TOTPDevice) -> None:
    without = sign_in()
    shown = code(device)
    right = sign_in(otp_token=shown)
    again = sign_in(otp_token=shown)

    assert without.status_code == again.status_code == 200
    assert "Enter the code" in without.content.decode()
    assert "secret" not in without.content.decode()
    assert right.status_code == 302


@pytest.mark.usefixtures("committed_db")
def test_a_code_that_is_sent_twice_at_once_lets_one_in() -> None:
    user = StaffUserFactory.create(username="eve", is_superuser=True)
    device = TOTPDevice.objects.create(user=user, name="app")
    shown = code(device)

    def enter() -> int:
        try:
            return sign_in(name="eve", otp_token=shown).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            TOTPDevice.objects.select_for_update().get(pk=device.pk)
            both = [pool.submit(enter) for _ in range(2)]
            until(lambda: _waiting() == 2)
        answers = [each.result() for each in both]

    assert sorted(answers) == [200, 302]


def _waiting() -> int:
    """Returns the number of connections that wait for a lock held by another one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees one otherwise
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        (count,) = cursor.fetchone()
    return int(count)


def test_guesses_of_the_code_are_slowed_down(ann: StaffUser, device: TOTPDevice) -> None:
    right = code(device)
    wrong = f"{(int(right) + 1) % 1_000_000:06d}"

    first = sign_in(otp_token=wrong)
    at_once = sign_in(otp_token=right)
    TOTPDevice.objects.update(throttling_failure_timestamp=timezone.now() - timedelta(minutes=1))

    assert "Wrong code" in first.content.decode()
    assert at_once.status_code == 200
    assert sign_in(otp_token=right).status_code == 302


def test_an_app_of_another_login_or_one_never_confirmed_does_not_count(
    ann: StaffUser, device: TOTPDevice
) -> None:
    rob = StaffUserFactory.create(username="rob", is_superuser=True)
    TOTPDevice.objects.create(user=rob, name="app", confirmed=False)

    assert sign_in(name="rob").status_code == 302
    other = TOTPDevice.objects.create(user=rob, name="app")
    assert sign_in(otp_token=code(other)).status_code == 200


def command(*arguments: str, types: Callable[[str], str] = str) -> str:
    """Returns the command's output; `types` maps the output so far to the answer to a prompt."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as keyboard:
        keyboard.setattr("builtins.input", lambda prompt: types(out.getvalue()))
        call_command("second_factor", *arguments, stdout=out)
    return out.getvalue()


def shown_by_app(said: str, *, steps: int = 0) -> str:
    """The code of the secret that the command printed."""
    found = re.search(r"Secret: ([A-Z2-7]{32})$", said, re.MULTILINE)
    assert found is not None
    return code(TOTPDevice(key=b32decode(found.group(1)).hex()), steps=steps)


def test_the_command_sets_an_app_up_once_its_code_is_typed(ann: StaffUser) -> None:
    with pytest.raises(CommandError, match="not the code"):
        command("ann", types=lambda said: "none")
    assert sign_in().status_code == 302

    said = command("ann", types=shown_by_app)

    assert "otpauth://totp/Palimpsest" in said
    assert sign_in().status_code == 200
    assert sign_in(otp_token=shown_by_app(said, steps=1)).status_code == 302
    command("ann", "--remove")
    assert sign_in().status_code == 302


def test_the_command_knows_logins_only(db: None) -> None:
    with pytest.raises(CommandError, match="no login 'nobody'"):
        command("nobody")


# -- what a page may load --------------------------------------------------------------------


def test_pages_of_the_admin_say_what_they_may_load_and_the_api_is_no_page(ann: StaffUser) -> None:
    client = Client()
    client.force_login(ann)

    policy = client.get(reverse("admin:index"))["Content-Security-Policy"]

    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert "Content-Security-Policy" not in client.get("/v1/memories")
