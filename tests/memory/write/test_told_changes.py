"""From messages to memories: what told changes do to what was told before, and what they leave."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.services.extraction.waiting import extract_now
from memory.services.messages.posting import open_conversation, post_messages
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope

# Bounds a little beyond what was measured.
KEPT, STAND_UNSEEN, CLASH_WRONGLY = 0.85, 0.55, 0.25
# What was said first, what was said weeks later, and a word of the first that is then over.
CHANGES = [
    ("The standup is at 9:30.", "The standup is at 10:00 now.", "9:30"),
    ("I work at Initech as a developer.", "I work at Globex now.", "Initech"),
    ("I live in Leeds.", "I moved to Bristol last month.", "Leeds"),
    ("Our office is in Berlin, near the river.", "The office moved to Hamburg.", "Berlin"),
    ("We track our issues in Jira.", "We switched from Jira to Linear last week.", "Jira"),
    ("I'm a vegetarian.", "I'm not a vegetarian any more, I eat fish again.", "is a vegetarian"),
    (
        "The pro plan costs 20 dollars a month.",
        "As of Monday the pro plan costs 25 dollars a month.",
        "20 dollars",
    ),
    (
        "The deadline for the audit report is May 3.",
        "The deadline for the audit report was moved to May 17.",
        "is May 3",
    ),
    (
        "Priya owns the billing migration.",
        "Tom took over the billing migration from Priya.",
        "Priya owns",
    ),
    (
        "Ben is responsible for the onboarding docs.",
        "Carla is now responsible for the onboarding docs.",
        "Ben",
    ),
    ("My phone number is 555-0142.", "My new phone number is 555-0199.", "0142"),
    (
        "Please remember that I cycle to work.",
        "I used to cycle to work, but now I take the train.",
        "cycles to work",
    ),
    (
        "We deploy on Thursdays.",
        "We don't deploy on Thursdays any more, but on Mondays.",
        "deploys on Thursdays",
    ),
    ("I drive a Golf.", "I sold the Golf and bought a Tesla.", "drives a Golf"),
    ("Logs are kept for 30 days.", "Logs are now kept for 90 days.", "30 days"),
    ("My bank is Barclays.", "I closed my Barclays account, I bank with Monzo now.", "is Barclays"),
    ("Our retro is every other Wednesday.", "From now on our retro is on Fridays.", "Wednesday"),
    ("My locker is number 14.", "My locker changed, it's number 41 now.", "14"),
    (
        "We order lunch from Luigi's on Fridays.",
        "We don't order from Luigi's any longer.",
        "orders lunch",
    ),
    ("Our CI runs on Jenkins.", "We replaced Jenkins with GitHub Actions.", "runs on Jenkins"),
    (
        "The launch is planned for September 12.",
        "The launch has been postponed to October 3.",
        "September 12",
    ),
    ("My cousin Piet works for Renault.", "Piet works for Citroen now.", "Renault"),
    (
        "The newsletter goes out on Thursdays.",
        "The newsletter no longer goes out on Thursdays.",
        "newsletter goes",
    ),
]
# Said weeks apart by one person; each pair is about things of one kind, and all of it holds.
SIDE_BY_SIDE = [
    ("I have a dog called Rex.", "I also have a cat called Mimi."),
    ("Priya owns the billing migration.", "Tom owns the search rewrite now."),
    ("The standup is at 9:30.", "The retro is at 15:00 now."),
    ("Staging runs PostgreSQL 15.", "Production runs PostgreSQL 16 now."),
    ("I went to Lisbon in March.", "I went to Oslo last week."),
    ("We released version 2.1 on April 2.", "We released version 2.2 on April 30."),
    ("The payment service was down on March 3.", "The payment service was down again on April 9."),
    ("I live in Leeds.", "My brother lives in Bristol now."),
    ("Project Atlas uses React.", "Project Borealis uses Vue now."),
    ("The deadline for the audit report is May 3.", "The deadline for the tax return is May 31."),
    ("My manager is Helen.", "Raj's manager is Tim now."),
    ("The pro plan costs 20 dollars a month.", "The team plan costs 45 dollars a month now."),
    ("My son is allergic to eggs.", "My daughter is allergic to nuts."),
    ("I want to run a marathon.", "I ran a half marathon on Sunday."),
    ("I'm proud of my pottery bowls.", "I'm nervous about the adoption interview."),
    ("My flight to Oslo leaves at 7:40.", "My flight back from Oslo was rescheduled to 19:15."),
    ("The Lantern beta ships on March 18.", "The Lantern beta hangs since the update to 4.2.1."),
    ("I'm a nurse.", "I left the nursing home at six."),
    ("Mira lives with her sister.", "Mira's sister runs a shop."),
    ("Finn is learning Italian.", "Finn passed the A2 exam in Italian."),
    ("Finn's locker is number 14.", "Finn's new phone number is 0151 2233445."),
    ("Acme renewed their contract in March.", "Initech cancelled their contract in April."),
]


def say(viewer: Viewer, tools: Tools, said: Iterable[str], at: datetime) -> UUID:
    """Let Sarah say it in one conversation and extract that; its id."""
    with team_scope(team_ids=[viewer.team_id], actor="test"):
        conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    messages = [NewMessage(role="user", content=each, created_at=at) for each in said]
    post_messages(viewer=viewer, conversation_id=conversation.pk, messages=messages, now=at)
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=tools, is_capped=False)
    return conversation.pk


@pytest.mark.usefixtures("acme")
def test_most_changes_told_among_many_retire_or_dispute_what_they_change(
    viewer: Viewer, tools: Tools
) -> None:
    now = timezone.now()
    first = say(viewer, tools, [old for old, _, _ in CHANGES], now - timedelta(days=40))

    second = say(viewer, tools, [new for _, new, _ in CHANGES], now)

    before = {
        memory.content: memory.status for memory in Memory.objects.filter(conversation_id=first)
    }
    over = {word: [text for text in before if word in text] for _, _, word in CHANGES}
    assert sum(bool(texts) for texts in over.values()) >= KEPT * len(CHANGES)
    told = [text for texts in over.values() for text in texts]
    stands = [text for text in told if before[text] == Status.ACTIVE]
    assert len(stands) <= STAND_UNSEEN * len(told)
    # What took its place stands.
    later = Memory.objects.filter(conversation_id=second)
    assert [
        (each.content, each.superseded_by.content) for each in later if each.superseded_by
    ] == []


@pytest.mark.usefixtures("acme")
def test_words_that_ask_to_forget_change_nothing(viewer: Viewer, tools: Tools) -> None:
    now = timezone.now()
    say(viewer, tools, ["Our CI runs on Jenkins.", "I drive a Golf."], now - timedelta(days=40))
    before = set(Memory.objects.values_list("content", "status", "tier"))

    say(viewer, tools, ["Forget that our CI runs on Jenkins.", "Delete what you know of me."], now)

    assert before
    assert before <= set(Memory.objects.values_list("content", "status", "tier"))
    assert not Contradiction.objects.exists()


@pytest.mark.usefixtures("acme")
def test_things_of_one_kind_mostly_stand_side_by_side(viewer: Viewer, tools: Tools) -> None:
    now = timezone.now()
    first = say(viewer, tools, [old for old, _ in SIDE_BY_SIDE], now - timedelta(days=40))

    second = say(viewer, tools, [new for _, new in SIDE_BY_SIDE], now)

    told = Memory.objects.filter(conversation_id__in=[first, second])
    assert told.count() >= len(SIDE_BY_SIDE)
    assert Contradiction.objects.count() <= CLASH_WRONGLY * len(SIDE_BY_SIDE)
