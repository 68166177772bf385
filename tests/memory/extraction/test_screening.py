"""Limits on what talk may write by itself, and the report of what it may not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from pytest_django import Settings

from audit.models import OperationalEvent
from memory.domain.audience import Viewer
from memory.domain.types import Candidate, Participants, SourceMessage
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing import pipeline, rules
from memory.writing.compaction import compact_conversation
from memory.writing.pipeline import run_job
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.models import Conversation
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.extractors import ListedFacts

FACTS = (
    ("The kiln holds forty bowls.", 4),
    ("The glaze supplier is Marlow.", 6),
    ("The studio closes on holidays.", 8),
    ("The pug mill needs a new belt.", 5),
    ("Is she late?", 9),
)
EQUAL = (
    "Sarah loves green.",
    "Sarah loves tea.",
    "The kiln has ten shelves.",
    "The studio opens at nine.",
    "Sarah is allergic to hazelnuts.",
)


def talk(acme: Cast, viewer: Viewer) -> Conversation:
    conversation, _ = open_conversation(team_id=acme.team.id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[
            NewMessage(role="user", content=" ".join([*(text for text, _ in FACTS), *EQUAL]))
        ],
        now=timezone.now(),
    )
    return conversation


def stored() -> set[str]:
    return set(Memory.objects.exclude(tags__contains=["summary"]).values_list("content", flat=True))


def test_a_turn_writes_its_most_important_memories_only(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    conversation = talk(acme, viewer)

    extract_now(
        viewer=viewer,
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=ListedFacts(*FACTS)),
    )

    assert stored() == {FACTS[1][0], FACTS[2][0], FACTS[3][0]}


def test_what_a_turn_had_no_room_for_is_counted_in_the_answer(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    counts = extract_now(
        viewer=viewer,
        conversation_id=talk(acme, viewer).pk,
        tools=replace(tools, extractor=ListedFacts(*FACTS)),
    )

    assert (counts.pass1_count, counts.created, counts.left_out) == (5, 3, 1)


def test_the_rest_of_a_long_turn_is_written_in_parts_between_which_others_have_their_turn(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    facts = [f"The kiln on shelf {number} holds forty bowls." for number in range(70)]
    conversation, _ = open_conversation(team_id=acme.team.id, agent="kyra", user="sarah")
    said = NewMessage(role="user", content=" ".join(facts))
    post_messages(
        viewer=viewer, conversation_id=conversation.pk, messages=[said], now=timezone.now()
    )
    ranked = [(text, 9 if text == facts[60] else 5) for text in facts]
    listed = replace(tools, extractor=ListedFacts(*ranked))
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=listed)
    job = Job.objects.get()

    counts, ended = [len(stored())], []
    while Job.objects.get().left_out != 0:
        ended.append(run_job(team_id=acme.team.pk, job_id=job.pk, tools=listed, seconds=0))
        counts.append(len(stored()))

    assert counts == [3, 33, 63, 70]
    assert ended == [False, False, True]


@override_settings(MAX_MEMORIES_PER_USER_DAY=2)
def test_what_a_day_had_no_room_for_is_counted_as_well(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    counts = extract_now(
        viewer=viewer,
        conversation_id=talk(acme, viewer).pk,
        tools=replace(tools, extractor=ListedFacts(*FACTS)),
    )

    assert (counts.created, counts.left_out) == (2, 2)
    assert OperationalEvent.objects.get(op="create").meta["over_daily_cap"] == 1


class EqualFacts(ListedFacts):
    """An extractor of facts that are equally important, tastes first."""

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        listed = super().extract(messages=messages, context=context, participants=participants)
        marks = (
            ("preferences", "user.preference.colour"),
            ("preferences", "user.preference.tea"),
            ("technical_fact", "kiln.shelves"),
            ("decision", "studio.hours"),
            ("", "user.profile.health"),
        )
        return [
            replace(each, content=text, category=category, subject=subject, importance=8)
            for each, text, (category, subject) in zip(listed, EQUAL, marks, strict=True)
        ]


@pytest.mark.parametrize("per_turn", [True, False], ids=["turn", "day"])
def test_of_equally_important_facts_a_cap_keeps_what_does_harm_when_missed(
    acme: Cast, viewer: Viewer, tools: Tools, settings: Settings, per_turn: bool
) -> None:
    settings.MAX_MEMORIES_PER_TURN = 3 if per_turn else 0
    settings.MAX_MEMORIES_PER_USER_DAY = 0 if per_turn else 3

    extract_now(
        viewer=viewer,
        conversation_id=talk(acme, viewer).pk,
        tools=replace(tools, extractor=EqualFacts(*FACTS)),
    )

    assert stored() == {
        "The kiln has ten shelves.",
        "The studio opens at nine.",
        "Sarah is allergic to hazelnuts.",
    }


@override_settings(MAX_MEMORIES_PER_USER_DAY=1)
def test_a_person_has_a_cap_a_day(acme: Cast, viewer: Viewer, tools: Tools) -> None:
    fixed = replace(tools, extractor=ListedFacts(*FACTS))
    for _ in range(2):
        extract_now(viewer=viewer, conversation_id=talk(acme, viewer).pk, tools=fixed)

    assert stored() == {FACTS[2][0]}


def test_a_compaction_knows_no_caps(acme: Cast, viewer: Viewer, tools: Tools) -> None:
    conversation = talk(acme, viewer)

    compact_conversation(
        viewer=viewer,
        conversation_id=conversation.pk,
        keep_last=0,
        tools=replace(tools, extractor=ListedFacts(*FACTS)),
    )

    assert stored() == {text for text, _ in FACTS[:4]}


def test_the_share_that_passed_at_first_is_told_without_contents(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    conversation = talk(acme, viewer)

    extract_now(
        viewer=viewer,
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=ListedFacts(*FACTS)),
    )

    event = OperationalEvent.objects.get(op="validate")
    assert event.conversation_id == conversation.pk
    assert event.meta["candidates"] == 5
    assert event.meta["first_time"] == 4
    assert event.meta["rejected"] == 1
    assert event.meta["over_turn_cap"] == 1
    assert not any(text in str(event.meta) for text, _ in FACTS)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The kiln holds fifty bowls.", "a number that no message says"),
        ("The glaze supplier is Petra Lund.", "a name that no message says"),
        ("A holiday cottage needs another boiler.", "words that no message says"),
    ],
)
def test_what_no_message_says_is_refused_and_counted_by_reason(
    acme: Cast, viewer: Viewer, tools: Tools, text: str, why: str
) -> None:
    conversation = talk(acme, viewer)

    counts = extract_now(
        viewer=viewer,
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=ListedFacts((text, 4))),
    )

    assert stored() == set()
    assert counts.refused == {why: 1}
    assert OperationalEvent.objects.get(op="validate").meta["problems"] == {why: 1}


def test_a_refusal_is_counted_once_where_the_write_is_run_again(
    acme: Cast, viewer: Viewer, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_twice(write: Callable[[], Job | None]) -> Job | None:
        with transaction.atomic():
            write()
            transaction.set_rollback(True)
        return write()

    monkeypatch.setattr(pipeline, "run_write", run_twice)
    refusal = rules.Refusal("not while the kiln burns")
    monkeypatch.setattr(rules, "ADDED_RULES", [lambda ready, writing: refusal])

    counts = extract_now(
        viewer=viewer,
        conversation_id=talk(acme, viewer).pk,
        tools=replace(tools, extractor=ListedFacts(FACTS[0])),
    )

    assert counts.refused == {refusal.reason: 1}
