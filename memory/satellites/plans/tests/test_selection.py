"""The laws of read-only context: seed 001's selection rules and its "Never inject"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.clashes import Cause, Fact, Resolution, Rules, category_of, is_relevant
from memory.domain.types import MemoryType, Scope
from memory.satellites.plans.choosing import Selection, select_facts

Case = tuple[list[Fact], set[frozenset[UUID]], Rules]
DAY = datetime(2026, 3, 1, tzinfo=UTC)
SCOPES = (Scope.SESSION, Scope.PROJECT, Scope.USER, Scope.TEAM)
CATEGORIES = ("decision", "constraint", "preferences", "event")
FACTS = st.lists(
    st.builds(
        Fact,
        key=st.uuids(),
        scope=st.sampled_from([*SCOPES, None]),
        category=st.sampled_from(CATEGORIES),
        confidence=st.sampled_from([0.3, 0.6, 0.7, 0.9, 1.0]),
        at=st.integers(0, 2).map(lambda days: DAY + timedelta(days=days)),
        score=st.floats(0, 1),
        is_stale=st.booleans(),
        says=st.none() | st.integers(0, 5),
        chars=st.integers(10, 200),
    ),
    max_size=12,
    unique_by=lambda fact: fact.key,
)
RULES = st.builds(
    Rules,
    categories=st.lists(st.sampled_from([*CATEGORIES, "*"]), unique=True).map(tuple),
    threshold=st.sampled_from([0.0, 0.5, 0.7, 0.95]),
    scopes=st.permutations(SCOPES).flatmap(
        lambda order: st.integers(1, 4).map(lambda count: tuple(order[:count]))
    ),
    enough_facts=st.integers(1, 6),
    enough_chars=st.integers(1, 600),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Facts, pairs of them that contradict each other, and rules."""
    facts = draw(FACTS)
    keys = [fact.key for fact in facts]
    pairs: set[frozenset[UUID]] = set()
    if len(keys) > 1:
        two = st.lists(st.sampled_from(keys), min_size=2, max_size=2, unique=True)
        pairs = draw(st.sets(two.map(frozenset), max_size=10))
    return facts, pairs, draw(RULES)


def chosen(case: Case) -> Selection:
    facts, pairs, rules = case
    return select_facts(facts, rules=rules, conflicting=pairs)


def fact(number: int, **fields: Any) -> Fact:
    """A fact that nothing speaks against."""
    usual: dict[str, Any] = {"scope": Scope.TEAM, "category": "decision", "confidence": 0.9}
    return Fact(UUID(int=number), **{**usual, "at": DAY, **fields})


def rules(**fields: Any) -> Rules:
    """Rules under which everything that is certain is told."""
    usual: dict[str, Any] = {
        "categories": ("*",),
        "threshold": 0.7,
        "scopes": SCOPES,
        "enough_facts": 10,
        "enough_chars": 2_500,
    }
    return Rules(**{**usual, **fields})


class TestNeverInjected:
    @given(cases())
    def test_is_what_is_not_of_a_relevant_category(self, case: Case) -> None:
        selection = chosen(case)
        for each in selection.kept:
            assert is_relevant(each.fact.category, among=case[2].categories)

    @given(cases())
    def test_is_what_is_below_the_threshold(self, case: Case) -> None:
        selection = chosen(case)
        for each in selection.kept:
            assert each.fact.confidence >= case[2].threshold

    @given(cases())
    def test_is_what_is_stale_or_repeats_something_more_certain(self, case: Case) -> None:
        facts, _, _ = case
        selection = chosen(case)
        said = [each.fact.says for each in selection.kept if each.fact.says is not None]
        assert len(said) == len(set(said))
        assert not any(each.fact.is_stale for each in selection.kept)
        duplicates = {each.key for each in selection.left_out if each.cause is Cause.DUPLICATE}
        able = [each for each in facts if each.key not in {x.key for x in selection.left_out}]
        for one in facts:
            if one.key in duplicates:
                for other in able:
                    assert other.says != one.says or other.confidence >= one.confidence

    @given(cases())
    def test_is_a_conflict_of_which_nothing_says_how_it_ends_as_if_it_were_settled(
        self, case: Case
    ) -> None:
        _, pairs, _ = case
        selection = chosen(case)
        told = {each.fact.key: each for each in selection.kept}
        for one, other in (sorted(pair) for pair in pairs):
            if one in told and other in told:
                first, second = told[one], told[other]
                assert other in first.rivals
                assert one in second.rivals
                assert first.fact.confidence == second.fact.confidence
                assert first.fact.at == second.fact.at
        for each in selection.kept:
            assert set(each.rivals) <= told.keys()

    @given(cases())
    def test_is_what_belongs_to_another_session_project_or_person(self, case: Case) -> None:
        selection = chosen(case)
        assert all(each.fact.scope in case[2].scopes for each in selection.kept)


