"""Contradictions are settled from the admin: by whom, with what, and what the pages say."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import MemoryLog
from memory.models import Contradiction, Memory
from teams.models import Team
from teams.tenancy import team_scope
from tests.admin.conftest import SignIn
from tests.conftest import Cast
from tests.factories import MemoryFactory

LIST = "admin:memory_contradiction_changelist"
HOSTILE = "<script>alert('x')</script> & <b>bold</b>"


def dispute(team: Team, first: str = "Office is in Oslo.", second: str = "") -> Contradiction:
    """An open one: two memories that name each other, or one that was said to be wrong."""
    a = MemoryFactory.create(team=team, content=first, status="disputed", importance=4)
    b = None
    if second:
        b = MemoryFactory.create(
            team=team, content=second, status="disputed", importance=7, contradicts=[a.pk]
        )
        a.contradicts = [b.pk]
        a.save(update_fields=["contradicts"])
    return Contradiction.objects.create(
        team=team,
        memory_a=a,
        memory_b=b,
        strategy="same_subject" if b else "feedback",
        judge="rules",
        verdict="dispute",
    )


def two(team: Team) -> Contradiction:
    """Oslo against Bergen."""
    return dispute(team, "Office is in Oslo.", "Office is in Bergen.")


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


def page_of(pair: Contradiction, path: str = "change") -> str:
    """The address of its page, or of one of the buttons on it."""
    page = reverse("admin:memory_contradiction_change", args=[pair.pk])
    return page.replace("change/", f"{path}/")


def told(answer: HttpResponse) -> list[str]:
    """What the page will say."""
    return [str(message) for message in get_messages(answer.wsgi_request)]  # type: ignore[attr-defined]


def states(pair: Contradiction) -> list[str]:
    """How both sides stand."""
    pair.refresh_from_db()
    return [side.status for side in (pair.memory_a, pair.memory_b) if side is not None]


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

    assert told(answer) == ["2 contradictions settled."]
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
        ("stands", "a_wins", "active", "stands, although it was said to be wrong."),
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

    assert told(answer)[-2:] == [
        "1 contradiction settled.",
        "1 contradiction left as before: It is settled already: a_wins."
        " “Office is in Oslo.” against “Office is in Bergen.”",
    ]
    assert states(settled) == ["active", "superseded"]
    assert states(waiting) == ["superseded", "active"]


def test_one_that_another_of_the_same_choice_settles_is_told(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    objection = Contradiction.objects.create(
        team=inside.team,
        memory_a=pair.memory_a,
        strategy="feedback",
        judge="someone",
        verdict="dispute",
    )

    answer = run(reviewer_client, "b_stands_selected", [pair, objection])

    assert "1 contradiction settled." in told(answer)
    assert any("It is settled already" in each for each in told(answer))


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

    assert told(answer)[0] == "1 contradiction settled."
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


def test_merging_shows_both_sides_then_its_text_then_writes_it(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    text = "The office moved from Oslo to Bergen.\r\nThe lease is signed."

    form = reviewer_client.get(page_of(pair, "merge")).content.decode()
    preview = reviewer_client.post(page_of(pair, "merge"), {"content": text})
    before = states(pair)
    done = reviewer_client.post(
        page_of(pair, "merge"), {"content": text, "reason": "both knew half", "confirmed": "yes"}
    )

    assert "Office is in Oslo." in form
    assert "Office is in Bergen." in form
    assert 'name="confirmed"' not in form
    assert "Yes, merge" in " ".join(preview.content.decode().split())
    assert before == ["disputed", "disputed"]
    assert done["Location"] == page_of(pair)
    assert told(done) == ["1 contradiction settled."]  # type: ignore[arg-type]
    assert states(pair) == ["superseded", "superseded"]
    assert (pair.resolution, pair.resolution_note) == ("merged", "both knew half")
    merged = pair.memory_a.superseded_by
    assert merged is not None
    assert merged.content == "The office moved from Oslo to Bergen.\nThe lease is signed."
    assert (merged.status, merged.importance, merged.actor) == ("active", 7, "staff:rob")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Say what the merged memory says."),
        (" \n ", "Say what the merged memory says."),
        ("\N{PARTY POPPER}!", "Say something in words"),
    ],
)
@pytest.mark.parametrize("confirmed", [{}, {"confirmed": "yes"}])
def test_a_merge_that_says_nothing_is_refused_in_words(
    content: str, words: str, confirmed: dict[str, str], inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    answer = reviewer_client.post(page_of(pair, "merge"), {"content": content, **confirmed})

    assert answer.status_code == 200
    assert words in answer.content.decode()
    assert states(pair) == ["disputed", "disputed"]


def test_a_memory_said_to_be_wrong_is_corrected(inside: Cast, reviewer_client: Client) -> None:
    pair = dispute(inside.team)

    data = {"content": "The office is in Tromso.", "confirmed": "yes"}
    reviewer_client.post(page_of(pair, "correct"), data)

    assert states(pair) == ["superseded"]
    assert Memory.objects.live().get().content == "The office is in Tromso."


def test_a_merged_text_is_written_without_its_secret_and_says_so(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

    bare = reviewer_client.post(page_of(pair, "merge"), {"content": token, "confirmed": "yes"})
    kept_open = states(pair)
    text = f"The office in Bergen opens with {token} since May."
    done = reviewer_client.post(page_of(pair, "merge"), {"content": text, "confirmed": "yes"})

    assert "never stored" in told(bare)[-1]  # type: ignore[arg-type]
    assert kept_open == ["disputed", "disputed"]
    assert any("masked" in message for message in told(done))  # type: ignore[arg-type]
    assert token not in Memory.objects.live().get().content


def test_a_settled_one_is_not_merged(inside: Cast, reviewer_client: Client) -> None:
    pair = two(inside.team)
    reviewer_client.post(page_of(pair, "both-stand"), {"confirmed": "yes"})

    asked = reviewer_client.get(page_of(pair, "merge"))
    sent = reviewer_client.post(page_of(pair, "merge"), {"content": "X.", "confirmed": "yes"})

    assert asked["Location"] == sent["Location"] == page_of(pair)
    assert told(sent)[-1] == "It is settled already: both valid."  # type: ignore[arg-type]
    assert states(pair) == ["active", "active"]


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
