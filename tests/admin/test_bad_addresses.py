"""An admin page of a row that is not there says so, whatever stands for its id."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.cast import Cast

PAGES = [
    "memory/memory/{}/change/",
    "memory/contradiction/{}/change/",
    "memory/job/{}/change/",
    "teams/conversation/{}/change/",
    "teams/apikey/{}/change/",
]
BUTTONS = [
    "memory/memory/{}/pin/",
    "memory/job/{}/run-again/",
    "teams/apikey/{}/revoke/",
]
NO_ID, NO_ROW = "xyz", "0198c0de-0000-7000-8000-000000000000"


@pytest.mark.parametrize("given", [NO_ID, NO_ROW])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_no_row_is_not_found(
    page: str, given: str, inside: Cast, admin_client: Client
) -> None:
    answer = admin_client.get(f"/admin/{page.format(given)}")

    assert answer.status_code == 404
    assert "It may have been deleted." in answer.content.decode()


@pytest.mark.parametrize("address", ["search/?s=%00", "memory/memory/?tag=%00"])
def test_a_null_character_is_no_error(address: str, inside: Cast, admin_client: Client) -> None:
    assert admin_client.get(f"/admin/{address}").status_code == 200


@pytest.mark.parametrize("given", [NO_ID, NO_ROW])
@pytest.mark.parametrize("button", BUTTONS)
def test_a_button_of_no_row_is_nobodys(
    button: str, given: str, inside: Cast, admin_client: Client
) -> None:
    assert admin_client.get(f"/admin/{button.format(given)}").status_code == 403
