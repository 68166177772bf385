"""Memories that were since deleted, corrected or superseded do not live on in a summary."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from memory.models import Category, Compaction, Memory
from memory.reading.questions import Question
from memory.selectors.history.changes import known_memories
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.decisions.moving import restore_memory
from memory.writing.summaries import running_summary
from teams.models import Conversation
from tests.support.compaction import (
    FACTS,
    compact,
    facts_of,
    noted,
    plain,
    recorder,
    running,
    say,
    summaries_of,
    talk,
    told,
    viewer_of,
)
from tests.support.reading import search

__all__ = ["plain", "talk"]

CORRECTED = "Sarah lives in Potsdam."


def summed_up(talk: Conversation, tools: Tools, *facts: str) -> Memory:
    """The first fact of a conversation all of which was compacted."""
    say(talk, *(facts or FACTS[:2]))
    compact(talk, tools)
    return facts_of(talk)[0]


def delete(talk: Conversation, memory: Memory) -> None:
    """Take it away, as the team."""
    delete_memory(viewer=viewer_of(talk), memory_id=memory.pk)


def correct(talk: Conversation, memory: Memory, tools: Tools, text: str = CORRECTED) -> None:
    """Put it right, as the team."""
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=memory.pk,
        corrected_content=text,
        reason="",
        tools=tools,
        now=timezone.now(),
    )


def found(talk: Conversation, tools: Tools, *, include_cold: bool = False) -> list[str]:
    """Returns the texts that a search of everything finds."""
    results = search(
        viewer=viewer_of(talk),
        question=Question("Sarah said that"),
        limit=50,
        tools=tools,
        now=timezone.now(),
        include_cold=include_cold,
    )
    return [each.memory.content for each in results]


def test_what_was_deleted_is_left_out_of_the_running_summary(
    talk: Conversation, plain: Tools
) -> None:
    gone = summed_up(talk, plain)
    before = running(talk)

    delete(talk, gone)

    assert FACTS[0] in before
    assert FACTS[0] not in running(talk)
    assert noted(FACTS[1])[0] in running(talk)


def test_what_was_corrected_is_told_as_it_is_now_in_its_place(
    talk: Conversation, plain: Tools
) -> None:
    wrong = summed_up(talk, plain)

    correct(talk, wrong, plain)

    assert running(talk).endswith("] " + " ".join([CORRECTED, *noted(FACTS[1])]))


def test_what_was_superseded_by_others_is_left_out(talk: Conversation, plain: Tools) -> None:
    old = summed_up(talk, plain)
    say(talk, FACTS[2])
    compact(talk, plain)
    newer = facts_of(talk)[-1]

    Memory.objects.filter(pk=old.pk).update(status="superseded", superseded_by=newer, tier="cold")

    assert running(talk).endswith("] " + " ".join(noted(FACTS[1], FACTS[2])))


def test_what_was_restored_is_told_again(talk: Conversation, plain: Tools) -> None:
    gone = summed_up(talk, plain)
    whole = running(talk)
    delete(talk, gone)
    without = running(talk)

    restore_memory(viewer=viewer_of(talk), memory_id=gone.pk, tools=plain)

    assert without != whole
    assert running(talk) == whole


def test_what_belongs_to_another_conversation_is_left_out_too(
    talk: Conversation, plain: Tools
) -> None:
    """It was said again here, and its deletion moves the other conversation's revision alone."""
    other = Conversation.objects.create(
        team_id=talk.team_id,
        agent_id=talk.agent_id,
        end_user_id=talk.end_user_id,
        thread_id="another",
    )
    shared = summed_up(other, plain, FACTS[0])
    summed_up(talk, plain)
    before = running(talk)

    delete(talk, shared)

    assert FACTS[0] in before
    assert FACTS[0] not in running(talk)


def test_a_summary_of_what_is_gone_is_not_found_until_it_is_renewed(
    talk: Conversation, plain: Tools
) -> None:
    gone = summed_up(talk, plain)
    before = found(talk, plain)

    delete(talk, gone)
    meanwhile = found(talk, plain), found(talk, plain, include_cold=True)
    compact(talk, plain)

    assert told(*noted(*FACTS[:2])) in before
    assert meanwhile == (noted(FACTS[1]), noted(FACTS[1]))
    assert sorted(found(talk, plain)) == sorted([*noted(FACTS[1]), told(*noted(FACTS[1]))])
    assert not any(FACTS[0] in text for text in found(talk, plain, include_cold=True))


