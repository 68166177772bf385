"""Corrections, feedback, contradictions and relations over HTTP."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from rest_framework.test import APIClient

from memory.models import Contradiction, Memory, MemoryRelation
from tests.support.cast import Cast, Clients
from tests.support.memories_api import (
    OLD_LIMIT,
    OTHER_LIMIT,
    disputed,
    open_ones,
    post,
    remember,
    shown,
)

__all__ = ["disputed"]


# -- corrections and feedback ----------------------------------------------------------------------


def test_every_version_links_the_chain(api: APIClient, acme: Cast) -> None:
    first = remember(api, "Sarah lives in Berlin.", user="sarah")

    response = post(
        api, f"memories/{first}/correct", corrected_content="Sarah lives in Rome.", reason="Moved."
    )

    assert response.status_code == 201
    second = response.json()
    assert (second["content"], second["version"]) == ("Sarah lives in Rome.", 2)
    assert (second["supersedes"], second["superseded_by"]) == (first, None)
    old = shown(api, first)
    assert (old["content"], old["status"]) == ("Sarah lives in Berlin.", "superseded")
    assert (old["supersedes"], old["superseded_by"]) == (None, second["id"])
    assert second["user"] == "sarah"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "corrected_content"),
        ({"corrected_content": ""}, "corrected_content"),
        ({"corrected_content": " \n"}, "corrected_content"),
        ({"corrected_content": 7}, "corrected_content"),
        ({"corrected_content": "x" * 32_001}, "corrected_content"),
        ({"corrected_content": OLD_LIMIT}, "corrected_content"),
        ({"corrected_content": "New.", "why": "Because."}, "why"),
    ],
)
def test_a_correction_that_says_nothing_new_is_refused(
    api: APIClient, acme: Cast, body: dict[str, object], field: str
) -> None:
    memory_id = remember(api, OLD_LIMIT)

    response = post(api, f"memories/{memory_id}/correct", **body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == [field]
    assert Memory.objects.count() == 1


def test_an_old_version_is_neither_corrected_nor_judged(api: APIClient, acme: Cast) -> None:
    old = remember(api, "Sarah lives in Berlin.")
    post(api, f"memories/{old}/correct", corrected_content="Sarah lives in Rome.")

    again = post(api, f"memories/{old}/correct", corrected_content="Sarah lives in Oslo.")
    judged = post(api, f"memories/{old}/feedback", signal="helpful")

    assert (again.status_code, judged.status_code) == (409, 409)
    assert shown(api, old)["usage"]["succeeded"] == 0


def test_a_correction_answers_with_its_outcome(api: APIClient, acme: Cast) -> None:
    old = remember(api, "Sarah lives in Berlin.")

    response = post(api, f"memories/{old}/correct", corrected_content="Sarah lives in Rome.")

    assert response.status_code == 201
    told = response.json()
    assert (told["outcome"], told["warnings"], told["supersedes"]) == ("versioned", [], old)


def test_a_correction_to_what_is_known_answers_with_that_and_says_so(
    api: APIClient, acme: Cast
) -> None:
    known = remember(api, "Dmitri plays the violin.")
    old = remember(api, "Sarah lives in Berlin.")

    response = post(api, f"memories/{old}/correct", corrected_content="Dmitri plays the violin.")

    assert response.status_code == 200
    assert (response.json()["outcome"], response.json()["id"]) == ("duplicate", known)
    assert (shown(api, old)["status"], shown(api, old)["superseded_by"]) == ("superseded", known)


def test_feedback_answers_with_the_memory_as_it_stands(api: APIClient, acme: Cast) -> None:
    memory_id = remember(api, OLD_LIMIT, importance=9)

    first = post(api, f"memories/{memory_id}/feedback", signal="helpful").json()
    second = post(api, f"memories/{memory_id}/feedback", signal="helpful", note="Again.").json()
    wrong = post(api, f"memories/{memory_id}/feedback", signal="wrong", note="Not so.").json()

    assert (first["importance"], second["importance"]) == (10, 10)
    assert (wrong["status"], wrong["usage"]["succeeded"], wrong["usage"]["failed"]) == (
        "disputed",
        2,
        1,
    )
    (row,) = open_ones(api, f"memory={memory_id}")
    assert (row["memory_a"], row["memory_b"], row["content_b"]) == (memory_id, None, None)
    assert row["reason"] == "Not so."


@pytest.mark.parametrize("body", [{}, {"signal": "great"}, {"signal": "Wrong"}, {"signal": None}])
def test_a_signal_is_one_of_four(api: APIClient, acme: Cast, body: dict[str, object]) -> None:
    response = post(api, f"memories/{remember(api, OLD_LIMIT)}/feedback", **body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["signal"]


def test_a_word_that_is_no_choice_is_told_the_choices(api: APIClient, acme: Cast) -> None:
    response = post(api, f"memories/{remember(api, OLD_LIMIT)}/feedback", signal="great")
    assert response.json()["detail"] == (
        'signal: "great" is none of cited, ignored, helpful, wrong.'
    )


# -- contradictions --------------------------------------------------------------------------------


def test_a_contradiction_is_listed_and_read(api: APIClient, disputed: tuple[str, str, str]) -> None:
    one, two, row_id = disputed

    (row,) = open_ones(api)

    assert (row["memory_a"], row["memory_b"]) == (one, two)
    assert (row["content_a"], row["content_b"]) == (OLD_LIMIT, OTHER_LIMIT)
    assert (row["verdict"], row["resolution"], row["resolved_at"]) == ("dispute", "", None)
    assert api.get(f"/v1/contradictions/{row_id}").json() == row


def test_lists_are_narrowed_to_what_is_asked_for(
    api: APIClient, disputed: tuple[str, str, str]
) -> None:
    one, _, row_id = disputed
    post(api, f"memories/{one}/feedback", signal="wrong")
    post(api, f"contradictions/{row_id}/resolve", resolution="both_valid")

    counts = [len(open_ones(api, f"state={state}")) for state in ("open", "resolved", "all")]

    assert counts == [1, 1, 2]
    assert len(open_ones(api, f"state=all&memory={one}")) == 2
    assert open_ones(api, f"state=all&memory={uuid4()}") == []
    assert open_ones(api, "verdict=supersede") == []
    assert api.get("/v1/contradictions?state=closed").status_code == 422


def test_contradictions_of_a_person_are_those_with_a_side_of_theirs(
    api: APIClient, client_of: Clients, acme: Cast, disputed: tuple[str, str, str]
) -> None:
    for limit in (100, 500):
        remember(api, f"Sarah's API limit is {limit} requests per minute.", user="sarah")
    kyras = client_of(acme, acme.kyra)

    (hers,) = open_ones(api, "user=sarah")

    assert hers["id"] != disputed[2]
    assert {shown(api, hers[side])["user"] for side in ("memory_a", "memory_b")} == {"sarah"}
    assert open_ones(api, "user=dmitri") == []
    assert open_ones(api, "user=nobody") == []
    assert len(open_ones(api)) == 2
    assert [each["id"] for each in open_ones(kyras, "user=sarah")] == [hers["id"]]
    assert [each["id"] for each in open_ones(kyras)] == [disputed[2]]


@pytest.mark.parametrize("resolution", ["a_wins", "b_wins", "both_valid", "merged"])
def test_a_contradiction_is_settled_once(
    api: APIClient, disputed: tuple[str, str, str], resolution: str
) -> None:
    path = f"contradictions/{disputed[2]}/resolve"
    text = {"merged_content": "The API limit is 100 to 500."} if resolution == "merged" else {}

    first = post(api, path, resolution=resolution, note="Asked.", **text)
    second = post(api, path, resolution="b_wins")

    assert (first.status_code, second.status_code) == (200, 409)
    assert (first.json()["resolution"], first.json()["resolution_note"]) == (resolution, "Asked.")
    assert first.json()["resolved_at"] is not None
    assert open_ones(api) == []
    read = api.get(f"/v1/contradictions/{disputed[2]}").json()
    assert read == {name: first.json()[name] for name in read}
    assert first.json()["outcome"] == ("versioned" if resolution == "merged" else None)


@pytest.mark.parametrize("text", [None, "", "  ", "missing"])
def test_a_merge_without_a_text_names_the_field(
    api: APIClient, disputed: tuple[str, str, str], text: str | None
) -> None:
    body = {} if text == "missing" else {"merged_content": text}

    response = post(api, f"contradictions/{disputed[2]}/resolve", resolution="merged", **body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["merged_content"]
    assert len(open_ones(api)) == 1


@pytest.mark.parametrize("body", [{}, {"resolution": ""}, {"resolution": "c_wins"}])
def test_a_resolution_is_one_of_four(
    api: APIClient, disputed: tuple[str, str, str], body: dict[str, object]
) -> None:
    response = post(api, f"contradictions/{disputed[2]}/resolve", **body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["resolution"]


# -- who sees what ---------------------------------------------------------------------------------


@pytest.fixture
def strangers(acme: Cast, globex: Cast, client_of: Clients) -> list[APIClient]:
    """Luke, who is not Kyra, and another team."""
    return [client_of(acme, acme.luke), client_of(globex)]


def test_what_is_another_agents_or_teams_does_not_exist(
    api: APIClient, acme: Cast, strangers: list[APIClient], client_of: Clients
) -> None:
    private = {"memory_type": "agent_private", "agent": "kyra"}
    one = remember(api, OLD_LIMIT, **private)
    remember(api, OTHER_LIMIT, **private)
    (row,) = open_ones(client_of(acme, acme.kyra))

    for stranger in strangers:
        refused = [
            post(stranger, f"memories/{one}/correct", corrected_content="Mine."),
            post(stranger, f"memories/{one}/feedback", signal="wrong"),
            stranger.get(f"/v1/memories/{one}/related"),
            stranger.get(f"/v1/contradictions/{row['id']}"),
            post(stranger, f"contradictions/{row['id']}/resolve", resolution="a_wins"),
        ]
        assert [each.status_code for each in refused] == [404] * 5
        assert open_ones(stranger, "state=all") == []

    assert Contradiction.objects.get().resolved_at is None
    assert shown(api, one)["usage"]["failed"] == 0


def test_what_was_never_there_looks_the_same(api: APIClient, acme: Cast) -> None:
    nothing = uuid4()

    answers = [
        post(api, f"memories/{nothing}/correct", corrected_content="Mine."),
        post(api, f"memories/{nothing}/feedback", signal="wrong"),
        api.get(f"/v1/memories/{nothing}/related"),
        api.get(f"/v1/contradictions/{nothing}"),
        post(api, f"contradictions/{nothing}/resolve", resolution="a_wins"),
    ]

    assert [each.status_code for each in answers] == [404] * 5


# -- relations -------------------------------------------------------------------------------------


def test_related_memories_come_once_with_their_strength(api: APIClient, acme: Cast) -> None:
    one = remember(api, "The billing service runs on PostgreSQL.")
    two = remember(api, "The billing service sends invoices by mail.")
    remember(api, "Dmitri plays the violin.")

    ahead = api.get(f"/v1/memories/{one}/related").json()["results"]
    back = api.get(f"/v1/memories/{two}/related").json()["results"]

    assert [each["id"] for each in ahead] == [two]
    assert [each["id"] for each in back] == [one]
    assert ahead[0]["strength"] == back[0]["strength"]
    assert 0 < ahead[0]["strength"] <= 1
    assert ahead[0]["relation_type"] == "related_to"


def test_a_neighbours_correction_takes_its_place(api: APIClient, acme: Cast) -> None:
    one = remember(api, "The billing service runs on PostgreSQL.")
    two = remember(api, "The billing service sends invoices by mail.")
    text = "The billing service sends its invoices by mail."
    three = post(api, f"memories/{two}/correct", corrected_content=text).json()["id"]

    found = api.get(f"/v1/memories/{one}/related").json()["results"]

    assert [each["id"] for each in found] == [three]


def test_a_private_neighbour_is_not_named(api: APIClient, acme: Cast, client_of: Clients) -> None:
    mine = {"agent": "kyra"}
    one = remember(api, "The billing service runs on PostgreSQL.", memory_type="shared", **mine)
    two = remember(api, "The billing service sends invoices by mail.", **mine)
    MemoryRelation.objects.get_or_create(
        team_id=acme.team.id,
        from_memory_id=UUID(two),
        to_memory_id=UUID(one),
        defaults={"strength": 0.8},
    )

    seen = api.get(f"/v1/memories/{one}/related").json()["results"]
    by_luke = client_of(acme, acme.luke).get(f"/v1/memories/{one}/related")

    assert [each["id"] for each in seen] == [two]
    assert (by_luke.status_code, by_luke.json()["results"]) == (200, [])
