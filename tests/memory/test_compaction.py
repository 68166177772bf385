"""The compaction shield: nothing leaves a context before it is extracted, summed up and stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.utils import timezone
from django_redis import get_redis_connection

from audit.models import MemoryLog
from memory.clients.tools import Tools
from memory.domain.tokens import estimate_tokens
from memory.domain.types import Candidate, MemoryType, Participants, Point, SourceMessage
from memory.domain.viewer import Viewer
from memory.models import Compaction, Contradiction, Job, Memory
from memory.services.compaction import Compacted, compact_conversation
from memory.services.conversations import post_messages
from memory.services.corrections import correct_memory
from memory.services.job_runs import run_job
from memory.services.jobs import start_extraction
from memory.services.state import delete_memory
from memory.services.summaries import running_summary
from memory.services.waiting import extract_now
from teams.errors import NotFoundError, UnavailableError
from teams.models import Conversation, Message
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast
from tests.memory.test_extraction_jobs import CountingExtractor, OrthogonalEmbedder
from tests.teams.test_conversations import race

# Facts of different matters, so that no judge has anything to say of a pair.
FACTS = [
    "I live in Berlin.",
    "My dog is called Rex.",
    "I work as a nurse.",
    "I am allergic to peanuts.",
    "My favourite colour is green.",
    "I play the violin.",
    "My car is a red Volvo.",
    "I have two sisters.",
]


class Recorder:
    """A summariser that tells all its points, says what it was given, and fails when told to."""

    name = "recorder"

    def __init__(self, *, failures: int = 0, text: str | None = None) -> None:
        self.failures = failures
        self.text = text
        self.given: list[list[Point]] = []

    def summarise(self, *, points: Sequence[Point], since: datetime, until: datetime) -> str:
        """Every point, in the order given."""
        self.given.append(list(points))
        if self.failures:
            self.failures -= 1
            raise ValueError("the summariser is broken")
        if self.text is not None:
            return self.text
        return told(*[point.text for point in points])


def told(*texts: str) -> str:
    """The recorder's summary of statements."""
    return " ".join(["Summary:", *texts])


def noted(*facts: str) -> list[str]:
    """What the extractor makes of messages."""
    return [f"Sarah said that {fact}" for fact in facts]


class LateFailure(CountingExtractor):
    """An extractor whose second pass fails."""

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Fails."""
        raise TimeoutError("the second pass took too long")


class LateEmbedder(OrthogonalEmbedder):
    """An embedder that is away after so many calls."""

    def __init__(self, *, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors, while it lasts."""
        if self.calls == 0:
            raise UnavailableError("The embedder does not answer.")
        self.calls -= 1
        return super().embed(texts)


class FactExtractor(CountingExtractor):
    """Makes one memory of each message, in the words of the message."""

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """A statement in the third person for each message."""
        found = super().extract(messages=messages, context=context, participants=participants)
        return [
            replace(each, content=f"Sarah said that {message.content}")
            for each, message in zip(found, messages, strict=True)
        ]


@pytest.fixture
def plain(tools: Tools) -> Tools:
    """Tools under which every message becomes exactly one memory of its own."""
    return replace(
        tools, embedder=OrthogonalEmbedder(), extractor=FactExtractor(), summariser=Recorder()
    )


@pytest.fixture
def talk(acme: Cast) -> Conversation:
    """A conversation of Kyra with Sarah."""
    return factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )


@pytest.fixture
def town_talk(committed_db: None) -> Conversation:
    """A conversation that several connections may work on."""
    town = make_cast(f"town-{uuid4().hex}")
    with team_scope(team_ids=[town.team.id], actor="test"):
        return factories.ConversationFactory.create(
            team=town.team, agent=town.kyra, end_user=town.sarah
        )


def viewer_of(talk: Conversation) -> Viewer:
    """The conversation's team."""
    return Viewer(team_id=talk.team_id, actor="test")


def say(talk: Conversation, *texts: str) -> list[Message]:
    """Post these messages."""
    return post_messages(
        viewer=viewer_of(talk),
        conversation_id=talk.pk,
        messages=[NewMessage("user", text) for text in texts],
        now=timezone.now(),
    )


