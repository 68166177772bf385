"""Points of a summary: the most important, as they stand now, over any number of compactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.utils import timezone

from memory.domain.rendering import estimate_tokens
from memory.domain.talk import MAX_POINTS, SUMMARY_TOKENS, RulesSummariser
from memory.domain.types import Candidate, Participants, SourceMessage
from memory.models import Compaction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.stating import StatedMemory, remember
from teams.models import Conversation
from tests.support.compaction import (
    FACTS,
    FactExtractor,
    compact,
    facts_of,
    noted,
    plain,
    say,
    summaries_of,
    talk,
    viewer_of,
)

__all__ = ["plain", "talk"]


class Weighing(FactExtractor):
    """Takes the importance of a message from a number at its beginning: "9 I live in Berlin."."""

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """A statement for each message, weighed."""
        found = super().extract(messages=messages, context=context, participants=participants)
        return [
            replace(each, importance=int(number), content=f"Sarah said that {text}")
            for each, message in zip(found, messages, strict=True)
            for number, text in [message.content.split(" ", 1)]
        ]


@pytest.fixture
def weighed(plain: Tools) -> Tools:
    """The rules' summariser over messages that name their importance."""
    return replace(plain, extractor=Weighing(), summariser=RulesSummariser())


def weigh(importance: int, *facts: str) -> list[str]:
    """Messages of that importance."""
    return [f"{importance} {fact}" for fact in facts]


def chatter(number: int) -> str:
    """One of many things of little weight, each of some length."""
    return f"errand number {number} took me the better part of an afternoon in town."


def test_what_matters_outlives_any_number_of_later_compactions(
    talk: Conversation, weighed: Tools
) -> None:
    say(talk, *weigh(9, FACTS[3]))
    compact(talk, weighed)
    for number in range(12):
        say(talk, *weigh(4, *[chatter(10 * number + each) for each in range(3)]))
        done = compact(talk, weighed)
        assert FACTS[3] in done.summary
        assert estimate_tokens(done.summary) <= SUMMARY_TOKENS

    assert "number 112 " in done.summary
    assert "number 0 " not in done.summary
    assert done.summary.count("Sarah said that I am allergic") == 1


def test_an_unimportant_latest_word_does_not_push_out_what_matters(
    talk: Conversation, weighed: Tools
) -> None:
    say(talk, *weigh(8, *[chatter(each) for each in range(6)]))
    first = compact(talk, weighed).summary
    say(talk, *weigh(3, *[chatter(each) for each in range(6, 12)]))

    second = compact(talk, weighed).summary

    assert [number for number in range(6) if f"number {number} " in first] == list(range(6))
    assert [number for number in range(6) if f"number {number} " in second] == list(range(6))


def test_points_name_their_memories_and_are_bounded(talk: Conversation, weighed: Tools) -> None:
    for start in range(0, 3 * MAX_POINTS, 96):
        say(talk, *weigh(5, *[f"number {each} was drawn." for each in range(start, start + 96)]))
        compact(talk, weighed)

    points = Compaction.objects.latest("to_position").points

    assert len(points) == MAX_POINTS
    ids = {str(each.pk): each.content for each in facts_of(talk)}
    assert [ids[each["memory_ids"][0]] for each in points] == [each["text"] for each in points]
    assert [each["text"] for each in points] == noted(
        *[f"number {each} was drawn." for each in range(2 * MAX_POINTS, 3 * MAX_POINTS)]
    )


def test_what_was_deleted_since_is_left_out_of_the_next(talk: Conversation, weighed: Tools) -> None:
    say(talk, *weigh(9, *FACTS[:2]))
    compact(talk, weighed)
    delete_memory(viewer=viewer_of(talk), memory_id=facts_of(talk)[0].pk)
    say(talk, *weigh(3, FACTS[2]))

    done = compact(talk, weighed)

    assert FACTS[0] not in done.summary
    assert FACTS[1] in done.summary


