"""The plans of the other seeds, written as data over the one packer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.packing import Room
from memory.domain.plans.assembly import assemble
from memory.domain.plans.plan import (
    CHARACTERS,
    Block,
    Entry,
    Plan,
    Section,
    Text,
    Written,
    always,
    read_only_plan,
    without_heading,
)
from memory.domain.rendering import ESTIMATE, Line, estimate_tokens
from memory.domain.types import Scope
from memory.satellites.plans.package import ORDERS, USUAL_ORDER, head_and_tail, package_plan
from tests.support.prompt_lines import ENTRIES, FEB_9, entry


def bullet(line: Line) -> Written:
    """A line of `memory.query` (seed 004, section 6)."""
    return Written(f"[{line.category or 'memory'}] {line.content}")


# Seed 001: one block that says it is read-only, the narrowest scope first.
READ_ONLY = read_only_plan((Scope.SESSION, Scope.PROJECT, Scope.USER, Scope.TEAM))
FOUR_TIERS = Plan(  # seed 002: 25, 37.5, 25 and 12.5 per cent of 8,000 tokens
    name="four_tiers",
    sections=[
        Section(Room("critical", share=0.25), lambda line: line.is_disputed, block="1"),
        Section(Room("relevant", share=0.375), lambda line: line.importance >= 5, block="2"),
        Section(Room("background", share=0.25), always, write=without_heading, block="3"),
        Section(Room("index", share=0.125), block="4"),
    ],
    blocks=[Block("1", "TIER 1"), Block("2", "TIER 2"), Block("3", "TIER 3"), Block("4", "TIER 4")],
)
place = ORDERS[USUAL_ORDER]
PACKAGE = package_plan((0.4, 0.4, 0.2), ends=0)
WITH_ENDS = package_plan((0.4, 0.4, 0.2), ends=2)
BULLETS = Plan(  # seed 004: bullets within a budget
    name="bullets", sections=[Section(Room("answer"), always, write=bullet)]
)
LATER = [READ_ONLY, FOUR_TIERS, PACKAGE, WITH_ENDS, BULLETS]


class TestPlansOfTheOtherSeeds:
    @given(st.sampled_from(LATER), ENTRIES, st.integers(0, 800))
    def test_keep_the_budget_and_count_what_they_print(
        self, plan: Plan, entries: list[Entry], budget: int
    ) -> None:
        result = assemble(plan=plan, entries=entries, token_budget=budget, counter=ESTIMATE)

        assert estimate_tokens(result.prompt) <= result.tokens_used <= budget
        assert sum(result.tokens.values()) == result.tokens_used

    def test_the_read_only_block_is_framed_and_fills_the_narrowest_scope_first(self) -> None:
        entries = [
            entry("Org fact.", scope=Scope.TEAM, score=0.9),
            entry("Session fact.", scope=Scope.SESSION, score=0.1),
        ]

        result = assemble(plan=READ_ONLY, entries=entries, token_budget=105, counter=ESTIMATE)

        lines = result.prompt.splitlines()
        assert lines[0] == "PERSISTENT MEMORY (READ-ONLY)"
        assert lines[1] == lines[-1] == "═" * 32
        assert "[FACT]: Session fact. (importance: 5)" in lines
        assert "Org fact." not in result.prompt

    @given(ENTRIES, st.integers(300, 3000))
    def test_the_read_only_block_counts_in_characters(
        self, entries: list[Entry], budget: int
    ) -> None:
        result = assemble(plan=READ_ONLY, entries=entries, token_budget=budget, counter=CHARACTERS)

        assert len(result.prompt) <= budget
        rules = [line for line in result.prompt.splitlines() if "═" in line]
        assert rules == ["═" * 32] * (2 if result.told else 0)

    @pytest.mark.parametrize("shares", [(0.25, 0.375, 0.25, 0.125)])
    def test_the_four_tiers_get_their_shares_of_8000(self, shares: Sequence[float]) -> None:
        entries = [
            *(entry(f"A {n} {'x' * 90}", status="disputed", score=0.1) for n in range(300)),
            *(entry(f"B {n} {'x' * 90}", importance=8, score=0.9) for n in range(300)),
            *(entry(f"C {n} {'x' * 90}", importance=2, score=0.2) for n in range(300)),
        ]
        topics = [Text("index", Written(f"Ask me about: topic {n} {'z' * 60}")) for n in range(80)]

        result = assemble(
            plan=FOUR_TIERS, entries=entries, texts=topics, token_budget=8000, counter=ESTIMATE
        )

        for section, share in zip(FOUR_TIERS.sections, shares, strict=True):
            used = result.tokens[section.room.name]
            assert math.isclose(used, share * 8000, rel_tol=0.05)

    def test_a_tier_that_is_empty_leaves_its_share_to_the_others(self) -> None:
        entries = [entry(f"Project {n} {'x' * 90}", scope=Scope.PROJECT) for n in range(100)]

        result = assemble(plan=PACKAGE, entries=entries, token_budget=1000, counter=ESTIMATE)

        assert result.tokens["project"] + result.tokens["notice"] > 950

    def test_full_tiers_get_their_shares(self) -> None:
        entries = [
            entry(f"{scope} {n} {'x' * 90}", scope=scope, score=score)
            for scope, score in ((Scope.TASK, 0.1), (Scope.PROJECT, 0.9), (Scope.USER, 0.5))
            for n in range(300)
        ]

        result = assemble(plan=PACKAGE, entries=entries, token_budget=8000, counter=ESTIMATE)

        for tier, share in (("task", 0.4), ("project", 0.4), ("global", 0.2)):
            assert math.isclose(result.tokens[tier], share * 8000, rel_tol=0.05)


class TestHeadAndTail:
    @given(ENTRIES, st.integers(0, 10))
    def test_are_the_first_and_last_by_importance_then_age(
        self, entries: list[Entry], count: int
    ) -> None:
        kept = head_and_tail(entries, count=count)

        if not count or len(entries) <= 2 * count:
            assert not kept
            return
        places = sorted(place(each.line) for each in entries)
        found = [place(each.line) for each in kept]
        assert found == [*places[:count], *places[-count:]]

    @given(st.lists(st.integers(1, 10), min_size=2), st.integers(0, 10**9))
    def test_no_age_outweighs_an_importance(self, importances: list[int], apart: int) -> None:
        made = [
            entry("x", importance=each, at=FEB_9 + timedelta(seconds=apart * (number % 2)))
            for number, each in enumerate(importances)
        ]

        ordered = sorted(made, key=lambda each: place(each.line))

        assert ordered == sorted(made, key=lambda each: (-each.line.importance, each.line.at))

    @given(ENTRIES)
    def test_go_in_before_what_ranks_higher(self, entries: list[Entry]) -> None:
        told = [each for each in entries if each.line.scope != Scope.SESSION]
        first = {each.key for each in head_and_tail(told, count=2)}
        budget = 8_000 * len(told)

        whole = assemble(plan=WITH_ENDS, entries=entries, token_budget=budget, counter=ESTIMATE)

        said_twice = {one for one, _ in whole.duplicates}
        ends = {each.entry.key: each.tokens for each in whole.told if each.entry.key in first}
        assert first - said_twice == set(ends)
        # Room for the ends, three headings and the notice: whatever has the better score waits.
        room = sum(ends.values()) + 150
        short = assemble(plan=WITH_ENDS, entries=entries, token_budget=room, counter=ESTIMATE)
        assert set(ends) <= {each.entry.key for each in short.told}
