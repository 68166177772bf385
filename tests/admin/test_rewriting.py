"""Texts that are written in place of what conflicts: asked, shown as they are kept, then stored."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from memory.models import Memory
from tests.support.admin import dispute, page_of, states, told, two
from tests.support.cast import Cast


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
    assert told(done) == [  # type: ignore[arg-type]
        "The text was saved. “Office is in Oslo.” and “Office is in Bergen.” are merged into one"
        " text."
    ]
    assert states(pair) == ["superseded", "superseded"]
    assert (pair.resolution, pair.resolution_note) == ("merged", "both knew half")
    merged = pair.memory_a.superseded_by
    assert merged is not None
    assert merged.content == "The office moved from Oslo to Bergen.\nThe lease is signed."
    assert (merged.status, merged.importance, merged.actor) == ("active", 7, "staff:rob")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Enter the new text."),
        (" \n ", "Enter the new text."),
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
    preview = reviewer_client.post(page_of(pair, "merge"), {"content": text}).content.decode()
    done = reviewer_client.post(page_of(pair, "merge"), {"content": text, "confirmed": "yes"})

    shown = preview.partition("The memory will say")[2].partition('name="confirmed"')[0]
    assert "since May." in shown
    assert token not in shown
    assert "is masked" in shown
    assert "never stored" in bare.content.decode()
    assert kept_open == ["disputed", "disputed"]
    assert any("masked" in message for message in told(done))  # type: ignore[arg-type]
    assert token not in Memory.objects.live().get().content


def test_a_settled_one_is_not_merged_and_what_was_written_is_shown(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    reviewer_client.post(page_of(pair, "both-stand"), {"confirmed": "yes", "reason": "two sites"})

    asked = reviewer_client.get(page_of(pair, "merge"))
    sent = reviewer_client.post(
        page_of(pair, "merge"),
        {"content": "Long thought over.", "reason": "Asked.", "confirmed": "yes"},
    )

    assert asked["Location"] == page_of(pair)
    page = sent.content.decode()
    assert "It is settled already, decided on 20" in page
    assert "by staff:rob: both are valid (two sites)." in page
    assert "Long thought over." in page
    assert 'value="Asked."' in page
    assert "Preview" not in page
    assert states(pair) == ["active", "active"]


def test_going_back_from_the_preview_keeps_what_was_written(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    sent = {"content": "Bergen since May.", "reason": "Asked.", "confirmed": "yes", "edit": "yes"}

    answer = reviewer_client.post(page_of(pair, "merge"), sent)

    page = answer.content.decode()
    assert ">\nBergen since May.</textarea>" in page
    assert 'value="Asked."' in page
    assert 'name="confirmed"' not in page
    assert states(pair) == ["disputed", "disputed"]


def test_the_merged_text_is_shown_on_what_it_settled_and_leads_back(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    reviewer_client.post(
        page_of(pair, "merge"), {"content": "Bergen since May.", "confirmed": "yes"}
    )
    merged = Memory.objects.live().get()

    settled = reviewer_client.get(page_of(pair)).content.decode()
    own = reviewer_client.get(reverse("admin:memory_memory_change", args=[merged.pk]))

    assert "Written in their place" in settled
    assert "Bergen since May." in settled
    assert reverse("admin:memory_memory_change", args=[merged.pk]) in settled
    assert page_of(pair) in own.content.decode()
    assert "It was merged" in own.content.decode()
