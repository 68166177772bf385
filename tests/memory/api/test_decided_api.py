"""Over HTTP: what was decided about memories is told to whoever comes after."""

from __future__ import annotations

import re

from rest_framework.test import APIClient

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

BOTH = "The API limit is 100 requests per minute by day and 500 by night."


def settle(api: APIClient, row_id: str, resolution: str, **more: object) -> dict[str, object]:
    response = post(api, f"contradictions/{row_id}/resolve", resolution=resolution, **more)
    assert response.status_code == 200, response.content
    return dict(response.json())


def test_whoever_settles_it_a_second_time_is_told_who_did_when_how_and_why(
    api: APIClient, disputed: tuple[str, str, str]
) -> None:
    settle(api, disputed[2], "a_wins", note="Checked on site.")

    late = post(api, f"contradictions/{disputed[2]}/resolve", resolution="b_wins")

    assert late.status_code == 409
    by = api.get(f"/v1/contradictions/{disputed[2]}").json()["resolved_by"]
    assert re.fullmatch(
        r"It is already settled, decided on \d{4}-\d\d-\d\d \d\d:\d\d UTC by "
        + re.escape(by)
        + r": the earlier one was kept \(Checked on site\.\)\.",
        late.json()["detail"],
    )


def test_one_that_ended_by_itself_says_why(api: APIClient, disputed: tuple[str, str, str]) -> None:
    api.delete(f"/v1/memories/{disputed[1]}")

    late = post(api, f"contradictions/{disputed[2]}/resolve", resolution="b_wins")

    assert late.json()["detail"].endswith("the earlier one was kept (the other side was deleted).")


def test_a_merge_and_what_it_was_made_of_name_each_other(
    api: APIClient, disputed: tuple[str, str, str]
) -> None:
    one, two, row_id = disputed

    merged = settle(api, row_id, "merged", merged_content=BOTH)["merged_memory"]

    assert api.get(f"/v1/contradictions/{row_id}").json()["merged_memory"] == merged
    (listed,) = open_ones(api, "state=resolved")
    assert listed["merged_memory"] == merged
    assert shown(api, str(merged))["merged_from"] == [one, two]
    assert [shown(api, each)["superseded_by"] for each in (one, two)] == [merged, merged]
    assert [shown(api, each)["merged_from"] for each in (one, two)] == [[], []]


def test_what_lost_leads_to_no_merged_memory(
    api: APIClient, disputed: tuple[str, str, str]
) -> None:
    settle(api, disputed[2], "b_wins")

    assert api.get(f"/v1/contradictions/{disputed[2]}").json()["merged_memory"] is None


def test_a_merge_names_no_memory_that_the_reader_does_not_see(
    acme: Cast, client_of: Clients
) -> None:
    kyra, luke = client_of(acme, acme.kyra), client_of(acme, acme.luke)
    wide = remember(kyra, OLD_LIMIT, memory_type="shared", agent="kyra")
    own = remember(kyra, OTHER_LIMIT, agent="kyra")
    (row,) = open_ones(kyra)

    merged = str(settle(kyra, row["id"], "merged", merged_content=BOTH)["merged_memory"])

    assert shown(kyra, merged)["merged_from"] == [wide, own]
    assert shown(luke, merged)["merged_from"] == [wide]


def test_a_memory_that_comes_back_is_disputed_by_what_stands(
    api: APIClient, disputed: tuple[str, str, str]
) -> None:
    one, two, _ = disputed
    api.delete(f"/v1/memories/{two}")

    back = post(api, f"memories/{two}/restore")

    assert (back.status_code, back.json()["status"]) == (200, "disputed")
    assert back.json()["contradicts"] == [one]
    (row,) = open_ones(api)
    assert (row["memory_a"], row["memory_b"]) == (one, two)


def test_what_was_settled_as_wrong_is_disputed_when_it_is_stated_again(api: APIClient) -> None:
    wrong = remember(api, OLD_LIMIT)
    post(api, f"memories/{wrong}/feedback", signal="wrong")
    settle(api, open_ones(api)[0]["id"], "b_wins", note="Checked on site.")

    again = post(api, "memories", content=OLD_LIMIT)

    assert (again.status_code, again.json()["outcome"]) == (201, "disputed")
    (row,) = open_ones(api)
    assert (row["memory_a"], row["memory_b"]) == (again.json()["id"], None)
    assert row["reason"].endswith("it was wrong (Checked on site.)")
