"""Callers correct memories and say what became of them; what was written stays readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from memory.clients.tools import Tools
from memory.domain.feedback import Feedback
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory, MemoryUsage
from memory.selectors.memories import memory_for
from memory.services.deciding.corrections import correct_memory, give_feedback
from memory.services.deciding.restoring import restore_memory
from memory.services.deciding.state import delete_memory, pin_memory
from memory.services.writing.drafts import Outcome, WriteResult
from teams.errors import ConflictError, InvalidError, NotFoundError, UnavailableError
from teams.ids import new_id
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast
from tests.memory.extraction.extracting import OrthogonalEmbedder
from tests.memory.writing.test_write_path import draft, live, write
from tests.teams.test_conversations import race

BERLIN = "Sarah lives in Berlin."
POTSDAM = "Sarah lives in Potsdam."


class AwayEmbedder(OrthogonalEmbedder):
    """An embedder that does not answer."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Fails."""
        raise UnavailableError("The embedder does not answer.")


def stored(cast: Cast, tools: Tools, content: str = BERLIN, **fields: Any) -> Memory:
    """One memory that the team wrote."""
    return write(cast, tools, draft(cast, content, **fields))[0].memory


def correct(
    cast: Cast, tools: Tools, memory: Memory, content: str = POTSDAM, *, reason: str = ""
) -> WriteResult:
    """Correct as the team."""
    return correct_memory(
        viewer=Viewer(team_id=cast.team.id, actor="reviewer"),
        memory_id=memory.pk,
        corrected_content=content,
        reason=reason,
        tools=tools,
        now=timezone.now(),
    )


def say_of(cast: Cast, memory: Memory, signal: Feedback, note: str = "") -> Memory:
    """Give feedback as the team."""
    return give_feedback(viewer=team_of(cast), memory_id=memory.pk, signal=signal, note=note)


def team_of(cast: Cast) -> Viewer:
    """The team itself."""
    return Viewer(team_id=cast.team.id, actor="reader")


def now_is(memory: Memory) -> Memory:
    """The memory as the database has it."""
    return Memory.objects.get(pk=memory.pk)


# -- corrections -----------------------------------------------------------------------------


def test_whoever_names_an_old_version_is_told_which_one_stands(acme: Cast, tools: Tools) -> None:
    first = stored(acme, tools)
    second = correct(acme, tools, first).memory
    third = correct(acme, tools, second, "Sarah lives in Rome.").memory

    for refused in (
        lambda: correct(acme, tools, first, "Sarah lives in Oslo."),
        lambda: say_of(acme, first, Feedback.HELPFUL),
        lambda: pin_memory(viewer=team_of(acme), memory_id=first.pk, pinned=True),
        lambda: restore_memory(viewer=team_of(acme), memory_id=first.pk),
    ):
        with pytest.raises(ConflictError, match=f"what stands now is {third.pk}"):
            refused()

    delete_memory(viewer=team_of(acme), memory_id=third.pk)
    with pytest.raises(ConflictError, match=f"{third.pk}, is soft_deleted as well"):
        correct(acme, tools, first, "Sarah lives in Oslo.")
    with pytest.raises(ConflictError, match="nothing took its place"):
        correct(acme, tools, third, "Sarah lives in Oslo.")


