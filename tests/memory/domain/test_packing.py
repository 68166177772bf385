"""Packing: never over budget but for what must be told, and everything that fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.packing import MINIMUM_BUDGET, USER_PROFILE_RESERVE, Item, Packed, pack
from memory.domain.types import MemoryType

SECTIONS = ("identity", "user", "facts", "events")
SECTION_TOKENS = {"identity": 40, "user": 70, "facts": 60, "events": 30}

ITEMS = st.lists(
    st.builds(
        Item,
        value=st.uuids().map(str),
        section=st.sampled_from(SECTIONS),
        tokens=st.integers(1, 120),
        score=st.floats(0, 1),
        memory_type=st.sampled_from([kind.value for kind in MemoryType]),
        is_pinned=st.booleans(),
    ),
    max_size=25,
    unique_by=lambda item: item.value,
)
BUDGETS = st.integers(MINIMUM_BUDGET, 500)
LIMITS = st.none() | st.integers(1, 30)


def packed(items: list[Item[str]], budget: int, limit: int | None = None) -> Packed[str]:
    """The chosen items."""
    return pack(items, token_budget=budget, section_tokens=SECTION_TOKENS.__getitem__, limit=limit)


def cost(items: tuple[Item[str], ...] | list[Item[str]]) -> int:
    """What a prompt of these takes."""
    headings = {item.section for item in items}
    return sum(item.tokens for item in items) + sum(SECTION_TOKENS[each] for each in headings)


def item(value: str, tokens: int = 10, score: float = 0.5, **fields: object) -> Item[str]:
    """An ordinary fact unless told otherwise."""
    return Item(
        value=value,
        section=str(fields.get("section", "facts")),
        tokens=tokens,
        score=score,
        memory_type=str(fields.get("memory_type", "semantic")),
        is_pinned=bool(fields.get("is_pinned", False)),
    )


@given(ITEMS, BUDGETS, LIMITS)
def test_the_tokens_used_are_what_the_items_take(
    items: list[Item[str]], budget: int, limit: int | None
) -> None:
    result = packed(items, budget, limit)

    assert result.tokens_used == cost(result.items)


@given(ITEMS, BUDGETS, LIMITS)
def test_it_is_over_budget_only_when_the_mandatory_items_are(
    items: list[Item[str]], budget: int, limit: int | None
) -> None:
    result = packed(items, budget, limit)

    must = [each for each in items if each.is_mandatory]
    assert result.tokens_used <= max(budget, cost(must))
    assert bool(result.warnings) == (cost(must) > budget)


@given(ITEMS, BUDGETS, LIMITS)
def test_mandatory_items_are_always_in(
    items: list[Item[str]], budget: int, limit: int | None
) -> None:
    chosen = {each.value for each in packed(items, budget, limit).items}

    assert {each.value for each in items if each.is_mandatory} <= chosen


@given(ITEMS, BUDGETS, LIMITS)
def test_nothing_is_invented_or_told_twice(
    items: list[Item[str]], budget: int, limit: int | None
) -> None:
    chosen = [each.value for each in packed(items, budget, limit).items]

    assert len(chosen) == len(set(chosen))
    assert set(chosen) <= {each.value for each in items}


@given(ITEMS, BUDGETS, LIMITS)
def test_the_best_come_first(items: list[Item[str]], budget: int, limit: int | None) -> None:
    scores = [each.score for each in packed(items, budget, limit).items]

    assert scores == sorted(scores, reverse=True)


@given(ITEMS, BUDGETS)
def test_nothing_that_would_still_fit_is_left_out(items: list[Item[str]], budget: int) -> None:
    result = packed(items, budget)

    left = [each for each in items if each not in result.items]
    assert all(cost([*result.items, each]) > budget for each in left)


@given(ITEMS, BUDGETS, st.integers(1, 30))
def test_limit_bounds_all_but_the_mandatory(
    items: list[Item[str]], budget: int, limit: int
) -> None:
    result = packed(items, budget, limit)

    must = sum(each.is_mandatory for each in items)
    assert len(result.items) <= max(limit, must)


@given(ITEMS, BUDGETS, st.randoms(use_true_random=False))
def test_the_order_given_does_not_matter_where_scores_differ(
    items: list[Item[str]], budget: int, random: object
) -> None:
    distinct = list({each.score: each for each in items}.values())
    shuffled = list(distinct)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert packed(distinct, budget) == packed(shuffled, budget)


@given(ITEMS)
def test_a_budget_for_everything_takes_everything(items: list[Item[str]]) -> None:
    assert len(packed(items, 100_000).items) == len(items)


def test_nothing_packs_to_nothing() -> None:
    assert packed([], 100) == Packed(items=(), tokens_used=0, warnings=())


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    result = packed([item("big", tokens=500, score=0.9), item("small", score=0.1)], 100)

    assert [each.value for each in result.items] == ["small"]


def test_the_users_profile_goes_before_better_facts_up_to_its_reserve() -> None:
    profile = [
        item(f"p{n}", tokens=65, score=0.1, memory_type="user_profile", section="user")
        for n in range(4)
    ]
    facts = [item(f"f{n}", tokens=90, score=0.9) for n in range(4)]

    chosen = {each.value for each in packed([*facts, *profile], 400).items}

    assert {each for each in chosen if each.startswith("p")} == {"p0", "p1"}
    assert USER_PROFILE_RESERVE == 200


def test_a_heading_is_paid_once() -> None:
    two = packed([item("a"), item("b")], 200)
    apart = packed([item("a"), item("b", section="events")], 200)

    assert two.tokens_used == 20 + 60
    assert apart.tokens_used == 20 + 60 + 30
