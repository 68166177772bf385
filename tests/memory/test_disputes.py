"""People settle contradictions; what stands, what names what, and what is open always agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from audit.models import MemoryLog
from memory.clients.tools import Tools
from memory.domain.feedback import Feedback
from memory.domain.types import Judgement, MemoryType, Statement, Status, Verdict
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory, MemoryRelation
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.relations import related_to
from memory.services.corrections import correct_memory, give_feedback
from memory.services.disputes import resolve_contradiction
from memory.services.drafts import Outcome
from memory.services.state import delete_memory
from teams.errors import ConflictError, DomainError, InvalidError, NotFoundError, UnavailableError
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast
from tests.memory.test_corrections import AwayEmbedder
from tests.memory.test_extraction_jobs import OrthogonalEmbedder
from tests.memory.test_write_path import draft, live, write
from tests.teams.test_conversations import race

SUBJECT = "user.preference.drink"


class Quarrel:
    """A judge that disputes everything, or says what it was told of the new text."""

    name = "quarrel"

    def __init__(self, verdicts: dict[str, Verdict] | None = None) -> None:
        self.verdicts = verdicts or {}

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict."""
        return Judgement(self.verdicts.get(new.content, Verdict.DISPUTE), "as told")


class Moody:
    """A judge whose verdict on a pair is a throw of the dice, the same each time."""

    name = "moody"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Mostly a dispute."""
        dice = Random(f"{existing.content}|{new.content}")
        verdicts = [Verdict.DISPUTE] * 5 + [Verdict.SUPERSEDE, Verdict.COEXIST, Verdict.DUPLICATE]
        return Judgement(dice.choice(verdicts), "as it fell")


@pytest.fixture
def plain(tools: Tools) -> Tools:
    """Tools under which all memories of one subject dispute each other."""
    return replace(tools, embedder=OrthogonalEmbedder(), judge=Quarrel())


def stored(cast: Cast, tools: Tools, *texts: str) -> list[Memory]:
    """Memories of one subject, as the database has them."""
    found = [write(cast, tools, draft(cast, text, subject=SUBJECT))[0].memory for text in texts]
    return [now_is(each) for each in found]


def now_is(memory: Memory) -> Memory:
    """The memory as the database has it."""
    return Memory.objects.get(pk=memory.pk)


def team_of(cast: Cast) -> Viewer:
    """The team as a reviewer."""
    return Viewer(team_id=cast.team.id, actor="reviewer")


def between(one: Memory, other: Memory | None) -> Contradiction:
    """The contradiction of these two, or the objection to the one."""
    return Contradiction.objects.get(memory_a=one, memory_b=other)


def resolve(
    cast: Cast, tools: Tools, row: Contradiction, resolution: str, *, note: str = "", text: str = ""
) -> Contradiction:
    """Settle it as the team."""
    return resolve_contradiction(
        viewer=team_of(cast),
        contradiction_id=row.pk,
        resolution=resolution,
        tools=tools,
        now=timezone.now(),
        note=note,
        merged_content=text,
    ).contradiction


def object_to(cast: Cast, memory: Memory) -> Contradiction:
    """Say that it is wrong; the open contradiction."""
    give_feedback(viewer=team_of(cast), memory_id=memory.pk, signal=Feedback.WRONG, note="")
    return Contradiction.objects.get(memory_a=memory, memory_b=None, resolved_at=None)


def check_invariants() -> None:
    """Names point both ways among live ones, and disputed is who has something open."""
    rows = {each.pk: each for each in Memory.objects.all()}
    still_open = list(Contradiction.objects.filter(resolved_at=None))
    objected = {each.memory_a_id for each in still_open if each.memory_b_id is None}
    pairs = {
        frozenset((each.memory_a_id, each.memory_b_id)) for each in still_open if each.memory_b_id
    }
    named = {frozenset((each.pk, item)) for each in rows.values() for item in each.contradicts}
    assert named == pairs
    for each in rows.values():
        assert len(set(each.contradicts)) == len(each.contradicts)
        for item in each.contradicts:
            assert rows[item].is_live
            assert each.pk in rows[item].contradicts
        disputed = bool(each.contradicts) or each.pk in objected
        assert (each.status == Status.DISPUTED) == disputed, each.content
        if each.superseded_by_id:
            assert each.status == Status.SUPERSEDED


# -- how one is settled ----------------------------------------------------------------------


@pytest.mark.parametrize(("resolution", "winner"), [("a_wins", 0), ("b_wins", 1)])
def test_the_side_that_wins_stands_and_supersedes_the_other(
    acme: Cast, plain: Tools, resolution: str, winner: int
) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")

    row = resolve(acme, plain, between(*sides), resolution, note="Asked her.")

    won, lost = now_is(sides[winner]), now_is(sides[1 - winner])
    assert (won.status, won.contradicts) == ("active", [])
    assert (lost.status, lost.tier, lost.superseded_by_id) == ("superseded", "cold", won.pk)
    assert live(acme) == [won.content]
    assert (row.resolution, row.resolution_note) == (resolution, "Asked her.")
    assert row.resolved_by == "reviewer"
    assert row.resolved_at is not None
    check_invariants()


def test_both_may_be_valid(acme: Cast, plain: Tools) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")

    resolve(acme, plain, between(*sides), "both_valid")

    assert [now_is(each).status for each in sides] == ["active", "active"]
    check_invariants()


def test_a_merge_is_a_version_of_both(acme: Cast, plain: Tools) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")
    text = "Sarah drinks tea with milk."

    row = resolve(acme, plain, between(*sides), "merged", text=text)

    (merged,) = Memory.objects.live()
    assert (merged.content, merged.status, merged.version) == (text, "active", 2)
    assert merged.subject == SUBJECT
    assert [now_is(each).superseded_by_id for each in sides] == [merged.pk] * 2
    edges = MemoryRelation.objects.filter(from_memory=merged, relation_type="merged_from")
    assert {each.to_memory_id for each in edges} == {each.pk for each in sides}
    assert row.resolution == "merged"
    assert Contradiction.objects.get().resolution == "merged"
    check_invariants()


def test_a_merge_into_the_words_of_one_side_is_still_a_version(acme: Cast, plain: Tools) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")

    resolve(acme, plain, between(*sides), "merged", text="Sarah drinks tea.")

    (merged,) = Memory.objects.live()
    assert merged.pk not in {each.pk for each in sides}
    assert merged.content == "Sarah drinks tea."
    check_invariants()


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_merge_needs_a_text(acme: Cast, plain: Tools, text: str) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")

    with pytest.raises(InvalidError) as refused:
        resolve(acme, plain, between(*sides), "merged", text=text)

    assert refused.value.field == "merged_content"
    assert between(*sides).resolved_at is None


def test_a_merge_keeps_the_sources_of_both_sides(acme: Cast, plain: Tools) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    messages = [
        factories.MessageFactory.create(team=acme.team, conversation=talk, external_id=name)
        for name in ("m-1", "m-2", "m-3")
    ]
    one, two, three = (each.pk for each in messages)
    drafts = [
        draft(acme, "Sarah drinks tea.", subject=SUBJECT, message_ids=(one, two)),
        draft(
            acme,
            "Sarah drinks coffee.",
            subject=SUBJECT,
            conversation_id=talk.pk,
            message_ids=(two, three),
            message_external_ids=("m-2", "m-3"),
        ),
    ]
    sides = [write(acme, plain, each)[0].memory for each in drafts]

    resolve(acme, plain, between(*sides), "merged", text="Sarah drinks both.")

    (merged,) = Memory.objects.live()
    assert merged.source_message_ids == [one, two, three]
    assert merged.source_external_ids == ["m-2", "m-3"]
    assert merged.conversation_id == talk.pk


def test_without_the_embedder_nothing_is_merged(acme: Cast, plain: Tools) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")
    away = replace(plain, embedder=AwayEmbedder())

    with pytest.raises(UnavailableError):
        resolve(acme, away, between(*sides), "merged", text="Sarah drinks both.")

    assert between(*sides).resolved_at is None
    assert [now_is(each).status for each in sides] == ["disputed"] * 2


@pytest.mark.parametrize("first", ["a_wins", "b_wins", "both_valid", "merged"])
@pytest.mark.parametrize("second", ["a_wins", "merged"])
def test_what_is_settled_stays_settled(acme: Cast, plain: Tools, first: str, second: str) -> None:
    row = between(*stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk."))
    resolve(acme, plain, row, first, text="Sarah drinks both.")
    log = MemoryLog.objects.count()

    with pytest.raises(ConflictError, match=first):
        resolve(acme, plain, row, second, text="Sarah drinks neither.")

    assert Contradiction.objects.get(pk=row.pk).resolution == first
    assert MemoryLog.objects.count() == log


def test_each_change_is_logged_with_the_resolution_and_its_note(acme: Cast, plain: Tools) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")
    before = MemoryLog.objects.count()

    resolve(acme, plain, between(*sides), "a_wins", note="Asked her.")

    rows = MemoryLog.objects.order_by("seq")[before:]
    assert {each.reason for each in rows} == {"contradiction resolved: a_wins (Asked her.)"}
    assert {each.actor for each in rows} == {"reviewer"}
    last = {each.memory_id: each.event for each in rows}
    assert last == {sides[0].pk: "contradiction_resolved", sides[1].pk: "superseded"}


# -- an objection ----------------------------------------------------------------------------


def test_an_objection_may_be_overruled(acme: Cast, plain: Tools) -> None:
    (memory,) = stored(acme, plain, "Sarah drinks tea.")

    resolve(acme, plain, object_to(acme, memory), "a_wins")

    assert now_is(memory).status == "active"
    check_invariants()


def test_an_objection_may_be_right(acme: Cast, plain: Tools) -> None:
    (memory,) = stored(acme, plain, "Sarah drinks tea.")

    resolve(acme, plain, object_to(acme, memory), "b_wins")

    assert (now_is(memory).status, now_is(memory).tier) == ("soft_deleted", "cold")
    check_invariants()


def test_an_objection_may_be_made_again_after_it_was_overruled(acme: Cast, plain: Tools) -> None:
    (memory,) = stored(acme, plain, "Sarah drinks tea.")
    resolve(acme, plain, object_to(acme, memory), "both_valid")

    object_to(acme, memory)

    assert Contradiction.objects.count() == 2
    assert now_is(memory).status == "disputed"
    check_invariants()


@pytest.mark.parametrize("first", ["objection", "pair"])
def test_a_memory_is_disputed_until_its_last_dispute_ends(
    acme: Cast, plain: Tools, first: str
) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")
    rows = [object_to(acme, sides[0]), between(*sides)]
    if first == "pair":
        rows.reverse()

    resolve(acme, plain, rows[0], "both_valid")
    half_way = now_is(sides[0]).status
    check_invariants()
    resolve(acme, plain, rows[1], "both_valid")

    assert (half_way, now_is(sides[0]).status) == ("disputed", "active")
    check_invariants()


@pytest.mark.parametrize("way", ["delete", "correct"])
def test_the_end_of_the_other_side_does_not_end_an_objection(
    acme: Cast, plain: Tools, way: str
) -> None:
    sides = stored(acme, plain, "Sarah drinks tea.", "Sarah drinks milk.")
    object_to(acme, sides[0])

    if way == "delete":
        delete_memory(viewer=team_of(acme), memory_id=sides[1].pk)
    else:
        tools = replace(plain, judge=Quarrel({"Sarah reads.": Verdict.COEXIST}))
        correct_memory(
            viewer=team_of(acme),
            memory_id=sides[1].pk,
            corrected_content="Sarah reads.",
            reason="",
            tools=tools,
            now=timezone.now(),
        )

    assert now_is(sides[0]).status == "disputed"
    check_invariants()


# -- several ---------------------------------------------------------------------------------


THREE = ("Sarah drinks tea.", "Sarah drinks milk.", "Sarah drinks water.")


def test_settling_one_of_several_leaves_the_others_open(acme: Cast, plain: Tools) -> None:
    one, two, three = stored(acme, plain, *THREE)

    resolve(acme, plain, between(one, two), "both_valid")

    assert now_is(one).contradicts == [three.pk]
    assert now_is(two).contradicts == [three.pk]
    assert {now_is(each).status for each in (one, two, three)} == {"disputed"}
    check_invariants()


def test_who_loses_one_dispute_is_out_of_all(acme: Cast, plain: Tools) -> None:
    one, two, three = stored(acme, plain, *THREE)

    resolve(acme, plain, between(one, two), "a_wins", note="Asked her.")

    assert now_is(two).status == "superseded"
    assert now_is(one).contradicts == [three.pk]
    assert now_is(three).contradicts == [one.pk]
    ended = between(two, three)
    assert (ended.resolution, ended.resolution_note) == ("b_wins", "the other side of it lost")
    with pytest.raises(ConflictError):
        resolve(acme, plain, ended, "a_wins")
    check_invariants()


def test_a_merge_of_two_of_three_is_judged_against_the_third(acme: Cast, plain: Tools) -> None:
    one, two, three = stored(acme, plain, *THREE)

    resolve(acme, plain, between(one, two), "merged", text="Sarah drinks tea with milk.")

    merged = Memory.objects.live().exclude(pk=three.pk).get()
    assert now_is(three).contradicts == [merged.pk]
    assert merged.contradicts == [three.pk]
    assert Contradiction.objects.filter(resolved_at=None).count() == 1
    check_invariants()


def test_a_correction_of_a_disputed_memory_ends_its_disputes_and_is_judged_anew(
    acme: Cast, plain: Tools
) -> None:
    one, two = stored(acme, plain, *THREE[:2])
    tools = replace(plain, judge=Quarrel({"Sarah drinks tea and milk.": Verdict.COEXIST}))

    result = correct_memory(
        viewer=team_of(acme),
        memory_id=one.pk,
        corrected_content="Sarah drinks tea and milk.",
        reason="",
        tools=tools,
        now=timezone.now(),
    )

    assert result.outcome == Outcome.VERSIONED
    assert (now_is(two).status, now_is(two).contradicts) == ("active", [])
    assert between(one, two).resolution == "b_wins"
    check_invariants()


def test_a_correction_that_still_conflicts_is_disputed_again(acme: Cast, plain: Tools) -> None:
    one, two = stored(acme, plain, *THREE[:2])

    result = correct_memory(
        viewer=team_of(acme),
        memory_id=one.pk,
        corrected_content="Sarah drinks green tea.",
        reason="",
        tools=plain,
        now=timezone.now(),
    )

    assert result.outcome == Outcome.DISPUTED
    assert now_is(two).contradicts == [result.memory.pk]
    assert now_is(one).status == "superseded"
    check_invariants()


# -- who sees what ---------------------------------------------------------------------------


@pytest.mark.parametrize("stranger", ["agent", "team"])
def test_a_stranger_neither_sees_nor_settles(
    acme: Cast, globex: Cast, plain: Tools, stranger: str
) -> None:
    private = {"memory_type": MemoryType.AGENT_PRIVATE, "agent_id": acme.kyra.pk}
    for text in THREE[:2]:
        write(acme, plain, draft(acme, text, subject=SUBJECT, **private))
    row = Contradiction.objects.get()
    viewer = (
        Viewer(team_id=acme.team.id, actor="luke", agent_id=acme.luke.pk)
        if stranger == "agent"
        else Viewer(team_id=globex.team.id, actor="globex")
    )

    for resolution in ("a_wins", "merged"):
        with pytest.raises(NotFoundError):
            resolve_contradiction(
                viewer=viewer,
                contradiction_id=row.pk,
                resolution=resolution,
                merged_content="Mine.",
                tools=plain,
                now=timezone.now(),
            )

    assert not contradictions_visible_to(viewer).exists()
    assert Contradiction.objects.get().resolved_at is None
    with pytest.raises(NotFoundError):
        resolve_contradiction(
            viewer=team_of(acme),
            contradiction_id=uuid4(),
            resolution="a_wins",
            tools=plain,
            now=timezone.now(),
        )


def test_related_names_each_live_visible_neighbour_once_strongest_first(
    acme: Cast, plain: Tools
) -> None:
    one, two, three = stored(acme, plain, *THREE)
    for start, end, kind, strength in (
        (one, two, "related_to", 0.4),
        (two, one, "related_to", 0.9),
        (two, one, "derived_from", 0.6),
        (three, one, "related_to", 0.7),
    ):
        MemoryRelation.objects.update_or_create(
            team_id=acme.team.id,
            from_memory=start,
            to_memory=end,
            relation_type=kind,
            defaults={"strength": strength},
        )

    found = related_to(viewer=team_of(acme), memory=one)
    delete_memory(viewer=team_of(acme), memory_id=two.pk)
    after = related_to(viewer=team_of(acme), memory=one)

    assert [(each.pk, each.strength) for each in found] == [  # type: ignore[attr-defined]
        (two.pk, 0.9),
        (three.pk, 0.7),
    ]
    assert [each.pk for each in after] == [three.pk]


# -- whatever happens ------------------------------------------------------------------------


def _one_step(cast: Cast, tools: Tools, dice: Random, *, objections: bool) -> None:
    rows = list(Memory.objects.live().order_by("id"))
    still_open = list(Contradiction.objects.filter(resolved_at=None).order_by("id"))
    steps: list[Callable[[], object]] = [
        lambda: stored(cast, tools, f"Sarah drinks {dice.randrange(1000)}.")
    ]
    if rows:
        memory = dice.choice(rows)
        steps += [
            lambda: delete_memory(viewer=team_of(cast), memory_id=memory.pk),
            lambda: correct_memory(
                viewer=team_of(cast),
                memory_id=memory.pk,
                corrected_content=f"Sarah eats {dice.randrange(1000)}.",
                reason="",
                tools=tools,
                now=timezone.now(),
            ),
        ]
        if objections:
            steps.append(lambda: object_to(cast, memory))
    if still_open:
        row = dice.choice(still_open)
        how = dice.choice(["a_wins", "b_wins", "both_valid", "merged"])
        steps.append(
            lambda: resolve(cast, tools, row, how, text=f"Sarah has {dice.randrange(1000)}.")
        )
    # Writing is twice as likely as each way of taking away.
    dice.choice([steps[0], *steps])()


@pytest.mark.parametrize("seed", range(4))
def test_no_sequence_leaves_a_memory_and_its_disputes_at_odds(
    acme: Cast, plain: Tools, seed: int
) -> None:
    dice = Random(seed)
    tools = replace(plain, judge=Moody())
    stored(acme, tools, *THREE)

    for _ in range(20):
        _one_step(acme, tools, dice, objections=False)
        check_invariants()


def test_no_sequence_with_objections_leaves_them_at_odds(acme: Cast, plain: Tools) -> None:
    tools = replace(plain, judge=Moody())

    for seed in range(3):
        dice = Random(seed)
        for _ in range(20):
            _one_step(acme, tools, dice, objections=True)
            check_invariants()


# -- all at once -----------------------------------------------------------------------------


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team that several connections may write to."""
    return make_cast(f"town-{uuid4().hex}")