def test_a_correction_supersedes_and_the_old_text_stays(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    result = correct(acme, tools, old)

    assert result.outcome == Outcome.VERSIONED
    before, after = now_is(old), now_is(result.memory)
    assert (before.content, before.status, before.tier) == (BERLIN, "superseded", "cold")
    assert (after.content, after.status, after.version) == (POTSDAM, "active", 2)
    assert (before.superseded_by_id, after.supersedes_id) == (after.pk, before.pk)
    assert live(acme) == [POTSDAM]
    assert not Contradiction.objects.exists()


def test_a_chain_is_linked_in_both_directions(acme: Cast, tools: Tools) -> None:
    chain = [stored(acme, tools)]
    for number in range(3):
        chain.append(correct(acme, tools, chain[-1], f"Sarah lives at {number}.").memory)

    rows = [now_is(each) for each in chain]

    assert [each.version for each in rows] == [1, 2, 3, 4]
    assert [each.superseded_by_id for each in rows] == [*(each.pk for each in rows[1:]), None]
    assert [each.supersedes_id for each in rows] == [None, *(each.pk for each in rows[:-1])]
    assert [each.is_live for each in rows] == [False, False, False, True]


def test_everything_else_of_the_memory_is_kept(acme: Cast, tools: Tools) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    old = stored(
        acme,
        tools,
        memory_type=MemoryType.USER_PROFILE,
        importance=9,
        is_pinned=True,
        subject="user.city",
        category="profile",
        tags=("home",),
        end_user_id=acme.sarah.pk,
        valid_from=start,
        valid_to=start + timedelta(days=90),
    )

    new = now_is(correct(acme, tools, old).memory)

    names = (
        *("memory_type", "scope", "importance", "is_pinned", "subject", "category", "tags"),
        *("end_user_id", "agent_id", "project_id", "tier", "valid_from", "valid_to"),
    )
    assert {name: getattr(new, name) for name in names} == {
        name: getattr(old, name) for name in names
    }
    assert not now_is(old).is_pinned


def test_a_correction_keeps_the_sources_of_what_it_corrects(acme: Cast, tools: Tools) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    said = factories.MessageFactory.create(team=acme.team, conversation=talk, external_id="m-1")
    old = stored(
        acme,
        tools,
        conversation_id=talk.pk,
        message_ids=(said.pk,),
        message_external_ids=("m-1",),
    )

    new = now_is(correct(acme, tools, old).memory)

    assert new.conversation_id == talk.pk
    assert (new.source_message_ids, new.source_external_ids) == ([said.pk], ["m-1"])


def test_a_correction_to_what_is_known_adds_its_sources_there(acme: Cast, tools: Tools) -> None:
    first, second = new_id(), new_id()
    known = stored(acme, tools, "Dmitri plays the violin.", message_ids=(first,))
    old = stored(acme, tools, message_ids=(second,))

    correct(acme, tools, old, "Dmitri plays the violin.")

    assert now_is(known).source_message_ids == [first, second]


def test_a_correction_stands_in_the_log_with_its_reason(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    new = correct(acme, tools, old, reason="She moved.").memory

    last = MemoryLog.objects.filter(memory_id=old.pk).order_by("-seq")[0]
    first = MemoryLog.objects.get(memory_id=new.pk)
    assert (last.event, last.reason, last.actor) == ("superseded", "She moved.", "reviewer")
    assert (first.event, first.reason, first.actor) == ("corrected", "She moved.", "reviewer")


def test_only_the_current_version_is_corrected(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)
    new = correct(acme, tools, old).memory

    with pytest.raises(ConflictError, match=str(new.pk)):
        correct(acme, tools, old, "Sarah lives in Rome.")

    assert live(acme) == [POTSDAM]


def test_a_deleted_memory_is_not_corrected(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)
    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=old.pk)

    with pytest.raises(ConflictError, match="soft_deleted"):
        correct(acme, tools, old)

    assert live(acme) == []


def test_a_correction_to_the_same_text_is_refused(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    with pytest.raises(InvalidError) as refused:
        correct(acme, tools, old, BERLIN)

    assert refused.value.field == "corrected_content"
    assert now_is(old).is_live


@pytest.mark.parametrize("content", ["Sarah lives in BERLIN.", "Sarah lives in Berlin!"])
def test_a_correction_of_letters_alone_is_a_version(acme: Cast, tools: Tools, content: str) -> None:
    old = stored(acme, tools)

    new = correct(acme, tools, old, content).memory

    assert new.supersedes_id == old.pk
    assert live(acme) == [content]


def test_a_correction_to_what_another_memory_says_leaves_that_one(acme: Cast, tools: Tools) -> None:
    other = stored(acme, tools, "Dmitri plays the violin.")
    old = stored(acme, tools)

    result = correct(acme, tools, old, "Dmitri plays the violin.")

    assert (result.outcome, result.memory.pk) == (Outcome.DUPLICATE, other.pk)
    assert now_is(old).superseded_by_id == other.pk
    assert live(acme) == ["Dmitri plays the violin."]


def test_a_correction_back_is_a_third_version(acme: Cast, tools: Tools) -> None:
    first = stored(acme, tools)
    second = correct(acme, tools, first).memory

    third = correct(acme, tools, second, BERLIN).memory

    assert third.pk != first.pk
    assert (third.version, third.supersedes_id) == (3, second.pk)
    assert live(acme) == [BERLIN]


def test_without_the_embedder_nothing_is_corrected(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    with pytest.raises(UnavailableError):
        correct(acme, replace(tools, embedder=AwayEmbedder()), old)

    assert now_is(old).status == "active"
    assert MemoryLog.objects.count() == 1


@pytest.mark.parametrize("stranger", ["agent", "team"])
def test_a_stranger_neither_corrects_nor_judges(
    acme: Cast, globex: Cast, tools: Tools, stranger: str
) -> None:
    memory = stored(acme, tools, memory_type=MemoryType.AGENT_PRIVATE, agent_id=acme.kyra.pk)
    viewer = (
        Viewer(team_id=acme.team.id, actor="luke", agent_id=acme.luke.pk)
        if stranger == "agent"
        else Viewer(team_id=globex.team.id, actor="globex")
    )

    with pytest.raises(NotFoundError):
        correct_memory(
            viewer=viewer,
            memory_id=memory.pk,
            corrected_content=POTSDAM,
            reason="",
            tools=tools,
            now=timezone.now(),
        )
    with pytest.raises(NotFoundError):
        give_feedback(viewer=viewer, memory_id=memory.pk, signal=Feedback.WRONG, note="")
    with pytest.raises(NotFoundError):
        memory_for(viewer=viewer, memory_id=memory.pk)

    assert now_is(memory).status == "active"


# -- feedback --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signal", "counter"),
    [
        (Feedback.CITED, "cited"),
        (Feedback.IGNORED, "ignored"),
        (Feedback.HELPFUL, "succeeded"),
        (Feedback.WRONG, "failed"),
    ],
)
def test_each_signal_is_counted_as_itself(
    acme: Cast, tools: Tools, signal: Feedback, counter: str
) -> None:
    memory = stored(acme, tools)

    for _ in range(2):
        say_of(acme, memory, signal)

    usage = MemoryUsage.objects.get(memory=memory)
    names = ("cited", "ignored", "succeeded", "failed")
    assert {name: getattr(usage, name) for name in names} == {
        name: 2 if name == counter else 0 for name in names
    }


def test_importance_rises_to_ten_and_falls_to_three(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools, importance=8)

    raised = [say_of(acme, memory, Feedback.HELPFUL).importance for _ in range(4)]
    lowered = [say_of(acme, memory, Feedback.IGNORED).importance for _ in range(50)]

    assert raised == [9, 10, 10, 10]
    assert lowered[::5] == [10, 9, 8, 7, 6, 5, 4, 3, 3, 3]
    assert now_is(memory).importance == 3


@pytest.mark.parametrize(
    ("importance", "signal", "times", "tier"),
    [
        (8, Feedback.HELPFUL, 1, "hot"),
        (7, Feedback.HELPFUL, 1, "warm"),
        (9, Feedback.IGNORED, 5, "warm"),
        (10, Feedback.IGNORED, 5, "hot"),
        (9, Feedback.CITED, 1, "hot"),
    ],
)
def test_the_tier_follows_the_importance(
    acme: Cast, tools: Tools, importance: int, signal: Feedback, times: int, tier: str
) -> None:
    memory = stored(acme, tools, importance=importance)

    for _ in range(times):
        say_of(acme, memory, signal)

    assert now_is(memory).tier == tier


def test_a_pinned_memory_stays_hot_whatever_its_importance(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools, importance=9, is_pinned=True)

    for _ in range(5):
        say_of(acme, memory, Feedback.IGNORED)

    assert (now_is(memory).importance, now_is(memory).tier) == (8, "hot")


def test_feedback_that_changes_the_memory_is_logged_with_its_note(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)

    say_of(acme, memory, Feedback.CITED)
    say_of(acme, memory, Feedback.HELPFUL, "It saved the day.")

    rows = MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq")
    assert [each.event for each in rows] == ["created", "updated"]
    assert rows[1].reason == "feedback: helpful (It saved the day.)"
    assert (rows[1].actor, rows[1].state["importance"]) == ("reader", 6)


def test_saying_it_is_wrong_opens_one_dispute(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)

    for note in ("She moved.", "I say it again."):
        say_of(acme, memory, Feedback.WRONG, note)

    row = Contradiction.objects.get()
    assert (row.memory_a_id, row.memory_b_id, row.resolved_at) == (memory.pk, None, None)
    assert (row.strategy, row.verdict, row.reason) == ("feedback", "dispute", "She moved.")
    assert row.judge == "reader"
    assert (now_is(memory).status, now_is(memory).contradicts) == ("disputed", [])
    events = MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq")
    assert [each.event for each in events] == ["created", "contradiction_detected"]


@pytest.mark.parametrize("signal", Feedback)
def test_feedback_on_what_nobody_is_shown_is_refused(
    acme: Cast, tools: Tools, signal: Feedback
) -> None:
    old = stored(acme, tools)
    correct(acme, tools, old)

    with pytest.raises(ConflictError, match="superseded"):
        say_of(acme, old, signal)

    assert not MemoryUsage.objects.exists()
    assert not Contradiction.objects.exists()


def test_correcting_what_was_said_to_be_wrong_ends_the_dispute(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)
    say_of(acme, memory, Feedback.WRONG)

    new = correct(acme, tools, memory).memory

    row = Contradiction.objects.get()
    assert (row.resolution, row.resolved_by) == ("b_wins", "reviewer")
    assert row.resolved_at is not None
    assert now_is(new).status == "active"
    assert now_is(memory).status == "superseded"


# -- all at once -----------------------------------------------------------------------------


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team that several connections may write to."""
    return make_cast(f"town-{uuid4().hex}")


def test_of_corrections_at_once_one_holds_and_the_others_are_told(town: Cast, tools: Tools) -> None:
    old = stored(town, tools)

    def act(number: int) -> str:
        try:
            return correct(town, tools, old, f"Sarah lives at {number}.").outcome
        except ConflictError:
            return "refused"

    answers = race(5, act)

    assert sorted(answers) == ["refused"] * 4 + ["versioned"]
    assert len(live(town)) == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.count() == 2


def test_no_signal_of_many_at_once_is_lost(town: Cast, tools: Tools) -> None:
    memory = stored(town, tools)
    signals = [Feedback.IGNORED, Feedback.WRONG]

    race(8, lambda number: say_of(town, memory, signals[number % 2]))

    with team_scope(team_ids=[town.team.id], actor="test"):
        usage = MemoryUsage.objects.get(memory=memory)
        assert (usage.ignored, usage.failed) == (4, 4)
        assert Contradiction.objects.count() == 1
        assert now_is(memory).importance == 5
