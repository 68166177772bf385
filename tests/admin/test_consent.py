"""Consent requests in the admin: the oldest first, decided by one click, then the next one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from teams.models import Team
from tests.factories import ConversationFactory, MemoryFactory, MessageFactory
from tests.support.admin import SignIn, press, told
from tests.support.cast import Cast
from tests.support.consent import asked_to_move, page_of_request

LIST = reverse("inbox")
HISTORY = reverse("admin:consent_consentrequest_changelist")


@pytest.fixture
def bergen(inside: Cast, oslo: Memory) -> ConsentRequest:
    """She said something else two days ago."""
    talk = ConversationFactory.create(team=inside.team, agent=inside.kyra, end_user=inside.sarah)
    said = MessageFactory.create(
        team=inside.team, conversation=talk, content="<b>I live</b> in Bergen now."
    )
    return asked_to_move(oslo, "Sarah lives in Bergen.", days=2, message=said)


def decide(client: Client, row: ConsentRequest, decision: str) -> list[str]:
    address = page_of_request(row)
    if decision == "undo":
        return told(client.post(address, {"undo": "1"}))  # type: ignore[arg-type]
    return told(press(client, address, decision))


def test_the_list_opens_on_what_waits_the_oldest_first(
    bergen: ConsentRequest, oslo: Memory, reviewer_client: Client
) -> None:
    asked_to_move(oslo, "Sarah lives in Rome.", days=1)
    done = asked_to_move(oslo, "Sarah lives in Graz.", days=5)
    ConsentRequest.objects.filter(pk=done.pk).update(
        state="rejected", decided_by="staff:ann", decided_at=timezone.now()
    )

    page = reviewer_client.get(LIST).content.decode()

    assert 0 < page.index("Sarah lives in Bergen.") < page.index("Sarah lives in Rome.")
    assert "Graz" not in page
    assert "2\xa0days" in page
    rejected = reviewer_client.get(HISTORY, {"state": "rejected"}).content.decode()
    assert "Graz" in rejected
    assert "Rome" not in rejected


def test_the_page_shows_both_values_and_quotes_what_was_said(
    bergen: ConsentRequest, viewer_client: Client, reviewer_client: Client
) -> None:
    page = reviewer_client.get(page_of_request(bergen)).content.decode()

    assert "&lt;b&gt;I live&lt;/b&gt; in Bergen now." in page
    assert "extraction, in a conversation with kyra" in page
    assert {'data-key="a"', 'data-key="b"'} <= set(page.split())
    looked = viewer_client.get(page_of_request(bergen)).content.decode()
    assert "Current city" in looked
    assert 'data-key="a"' not in looked


def test_a_yes_changes_the_profile_and_leads_to_the_next_one(
    bergen: ConsentRequest, oslo: Memory, reviewer_client: Client
) -> None:
    rome = asked_to_move(oslo, "Sarah lives in Rome.", days=1)
    address = page_of_request(bergen)

    answer = press(reviewer_client, address, "approve", note="asked her")

    assert answer.headers["Location"] == page_of_request(rome)
    assert told(answer) == ["Approved: sarah's profile now says “Sarah lives in Bergen.”"]
    bergen.refresh_from_db()
    oslo.refresh_from_db()
    rome.refresh_from_db()
    assert (bergen.state, bergen.decided_by, bergen.note) == (
        "approved",
        "staff:rob",
        "asked her",
    )
    assert oslo.status == "superseded"
    assert oslo.superseded_by_id == bergen.memory_id == rome.present_id


def test_the_next_one_is_of_the_same_filter(
    bergen: ConsentRequest, oslo: Memory, inside: Cast, reviewer_client: Client
) -> None:
    dmitris = MemoryFactory.create(
        team=inside.team,
        end_user=inside.dmitri,
        memory_type="user_profile",
        subject="user.profile.city",
        content="Dmitri lives in Riga.",
    )
    asked_to_move(dmitris, "Dmitri lives in Rome.", days=1)
    last = asked_to_move(oslo, "Sarah lives in Graz.", days=0)
    address = page_of_request(bergen)

    answer = press(reviewer_client, f"{address}?q=sarah", "reject")

    assert answer.headers["Location"] == f"{page_of_request(last)}?q=sarah"


def test_a_no_keeps_what_stands(
    bergen: ConsentRequest, oslo: Memory, reviewer_client: Client
) -> None:
    said = decide(reviewer_client, bergen, "reject")

    assert said == ["Rejected: “Sarah lives in Bergen.” was not stored."]
    assert Memory.objects.count() == 1
    bergen.refresh_from_db()
    assert (bergen.state, bergen.decided_by) == ("rejected", "staff:rob")


def test_what_is_no_decision_decides_nothing(
    bergen: ConsentRequest, reviewer_client: Client
) -> None:
    address = page_of_request(bergen)

    assert reviewer_client.post(address, {"note": "hm"}).status_code == 200
    bergen.refresh_from_db()
    assert bergen.is_waiting


def test_who_proposed_it_and_who_may_only_look_cannot_decide(
    bergen: ConsentRequest, viewer_client: Client, reviewer_client: Client, admin_client: Client
) -> None:
    ConsentRequest.objects.filter(pk=bergen.pk).update(proposed_by="staff:rob")
    address = page_of_request(bergen)

    assert viewer_client.post(address, {"choice": "approve"}).status_code == 403
    page = reviewer_client.get(page_of_request(bergen)).content.decode()
    assert "You proposed this change" in page
    assert 'data-key="a"' not in page
    refused = press(reviewer_client, address, "approve").content.decode()
    assert "somebody else has to" in refused
    assert decide(admin_client, bergen, "approve")[0].startswith("Approved")


def test_the_second_of_two_reviewers_is_told(
    bergen: ConsentRequest, reviewer_client: Client, admin_client: Client
) -> None:
    decide(admin_client, bergen, "reject")

    page = press(reviewer_client, page_of_request(bergen), "approve", note="asked her")

    assert (
        "Nothing was changed: City of sarah: “Sarah lives in Bergen.”"
        " It is already rejected, by ann (staff)."
    ) in page.content.decode()
    assert 'value="asked her"' in page.content.decode()


def test_a_login_of_another_team_meets_none(
    bergen: ConsentRequest, others: Cast, sign_in: SignIn
) -> None:
    stranger = sign_in((others.team, "admin"), name="gil")
    address = page_of_request(bergen)

    assert "Bergen" not in stranger.get(LIST).content.decode()
    assert stranger.get(page_of_request(bergen)).status_code == 404
    assert stranger.post(address, {"choice": "approve"}).status_code == 404


def test_the_list_takes_as_many_queries_for_many_rows(
    bergen: ConsentRequest,
    oslo: Memory,
    reviewer_client: Client,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(30):
        asked_to_move(oslo, f"Sarah lives in town {number}.", days=1)

    with django_assert_max_num_queries(24):
        reviewer_client.get(LIST)


def test_an_admin_corrects_a_city_and_another_reviewer_says_yes(
    oslo: Memory, admin_client: Client, reviewer_client: Client
) -> None:
    address = reverse("admin:memory_memory_change", args=[oslo.pk]).replace("change/", "correct/")
    answer: Any = admin_client.post(
        address, {"content": "Sarah lives in Rome.", "confirmed": "yes"}
    )

    assert any("approve it in the inbox" in each for each in told(answer))
    row = ConsentRequest.objects.get()
    assert row.proposed_by == "staff:ann"
    decide(reviewer_client, row, "approve")
    oslo.refresh_from_db()
    assert oslo.status == "superseded"


def test_an_admin_chooses_the_sensitive_fields_of_the_team(
    inside: Cast, admin_client: Client
) -> None:
    page = reverse("admin:teams_team_change", args=[inside.team.pk])
    form = {"name": "Acme", "time_zone": "UTC", "person_role": "guest"}

    admin_client.post(page, {**form, "sensitive_fields": ["city", "home_address", "city"]})

    assert Team.objects.get().sensitive_fields == ["city", "home_address"]
    admin_client.post(page, form)
    assert Team.objects.get().sensitive_fields == ["city", "home_address"]
    refused = admin_client.post(page, {**form, "sensitive_fields": ["city/town"]})
    assert "row 1: Write up to 50 lower-case letters" in refused.content.decode()
    admin_client.post(page, {**form, "sensitive_fields": [""]})
    assert Team.objects.get().sensitive_fields == []


def test_the_page_says_what_a_yes_changes_and_a_decision_can_be_undone(
    bergen: ConsentRequest, oslo: Memory, reviewer_client: Client
) -> None:
    MemoryFactory.create(
        team=oslo.team,
        end_user=oslo.end_user,
        memory_type="user_profile",
        subject="user.profile.city",
        content="My name is Sarah and I live in Rome.",
    )

    page = reviewer_client.get(page_of_request(bergen)).content.decode()

    assert "“Sarah lives in Oslo.” is replaced." in page
    assert "“My name is Sarah and I live in Rome.” is replaced." in page
    assert "“My name is Sarah” is stored as a separate memory." in page
    decide(reviewer_client, bergen, "approve")
    assert "Undo" in reviewer_client.get(page_of_request(bergen)).content.decode()
    assert decide(reviewer_client, bergen, "undo") == [
        "Undone: City of sarah: “Sarah lives in Bergen.” is waiting for a decision again."
    ]
    bergen.refresh_from_db()
    assert bergen.is_waiting
    oslo.refresh_from_db()
    assert oslo.status == "active"