def compact(talk: Conversation, tools: Tools, **how: int) -> Compacted:
    """Compact as the team; everything goes unless told."""
    return compact_conversation(
        viewer=viewer_of(talk), conversation_id=talk.pk, tools=tools, **(how or {"keep_last": 0})
    )


def facts_of(talk: Conversation) -> list[Memory]:
    """What was extracted, in any status, oldest first."""
    rows = Memory.objects.filter(team_id=talk.team_id, conversation=talk)
    return [row for row in rows.order_by("id") if "summary" not in row.tags]


def summaries_of(talk: Conversation) -> list[Memory]:
    """The memories that hold summaries, oldest first."""
    rows = Memory.objects.filter(team_id=talk.team_id, conversation=talk)
    return [row for row in rows.order_by("id") if "summary" in row.tags]


def read_by(tools: Tools) -> list[int]:
    """The positions of the messages that the extractor read as sources, in that order."""
    assert isinstance(tools.extractor, CountingExtractor)
    rows = Message.objects.filter(pk__in=tools.extractor.read)
    positions = dict(rows.values_list("pk", "position"))
    return [positions[each] for each in tools.extractor.read]


def recorder(tools: Tools) -> Recorder:
    """The summariser of these tools."""
    assert isinstance(tools.summariser, Recorder)
    return tools.summariser


# -- what one does ---------------------------------------------------------------------------


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


def running(talk: Conversation) -> str:
    """The running summary, as a request that has just read the conversation gets it."""
    return running_summary(conversation=Conversation.objects.get(pk=talk.pk))


def kept_summaries() -> dict[bytes, bytes]:
    """What Redis holds of summaries."""
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

    say(talk, "All of it.")
    loud = replace(plain, extractor=Talkative())
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=loud)
    before = len(facts_of(talk))

    compact(talk, loud)

    assert before < len(FACTS)
    assert len(facts_of(talk)) == len(FACTS)


# -- again -----------------------------------------------------------------------------------


def test_the_second_builds_on_the_first(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])
    compact(talk, plain, keep_last=2)
    say(talk, *FACTS[4:6])

    done = compact(talk, plain, keep_last=1)

    assert (done.first, done.last, done.count) == (3, 5, 3)
    assert done.summary == told(*noted(*FACTS[:5]))
    assert [len(points) for points in recorder(plain).given] == [2, 5]
    first, second = summaries_of(talk)
    assert (first.status, first.superseded_by_id) == ("superseded", second.pk)
    assert (second.status, second.supersedes_id, second.version) == ("active", first.pk, 2)
    assert not Contradiction.objects.exists()


def test_twice_doubles_nothing(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])
    first = compact(talk, plain, keep_last=1)
    rows, log = Memory.objects.count(), MemoryLog.objects.count()

    again = compact(talk, plain, keep_last=1)

    assert (again.count, again.summary, again.kept) == (0, first.summary, first.kept)
    assert (again.first, again.last) == (first.first, first.last)
    assert again.extraction.created == 0
    assert (Memory.objects.count(), MemoryLog.objects.count()) == (rows, log)
    assert Compaction.objects.count() == 1


def test_keeping_more_than_before_brings_nothing_back(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])
    compact(talk, plain, keep_last=1)

    done = compact(talk, plain, keep_last=3)

    assert [each.position for each in done.kept] == [4]
    assert done.count == 0


def test_ranges_of_compactions_follow_on(talk: Conversation, plain: Tools) -> None:
    for text in FACTS:
        say(talk, text)
        compact(talk, plain, keep_last=1)
    compact(talk, plain)

    ranges = Compaction.objects.order_by("from_position").values_list(
        "from_position", "to_position"
    )
    assert list(ranges) == [(n, n) for n in range(1, len(FACTS) + 1)]
    assert len(facts_of(talk)) == len(FACTS)
    assert [each.status for each in summaries_of(talk)].count("active") == 1


def test_what_a_job_extracted_before_is_not_doubled(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:3])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)

    done = compact(talk, plain)

    assert (done.extraction.created, done.extraction.duplicates_skipped) == (0, 0)
    assert done.summary == told(*noted(*FACTS[:3]))
    assert read_by(plain) == [1, 2, 3]
    assert len(facts_of(talk)) == 3
    assert [each.corroboration for each in facts_of(talk)] == [0, 0, 0]


