"""Contradictions are settled from the admin: by whom, with what, and what the pages say."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Contradiction
from teams.tenancy import team_scope
from tests import factories
from tests.factories import MemoryFactory
from tests.support.admin import (
    SignIn,
    decide,
    decide_several,
    dispute,
    page_of,
    states,
    told,
    two,
    undo,
)
from tests.support.cast import Cast

LIST = "inbox"
HISTORY = "admin:memory_contradiction_changelist"
HOSTILE = "<script>alert('x')</script> & <b>bold</b>"


def run(
    client: Client, choice: str, pairs: list[Contradiction], *, confirmed: bool = True
) -> HttpResponse:
    """Decide several in the list, as the page that asks would."""
    ids = [f"contradiction:{pair.pk}" for pair in pairs]
    return decide_several(client, choice, ids, confirmed=confirmed, reason="asked the office")


@pytest.mark.parametrize(
    ("action", "resolution", "expected"),
    [
        ("a", "a_wins", ["active", "superseded"]),
        ("b", "b_wins", ["superseded", "active"]),
        ("both", "both_valid", ["active", "active"]),
    ],
)
def test_a_reviewer_settles_and_the_log_knows_who_and_why(
    action: str, resolution: str, expected: list[str], inside: Cast, reviewer_client: Client
) -> None:
    pairs = [two(inside.team), dispute(inside.team, "It ships in May.", "It ships in June.")]

    answer = run(reviewer_client, action, pairs)

    assert told(answer)[0].startswith("2 items decided. ")
    for pair in pairs:
        assert states(pair) == expected
        assert (pair.resolution, pair.resolution_note) == (resolution, "asked the office")
        assert pair.resolved_by == "staff:rob"
        newest = MemoryLog.objects.filter(memory_id=pair.memory_a_id).latest("seq")
        assert newest.actor == "staff:rob"
        assert "asked the office" in newest.reason


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        ("a", "“Office is in Oslo.” is kept, and “Office is in Bergen.” is replaced."),
        ("b", "“Office is in Bergen.” is kept, and “Office is in Oslo.” is replaced."),
        ("both", "“Office is in Oslo.” and “Office is in Bergen.” are both kept."),
    ],
)
def test_the_list_asks_first_and_says_what_becomes_of_each(
    action: str, sentence: str, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    asked = run(reviewer_client, action, [pair], confirmed=False)

    shown = asked.content.decode().replace("<mark>", "").replace("</mark>", "")
    assert sentence in shown
    assert states(pair) == ["disputed", "disputed"]
    assert pair.resolved_at is None


def test_the_list_says_that_a_report_that_is_right_deletes(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = dispute(inside.team)

    asked = run(reviewer_client, "wrong", [pair], confirmed=False)
    run(reviewer_client, "wrong", [pair])

    assert "“Office is in Oslo.” is wrong and is deleted." in asked.content.decode()
    assert states(pair) == ["soft_deleted"]


def test_what_is_settled_already_is_named_and_left(inside: Cast, reviewer_client: Client) -> None:
    settled, waiting = two(inside.team), dispute(inside.team, "It ships in May.", "It is late.")
    run(reviewer_client, "a", [settled])

    answer = run(reviewer_client, "b", [settled, waiting])

    done, left = told(answer)[-2:]
    assert done == "1 item decided. “It is late.” is kept, and “It ships in May.” is replaced."
    assert left.startswith("1 item not changed: It is already settled, decided on 20")
    assert left.endswith(
        " UTC by rob (staff): the earlier one was kept (asked the office)."
        " “Office is in Oslo.” against “Office is in Bergen.”"
    )
    assert states(settled) == ["active", "superseded"]
    assert states(waiting) == ["superseded", "active"]


def test_one_that_another_of_the_same_choice_settles_is_told(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    beside = factories.ContradictionFactory.create(
        team=inside.team,
        memory_a=pair.memory_a,
        memory_b=MemoryFactory.create(team=inside.team, content="Office is in Voss."),
        strategy="same_subject",
        judge="rules",
        verdict="dispute",
    )

    answer = run(reviewer_client, "b", [pair, beside])

    (done,) = told(answer)
    assert done == (
        "2 items decided. “Office is in Bergen.” is kept, and “Office is in Oslo.” is replaced."
        " Closed with it: “Office is in Oslo.” against “Office is in Voss.” (B kept)."
    )


def test_what_ends_with_a_settled_one_and_what_stays_open_is_told_and_linked(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    named = [pair.memory_a_id, *pair.memory_a.contradicts]
    third = MemoryFactory.create(
        team=inside.team, content="Office is in Voss.", status="disputed", contradicts=named
    )
    shared = {"team": inside.team, "strategy": "same_subject", "judge": "rules"}
    beside = [
        factories.ContradictionFactory.create(
            memory_a_id=side, memory_b=third, verdict="dispute", **shared
        )
        for side in named
    ]

    done = run(reviewer_client, "a", [pair])
    page = reviewer_client.get(page_of(pair)).content.decode()

    assert told(done) == [
        "1 item decided."
        " “Office is in Oslo.” is kept, and “Office is in Bergen.” is replaced."
        " Closed with it: “Office is in Bergen.” against “Office is in Voss.” (B kept)."
        " Still open: “Office is in Oslo.” against “Office is in Voss.”"
    ]
    assert "Other open items about this" in page
    assert page_of(beside[0]) in page
    assert page_of(beside[1]) not in page


def test_long_sides_are_aligned_excerpts_with_what_differs_marked(
    inside: Cast, reviewer_client: Client
) -> None:
    plan = "The evacuation plan of the harbour festival for the main stage, the quay, the ferry"
    plan += " and both of the car parks behind the old fish market says that gate"
    pair = dispute(inside.team, f"{plan} B opens first.", f"{plan} D opens first.")

    row = reviewer_client.get(reverse(LIST)).content.decode()
    asked = run(reviewer_client, "a", [pair], confirmed=False).content.decode()
    done = run(reviewer_client, "a", [pair])

    assert "gate <mark>B</mark> opens first." in row
    assert "gate <mark>D</mark> opens first." in row
    assert f"{plan} <mark>B</mark> opens first.” is kept" in asked
    assert f"and “{plan} <mark>D</mark> opens first.” is replaced" in asked
    assert "gate B opens first.” is kept" in told(done)[-1]


def test_the_page_that_asks_says_when_a_pin_changes_sides(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    pair.memory_a.is_pinned = True
    pair.memory_a.save(update_fields=["is_pinned"])

    asked = [
        "The pin of the replaced side moves"
        in run(reviewer_client, action, [pair], confirmed=False).content.decode()
        for action in ("a", "b", "both")
    ]

    assert asked == [False, True, False]


@pytest.mark.parametrize("choice", ["a", "b", "both", "merge", "day", "week"])
def test_a_viewer_settles_nothing(choice: str, inside: Cast, viewer_client: Client) -> None:
    pair = two(inside.team)

    run(viewer_client, "a", [pair])
    direct = decide(viewer_client, pair, choice, content="Both.")

    assert direct.status_code == 403
    assert states(pair) == ["disputed", "disputed"]
    assert (pair.resolved_at, pair.snoozed_until) == (None, None)
    page = viewer_client.get(page_of(pair)).content.decode()
    assert 'name="choice"' not in page


def test_a_reviewer_of_one_team_only_looks_at_the_other(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    client = sign_in((cast.team, "reviewer"), (others.team, "viewer"))
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        own, other = two(cast.team), two(others.team)

    answer = run(client, "a", [own, other])
    direct = decide(client, other, "a")

    assert told(answer)[0].startswith("1 item decided. ")
    assert "Your role in the team does not allow this." in told(answer)[1]
    assert direct.status_code == 403
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        assert states(own) == ["active", "superseded"]
        assert states(other) == ["disputed", "disputed"]


def test_a_stranger_settles_nothing(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    client = sign_in((cast.team, "admin"))
    with team_scope(team_ids=[others.team.id], actor="test"):
        other = two(others.team)

    run(client, "a", [other])

    assert decide(client, other, "merge", content="Mine.").status_code == 404
    assert undo(client, other).status_code == 404
    with team_scope(team_ids=[others.team.id], actor="test"):
        assert states(other) == ["disputed", "disputed"]


def test_hostile_text_is_shown_and_never_run(inside: Cast, reviewer_client: Client) -> None:
    pair = dispute(inside.team, HOSTILE, f"No: {HOSTILE}")
    bad_merge = decide(reviewer_client, pair, "merge", content="", note=HOSTILE)
    pages: list[Any] = [  # Any: the test client's answers have no common type
        reviewer_client.get(reverse(LIST)),
        reviewer_client.get(page_of(pair)),
        run(reviewer_client, "a", [pair], confirmed=False),
        bad_merge,
    ]
    decide(reviewer_client, pair, "both", note=HOSTILE)
    pages.append(reviewer_client.get(page_of(pair)))
    pages.append(reviewer_client.get(reverse(HISTORY), {"state": "all"}))

    for answer in pages:
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "&lt;script&gt;" in text
        assert "<script>alert" not in text
        assert "<b>bold" not in text
    assert "It is already settled" in pages[-2].content.decode()


def test_people_to_filter_by_are_looked_up_and_not_all_sent(
    inside: Cast, reviewer_client: Client
) -> None:
    stranger = factories.EndUserFactory.create(team=inside.team, external_id="nobody-in-a-pair")
    about = MemoryFactory.create(team=inside.team, end_user=inside.sarah)
    other = MemoryFactory.create(team=inside.team, end_user=inside.sarah)
    factories.ContradictionFactory.create(team=inside.team, memory_a=about, memory_b=other)

    def listed(person: UUID) -> Any:  # Any: the list, from a context of a template
        answer = reviewer_client.get(
            reverse(HISTORY), {"memory_a__end_user__id__exact": str(person), "state": "open"}
        )
        return answer.context["cl"].result_count

    assert stranger.external_id not in reviewer_client.get(reverse(HISTORY)).content.decode()
    assert (listed(inside.sarah.pk), listed(stranger.pk)) == (1, 0)
    found = reviewer_client.get(
        reverse("admin:autocomplete"),
        {
            "app_label": "memory",
            "model_name": "memory",
            "field_name": "end_user",
            "term": "nobody-in",
        },
    )
    assert [each["id"] for each in found.json()["results"]] == [str(stranger.pk)]
