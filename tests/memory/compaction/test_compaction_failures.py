"""A compaction that fails, or meets others: nothing is lost, doubled or half done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import OperationalError

from memory.domain.talk import WrittenSummary
from memory.domain.types import Asker, Candidate, Participants, Point, SourceMessage
from memory.models import Compaction, Job, Memory
from memory.understanding.tools import Tools
from memory.writing.jobs import start_extraction
from memory.writing.waiting import extract_now
from teams.errors import ForbiddenError, UnavailableError
from teams.models import Conversation, Message, Team
from teams.tenancy import team_scope
from tests import factories
from tests.support.compaction import (
    FACTS,
    FactExtractor,
    LateEmbedder,
    LateFailure,
    Recorder,
    compact,
    facts_of,
    noted,
    plain,
    read_by,
    running,
    say,
    summaries_of,
    talk,
    told,
    town_talk,
    viewer_of,
)
from tests.support.extraction import CountingExtractor
from tests.support.waiting import race

__all__ = ["plain", "talk", "town_talk"]


BREAKAGES: dict[str, Callable[[Tools], Tools]] = {
    "first pass": lambda given: replace(given, extractor=CountingExtractor(failures=1)),
    "second pass": lambda given: replace(given, extractor=LateFailure()),
    "summary": lambda given: replace(given, summariser=Recorder(failures=1)),
    "empty summary": lambda given: replace(given, summariser=Recorder(text="")),
    "merging": lambda given: replace(given, embedder=LateEmbedder(calls=0)),
    "embedding": lambda given: replace(given, embedder=LateEmbedder(calls=1)),
}


@pytest.mark.parametrize("step", BREAKAGES)
@pytest.mark.parametrize("before", [False, True])
def test_when_a_step_fails_nothing_is_compacted_and_it_says_so(
    talk: Conversation, plain: Tools, step: str, before: bool
) -> None:
    if before:
        say(talk, *FACTS[:2])
        compact(talk, plain)
    say(talk, *FACTS[2:4])
    counted = Compaction.objects.count(), len(summaries_of(talk))
    standing = running(talk)

    with pytest.raises(UnavailableError, match="Nothing was compacted"):
        compact(talk, BREAKAGES[step](plain))

    assert (Compaction.objects.count(), len(summaries_of(talk))) == counted
    assert running(talk) == standing

    done = compact(talk, plain)
    assert done.count == 2
    assert len(facts_of(talk)) == (4 if before else 2)


def test_a_compaction_that_postgresql_turns_away_is_tried_again(
    talk: Conversation, plain: Tools
) -> None:
    class TurnedAway(Recorder):
        def summarise(
            self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
        ) -> WrittenSummary:
            if not self.given:
                self.given.append([])
                raise OperationalError from psycopg.errors.DeadlockDetected()
            return super().summarise(points=points, since=since, until=until, asker=asker)

    say(talk, *FACTS[:2])

    done = compact(talk, replace(plain, summariser=TurnedAway()))

    assert done.count == 2
    assert done.summary == told(*noted(*FACTS[:2]))


def test_memory_switched_off_meanwhile_is_no_failure(talk: Conversation, plain: Tools) -> None:
    class SwitchesOff(Recorder):
        def summarise(
            self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
        ) -> WrittenSummary:
            with team_scope(team_ids=[talk.team_id], actor="test"):
                Team.objects.filter(pk=talk.team_id).update(feature_flags={"memory": False})
            return super().summarise(points=points, since=since, until=until, asker=asker)

    say(talk, *FACTS[:2])

    with pytest.raises(ForbiddenError, match="switched off"):
        compact(talk, replace(plain, summariser=SwitchesOff()))


def test_a_failure_half_way_keeps_what_was_extracted_and_reads_it_only_once(
    talk: Conversation, plain: Tools, settings: Any
) -> None:
    # Any: pytest-django's settings wrapper
    settings.EXTRACTION_WINDOW_MESSAGES = 2

    class Tires(FactExtractor):
        def extract(
            self,
            *,
            messages: Sequence[SourceMessage],
            context: Sequence[SourceMessage],
            participants: Participants,
        ) -> list[Candidate]:
            if messages[0].position == 5:
                raise TimeoutError("the model is tired")
            return super().extract(messages=messages, context=context, participants=participants)

    say(talk, *FACTS)
    with pytest.raises(UnavailableError, match="Nothing was compacted"):
        compact(talk, replace(plain, extractor=Tires()))
    half = len(facts_of(talk))

    done = compact(talk, plain)

    assert half == 4
    assert read_by(plain) == [5, 6, 7, 8]
    assert done.summary == told(*noted(*FACTS))
    assert done.extraction.created == 8


def test_what_was_given_up_is_tried_again_and_told_when_it_fails(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:2])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    broken = replace(plain, extractor=CountingExtractor(failures=99))
    Job.objects.filter(pk=job.pk).update(state="failed", attempts=5)

    with pytest.raises(UnavailableError, match=r"Nothing was compacted.*ValueError"):
        compact(talk, broken)

    assert not Compaction.objects.exists()
    assert compact(talk, plain).count == 2


def test_what_is_set_aside_holds_up_no_compaction_and_is_named(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:4])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    Job.objects.filter(pk=job.pk).update(to_position=3)
    factories.JobFactory.create(
        team=job.team, conversation=talk, from_position=4, to_position=4, state="set_aside"
    )

    done = compact(talk, plain)

    assert done.count == 4
    assert len(facts_of(talk)) == 3
    assert [each.split(" could")[0] for each in done.extraction.warnings] == ["Messages 4 to 4"]


def standing(talk: Conversation) -> tuple[list[Memory], list[Memory], list[Compaction]]:
    """Facts, summaries and compactions as the database has them."""
    with team_scope(team_ids=[talk.team_id], actor="test"):
        rows = Compaction.objects.filter(conversation=talk).order_by("from_position")
        return facts_of(talk), summaries_of(talk), list(rows)


def test_six_at_once_compact_once(town_talk: Conversation, plain: Tools) -> None:
    say(town_talk, *FACTS)

    answers = race(6, lambda _: compact(town_talk, plain, keep_last=2))

    facts, summaries, compactions = standing(town_talk)
    assert sorted(each.count for each in answers) == [0, 0, 0, 0, 0, 6]
    assert {each.summary for each in answers} == {told(*noted(*FACTS[:6]))}
    assert [(each.from_position, each.to_position) for each in compactions] == [(1, 6)]
    assert len(facts) == 6
    assert [each.status for each in summaries] == ["active"]


def test_later_ones_at_once_continue_one_summary(town_talk: Conversation, plain: Tools) -> None:
    say(town_talk, *FACTS[:2])
    compact(town_talk, plain)
    say(town_talk, *FACTS[2:])

    answers = race(4, lambda number: compact(town_talk, plain, keep_last=number))

    facts, summaries, compactions = standing(town_talk)
    ends = [0, *(each.to_position for each in compactions)]
    assert [each.from_position for each in compactions] == [each + 1 for each in ends[:-1]]
    assert ends[-1] == 8
    assert len(facts) == len(FACTS)
    assert [each.status for each in summaries].count("active") == 1
    assert sum(each.count for each in answers) == 6


@pytest.mark.parametrize("round_number", range(2))
def test_extracting_posting_and_compacting_at_once_keeps_each_message_once(
    town_talk: Conversation, plain: Tools, round_number: int
) -> None:
    say(town_talk, *FACTS[:4])
    viewer = viewer_of(town_talk)

    def act(number: int) -> object:
        if number == 0:
            return say(town_talk, *FACTS[4:])
        if number in (1, 2):
            return compact(town_talk, plain, keep_last=1)
        return extract_now(viewer=viewer, conversation_id=town_talk.pk, tools=plain)

    race(5, act)
    compact(town_talk, plain)

    facts, summaries, _ = standing(town_talk)
    assert sorted(each.content for each in facts) == sorted(
        f"Sarah said that {text}" for text in FACTS
    )
    assert [each.status for each in summaries].count("active") == 1
    with team_scope(team_ids=[town_talk.team_id], actor="test"):
        ids: list[UUID] = [item for each in facts for item in each.source_message_ids]
        assert sorted(ids) == sorted(Message.objects.values_list("id", flat=True))
        assert not Job.objects.exclude(state="done").exists()