def test_what_was_compacted_is_not_extracted_again(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:3])
    compact(talk, plain, keep_last=1)

    counts = extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)

    assert counts.created == 1
    assert len(facts_of(talk)) == 3
    ranges = Job.objects.order_by("id").values_list("from_position", "to_position", "state")
    assert list(ranges) == [(1, 2, "done"), (3, 3, "done")]


@pytest.mark.parametrize("state", ["queued", "failed"])
def test_a_job_that_waits_or_was_given_up_is_done_by_the_compaction(
    talk: Conversation, plain: Tools, state: str
) -> None:
    say(talk, *FACTS[:3])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    Job.objects.filter(pk=job.pk).update(state=state)
    compact(talk, plain)

    ran = run_job(team_id=talk.team_id, job_id=job.pk, tools=plain)

    assert not ran
    assert Job.objects.get().state == "done"
    assert read_by(plain) == [1, 2, 3]
    counts = extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    assert (counts.created, counts.duplicates_skipped) == (0, 0)


def test_a_job_that_reaches_beyond_what_goes_is_run_whole_and_once(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:4])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)

    done = compact(talk, plain, keep_last=1)

    assert not run_job(team_id=talk.team_id, job_id=job.pk, tools=plain)
    assert read_by(plain) == [1, 2, 3, 4]
    assert done.summary == told(*noted(*FACTS[:3]))
    assert len(facts_of(talk)) == 4


def test_what_a_job_of_the_last_range_read_too_far_is_summed_up_next_time(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:4])
    start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    compact(talk, plain, keep_last=1)

    done = compact(talk, plain)

    assert read_by(plain) == [1, 2, 3, 4]
    assert done.summary == told(*noted(*FACTS[:4]))


# -- what people did in between --------------------------------------------------------------


def test_a_deleted_memory_does_not_come_back(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    gone = facts_of(talk)[0]
    delete_memory(viewer=viewer_of(talk), memory_id=gone.pk)

    done = compact(talk, plain)

    assert done.extraction.created == 0
    assert done.summary == told(*noted(FACTS[1]))
    assert [each.status for each in facts_of(talk)] == ["soft_deleted", "active"]


def test_a_corrected_memory_does_not_come_back(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    wrong = facts_of(talk)[0]
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=wrong.pk,
        corrected_content="Sarah moved to Potsdam.",
        reason="",
        tools=plain,
        now=timezone.now(),
    )

    done = compact(talk, plain)

    live = [each.content for each in facts_of(talk) if each.is_live]
    assert sorted(live) == ["Sarah moved to Potsdam.", *noted(FACTS[1])]
    assert done.summary == told("Sarah moved to Potsdam.", *noted(FACTS[1]))


def test_what_is_said_again_after_a_deletion_is_new(talk: Conversation, plain: Tools) -> None:
    say(talk, FACTS[0])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    delete_memory(viewer=viewer_of(talk), memory_id=facts_of(talk)[0].pk)
    compact(talk, plain)
    say(talk, FACTS[0])

    compact(talk, plain)

    assert [each.status for each in facts_of(talk)] == ["soft_deleted", "active"]


def test_a_corrected_summary_is_what_the_next_one_builds_on(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:2])
    compact(talk, plain)
    (first,) = summaries_of(talk)
    fixed = "Sarah introduced herself."
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=first.pk,
        corrected_content=fixed,
        reason="",
        tools=plain,
        now=timezone.now(),
    )
    between = compact(talk, plain).summary
    say(talk, *FACTS[2:4])

    done = compact(talk, plain)

    assert between == fixed
    assert done.summary == told(fixed, *noted(*FACTS[2:4]))
    live = [each for each in summaries_of(talk) if each.is_live]
    assert [each.content for each in live] == [done.summary]
    assert live[0].version == 3


def test_a_deleted_summary_is_not_told_or_built_on(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])
    compact(talk, plain)
    delete_memory(viewer=viewer_of(talk), memory_id=summaries_of(talk)[0].pk)
    between = compact(talk, plain).summary
    say(talk, *FACTS[2:4])

    done = compact(talk, plain)

    assert between == ""
    assert done.summary == told(*noted(*FACTS[2:4]))
    assert [each.status for each in summaries_of(talk)] == ["soft_deleted", "active"]


# -- failures --------------------------------------------------------------------------------


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


# -- all at once -----------------------------------------------------------------------------


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