def test_of_many_verdicts_at_once_one_holds(town: Cast, plain: Tools) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        row = between(*stored(town, plain, *THREE[:2]))
    ways = ["a_wins", "b_wins", "both_valid", "a_wins", "b_wins", "both_valid"]

    def act(number: int) -> str | None:
        try:
            return resolve(town, plain, row, ways[number]).resolution
        except ConflictError:
            return None

    answers = [each for each in race(6, act) if each]

    assert len(answers) == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Contradiction.objects.get().resolution == answers[0]
        check_invariants()


@pytest.mark.parametrize("round_number", range(2))
def test_settling_correcting_and_deleting_at_once_ends_consistent(
    town: Cast, plain: Tools, round_number: int
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        one, two, three = stored(town, plain, *THREE)
        pairs = [between(one, two), between(one, three), between(two, three)]

    def settle(number: int) -> object:
        return resolve(town, plain, pairs[number], ["a_wins", "b_wins", "both_valid"][number])

    def correct(memory_id: UUID) -> object:
        return correct_memory(
            viewer=team_of(town),
            memory_id=memory_id,
            corrected_content="Sarah drinks cocoa.",
            reason="",
            tools=plain,
            now=timezone.now(),
        )

    acts: list[Callable[[], object]] = [
        lambda: settle(0),
        lambda: settle(1),
        lambda: settle(2),
        lambda: correct(one.pk),
        lambda: correct(two.pk),
        lambda: delete_memory(viewer=team_of(town), memory_id=three.pk),
    ]

    def act(number: int) -> bool:
        try:
            acts[number]()
        except DomainError:
            return False
        except OperationalError as error:
            # Two took each other's rows; the database let one go on and nothing of this stays.
            if "deadlock" not in str(error):
                raise
            return False
        return True

    done = race(6, act)

    assert any(done)
    with team_scope(team_ids=[town.team.id], actor="test"):
        check_invariants()
