"""Disputes: how one is settled, what an objection does, and who sees it."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Verdict
from memory.models import Contradiction, Memory, MemoryRelation
from memory.selectors.contradictions import contradictions_visible_to
from memory.selectors.memories import related_to
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory, pin_memory
from memory.writing.decisions.disputes import resolve_contradiction
from teams.errors import ConflictError, InvalidError, NotFoundError, UnavailableError
from tests import factories
from tests.support.cast import Cast, switch
from tests.support.disputes import (
    SUBJECT,
    THREE,
    Quarrel,
    between,
    check_invariants,
    now_is,
    object_to,
    resolve,
    stored,
    team_of,
)
from tests.support.embedders import AwayEmbedder
from tests.support.writing import draft, live, write


@pytest.mark.parametrize(("resolution", "winner"), [("a_wins", 0), ("b_wins", 1)])
def test_the_side_that_wins_stands_and_supersedes_the_other(
    acme: Cast, plain: Tools, sides: list[Memory], resolution: str, winner: int
) -> None:
    row = resolve(acme, plain, between(*sides), resolution, note="Asked her.")

    won, lost = now_is(sides[winner]), now_is(sides[1 - winner])
    assert (won.status, won.contradicts) == ("active", [])
    assert (lost.status, lost.tier, lost.superseded_by_id) == ("superseded", "cold", won.pk)
    assert live(acme) == [won.content]
    assert (row.resolution, row.resolution_note) == (resolution, "Asked her.")
    assert row.resolved_by == "reviewer"
    assert row.resolved_at is not None
    check_invariants()


@pytest.mark.parametrize(("resolution", "winner"), [("a_wins", 0), ("b_wins", 1)])
def test_what_stands_takes_over_the_pin_and_the_higher_importance(
    acme: Cast, plain: Tools, resolution: str, winner: int
) -> None:
    drafts = [draft(acme, text, subject=SUBJECT) for text in THREE[:2]]
    drafts[1 - winner] = replace(drafts[1 - winner], importance=10, is_pinned=True)
    sides = [write(acme, plain, each)[0].memory for each in drafts]

    resolve(acme, plain, between(*sides), resolution)

    won, lost = now_is(sides[winner]), now_is(sides[1 - winner])
    assert (won.is_pinned, won.importance, won.tier) == (True, 10, "hot")
    assert (lost.is_pinned, lost.importance, lost.tier) == (False, 10, "cold")
    check_invariants()


def test_what_stands_keeps_its_own_pin_and_importance(acme: Cast, plain: Tools) -> None:
    one, other = (
        draft(acme, text, subject=SUBJECT, importance=importance)
        for text, importance in zip(THREE, (8, 3), strict=False)
    )
    sides = [write(acme, plain, each)[0].memory for each in (one, other)]
    pin_memory(viewer=team_of(acme), memory_id=sides[0].pk, pinned=True)

    resolve(acme, plain, between(*sides), "a_wins")

    assert (now_is(sides[0]).is_pinned, now_is(sides[0]).importance) == (True, 8)


def test_both_may_be_valid(acme: Cast, plain: Tools, sides: list[Memory]) -> None:
    resolve(acme, plain, between(*sides), "both_valid")

    assert [now_is(each).status for each in sides] == ["active", "active"]
    check_invariants()


def test_a_merge_is_a_version_of_both(acme: Cast, plain: Tools, sides: list[Memory]) -> None:
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


def test_a_merge_into_the_words_of_one_side_is_still_a_version(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
    resolve(acme, plain, between(*sides), "merged", text="Sarah drinks tea.")

    (merged,) = Memory.objects.live()
    assert merged.pk not in {each.pk for each in sides}
    assert merged.content == "Sarah drinks tea."
    check_invariants()


def test_a_merge_into_the_words_of_a_third_memory_is_a_repetition_where_nothing_is_judged(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
    third = write(acme, plain, draft(acme, "Dmitri plays the violin."))[0].memory
    switch(acme, contradiction_detection=False)

    resolve(acme, plain, between(*sides), "merged", text=third.content)

    assert live(acme) == [third.content]
    assert [now_is(each).superseded_by_id for each in sides] == [third.pk] * 2
    check_invariants()


@pytest.mark.parametrize("text", ["", "  \n", "\N{PARTY POPPER} !"])
def test_a_merge_needs_a_text(acme: Cast, plain: Tools, sides: list[Memory], text: str) -> None:
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


def test_without_the_embedder_nothing_is_merged(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
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

    with pytest.raises(ConflictError, match=r"already settled, decided on .* by reviewer: "):
        resolve(acme, plain, row, second, text="Sarah drinks neither.")

    assert Contradiction.objects.get(pk=row.pk).resolution == first
    assert MemoryLog.objects.count() == log


def test_each_change_is_logged_with_the_resolution_and_its_note(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
    before = MemoryLog.objects.count()

    resolve(acme, plain, between(*sides), "a_wins", note="Asked her.")

    rows = MemoryLog.objects.order_by("seq")[before:]
    assert {each.reason for each in rows} == {"contradiction resolved: a_wins (Asked her.)"}
    assert {each.actor for each in rows} == {"reviewer"}
    last = {each.memory_id: each.event for each in rows}
    assert last == {sides[0].pk: "contradiction_resolved", sides[1].pk: "superseded"}


def test_an_objection_may_be_overruled(acme: Cast, plain: Tools) -> None:
    (memory,) = stored(acme, plain, "Sarah drinks tea.")

    resolve(acme, plain, object_to(acme, memory), "a_wins")

    assert now_is(memory).status == "active"
    check_invariants()


def test_an_objection_may_be_right(acme: Cast, plain: Tools) -> None:
    (memory,) = stored(acme, plain, "Sarah drinks tea.")

    resolve(acme, plain, object_to(acme, memory), "b_wins")

    assert (now_is(memory).status, now_is(memory).tier) == ("soft_deleted", "cold")
    assert MemoryLog.objects.latest("seq").reason == "report resolved: b_wins"
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
    acme: Cast, plain: Tools, sides: list[Memory], first: str
) -> None:
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
    acme: Cast, plain: Tools, sides: list[Memory], way: str
) -> None:
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
    acme: Cast, plain: Tools, three: list[Memory]
) -> None:
    one, two, third = three
    for start, end, kind, strength in (
        (one, two, "related_to", 0.4),
        (two, one, "related_to", 0.9),
        (two, one, "derived_from", 0.6),
        (third, one, "related_to", 0.7),
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
        (third.pk, 0.7),
    ]
    assert [each.pk for each in after] == [third.pk]