def test_a_category_that_comes_whole_leaves_it_out_too(
    talk: Conversation, plain: Tools, api: APIClient
) -> None:
    Category.objects.create(team_id=talk.team_id, name="event", context="all")
    gone = summed_up(talk, plain)
    body = {
        "agent": "kyra",
        "user": "sarah",
        "query": "What did Sarah say?",
        "categories": ["event"],
    }
    before = api.post("/v1/memory/query", body, format="json").json()

    delete(talk, gone)
    after = api.post("/v1/memory/query", body, format="json").json()

    assert FACTS[0] in str(before["results"])
    assert FACTS[0] not in str(after["results"])


def test_the_prompt_tells_a_correction_and_not_what_it_corrects(
    talk: Conversation, plain: Tools, api: APIClient
) -> None:
    wrong = summed_up(talk, plain)
    body = {"agent": "kyra", "conversation": str(talk.pk), "query": "Where does Sarah live?"}
    before = api.post("/v1/prompt", body, format="json").json()["prompt"]

    correct(talk, wrong, plain)
    after = api.post("/v1/prompt", body, format="json").json()["prompt"]

    assert FACTS[0] in before.split("[SUMMARY]: ")[1]
    assert CORRECTED in after.split("[SUMMARY]: ")[1]
    assert FACTS[0] not in after


def test_an_older_summary_is_known_by_its_compaction(talk: Conversation, plain: Tools) -> None:
    """Those of earlier releases do not name the memories they were made of."""
    gone = summed_up(talk, plain)
    Memory.objects.filter(tags__contains=["summary"]).update(payload={})

    before = found(talk, plain), running(talk)
    delete(talk, gone)

    assert told(*noted(*FACTS[:2])) in before[0]
    assert before[1] == told(*noted(*FACTS[:2]))
    assert found(talk, plain) == noted(FACTS[1])
    assert FACTS[0] not in running(talk)


def test_a_compaction_with_nothing_to_go_renews_it(talk: Conversation, plain: Tools) -> None:
    gone = summed_up(talk, plain)
    delete(talk, gone)

    done = compact(talk, plain)
    again = compact(talk, plain)

    assert (done.count, done.summary) == (0, told(*noted(FACTS[1])))
    assert (again.count, again.summary) == (0, done.summary)
    first, second = summaries_of(talk)
    assert (first.status, first.superseded_by_id) == ("superseded", second.pk)
    assert (second.status, second.content, second.version) == ("active", done.summary, 2)
    assert len(recorder(plain).given) == 2
    assert Compaction.objects.count() == 1


def test_what_was_renewed_goes_on_as_any_other(talk: Conversation, plain: Tools) -> None:
    wrong = summed_up(talk, plain, *FACTS[:3])
    correct(talk, wrong, plain)
    compact(talk, plain)
    delete(talk, facts_of(talk)[1])
    between = running(talk)
    renewed = compact(talk, plain).summary
    say(talk, FACTS[3])

    done = compact(talk, plain)

    assert between.endswith("] " + " ".join([CORRECTED, *noted(FACTS[2])]))
    assert renewed == told(CORRECTED, *noted(FACTS[2]))
    assert done.summary == told(CORRECTED, *noted(*FACTS[2:4]))
    assert [each.status for each in summaries_of(talk)] == ["superseded"] * 3 + ["active"]


def test_what_somebody_wrote_in_its_place_stands_as_written(
    talk: Conversation, plain: Tools
) -> None:
    gone = summed_up(talk, plain)
    words = "Sarah introduced herself at length."
    correct(talk, summaries_of(talk)[0], plain, words)

    delete(talk, gone)

    assert running(talk) == words
    assert compact(talk, plain).summary == words
    assert words in found(talk, plain)


@pytest.mark.parametrize("is_changed", [False, True])
def test_what_it_tells_is_looked_at_once_and_then_kept(
    talk: Conversation, plain: Tools, is_changed: bool, django_assert_num_queries: Any
) -> None:
    # Any: pytest-django's fixture
    gone = summed_up(talk, plain)
    if is_changed:
        delete(talk, gone)
    client = get_redis_connection("default")
    client.delete(f"{settings.REDIS_PREFIX}:summary:{talk.team_id}:{talk.pk}")
    conversation = Conversation.objects.get(pk=talk.pk)

    # The compaction with its summary, and what its points are now; more where they have changed.
    with django_assert_num_queries(5 if is_changed else 2):
        first = running_summary(conversation=conversation)
    with django_assert_num_queries(0):
        assert running_summary(conversation=conversation) == first


def test_a_threads_news_do_not_tell_what_was_deleted_once_more(
    talk: Conversation, plain: Tools
) -> None:
    gone = summed_up(talk, plain)
    say(talk, FACTS[2])
    compact(talk, plain)
    first, second = summaries_of(talk)
    known = known_memories(viewer=viewer_of(talk), ids=[first.pk])
    assert known.keys() == {first.pk, second.pk}

    delete(talk, gone)

    assert not known_memories(viewer=viewer_of(talk), ids=[first.pk])
