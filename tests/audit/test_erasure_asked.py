"""Asking for an erasure: the command, and the API with its second word."""

from __future__ import annotations

import os
import pty
import sys
import time
from contextlib import suppress
from io import StringIO
from threading import Thread

import pytest
from django.core import signing
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from audit.models import Erasure
from memory.models import Memory
from teams.models import Message
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients
from tests.support.erasure import ERASED, NEEDLE, erase, found_in_tables, post


class SignerOfThePast(signing.TimestampSigner):
    """Signs as Django does, at another time."""

    def __init__(self, *, salt: str, seconds_ago: int) -> None:
        super().__init__(salt=salt)
        self._at = int(time.time()) - seconds_ago

    def timestamp(self) -> str:
        """The time of the signature."""
        return signing.b62_encode(self._at)


def run(*args: str) -> str:
    """Runs the command and returns its output."""
    out = StringIO()
    call_command("erase_user", *args, stdout=out)
    return out.getvalue()


def test_the_command_shows_and_then_erases(held: tuple[Cast, Memory, Message]) -> None:
    town, memory, _ = held

    shown = run("sarah", "--team", town.team.slug, "--dry-run")

    assert "To be erased: 1 memories with 1 log entries, 1 messages in 1 conversations" in shown
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content != ERASED

    done = run("sarah", "--team", town.team.slug, "--yes", "--reason", "ticket 7")

    assert "Erased: 1 memories" in done
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content == ERASED
        erasure = Erasure.objects.get()
        assert (erasure.actor, erasure.reason) == ("command:erase_user", "ticket 7")


@pytest.mark.parametrize(
    "args", [["sarah", "--team", "nowhere"], ["nobody", "--team", "{team}", "--yes"]]
)
def test_the_command_refuses_whom_it_does_not_know(town: Cast, args: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*(each.format(team=town.team.slug) for each in args))


def at_a_terminal(*args: str, typed: str | None) -> str:
    """Returns the terminal output of the command when a person enters `typed`; None: no person.

    In this process, as one of its own takes seconds to start; the terminal is a real one.
    """
    screen, terminal = pty.openpty()
    shown: list[bytes] = []

    def sit() -> None:
        # The end of a terminal is an error to whoever reads on.
        with suppress(OSError), open(screen, "r+b", buffering=0) as keys:
            while part := keys.read(1024):
                shown.append(part)
                if typed is not None and b"".join(shown).endswith(b" to erase: "):
                    keys.write(f"{typed}\n".encode())

    person = Thread(target=sit)
    person.start()
    with (
        open(os.devnull if typed is None else os.dup(terminal)) as keyboard,
        open(terminal, "w") as display,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, stream in (("stdin", keyboard), ("stdout", display), ("stderr", display)):
            patch.setattr(sys, name, stream)
        try:
            call_command("erase_user", *args, stdout=display, stderr=display)
        except CommandError as error:
            display.write(str(error))
    person.join(timeout=30)
    return b"".join(shown).decode()


@pytest.mark.parametrize(
    ("typed", "told", "is_erased"),
    [
        ("sarah", "Erased: 1 memories", True),
        ("Sarah", "Nothing was erased.", False),
        (None, "Nothing was erased: nobody types here. A script gives --yes.", False),
    ],
)
def test_the_command_asks_whoever_sits_at_the_terminal(
    held: tuple[Cast, Memory, Message], typed: str | None, told: str, is_erased: bool
) -> None:
    town, memory, _ = held

    shown = at_a_terminal("sarah", "--team", town.team.slug, typed=typed)

    assert "Type sarah to erase: " in shown
    assert told in shown
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert (memory.content == ERASED) == is_erased


# -- over HTTP -------------------------------------------------------------------------------


def test_a_person_is_erased_at_the_second_word(town: Cast, story: APIClient) -> None:
    first = story.delete("/v1/users/sarah")

    assert first.status_code == 202
    told = first.json()
    assert told["would_erase"]["messages"] == 5
    assert found_in_tables(NEEDLE)

    second = story.delete(f"/v1/users/sarah?confirmation={told['confirmation']}")

    assert second.status_code == 200, second.content
    assert second.json() == told["would_erase"]
    assert found_in_tables(NEEDLE) == {}
    assert story.delete("/v1/users/sarah").status_code == 404


def test_a_confirmation_is_good_for_one_person_and_one_key(
    town: Cast, story: APIClient, client_of: Clients
) -> None:
    token = story.delete("/v1/users/dmitri").json()["confirmation"]

    for api, person, given in [
        (story, "sarah", token),
        (client_of(town), "dmitri", token),
        (story, "dmitri", token + "x"),
        (story, "dmitri", "guess"),
    ]:
        answer = api.delete(f"/v1/users/{person}", query_params={"confirmation": given})
        assert answer.status_code == 422
        assert "confirmation" in answer.json()["errors"]

    assert found_in_tables(NEEDLE)


@pytest.mark.parametrize(("seconds_ago", "status"), [(3600, 422), (60, 200)])
def test_a_confirmation_is_good_for_ten_minutes(
    town: Cast, story: APIClient, seconds_ago: int, status: int
) -> None:
    token = story.delete("/v1/users/sarah").json()["confirmation"]
    given = signing.loads(token, salt="erase-user")
    aged = SignerOfThePast(salt="erase-user", seconds_ago=seconds_ago).sign_object(given)

    answer = story.delete("/v1/users/sarah", query_params={"confirmation": aged})

    assert answer.status_code == status
    if status == 422:
        assert "too old" in answer.json()["detail"]
    assert bool(found_in_tables(NEEDLE)) == (status == 422)


def test_a_misspelt_confirmation_is_no_first_word(town: Cast, story: APIClient) -> None:
    token = story.delete("/v1/users/sarah").json()["confirmation"]

    answer = story.delete("/v1/users/sarah", query_params={"confirm": token})

    assert answer.status_code == 422
    assert "confirm" in answer.json()["errors"]


def test_an_agents_key_erases_nobody(town: Cast, story: APIClient, client_of: Clients) -> None:
    answer = client_of(town, town.kyra).delete("/v1/users/sarah")

    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("person", ["nobody", "a/b"])
def test_an_unknown_person_is_not_found(town: Cast, client_of: Clients, person: str) -> None:
    assert client_of(town).delete(f"/v1/users/{person}").status_code == 404


def test_a_person_with_any_name_can_be_erased(town: Cast, client_of: Clients) -> None:
    api = client_of(town)
    post(api, "memories", content="A fact.", user="tenant/42 ü?")

    path = "/v1/users/tenant%2F42%20%C3%BC%3F"
    token = api.delete(path).json()["confirmation"]

    assert api.delete(f"{path}?confirmation={token}").status_code == 200


def test_a_token_of_an_erased_person_does_not_erase_the_next_of_that_name(
    town: Cast, client_of: Clients
) -> None:
    api = client_of(town)
    token = api.delete("/v1/users/sarah").json()["confirmation"]
    erase(town, "sarah")
    post(api, "memories", content="A new fact.", user="sarah")

    answer = api.delete(f"/v1/users/sarah?confirmation={token}")

    assert answer.status_code == 422
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.get().content == "A new fact."
