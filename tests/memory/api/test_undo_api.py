"""Over HTTP: a resolution is taken back, or refused with what changed since."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from tests.support.cast import Cast, Clients
from tests.support.memories_api import disputed, open_ones, post, remember, shown

__all__ = ["disputed"]

Disputed = tuple[str, str, str]


@pytest.mark.parametrize("resolution", ["a_wins", "b_wins", "both_valid", "merged"])
def test_a_resolution_is_taken_back(api: APIClient, disputed: Disputed, resolution: str) -> None:
    one, two, row_id = disputed
    told = ("status", "version", "tier", "superseded_by", "contradicts")
    before = [{name: shown(api, each)[name] for name in told} for each in (one, two)]
    text = {"merged_content": "The API limit is 100."} if resolution == "merged" else {}
    merged = post(api, f"contradictions/{row_id}/resolve", resolution=resolution, **text).json()[
        "merged_memory"
    ]

    undone = post(api, f"contradictions/{row_id}/undo", note="Too soon.")

    assert undone.status_code == 200, undone.content
    assert (undone.json()["resolution"], undone.json()["resolved_at"]) == ("", None)
    assert undone.json()["reopened"] == []
    assert [{name: shown(api, each)[name] for name in told} for each in (one, two)] == before
    assert [each["id"] for each in open_ones(api)] == [row_id]
    if merged:
        assert shown(api, merged)["status"] == "soft_deleted"


def test_it_is_refused_with_the_memories_that_changed_since(
    api: APIClient, disputed: Disputed
) -> None:
    one, two, row_id = disputed
    post(api, f"contradictions/{row_id}/resolve", resolution="b_wins")
    api.delete(f"/v1/memories/{two}")

    refused = post(api, f"contradictions/{row_id}/undo")

    assert refused.status_code == 409
    assert refused.json()["memories"] == [two]
    assert f"{two} is soft deleted now" in refused.json()["detail"]
    assert shown(api, one)["status"] == "superseded"


def test_an_open_one_has_nothing_to_take_back(api: APIClient, disputed: Disputed) -> None:
    refused = post(api, f"contradictions/{disputed[2]}/undo")

    assert refused.status_code == 409
    assert refused.json()["detail"] == "It is open: there is no settlement to undo."


def test_a_stranger_takes_nothing_back(
    api: APIClient, globex: Cast, client_of: Clients, disputed: Disputed
) -> None:
    post(api, f"contradictions/{disputed[2]}/resolve", resolution="a_wins")

    assert post(client_of(globex), f"contradictions/{disputed[2]}/undo").status_code == 404


def test_words_that_lost_are_not_asked_about_again(api: APIClient, disputed: Disputed) -> None:
    one, two, row_id = disputed
    post(api, f"contradictions/{row_id}/resolve", resolution="a_wins")

    again = shown(api, remember(api, shown(api, two)["content"]))

    assert (again["status"], again["superseded_by"]) == ("superseded", one)
    assert open_ones(api) == []
