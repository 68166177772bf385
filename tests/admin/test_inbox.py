"""One inbox for contradictions, consent requests and team facts: one queue, one stack of undos."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import new_request
from memory.writing.drafts import MemoryDraft
from teams.models import StaffUser
from tests.factories import MemoryFactory
from tests.support.admin import decide, dispute, join, page_of, states, told, two, undo
from tests.support.cast import Cast
from tests.support.consent import asked_to_move, page_of_request

INBOX = reverse("inbox")


def fact(cast: Cast, content: str = "The office closes at six.") -> ConsentRequest:
    """A statement of two people that waits to become the team's."""
    parts = [
        MemoryFactory.create(team=cast.team, end_user=person, content=content)
        for person in (cast.sarah, cast.dmitri)
    ]
    draft = MemoryDraft(
        team_id=cast.team.pk,
        conversation_id=None,
        content=content,
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        extractor="team_facts",
        created_at=timezone.now(),
    )
    return new_request(
        draft=replace(draft, category="work"),
        signals=[],
        now=timezone.now(),
        beside_draft={"parts": [str(each.pk) for each in parts], "stated_by": 2},
        kind=ConsentRequest.Kind.TEAM_FACT,
        value_key=b"x" * 32,
        proposed_by="task:team_facts",
    )


def several(client: Client, choice: str, *ids: str, confirmed: bool = True) -> HttpResponse:
    """Send what the list's buttons send, and the page that asks."""
    sent = {"choice": choice, "item": list(ids)} | ({"confirmed": "yes"} if confirmed else {})
    return client.post(INBOX, sent)  # type: ignore[return-value]


def last_step(client: Client) -> str:
    """Returns what the button to undo sends."""
    step = client.get(INBOX).context["last_step"]
    return step["id"] if step else ""


def press_undo(client: Client, step: str | None = None) -> list[str]:
    sent = last_step(client) if step is None else step
    return told(client.post(INBOX, {"undo": sent}))  # type: ignore[arg-type]


