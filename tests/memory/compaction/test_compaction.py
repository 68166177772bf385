"""The compaction shield: nothing leaves a context before it is extracted, summed up and stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django_redis import get_redis_connection

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.rendering import estimate_tokens
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.models import Compaction, Memory
from memory.understanding.tools import Tools
from memory.writing.compaction import compact_conversation
from memory.writing.summaries import running_summary
from memory.writing.waiting import extract_now
from teams.errors import NotFoundError
from teams.models import Conversation, Message
from tests.support.cast import Cast
from tests.support.compaction import (
    FACTS,
    FactExtractor,
    compact,
    facts_of,
    noted,
    plain,
    running,
    say,
    summaries_of,
    talk,
    told,
    viewer_of,
)

__all__ = ["plain", "talk"]


def test_what_goes_is_extracted_summed_up_and_told(talk: Conversation, plain: Tools) -> None:
    rows = say(talk, *FACTS[:5])

    done = compact(talk, plain, keep_last=2)

    assert (done.first, done.last, done.count) == (1, 3, 3)
    assert [each.pk for each in done.kept] == [each.pk for each in rows[3:]]
    assert done.summary == told(*noted(*FACTS[:3]))
    assert (done.extraction.created, done.extraction.pass1_count) == (3, 3)
    assert [each.source_message_ids for each in facts_of(talk)] == [[row.pk] for row in rows[:3]]
    assert set(done.extraction.memories) == {str(each.pk) for each in facts_of(talk)}


def test_messages_stay_for_ever_and_unchanged(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])

    compact(talk, plain)

    stored = Message.objects.filter(conversation=talk).order_by("position")
    assert [each.content for each in stored] == FACTS[:4]


def test_the_summary_is_an_episodic_memory_with_its_sources(
    talk: Conversation, plain: Tools
) -> None:
    rows = say(talk, *FACTS[:3])

    compact(talk, plain)

    (memory,) = summaries_of(talk)
    assert (memory.memory_type, memory.status, memory.content) == (
        "episodic",
        "active",
        told(*noted(*FACTS[:3])),
    )
    assert memory.source_message_ids == [each.pk for each in rows]
    assert (memory.agent_id, memory.end_user_id) == (talk.agent_id, talk.end_user_id)
    assert memory.extractor == "summary:recorder"


def test_each_step_is_in_the_log_with_its_reason(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])

    compact(talk, plain)

    rows = MemoryLog.objects.order_by("seq")
    assert [each.event for each in rows] == ["created", "created", "compacted"]
    assert [(each.actor, each.reason) for each in rows] == [
        ("task:extract", "extracted from messages 1 to 2"),
        ("task:extract", "extracted from messages 1 to 2"),
        ("test", "compacted messages 1 to 2"),
    ]
    assert {each.conversation_id for each in rows} == {talk.pk}


def kept_summaries() -> dict[bytes, bytes]:
    """Returns the summaries stored in Redis, by key."""
    client = get_redis_connection("default")
    keys = client.scan_iter(f"{settings.REDIS_PREFIX}:summary:*")
    return {key: client.get(key) for key in keys}


def test_the_running_summary_is_in_redis_and_in_the_database(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:2])
    done = compact(talk, plain)
    ((key, held),) = kept_summaries().items()

    get_redis_connection("default").delete(key)

    assert done.summary.encode() in held
    assert running(talk) == done.summary


def test_the_running_summary_is_read_from_redis_alone(
    talk: Conversation, plain: Tools, django_assert_num_queries: Any
) -> None:
    # Any: pytest-django's fixture
    say(talk, *FACTS[:2])
    done = compact(talk, plain)
    conversation = Conversation.objects.get(pk=talk.pk)

    with django_assert_num_queries(0):
        assert running_summary(conversation=conversation) == done.summary


def test_a_summary_left_in_redis_by_an_earlier_compaction_is_not_the_running_one(
    talk: Conversation, plain: Tools
) -> None:
    """As when the process died between the commit and Redis, or two wrote in the other order."""
    client = get_redis_connection("default")
    say(talk, *FACTS[:2])
    compact(talk, plain)
    old = kept_summaries()
    say(talk, *FACTS[2:4])
    latest = compact(talk, plain)
    for key, value in old.items():
        client.set(key, value)

    assert len(old) == 1
    assert running(talk) == latest.summary
    assert compact(talk, plain).summary == latest.summary


def test_a_conversation_without_a_summary_has_an_empty_one(talk: Conversation) -> None:
    assert running(talk) == ""
    assert running(talk) == ""


@pytest.mark.parametrize("budget", [0, 1, 4, 5, 9, 10, 1000])
def test_as_many_of_the_last_stay_as_fit_the_budget(
    talk: Conversation, plain: Tools, budget: int
) -> None:
    rows = say(talk, *FACTS)

    done = compact(talk, plain, max_tokens=budget)

    prices = [estimate_tokens(each.content) for each in rows]
    kept = len(done.kept)
    assert [each.pk for each in done.kept] == [each.pk for each in rows[len(rows) - kept :]]
    assert sum(prices[len(prices) - kept :]) <= budget
    if kept < len(rows):
        assert sum(prices[len(prices) - kept - 1 :]) > budget
    assert done.count + kept == len(rows)


def test_an_empty_conversation_has_nothing_to_compact(talk: Conversation, plain: Tools) -> None:
    done = compact(talk, plain)

    assert (done.summary, done.kept, done.first, done.last, done.count) == ("", [], 0, 0, 0)
    assert not Compaction.objects.exists()
    assert not Memory.objects.exists()


def test_a_conversation_of_another_agent_or_team_does_not_exist(
    talk: Conversation, plain: Tools, acme: Cast, globex: Cast
) -> None:
    say(talk, *FACTS[:2])
    strangers = [
        Viewer(team_id=acme.team.id, actor="luke", agent_id=acme.luke.pk),
        Viewer(team_id=globex.team.id, actor="globex"),
    ]

    for stranger in strangers:
        with pytest.raises(NotFoundError):
            compact_conversation(viewer=stranger, conversation_id=talk.pk, tools=plain, keep_last=0)

    assert not Compaction.objects.exists()


def test_what_is_wider_than_a_turn_is_not_lost(talk: Conversation, plain: Tools) -> None:
    """The caps of what talk may write do not hold for what leaves the context."""

    class Talkative(FactExtractor):
        def extract(
            self,
            *,
            messages: Sequence[SourceMessage],
            context: Sequence[SourceMessage],
            participants: Participants,
        ) -> list[Candidate]:
            return [
                Candidate(
                    content=f"Sarah said that {text}",
                    memory_type=MemoryType.EPISODIC,
                    importance=5,
                    confidence=1.0,
                    message_ids=(messages[0].id,),
                )
                for text in FACTS
            ]

    say(talk, " ".join(FACTS))
    loud = replace(plain, extractor=Talkative())
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=loud)
    before = len(facts_of(talk))

    compact(talk, loud)

    assert before < len(FACTS)
    assert len(facts_of(talk)) == len(FACTS)
