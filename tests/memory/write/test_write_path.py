"""The one write path: what a new memory does to those it meets, also when many write at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from audit.models import MemoryLog
from memory.domain.forms import Form
from memory.domain.types import Judgement, MemoryType, Statement, Verdict
from memory.models import Contradiction, Memory, MemoryRelation, SearchEntry
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, Outcome, WriteResult
from teams.ids import new_id
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.judges import NumbersJudge, PairJudge
from tests.support.waiting import race
from tests.support.writing import NEW_LIMIT, NOON, OLD_LIMIT, OTHER_LIMIT, draft, live, write


class FixedJudge(PairJudge):
    """A judge that finds what it was told to find between two texts, else that both may stand."""

    name = "fixed"

    def __init__(self, verdicts: dict[tuple[str, str], Verdict]) -> None:
        self.verdicts = verdicts

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair."""
        verdict = self.verdicts.get((existing.content, new.content), Verdict.COEXIST)
        return Judgement(verdict, "as told")


# -- outcomes --------------------------------------------------------------------------------


def test_a_new_memory_is_indexed_and_logged_with_it(acme: Cast, tools: Tools) -> None:
    (result,) = write(acme, tools, draft(acme, "Sarah lives in Berlin."))

    assert result.outcome == Outcome.CREATED
    entry = SearchEntry.objects.get(memory=result.memory)
    assert entry.embedding_model == tools.embedder.name
    assert MemoryLog.objects.get(memory_id=result.memory.pk).event == "created"


def test_what_an_agent_knows_of_itself_is_pinned_and_hot_at_once(acme: Cast, tools: Tools) -> None:
    of_itself = draft(
        acme,
        "Kyra answers in Danish.",
        memory_type=MemoryType.IDENTITY,
        agent_id=acme.kyra.pk,
        importance=5,
    )

    (result,) = write(acme, tools, of_itself)

    stored = Memory.objects.get(pk=result.memory.pk)
    assert (stored.is_pinned, stored.tier) == (True, "hot")


def test_a_supersession_is_kept_as_a_settled_contradiction(acme: Cast, tools: Tools) -> None:
    (old,) = write(acme, tools, draft(acme, OLD_LIMIT))

    (new,) = write(acme, tools, draft(acme, NEW_LIMIT, created_at=NOON + timedelta(days=1)))

    assert (new.outcome, new.conflicts) == (Outcome.SUPERSEDED_EXISTING, 1)
    row = Contradiction.objects.get()
    assert (row.memory_a_id, row.memory_b_id) == (old.memory.pk, new.memory.pk)
    assert (row.verdict, row.resolution) == ("supersede", "b_wins")
    assert live(acme) == [NEW_LIMIT]
    assert Memory.objects.get(pk=old.memory.pk).content == OLD_LIMIT


def test_a_dispute_is_kept_open_and_both_stay(acme: Cast, tools: Tools) -> None:
    (old,) = write(acme, tools, draft(acme, OLD_LIMIT))

    (new,) = write(acme, tools, draft(acme, OTHER_LIMIT))

    assert (new.outcome, new.conflicts) == (Outcome.DISPUTED, 1)
    row = Contradiction.objects.get()
    assert (row.verdict, row.resolution, row.resolved_at) == ("dispute", "", None)
    assert live(acme) == [OLD_LIMIT, OTHER_LIMIT]
    by_id = {each.pk: each for each in Memory.objects.all()}
    assert by_id[old.memory.pk].contradicts == [new.memory.pk]
    assert by_id[new.memory.pk].contradicts == [old.memory.pk]


def test_dates_that_were_read_in_talk_end_no_dispute(acme: Cast, tools: Tools) -> None:
    """ "Until March 1" and "from March 15 on" may be about one date that moved."""
    write(acme, tools, draft(acme, OLD_LIMIT, valid_to=NOON, extractor="explicit"))

    (new,) = write(acme, tools, draft(acme, OTHER_LIMIT, valid_from=NOON, extractor="reader"))

    assert new.outcome == Outcome.DISPUTED


def test_a_newer_value_ends_the_dispute_before_it(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, OLD_LIMIT))
    write(acme, tools, draft(acme, OTHER_LIMIT))
    newest = "The API limit is now 900 requests per minute."

    (result,) = write(acme, tools, draft(acme, newest, created_at=NOON + timedelta(days=1)))

    assert result.outcome == Outcome.SUPERSEDED_EXISTING
    assert live(acme) == [newest]
    assert not Contradiction.objects.filter(resolved_at=None).exists()
    assert list(Memory.objects.values_list("contradicts", flat=True)) == [[], [], []]


