"""Contradictions are settled from the admin: by whom, with what, and what the pages say."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Contradiction
from teams.tenancy import team_scope
from tests import factories
from tests.factories import MemoryFactory
from tests.support.admin import SignIn, dispute, page_of, states, told, two
from tests.support.cast import Cast

LIST = "admin:memory_contradiction_changelist"
HOSTILE = "<script>alert('x')</script> & <b>bold</b>"


def run(
    client: Client, action: str, pairs: list[Contradiction], *, confirmed: bool = True
) -> HttpResponse:
    """Send the list's action as the page that asks would."""
    data: dict[str, object] = {
        "action": action,
        ACTION_CHECKBOX_NAME: [str(pair.pk) for pair in pairs],
        "reason": "asked the office",
    }
    if confirmed:
        data["confirmed"] = "yes"
    return client.post(reverse(LIST), data)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("action", "resolution", "expected"),
    [
        ("a_stands_selected", "a_wins", ["active", "superseded"]),
        ("b_stands_selected", "b_wins", ["superseded", "active"]),
        ("both_stand_selected", "both_valid", ["active", "active"]),
    ],
)
def test_a_reviewer_settles_and_the_log_knows_who_and_why(
    action: str, resolution: str, expected: list[str], inside: Cast, reviewer_client: Client
) -> None:
    pairs = [two(inside.team), dispute(inside.team, "It ships in May.", "It ships in June.")]

    answer = run(reviewer_client, action, pairs)

    assert told(answer)[0].startswith("2 contradictions settled. ")
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
        ("a_stands_selected", "“Office is in Oslo.” stands; “Office is in Bergen.” is superseded."),
        ("b_stands_selected", "“Office is in Bergen.” stands; “Office is in Oslo.” is superseded."),
        ("both_stand_selected", "“Office is in Oslo.” and “Office is in Bergen.” both stand."),
    ],
)
def test_the_list_asks_first_and_says_what_becomes_of_each(
    action: str, sentence: str, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    asked = run(reviewer_client, action, [pair], confirmed=False)

    assert sentence in asked.content.decode()
    assert states(pair) == ["disputed", "disputed"]
    assert pair.resolved_at is None


@pytest.mark.parametrize(
    ("path", "resolution", "status", "sentence"),
    [
        ("stands", "a_wins", "active", "stands, although it was reported as wrong."),
        ("is-wrong", "b_wins", "soft_deleted", "is wrong and is deleted."),
    ],
)
def test_a_memory_said_to_be_wrong_stands_or_is_wrong(
    path: str,
    resolution: str,
    status: str,
    sentence: str,
    inside: Cast,
    reviewer_client: Client,
) -> None:
    pair = dispute(inside.team)

    asked = reviewer_client.get(page_of(pair, path))
    answer = reviewer_client.post(page_of(pair, path), {"confirmed": "yes"})

    assert sentence in asked.content.decode()
    assert answer["Location"] == page_of(pair)
    assert states(pair) == [status]
    assert pair.resolution == resolution


def test_the_list_says_that_b_against_nothing_deletes_a(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = dispute(inside.team)

    asked = run(reviewer_client, "b_stands_selected", [pair], confirmed=False)
    run(reviewer_client, "b_stands_selected", [pair])

    assert "“Office is in Oslo.” is wrong and is deleted." in asked.content.decode()
    assert states(pair) == ["soft_deleted"]


def test_a_page_offers_what_fits_and_a_settled_one_nothing(
    inside: Cast, reviewer_client: Client
) -> None:
    of_two, of_one, settled = two(inside.team), dispute(inside.team, "X."), dispute(inside.team)
    reviewer_client.post(page_of(settled, "stands"), {"confirmed": "yes"})

    pages = [
        reviewer_client.get(page_of(pair)).content.decode() for pair in (of_two, of_one, settled)
    ]

    paths = ("a-stands", "b-stands", "both-stand", "merge", "stands", "is-wrong", "correct")
    offered = [
        {path for path in paths if page_of(pair, path) in page}
        for pair, page in zip((of_two, of_one, settled), pages, strict=True)
    ]
    assert offered == [
        {"a-stands", "b-stands", "both-stand", "merge"},
        {"stands", "is-wrong", "correct"},
        set(),
    ]


def test_what_is_settled_already_is_named_and_left(inside: Cast, reviewer_client: Client) -> None:
    settled, waiting = two(inside.team), dispute(inside.team, "It ships in May.", "It is late.")
    run(reviewer_client, "a_stands_selected", [settled])

    answer = run(reviewer_client, "b_stands_selected", [settled, waiting])

    done, left = told(answer)[-2:]
    assert (
        done == "1 contradiction settled. “It is late.” stands; “It ships in May.” is superseded."
    )
    assert left.startswith("1 contradiction left as before: It is settled already, decided on 20")
    assert left.endswith(
        " UTC by staff:rob: the earlier one stands (asked the office)."
        " “Office is in Oslo.” against “Office is in Bergen.”"
    )
    assert states(settled) == ["active", "superseded"]
    assert states(waiting) == ["superseded", "active"]


def test_one_that_another_of_the_same_choice_settles_is_told(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    objection = factories.ContradictionFactory.create(
        team=inside.team,
        memory_a=pair.memory_a,
        strategy="feedback",
        judge="someone",
        verdict="dispute",
    )

    answer = run(reviewer_client, "b_stands_selected", [pair, objection])

    (done,) = told(answer)
    assert done == (
        "2 contradictions settled. “Office is in Oslo.” is wrong and is deleted."
        " Ended with it: “Office is in Oslo.” against “Office is in Bergen.” (B stands)."
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

    done = reviewer_client.post(page_of(pair, "a-stands"), {"confirmed": "yes"})
    page = reviewer_client.get(page_of(pair)).content.decode()

    assert told(done) == [  # type: ignore[arg-type]
        "1 contradiction settled."
        " “Office is in Oslo.” stands; “Office is in Bergen.” is superseded."
        " Ended with it: “Office is in Bergen.” against “Office is in Voss.” (B stands)."
        " Still open: “Office is in Oslo.” against “Office is in Voss.”"
    ]
    assert "Still open about these memories" in page
    assert page_of(beside[0]) in page
    assert page_of(beside[1]) not in page


def test_a_settled_page_leads_to_the_next_open_one_of_the_team(
    inside: Cast, reviewer_client: Client
) -> None:
    older, pair, newer = (dispute(inside.team, f"It is {n}.", "It is none.") for n in (1, 2, 3))

    then = reviewer_client.get(page_of(pair)).context["next_open"]
    reviewer_client.post(page_of(older, "a-stands"), {"confirmed": "yes"})
    last = reviewer_client.get(page_of(pair)).context["next_open"]
    reviewer_client.post(page_of(newer, "a-stands"), {"confirmed": "yes"})
    alone = reviewer_client.get(page_of(pair)).context["next_open"]
    reviewer_client.post(page_of(pair, "a-stands"), {"confirmed": "yes"})

    assert then == ("“It is 1.” against “It is none.”", page_of(older))
    assert last == ("“It is 3.” against “It is none.”", page_of(newer))
    assert alone is None
    assert "None is open any more" in reviewer_client.get(page_of(pair)).content.decode()


def test_a_stale_page_keeps_the_reason_that_was_typed(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    reviewer_client.post(page_of(pair, "b-stands"), {"confirmed": "yes"})

    late = reviewer_client.post(
        page_of(pair, "a-stands"), {"confirmed": "yes", "reason": "seen on site"}
    )

    assert told(late)[-1] == "Your reason was not stored: “seen on site”"  # type: ignore[arg-type]
    assert "by staff:rob: the later one stands" in told(late)[-2]  # type: ignore[arg-type]


def test_long_sides_are_aligned_excerpts_before_one_is_settled(
    inside: Cast, reviewer_client: Client
) -> None:
    plan = "The evacuation plan of the harbour festival for the main stage, the quay, the ferry"
    plan += " and both of the car parks behind the old fish market says that gate"
    pair = dispute(inside.team, f"{plan} B opens first.", f"{plan} D opens first.")

    row = reviewer_client.get(reverse(LIST)).content.decode()
    asked = reviewer_client.get(page_of(pair, "a-stands")).content.decode()
    done = reviewer_client.post(page_of(pair, "a-stands"), {"confirmed": "yes"})

    assert "gate B opens first." in row
    assert "gate D opens first." in row
    assert f"{plan} <mark>B</mark> opens first.” stands" in asked
    assert f"{plan} <mark>D</mark> opens first.” is superseded" in asked
    assert "gate B opens first.” stands" in told(done)[-1]  # type: ignore[arg-type]


def test_the_page_that_asks_says_when_a_pin_changes_sides(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    pair.memory_a.is_pinned = True
    pair.memory_a.save(update_fields=["is_pinned"])

    asked = [
        "its pin moves" in reviewer_client.get(page_of(pair, path)).content.decode()
        for path in ("a-stands", "b-stands", "both-stand")
    ]

    assert asked == [False, True, False]


@pytest.mark.parametrize("path", ["a-stands", "b-stands", "both-stand", "merge"])
def test_a_viewer_settles_nothing(path: str, inside: Cast, viewer_client: Client) -> None:
    pair = two(inside.team)

    run(viewer_client, "a_stands_selected", [pair])
    asked = viewer_client.get(page_of(pair, path))
    direct = viewer_client.post(page_of(pair, path), {"confirmed": "yes", "content": "Both."})

    assert (asked.status_code, direct.status_code) == (403, 403)
    assert states(pair) == ["disputed", "disputed"]
    assert pair.resolved_at is None
    page = viewer_client.get(page_of(pair)).content.decode()
    assert page_of(pair, path) not in page


def test_a_reviewer_of_one_team_only_looks_at_the_other(
    cast: Cast, others: Cast, sign_in: SignIn
) -> None:
    client = sign_in((cast.team, "reviewer"), (others.team, "viewer"))
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        own, other = two(cast.team), two(others.team)

    answer = run(client, "a_stands_selected", [own, other])
    direct = client.post(page_of(other, "a-stands"), {"confirmed": "yes"})

    assert told(answer)[0].startswith("1 contradiction settled. ")
    assert "Your role in the team does not allow it." in told(answer)[1]
    assert direct.status_code == 403
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        assert states(own) == ["active", "superseded"]
        assert states(other) == ["disputed", "disputed"]


def test_a_stranger_settles_nothing(cast: Cast, others: Cast, sign_in: SignIn) -> None:
    client = sign_in((cast.team, "admin"))
    with team_scope(team_ids=[others.team.id], actor="test"):
        other = two(others.team)

    run(client, "a_stands_selected", [other])

    assert client.get(page_of(other, "merge")).status_code == 403
    with team_scope(team_ids=[others.team.id], actor="test"):
        assert states(other) == ["disputed", "disputed"]


def test_hostile_text_is_shown_and_never_run(inside: Cast, reviewer_client: Client) -> None:
    pair = dispute(inside.team, HOSTILE, f"No: {HOSTILE}")
    merge = page_of(pair, "merge")
    pages: list[Any] = [  # Any: the test client's answers have no common type
        reviewer_client.get(reverse(LIST)),
        reviewer_client.get(page_of(pair)),
        reviewer_client.get(page_of(pair, "a-stands")),
        run(reviewer_client, "a_stands_selected", [pair], confirmed=False),
        reviewer_client.get(merge),
        reviewer_client.post(merge, {"content": HOSTILE, "reason": HOSTILE}),
        reviewer_client.post(merge, {"content": "", "reason": HOSTILE}),
    ]
    run(reviewer_client, "a_stands_selected", [pair])
    run(reviewer_client, "a_stands_selected", [pair])
    pages.append(reviewer_client.get(page_of(pair)))

    for answer in pages:
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "&lt;script&gt;" in text
        assert "<script>alert" not in text
        assert "<b>bold" not in text
    assert "It is settled already" in pages[-1].content.decode()