def test_what_leaves_makes_room_for_what_had_none(talk: Conversation, weighed: Tools) -> None:
    say(talk, *weigh(5, *[chatter(each) for each in range(20)]))
    first = compact(talk, weighed).summary
    missing = [number for number in range(20) if f"number {number} " not in first]
    told_of = [number for number in range(20) if number not in missing]
    for memory in facts_of(talk):
        if any(f"number {number} " in memory.content for number in told_of):
            delete_memory(viewer=viewer_of(talk), memory_id=memory.pk)
    say(talk, *weigh(3, FACTS[2]))

    second = compact(talk, weighed).summary

    assert missing
    assert f"number {missing[-1]} " in second


def test_what_was_corrected_since_is_told_as_it_is_now_and_in_its_place(
    talk: Conversation, weighed: Tools
) -> None:
    say(talk, *weigh(9, *FACTS[:2]))
    compact(talk, weighed)
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=facts_of(talk)[0].pk,
        corrected_content="Sarah lives in Potsdam.",
        reason="",
        tools=weighed,
        now=timezone.now(),
    )
    say(talk, *weigh(5, FACTS[2]))
    second = compact(talk, weighed).summary
    say(talk, *weigh(5, FACTS[3]))
    third = compact(talk, weighed).summary

    stays = ["Sarah lives in Potsdam.", *noted(FACTS[1], FACTS[2])]
    assert second.endswith("] " + " ".join(stays))
    assert third.endswith("] " + " ".join([*stays, *noted(FACTS[3])]))


def test_what_was_superseded_elsewhere_is_left_out_of_the_next(
    talk: Conversation, weighed: Tools, acme: object
) -> None:
    """A newer statement of another conversation retires the point; it is not this one's to tell."""
    say(talk, *weigh(9, *FACTS[:2]))
    compact(talk, weighed)
    old = facts_of(talk)[0]
    (newer,) = remember(
        viewer=viewer_of(talk),
        stated=[StatedMemory(content="Sarah lives in Paris.", user="sarah")],
        tools=weighed,
        now=timezone.now(),
    )
    Memory.objects.filter(pk=old.pk).update(
        status="superseded", superseded_by=newer.memory, tier="cold"
    )
    say(talk, *weigh(5, FACTS[2]))

    done = compact(talk, weighed)

    assert done.summary.endswith("] " + " ".join(noted(FACTS[1], FACTS[2])))


def test_a_change_of_mind_inside_one_range_is_summed_up_as_it_ended(
    talk: Conversation, tools: Tools
) -> None:
    say(talk, "I live in Berlin.", "I moved to Paris last week.", "I am allergic to peanuts.")

    done = compact(talk, tools)

    stands = {each.content for each in facts_of(talk) if each.is_live}
    gone = {each.content for each in facts_of(talk) if not each.is_live}
    assert stands
    assert all(each in done.summary for each in stands)
    assert not any(each in done.summary for each in gone)


def test_what_was_known_from_elsewhere_and_said_again_is_summed_up(
    talk: Conversation, weighed: Tools
) -> None:
    """The write path finds a duplicate, whose memory belongs to another conversation."""
    other = Conversation.objects.create(
        team_id=talk.team_id,
        agent_id=talk.agent_id,
        end_user_id=talk.end_user_id,
        thread_id="another",
    )
    say(other, *weigh(9, FACTS[0]))
    compact(other, weighed)
    say(talk, *weigh(9, FACTS[0]), *weigh(5, FACTS[1]))

    done = compact(talk, weighed)

    assert done.extraction.duplicates_skipped == 1
    assert done.summary.endswith("] " + " ".join(noted(*FACTS[:2])))
    assert len(facts_of(talk)) == 1


def test_the_words_of_a_person_in_a_summary_are_not_dropped_for_later_talk(
    talk: Conversation, weighed: Tools
) -> None:
    say(talk, *weigh(5, FACTS[0]))
    compact(talk, weighed)
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=summaries_of(talk)[0].pk,
        corrected_content="Sarah wants short answers. She is new here.",
        reason="",
        tools=weighed,
        now=timezone.now(),
    )
    for number in range(4):
        say(talk, *weigh(8, *[chatter(10 * number + each) for each in range(4)]))
        done = compact(talk, weighed)

    assert "Sarah wants short answers. She is new here." in done.summary
    assert FACTS[0] not in done.summary