def test_unrelated_facts_leave_each_other_alone(acme: Cast, tools: Tools) -> None:
    texts = [
        "Sarah lives in Berlin.",
        "Dmitri plays the violin.",
        "The billing service runs on PostgreSQL.",
        "Deployments happen on Tuesdays.",
        "The office coffee machine is broken.",
    ]

    results = write(acme, tools, *(draft(acme, text) for text in texts))

    assert [each.outcome for each in results] == [Outcome.CREATED] * 5
    assert live(acme) == texts


def test_two_events_stand_side_by_side_whatever_they_say(acme: Cast, tools: Tools) -> None:
    def event(content: str, day: int) -> MemoryDraft:
        payload = {"title": content, "artifacts": [{"kind": "commit", "ref": f"c{day}"}]}
        at = NOON + timedelta(days=day)
        return draft(acme, content, form=Form.EPISODE, payload=payload, created_at=at)

    write(acme, tools, event(OLD_LIMIT, 0))
    write(acme, tools, event(OTHER_LIMIT, 1))
    write(acme, tools, event(NEW_LIMIT, 3), event(OLD_LIMIT, 2))

    assert live(acme) == [OLD_LIMIT, OTHER_LIMIT, NEW_LIMIT, OLD_LIMIT]
    assert not Contradiction.objects.exists()


@pytest.mark.parametrize("forms", [(Form.EPISODE, None), (None, Form.EPISODE)])
def test_an_event_and_a_fact_may_contradict_each_other(
    acme: Cast, tools: Tools, forms: tuple[Form | None, Form | None]
) -> None:
    for content, form in zip((OLD_LIMIT, OTHER_LIMIT), forms, strict=True):
        payload = {"title": content} if form else {}
        (result,) = write(acme, tools, draft(acme, content, form=form, payload=payload))

    assert result.outcome == Outcome.DISPUTED


def test_an_older_statement_that_arrives_later_does_not_win(acme: Cast, tools: Tools) -> None:
    (new,) = write(acme, tools, draft(acme, NEW_LIMIT))

    (old,) = write(acme, tools, draft(acme, OLD_LIMIT, created_at=NOON - timedelta(days=9)))

    stored = Memory.objects.get(pk=old.memory.pk)
    assert old.outcome is Outcome.SUPERSEDED
    assert (stored.status, stored.superseded_by_id) == ("superseded", new.memory.pk)
    assert live(acme) == [NEW_LIMIT]
    row = Contradiction.objects.get()
    assert (row.memory_a_id, row.memory_b_id) == (old.memory.pk, new.memory.pk)


def test_the_order_of_arrival_does_not_change_what_stands(acme: Cast, tools: Tools) -> None:
    first = draft(acme, OLD_LIMIT, end_user_id=acme.sarah.pk)
    second = draft(acme, NEW_LIMIT, created_at=NOON + timedelta(days=1), end_user_id=acme.sarah.pk)

    write(acme, tools, first, second)
    forwards = live(acme)
    write(
        acme,
        tools,
        replace(second, end_user_id=acme.dmitri.pk),
        replace(first, end_user_id=acme.dmitri.pk),
    )

    assert forwards == [NEW_LIMIT]
    assert live(acme) == [NEW_LIMIT, NEW_LIMIT]


def test_a_pinned_memory_passes_its_pin_to_its_successor(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, OLD_LIMIT, is_pinned=True))

    (new,) = write(acme, tools, draft(acme, NEW_LIMIT, created_at=NOON + timedelta(days=1)))

    stored = Memory.objects.get(pk=new.memory.pk)
    assert (stored.is_pinned, stored.tier, stored.version) == (True, "hot", 2)


def test_a_repetition_is_a_second_witness(acme: Cast, tools: Tools) -> None:
    first, second = new_id(), new_id()
    write(acme, tools, draft(acme, OLD_LIMIT, message_ids=(first,)))

    (again,) = write(acme, tools, draft(acme, OLD_LIMIT, message_ids=(second,)))

    stored = Memory.objects.get(pk=again.memory.pk)
    assert again.outcome == Outcome.DUPLICATE
    assert stored.source_message_ids == [first, second]
    assert stored.corroboration == 1
    assert MemoryLog.objects.order_by("-seq")[0].event == "duplicate_skipped"


def test_capitals_that_make_another_thing_make_no_duplicate(acme: Cast, tools: Tools) -> None:
    texts = ("Sarah calls Mark.", "Sarah calls mark.", "Files have 5 MB.", "Files have 5 Mb.")

    first = [write(acme, tools, draft(acme, text))[0].outcome for text in texts]
    again = [write(acme, tools, draft(acme, text))[0].outcome for text in texts]

    assert first == [Outcome.CREATED] * 4
    assert again == [Outcome.DUPLICATE] * 4
    assert live(acme) == list(texts)