class TestScopes:
    @given(cases())
    def test_the_next_one_is_asked_only_where_those_before_were_not_enough(
        self, case: Case
    ) -> None:
        rules = case[2]
        selection = chosen(case)
        assert selection.asked == rules.scopes[: len(selection.asked)]
        before = [each.fact for each in selection.kept if each.fact.scope in selection.asked[:-1]]
        flagged = any(each.rivals for each in selection.kept)
        if len(selection.asked) > 1 and not flagged:
            assert len(before) < rules.enough_facts
            assert sum(each.chars for each in before) < rules.enough_chars
        if not flagged:
            assert all(each.fact.scope in selection.asked for each in selection.kept)
        assert bool(selection.enough) == (selection.asked != rules.scopes)

    @given(cases())
    def test_every_fact_is_either_told_or_left_out_with_a_reason(self, case: Case) -> None:
        facts, _, _ = case
        selection = chosen(case)
        told = [each.fact.key for each in selection.kept]
        left = [each.key for each in selection.left_out]
        assert sorted(told + left) == sorted(each.key for each in facts)
        assert all(each.reason for each in selection.kept)
        assert all(each.reason for each in selection.left_out)

    def test_a_session_that_says_enough_leaves_the_team_unasked(self) -> None:
        facts = [fact(n, scope=Scope.SESSION) for n in range(1, 4)] + [fact(9)]
        selection = select_facts(facts, rules=rules(enough_facts=3))
        assert selection.asked == (Scope.SESSION,)
        assert selection.enough == "session gave 3 facts, and 3 are enough"
        (left,) = selection.left_out
        assert (left.key, left.cause) == (UUID(int=9), Cause.ENOUGH)


class TestConflicts:
    @pytest.mark.parametrize(
        ("one", "other", "kept", "resolution"),
        [
            ({"confidence": 0.95}, {}, [1], Resolution.HIGHER_CONFIDENCE),
            ({}, {"at": DAY + timedelta(days=1)}, [2], Resolution.NEWER),
            ({}, {}, [1, 2], Resolution.BOTH_FLAGGED),
            (
                {"confidence": 0.95},
                {"at": DAY + timedelta(days=9)},
                [1],
                Resolution.HIGHER_CONFIDENCE,
            ),
        ],
    )
    def test_the_more_certain_is_told_then_the_newer_else_both_flagged(
        self,
        one: dict[str, object],
        other: dict[str, object],
        kept: list[int],
        resolution: Resolution,
    ) -> None:
        pair = frozenset({UUID(int=1), UUID(int=2)})
        selection = select_facts(
            [fact(1, **one), fact(2, **other)], rules=rules(), conflicting=[pair]
        )
        assert [each.fact.key.int for each in selection.kept] == kept
        assert all(bool(each.rivals) == (len(kept) == 2) for each in selection.kept)
        (conflict,) = selection.conflicts
        assert conflict.resolution is resolution

    @given(cases())
    def test_no_side_of_an_open_dispute_is_left_out_for_the_other(self, case: Case) -> None:
        facts, pairs, rules = case
        selection = select_facts(facts, rules=rules, disputed=pairs)
        assert not any(each.cause is Cause.CONFLICT for each in selection.left_out)
        told = {each.fact.key: each for each in selection.kept}
        for one, other in (sorted(pair) for pair in pairs):
            assert one not in told or other not in told or other in told[one].rivals

    def test_what_lost_to_a_loser_stands(self) -> None:
        facts = [fact(n, confidence=1 - n / 100) for n in (1, 2, 3)]
        pairs = [frozenset({UUID(int=1), UUID(int=2)}), frozenset({UUID(int=2), UUID(int=3)})]
        selection = select_facts(facts, rules=rules(), conflicting=pairs)
        assert [each.fact.key.int for each in selection.kept] == [1, 3]

    def test_what_a_repetition_contradicts_the_one_that_stands_for_it_contradicts(self) -> None:
        facts = [
            fact(1, says="a", confidence=0.95),
            fact(2, says="a"),
            fact(3, confidence=0.8),
        ]
        pairs = [frozenset({UUID(int=2), UUID(int=3)})]
        selection = select_facts(facts, rules=rules(), conflicting=pairs)
        assert [each.fact.key.int for each in selection.kept] == [1]

    def test_where_the_team_does_not_settle_them_they_are_told_as_they_are(self) -> None:
        pair = frozenset({UUID(int=1), UUID(int=2)})
        selection = select_facts(
            [fact(1), fact(2)], rules=rules(resolves_conflicts=False), conflicting=[pair]
        )
        assert len(selection.kept) == 2
        assert not any(each.rivals for each in selection.kept)


class TestCategories:
    @pytest.mark.parametrize("name", ["Technical facts", "technical_fact", "TECHNICAL-FACTS"])
    def test_are_the_same_whatever_their_case_and_number(self, name: str) -> None:
        assert is_relevant(name, among=["technical_fact"])

    def test_a_preference_is_told_only_where_preferences_are_named(self) -> None:
        assert not is_relevant("preference", among=["*"])
        assert is_relevant("preference", among=["*", "preferences"])

    def test_how_something_is_done_is_told_only_where_its_category_is_named(self) -> None:
        assert not is_relevant("procedure", among=["*"], needs_naming=True)
        assert is_relevant("procedure", among=["*", "procedure"], needs_naming=True)
        assert is_relevant("procedure", among=["*"])

    def test_of_a_memory_without_one_is_told_by_its_subject_and_type(self) -> None:
        def named(subject: str, kind: MemoryType) -> str:
            return category_of(category="", memory_type=kind, subject=subject)

        assert named("user.preference.units", MemoryType.SEMANTIC) == "preferences"
        assert named("", MemoryType.USER_PROFILE) == "profile"
        assert named("", MemoryType.PROCEDURAL) == "procedure"
        assert named("", MemoryType.SEMANTIC) == "technical_fact"
