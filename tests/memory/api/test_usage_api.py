"""Agents report which memories were of use; what is used ranks before what is not."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from rest_framework.test import APIClient

from memory.domain.scoring import USAGE_SHARE
from memory.models import MemoryUsage
from memory.satellites.plans.models import SignalUse
from tests.support.bad_input import assert_problem
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post, remember, shown

ONE, TWO = "Lunch is served in the garden.", "Deployments need two approvals."


@pytest.fixture
def ids(api: APIClient) -> tuple[str, str]:
    """Two memories."""
    return remember(api, ONE, check=False), remember(api, TWO, check=False)


def report(api: APIClient, **given: Any) -> Any:
    """The answer to a good report."""
    response = post(api, "usage", **given)
    assert response.status_code == 200, response.content
    return response.json()


def found(api: APIClient) -> dict[str, dict[str, Any]]:
    """Returns the retrieved memories by id, best first."""
    asked = {"query": "What about lunch and deployments?", "agent": "kyra", "return": "full"}
    response = post(api, "retrieve", **asked)
    return {each["id"]: each for each in response.json()["memories"]}


def counted() -> dict[UUID, tuple[int, int]]:
    """Citations and ignores, as they are stored."""
    rows = MemoryUsage.objects.values_list("memory_id", "cited", "ignored")
    return {pk: (cited, ignored) for pk, cited, ignored in rows}


def test_a_report_counts_each_memory_once(api: APIClient, ids: tuple[str, str]) -> None:
    one, two = ids

    assert report(api, cited=[one, one], ignored=[two]) == {"cited": 1, "ignored": 1}
    assert report(api, cited=[one]) == {"cited": 1, "ignored": 0}
    assert counted() == {UUID(one): (2, 0), UUID(two): (0, 1)}
    usage = shown(api, one)["usage"]
    assert (usage["cited"], usage["retrieved"], usage["last_accessed_at"]) == (2, 0, None)


def test_use_moves_scores_and_is_seen_among_the_signals(
    api: APIClient, ids: tuple[str, str]
) -> None:
    before = found(api)
    first, last = before
    for _ in range(5):
        report(api, cited=[last], ignored=[first])
    after = found(api)

    assert {each["signals"]["usage"] for each in before.values()} == {0}
    assert after[last]["signals"]["usage"] > 0 > after[first]["signals"]["usage"]
    assert 0 < after[last]["score"] - before[last]["score"] <= USAGE_SHARE
    assert 0 < before[first]["score"] - after[first]["score"] <= USAGE_SHARE


def test_a_report_under_a_key_counts_once(api: APIClient, ids: tuple[str, str]) -> None:
    one, _ = ids
    answers = [
        api.post("/v1/usage", {"cited": [one]}, format="json", headers={"Idempotency-Key": "k"})
        for _ in range(2)
    ]

    assert [each.status_code for each in answers] == [200, 200]
    assert answers[1]["Idempotent-Replay"] == "true"
    assert counted() == {UUID(one): (1, 0)}


def test_what_cannot_be_seen_is_named_and_nothing_is_counted(
    api: APIClient, ids: tuple[str, str], globex: Cast, client_of: Clients
) -> None:
    theirs, unknown = remember(client_of(globex), ONE), str(uuid4())

    for hidden in (theirs, unknown):
        for given in ({"cited": [ids[0], hidden]}, {"cited": [ids[0]], "ignored": [hidden]}):
            problem = assert_problem(post(api, "usage", **given), codes=(404,))
            assert hidden in problem["detail"]
    assert counted() == {}


def test_a_key_of_one_agent_reports_no_other_agents_memory(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    private = remember(api, "Luke's own note.", memory_type="agent_private", agent="luke")

    response = post(client_of(acme, agent=acme.kyra), "usage", cited=[private])

    assert response.status_code == 404
    assert counted() == {}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "cited"),
        ({"cited": [], "ignored": []}, "cited"),
        ({"cited": ["x"]}, "cited"),
        ({"cited": [str(uuid4()) for _ in range(101)]}, "cited"),
        ({"ignored": [str(uuid4()) for _ in range(101)]}, "ignored"),
        ({"cited": [str(UUID(int=1))], "ignored": [str(UUID(int=1))]}, "ignored"),
        ({"cited": [str(UUID(int=1))], "work": {}}, "work"),
        ({"cite": []}, "cite"),
    ],
)
def test_a_bad_report_is_refused_by_its_field(
    api: APIClient, given: dict[str, Any], field: str
) -> None:
    response = post(api, "usage", **given)

    assert_problem(response, codes=(422,))
    assert field in response.content.decode()


def test_what_was_superseded_meanwhile_counts(api: APIClient, ids: tuple[str, str]) -> None:
    one, _ = ids
    post(api, f"memories/{one}/correct", corrected_content="Lunch is served in the yard.")

    report(api, cited=[one])

    assert counted()[UUID(one)] == (1, 0)


def test_what_was_cited_in_a_work_is_predicted_when_it_comes_again(
    api: APIClient, ids: tuple[str, str]
) -> None:
    one, two = ids
    report(api, cited=[one], ignored=[two], work={"file_opened": "deploy/staging.yml"})

    response = post(api, "context/predict", agent="kyra", file_opened="deploy/staging.yml")

    assert [each["id"] for each in response.json()["predicted_memories"]] == [one]
    assert set(SignalUse.objects.values_list("memory_id", flat=True)) == {UUID(one)}


def test_importance_stays_however_much_is_reported(api: APIClient, ids: tuple[str, str]) -> None:
    one, two = ids
    before = [shown(api, each)["importance"] for each in ids]
    for _ in range(6):
        report(api, cited=[one], ignored=[two])

    assert [shown(api, each)["importance"] for each in ids] == before
