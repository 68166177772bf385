"""One inbox for contradictions, consent requests and team facts: one queue, one stack of undos."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import new_request
from memory.writing.drafts import MemoryDraft
from teams.models import StaffUser
from tests.factories import ContradictionFactory, MemoryFactory
from tests.support.admin import (
    decide,
    decide_several,
    dispute,
    join,
    page_of,
    press,
    shown_by,
    states,
    told,
    two,
    undo,
)
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
    first = press(reviewer_client, page_of_request(bergen), "approve")
    second = decide(reviewer_client, pair, "a")
    page = reviewer_client.get(page_of_request(closing))
    last = press(reviewer_client, page_of_request(closing), "approve")

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
        ("unconfirmed", 0),
    ]


def test_every_step_is_undone_the_last_one_first(
    inside: Cast, oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    closing = fact(inside)
    pair, late = two(inside.team), dispute(inside.team, "It ships in May.", "It ships in June.")

    decide(reviewer_client, pair, "b")
    press(reviewer_client, page_of_request(bergen), "approve")
    decide(reviewer_client, late, "week")
    press(reviewer_client, page_of_request(closing), "reject")
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
    assert press_undo(reviewer_client)[-1] == "There is nothing to undo: it was undone already."


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
    decide_several(
        reviewer_client, "wrong", [f"contradiction:{pair.pk}", f"contradiction:{report.pk}"]
    )

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

    asked = decide_several(reviewer_client, "approve", ids, confirmed=False).content.decode()
    done = decide_several(reviewer_client, "approve", ids)

    assert "“Sarah lives in Oslo.” is replaced." in asked
    assert "Items that cannot be decided this way, and stay open: 1." in asked
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
    done = decide_several(
        reviewer_client, "day", [f"contradiction:{pair.pk}", f"consent:{bergen.pk}"]
    )

    assert told(done)[0].startswith("2 items left for later.")
    page = reviewer_client.get(INBOX)
    later = reviewer_client.get(INBOX, {"later": "1"})

    assert "2 left for later" in page.content.decode()
    assert {item.row.pk for item, *_ in later.context["items"]} == {bergen.pk, pair.pk}
    assert "Left for later until" in reviewer_client.get(page_of_request(bergen)).content.decode()
    press_undo(reviewer_client)
    assert reviewer_client.get(INBOX).context["queue"].later == 0


@pytest.mark.parametrize(("days", "offered"), [(1, ["day"]), (6.5, [])])
def test_a_delay_that_outlasts_the_request_is_not_offered(
    days: float, offered: list[str], oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.", days=days)

    page = reviewer_client.get(page_of_request(bergen))
    listed = reviewer_client.get(INBOX)
    refused = press(reviewer_client, page_of_request(bergen), "week")

    names = ["approve", "reject", *offered]
    assert [each.name for each in page.context["choices"]] == names
    assert [name for name, _ in listed.context["choices"]] == names
    assert "This decision is not possible here." in refused.content.decode()
    bergen.refresh_from_db()
    assert bergen.snoozed_until is None


@pytest.mark.parametrize("changed", ["Current city", "Also changed"])
def test_a_request_that_changed_since_it_was_shown_is_shown_anew(
    changed: str, oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    address = page_of_request(bergen)
    sent = {"shown": shown_by(reviewer_client, address), "note": "asked her", "choice": "approve"}
    if changed == "Current city":
        Memory.objects.filter(pk=oslo.pk).update(status="archived")
    else:
        MemoryFactory.create(
            team=oslo.team,
            end_user=oslo.end_user,
            memory_type="user_profile",
            subject="user.profile.city",
            content="Sarah lives in Rome.",
        )

    answer = reviewer_client.post(address, sent)

    (error,) = answer.context["form"].non_field_errors()
    assert error.startswith("Nothing was changed: City of sarah: “Sarah lives in Bergen.”")
    assert f"“{changed}”" in error
    assert "“Proposed city”" not in error
    assert 'value="asked her"' in answer.content.decode()
    bergen.refresh_from_db()
    assert bergen.is_waiting
    again = {**sent, "shown": answer.context["fingerprint"]}
    assert told(reviewer_client.post(address, again))[0].startswith("Approved: ")  # type: ignore[arg-type]


def test_a_pair_that_changed_since_it_was_shown_keeps_what_was_typed(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    sent = {"shown": shown_by(reviewer_client, page_of(pair)), "choice": "merge"}
    sent |= {"note": "asked", "content": "Both, by turns."}
    Memory.objects.filter(pk=pair.memory_a_id).update(is_pinned=True)

    answer = reviewer_client.post(page_of(pair), sent)
    unseen = reviewer_client.post(page_of(pair), {"choice": "a"})

    assert "Changed since you opened the page: “Also changed”." in "".join(
        answer.context["form"].non_field_errors()
    )
    assert "The pin of A moves to B if B is kept alone." in answer.content.decode()
    assert 'value="asked"' in answer.content.decode()
    assert "Both, by turns." in answer.content.decode()
    assert "“A (earlier)”, “B (later)”, “Also changed”" in unseen.content.decode()
    assert states(pair) == ["disputed", "disputed"]


def test_one_of_several_that_changed_since_the_preview_is_named_and_left(
    inside: Cast, reviewer_client: Client
) -> None:
    first, second = two(inside.team), dispute(inside.team, "It is one.", "It is two.")
    ids = [f"contradiction:{each.pk}" for each in (first, second)]
    asked: Any = decide_several(reviewer_client, "a", ids, confirmed=False)
    Memory.objects.filter(content="Office is in Bergen.").update(is_pinned=True)

    sent = {"action": "a", "item": ids, "confirmed": "yes", "shown": asked.context["fingerprint"]}
    done = told(reviewer_client.post(INBOX, sent))  # type: ignore[arg-type]

    assert done == [
        "1 item decided. “It is one.” is kept, and “It is two.” is replaced.",
        "1 item not changed: It has changed since you opened the page."
        " “Office is in Oslo.” against “Office is in Bergen.”",
    ]
    assert states(first) == ["disputed", "disputed"]


def test_more_than_a_thousand_are_counted_and_have_their_place(
    oslo: Memory, reviewer_client: Client
) -> None:
    bergen = asked_to_move(oslo, "Sarah lives in Bergen.")
    names = {each.attname for each in ConsentRequest._meta.concrete_fields} - {"id", "value_key"}
    values = {name: getattr(bergen, name) for name in names}
    values["created_at"] -= timedelta(hours=1)
    keys = [number.to_bytes(32) for number in range(1_200)]
    ConsentRequest.objects.bulk_create(ConsentRequest(**values, value_key=key) for key in keys)

    listed = reviewer_client.get(INBOX)
    last = reviewer_client.get(page_of_request(bergen)).content.decode()

    assert {name: count for name, _, count in listed.context["kinds"]}["consent"] == 1_201
    assert listed.context["page"].paginator.num_pages == 49
    assert "1201 of 1201" in last


def test_five_steps_are_undone_after_decisions_about_several_and_by_two_reviewers(
    inside: Cast, oslo: Memory, reviewer_client: Client, admin_client: Client
) -> None:
    pair, annes = two(inside.team), dispute(inside.team, "It is one.", "It is two.")
    ended = ContradictionFactory.create(
        team=inside.team,
        memory_a=pair.memory_a,
        memory_b=MemoryFactory.create(team=inside.team, content="Office is in Voss."),
        verdict="dispute",
    )
    late = dispute(inside.team, "It ships in May.", "It ships in June.")
    bergen, rome = (asked_to_move(oslo, f"Sarah lives in {city}.") for city in ("Bergen", "Rome"))
    closing = fact(inside)
    reports = [dispute(inside.team, f"Door {number} is shut.") for number in range(2)]

    decide_several(reviewer_client, "b", [f"contradiction:{each.pk}" for each in (pair, ended)])
    decide(admin_client, annes, "b")
    decide_several(reviewer_client, "approve", [f"consent:{each.pk}" for each in (bergen, rome)])
    decide(reviewer_client, late, "day")
    decide_several(reviewer_client, "wrong", [f"contradiction:{each.pk}" for each in reports])
    press(reviewer_client, page_of_request(closing), "approve")
    undone = [press_undo(reviewer_client) for _ in range(5)]

    assert [len(said) for said in undone] == [1, 2, 1, 2, 1]
    assert all(said.startswith("Undone: ") for step in undone for said in step)
    for each in (pair, ended, late, *reports):
        each.refresh_from_db()
        assert (each.resolved_at, each.snoozed_until) == (None, None)
    assert states(annes) == ["superseded", "active"]
    assert set(ConsentRequest.objects.values_list("state", flat=True)) == {"waiting"}
    assert Memory.objects.get(pk=oslo.pk).status == "active"
    assert len(press_undo(admin_client)) == 1
    assert states(annes) == ["disputed", "disputed"]


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

    decide_several(viewer_client, "approve", [f"consent:{bergen.pk}"])

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
    press(reviewer_client, page_of_request(bergen), "reject")

    rome = asked_to_move(oslo, "Sarah lives in Rome.")
    decided = {"state": "approved", "decided_by": f"talk:{oslo.pk}", "decided_at": timezone.now()}
    ConsentRequest.objects.filter(pk=rome.pk).update(**decided)

    for url in (page_of(pair), page_of_request(bergen), page_of_request(rome), INBOX):
        assert "staff:" not in reviewer_client.get(url).content.decode(), url
    late = press(reviewer_client, page_of_request(rome), "approve").content.decode()
    assert "It is already approved, by the person, in a conversation." in late
    assert "talk:" not in late


@pytest.mark.parametrize("query", ["?kind=nope", "?q=%25%00'", "?page=x", "?later=2", "?start=zz"])
def test_nonsense_in_the_address_is_no_error(
    query: str, inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)

    assert reviewer_client.get(INBOX + query).status_code == 200
    assert reviewer_client.get(page_of(pair) + query).status_code == 200
    assert reviewer_client.post(INBOX, {"choice": "a", "item": ["x", "nope:y"]}).status_code == 302