def test_all_kinds_stand_in_one_queue_and_each_leads_to_the_next(
    inside: Cast, oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.", days=3)
    pair = two(inside.team)
    Contradiction.objects.filter(pk=pair.pk).update(detected_at=timezone.now() - timedelta(days=1))
    closing = fact(inside)

    listed = reviewer_client.get(INBOX)
    first = reviewer_client.post(page_of_request(bergen), {"choice": "approve"})
    second = decide(reviewer_client, pair, "a")
    page = reviewer_client.get(page_of_request(closing))
    last = reviewer_client.post(page_of_request(closing), {"choice": "approve"})

    assert [item.row.pk for item, *_ in listed.context["items"]] == [bergen.pk, pair.pk, closing.pk]
    assert first["Location"] == page_of(pair)
    assert second["Location"] == page_of_request(closing)
    assert "1 of 1" in page.content.decode()
    assert "Nothing is replaced." in page.content.decode()
    assert last["Location"] == INBOX
    assert Memory.objects.live().filter(end_user=None, content="The office closes at six.").exists()


def test_one_kind_is_shown_alone(inside: Cast, oslo: Memory, reviewer_client: Client) -> None:
    asked_to_move(oslo, "Sarah lives in Bergen.")
    pair = two(inside.team)

    answer = reviewer_client.get(INBOX, {"kind": "contradiction"})

    assert [item.row.pk for item, *_ in answer.context["items"]] == [pair.pk]
    assert [(name, count) for name, _, count in answer.context["kinds"]] == [
        ("", 2),
        ("contradiction", 1),
        ("consent", 1),
        ("team-fact", 0),
    ]


def test_every_step_is_undone_the_last_one_first(
    inside: Cast, oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    closing = fact(inside)
    pair, late = two(inside.team), dispute(inside.team, "It ships in May.", "It ships in June.")

    decide(reviewer_client, pair, "b")
    reviewer_client.post(page_of_request(bergen), {"choice": "approve"})
    decide(reviewer_client, late, "week")
    reviewer_client.post(page_of_request(closing), {"choice": "reject"})
    assert "Undo “Reject”" in reviewer_client.get(INBOX).content.decode()
    undone = [press_undo(reviewer_client)[-1] for _ in range(4)]

    assert undone == [
        "Undone: Fact for the whole team, stated by 2 people: “The office closes at six.” is"
        " waiting for a decision again.",
        "Undone: “It ships in May.” against “It ships in June.” is no longer left for later.",
        "Undone: City of sarah: “Sarah lives in Bergen.” is waiting for a decision again.",
        "Undone: “Office is in Oslo.” against “Office is in Bergen.” is open again.",
    ]
    assert states(pair) == ["disputed", "disputed"]
    oslo.refresh_from_db()
    late.refresh_from_db()
    assert (oslo.status, late.snoozed_until) == ("active", None)
    assert set(ConsentRequest.objects.values_list("state", flat=True)) == {"waiting"}
    assert press_undo(reviewer_client)[-1] == "There is nothing to undo."


def test_what_a_colleague_decided_since_is_not_undone(
    inside: Cast, reviewer_client: Client, admin_client: Client
) -> None:
    pair = two(inside.team)
    decide(reviewer_client, pair, "a")
    undo(admin_client, pair)
    decide(admin_client, pair, "b")

    said = press_undo(reviewer_client)[-1]

    assert "your decision no longer stands (by ann (staff))" in said
    assert states(pair) == ["superseded", "active"]


def test_a_page_undoes_no_other_step_than_the_one_that_it_shows(
    inside: Cast, reviewer_client: Client
) -> None:
    first, second = two(inside.team), dispute(inside.team, "It is one.", "It is two.")
    decide(reviewer_client, first, "a")
    shown = last_step(reviewer_client)
    decide(reviewer_client, second, "a")

    said = press_undo(reviewer_client, shown)

    assert said[-1] == "Not undone: you have decided something else since."
    assert states(first) == states(second) == ["active", "superseded"]
    assert "Undone:" in press_undo(reviewer_client)[-1]
    assert states(second) == ["disputed", "disputed"]


def test_a_step_in_a_team_that_is_not_shown_stays(
    inside: Cast, others: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    decide(reviewer_client, pair, "a")
    join(StaffUser.objects.get(username="rob"), others.team, "reviewer")
    reviewer_client.post(reverse("choose_team"), {"team": str(others.team.pk)})

    hidden = press_undo(reviewer_client)[-1]
    reviewer_client.post(reverse("choose_team"), {"team": ""})

    assert hidden == "Not undone: it belongs to a team that is not shown."
    assert "Undone:" in press_undo(reviewer_client)[-1]
    assert states(pair) == ["disputed", "disputed"]


def test_the_list_offers_the_decisions_of_pairs_beside_those_of_reports(
    inside: Cast, reviewer_client: Client
) -> None:
    pair, report = two(inside.team), dispute(inside.team)

    offered = dict(reviewer_client.get(INBOX).context["choices"])
    several(reviewer_client, "wrong", f"contradiction:{pair.pk}", f"contradiction:{report.pk}")

    titles = {"a": "Keep A", "b": "Keep B", "correct": "Correct: keep", "wrong": "Wrong: delete"}
    assert titles.items() <= offered.items()
    assert states(pair) == ["disputed", "disputed"]
    assert states(report) == ["soft_deleted"]


def test_what_was_undone_on_its_page_is_no_step_any_more(
    inside: Cast, reviewer_client: Client
) -> None:
    first, second = two(inside.team), dispute(inside.team, "It is one.", "It is two.")
    decide(reviewer_client, first, "a")
    decide(reviewer_client, second, "a")

    undo(reviewer_client, second)
    press_undo(reviewer_client)

    assert states(first) == states(second) == ["disputed", "disputed"]


def test_several_of_different_kinds_are_decided_and_undone_as_one_step(
    inside: Cast, oslo: Memory, reviewer_client: Client
) -> None:
    bergen, closing = asked_to_move(oslo, "Sarah lives in Bergen."), fact(inside)
    pair = two(inside.team)
    ids = [f"contradiction:{pair.pk}", f"consent:{bergen.pk}", f"team-fact:{closing.pk}"]

    asked = several(reviewer_client, "approve", *ids, confirmed=False).content.decode()
    done = several(reviewer_client, "approve", *ids)

    assert "“Sarah lives in Oslo.” is replaced." in asked
    assert "Selected items without this decision stay as they are: 1." in asked
    assert told(done)[0].startswith("2 items decided. Approved: ")
    assert states(pair) == ["disputed", "disputed"]
    assert Memory.objects.get(pk=oslo.pk).status == "superseded"
    assert len(press_undo(reviewer_client)) == 2
    assert Memory.objects.get(pk=oslo.pk).status == "active"
    assert set(ConsentRequest.objects.values_list("state", flat=True)) == {"waiting"}


def test_several_are_left_for_later_and_shown_there(
    inside: Cast, oslo: Memory, reviewer_client: Client
) -> None:
    bergen, pair = asked_to_move(oslo, "Sarah lives in Bergen."), two(inside.team)
    done = several(reviewer_client, "day", f"contradiction:{pair.pk}", f"consent:{bergen.pk}")

    assert told(done)[0].startswith("2 items left for later.")
    page = reviewer_client.get(INBOX)
    later = reviewer_client.get(INBOX, {"later": "1"})

    assert "2 left for later" in page.content.decode()
    assert {item.row.pk for item, *_ in later.context["items"]} == {bergen.pk, pair.pk}
    assert "Left for later until" in reviewer_client.get(page_of_request(bergen)).content.decode()
    press_undo(reviewer_client)
    assert reviewer_client.get(INBOX).context["queue"].later == 0


def test_what_would_expire_unseen_is_not_left_for_later(
    oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.", days=1)

    (said,) = told(reviewer_client.post(page_of_request(bergen), {"choice": "week"}))  # type: ignore[arg-type]

    assert "Decide it before." in said
    bergen.refresh_from_db()
    assert bergen.snoozed_until is None


def test_what_a_colleague_has_open_is_shown(
    inside: Cast, reviewer_client: Client, admin_client: Client
) -> None:
    StaffUser.objects.filter(username="rob").update(first_name="Rob", last_name="Moe")
    pair = two(inside.team)
    reviewer_client.get(page_of(pair))

    assert "Rob Moe has this open" in admin_client.get(page_of(pair)).content.decode()
    assert "Rob Moe has this open" in admin_client.get(INBOX).content.decode()
    reviewer_client.get(INBOX)
    assert "has this open" not in admin_client.get(page_of(pair)).content.decode()


def test_a_viewer_looks_and_decides_nothing(
    inside: Cast, oslo: Memory, viewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    address = page_of_request(bergen)

    several(viewer_client, "approve", f"consent:{bergen.pk}")

    assert 'name="choice"' not in viewer_client.get(INBOX).content.decode()
    assert 'name="choice"' not in viewer_client.get(address).content.decode()
    assert viewer_client.post(address, {"choice": "approve"}).status_code == 403
    bergen.refresh_from_db()
    assert bergen.is_waiting


def test_no_page_of_an_item_has_a_raw_name(
    inside: Cast, oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    pair = dispute(inside.team)
    Contradiction.objects.filter(pk=pair.pk).update(judge="staff:rita", reason="told by staff:rita")
    decide(reviewer_client, pair, "correct", note="asked staff:rita")
    reviewer_client.post(page_of_request(bergen), {"choice": "reject"})

    for url in (page_of(pair), page_of_request(bergen), INBOX):
        assert "staff:" not in reviewer_client.get(url).content.decode(), url


@pytest.mark.parametrize("query", ["?kind=nope", "?q=%25%00'", "?page=x", "?later=2", "?start=zz"])
def test_nonsense_in_the_address_is_no_error(
    query: str, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    assert reviewer_client.get(INBOX + query).status_code == 200
    assert reviewer_client.get(page_of(pair) + query).status_code == 200
    assert reviewer_client.post(INBOX, {"choice": "a", "item": ["x", "nope:y"]}).status_code == 302