def test_a_text_without_capitals_is_the_same_fact(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, "Sarah prefers TypeScript."))

    (result,) = write(acme, tools, draft(acme, "sarah prefers TypeScript"))

    assert result.outcome == Outcome.DUPLICATE


def test_the_same_message_delivered_again_is_no_second_witness(acme: Cast, tools: Tools) -> None:
    message = new_id()
    for _ in range(2):
        write(acme, tools, draft(acme, OLD_LIMIT, message_ids=(message,)))

    assert Memory.objects.get().corroboration == 0


@pytest.mark.parametrize(
    ("importance", "is_pinned", "tier"),
    [
        (1, False, "warm"),
        (8, False, "warm"),
        (9, False, "hot"),
        (10, False, "hot"),
        (1, True, "hot"),
    ],
)
def test_what_matters_most_is_hot(
    acme: Cast, tools: Tools, importance: int, is_pinned: bool, tier: str
) -> None:
    (result,) = write(acme, tools, draft(acme, "x", importance=importance, is_pinned=is_pinned))

    assert Memory.objects.get(pk=result.memory.pk).tier == tier


def test_near_memories_are_linked(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, "The billing service runs on PostgreSQL."))

    (second,) = write(acme, tools, draft(acme, "The billing service sends invoices by mail."))

    edge = MemoryRelation.objects.get()
    assert edge.from_memory_id == second.memory.pk
    assert 0 < edge.strength <= 1


# -- audiences -------------------------------------------------------------------------------


def test_facts_of_two_people_are_two_facts(acme: Cast, tools: Tools) -> None:
    results = write(
        acme,
        tools,
        draft(acme, "Prefers tea.", end_user_id=acme.sarah.pk),
        draft(acme, "Prefers tea.", end_user_id=acme.dmitri.pk),
        draft(acme, "Now prefers coffee.", end_user_id=acme.dmitri.pk),
    )

    assert results[1].outcome == Outcome.CREATED
    assert "Prefers tea." in live(acme)


def test_what_two_agents_keep_to_themselves_is_not_compared(acme: Cast, tools: Tools) -> None:
    drafts = [
        draft(acme, text, memory_type=MemoryType.AGENT_PRIVATE, agent_id=agent.pk)
        for agent, text in ((acme.kyra, OLD_LIMIT), (acme.luke, NEW_LIMIT), (acme.luke, OLD_LIMIT))
    ]

    first, second, _ = write(acme, tools, *drafts)

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.CREATED)
    assert Memory.objects.get(pk=first.memory.pk).status == "active"


def test_facts_of_two_projects_are_two_facts(acme: Cast, tools: Tools) -> None:
    one, two = factories.ProjectFactory.create_batch(2, team=acme.team)

    results = write(
        acme,
        tools,
        draft(acme, OLD_LIMIT, project_id=one.pk),
        draft(acme, OTHER_LIMIT, project_id=two.pk),
    )

    assert [each.outcome for each in results] == [Outcome.CREATED] * 2


# -- batches ---------------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_drafts(acme: Cast, tools: Tools) -> None:
    drafts = [
        draft(acme, f"Number {number} is odd." if number % 2 else f"Imported {number}.",
              check=bool(number % 2))
        for number in range(10)
    ]  # fmt: skip

    results = write(acme, tools, *drafts)

    assert [each.memory.content for each in results] == [each.content for each in drafts]


@pytest.mark.parametrize("check", [True, False])
def test_an_external_id_twice_in_a_batch_is_stored_once(
    acme: Cast, tools: Tools, check: bool
) -> None:
    first, second = write(
        acme,
        tools,
        draft(acme, "One.", external_id="e", check=check),
        draft(acme, "One.", external_id="e", check=check),
    )

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.DUPLICATE)
    assert first.memory.pk == second.memory.pk
    assert live(acme) == ["One."]


def test_a_batch_that_fails_stores_nothing(acme: Cast, tools: Tools) -> None:
    good, bad = draft(acme, "One."), draft(acme, "Two.", agent_id=new_id())

    with pytest.raises(Exception, match=r"same_team|store the same memories"):
        write(acme, tools, good, bad)

    assert live(acme) == []
    assert MemoryLog.objects.count() == 0


def test_saying_the_old_value_again_after_a_change_is_no_duplicate_of_it(
    acme: Cast, tools: Tools
) -> None:
    """A memory superseded earlier in the batch is past: it must not swallow a real change back."""
    day = timedelta(days=1)
    write(acme, tools, draft(acme, OLD_LIMIT))

    results = write(
        acme,
        tools,
        draft(acme, NEW_LIMIT, created_at=NOON + day),
        draft(acme, OLD_LIMIT, created_at=NOON + 2 * day),
    )

    assert results[1].outcome != Outcome.DUPLICATE
    assert OLD_LIMIT in live(acme)


def test_a_batch_decides_as_one_at_a_time_would(acme: Cast, tools: Tools) -> None:
    day = timedelta(days=1)
    texts = [OLD_LIMIT, NEW_LIMIT, OLD_LIMIT]
    drafts = [draft(acme, text, created_at=NOON + n * day) for n, text in enumerate(texts)]
    sarahs = [replace(each, end_user_id=acme.sarah.pk) for each in drafts]

    together = [each.outcome for each in write(acme, tools, *drafts)]
    apart = [write(acme, tools, each)[0].outcome for each in sarahs]

    assert together == apart


def test_superseding_one_side_of_a_dispute_leaves_no_trace_on_the_other(
    acme: Cast, tools: Tools
) -> None:
    """A third statement replaces one side and disputes the other, which had disputed the first."""
    one, two, three = ("The tap drips slowly.", "The tap drips fast.", "The tap drips no more.")
    judge = FixedJudge(
        {
            (one, two): Verdict.DISPUTE,
            (one, three): Verdict.SUPERSEDE,
            (two, three): Verdict.DISPUTE,
        }
    )
    fixed = replace(tools, judge=judge)
    (first,) = write(acme, fixed, draft(acme, one))
    (second,) = write(acme, fixed, draft(acme, two))

    (third,) = write(acme, fixed, draft(acme, three))

    by_id = {each.pk: each for each in Memory.objects.all()}
    assert by_id[first.memory.pk].status == "superseded"
    assert by_id[second.memory.pk].contradicts == [third.memory.pk]
    assert by_id[third.memory.pk].contradicts == [second.memory.pk]
    assert Contradiction.objects.filter(resolved_at=None).count() == 1


# -- all at once -----------------------------------------------------------------------------


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team that several connections may write to."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.mark.parametrize("user", [True, False])
def test_one_fact_from_eight_at_once_is_one_memory(town: Cast, tools: Tools, user: bool) -> None:
    fact = draft(town, OLD_LIMIT, end_user_id=town.sarah.pk if user else None)

    results = race(8, lambda _: write(town, tools, fact)[0])

    assert sorted(each.outcome for each in results) == [Outcome.CREATED] + [Outcome.DUPLICATE] * 7
    assert len({each.memory.pk for each in results}) == 1
    assert live(town) == [OLD_LIMIT]
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.get().corroboration == 7
        assert MemoryLog.objects.count() == 8


def test_one_external_id_from_eight_at_once_is_one_memory(town: Cast, tools: Tools) -> None:
    def act(number: int) -> WriteResult:
        text = "Imported by many."
        return write(town, tools, draft(town, text, external_id="e", check=number % 2 == 0))[0]

    results = race(8, act)

    assert len({each.memory.pk for each in results}) == 1
    assert [each.outcome for each in results].count(Outcome.CREATED) == 1


def test_conflicting_facts_at_once_get_one_consistent_verdict(town: Cast, tools: Tools) -> None:
    texts = [f"The API limit is {limit} requests per minute." for limit in (100, 200, 300, 400)]

    judged = replace(tools, judge=NumbersJudge())
    race(4, lambda number: write(town, judged, draft(town, texts[number])))

    with team_scope(team_ids=[town.team.id], actor="test"):
        by_id = {each.pk: each for each in Memory.objects.all()}
        pairs = {
            frozenset((row.memory_a_id, row.memory_b_id))
            for row in Contradiction.objects.filter(resolved_at=None)
        }
    assert sorted(each.content for each in by_id.values()) == texts
    assert {each.status for each in by_id.values()} == {"disputed"}
    for each in by_id.values():
        assert set(each.contradicts) == set(by_id) - {each.pk}
        assert len(each.contradicts) == 3
    assert len(pairs) == 6


def test_one_change_from_eight_at_once_supersedes_once(town: Cast, tools: Tools) -> None:
    write(town, tools, draft(town, OLD_LIMIT))
    change = draft(town, NEW_LIMIT, created_at=NOON + timedelta(days=1))

    race(8, lambda _: write(town, tools, change))

    assert live(town) == [NEW_LIMIT]
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.count() == 2
        assert Contradiction.objects.count() == 1


def test_overlapping_batches_in_any_order_are_stored_once_each(town: Cast, tools: Tools) -> None:
    facts = [
        draft(town, f"Room {number} holds {number + 3} chairs.", subject=f"room.{number}.chairs")
        for number in range(6)
    ]

    def act(number: int) -> Sequence[WriteResult]:
        return write(town, tools, *(facts if number % 2 else reversed(facts)))

    race(6, act)

    assert sorted(live(town)) == sorted(each.content for each in facts)
