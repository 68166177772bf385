"""Packing: never over budget but for what must be told, trimmed in order, and nothing wasted."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from memory.domain.packing import MINIMUM_BUDGET, Item, Packed, Room, pack

# Rooms of every kind: reserved, shared; trimmed together and in order.
FLAT = (Room("a", reserve=60), Room("b", share=0.3), Room("c"), Room("d"))
TRIMMED = (
    Room("a"),
    Room("b", reserve=80, trim=1),
    Room("c", share=0.5, trim=2),
    Room("d", reserve=90, trim=3),
)
HEADINGS = {"h1": 40, "h2": 7, "h3": 0}

ITEMS = st.lists(
    st.builds(
        Item,
        value=st.uuids().map(str),
        section=st.sampled_from("abcd"),
        tokens=st.integers(1, 120),
        score=st.floats(0, 1),
        opens=st.lists(st.sampled_from(sorted(HEADINGS.items())), max_size=2, unique=True).map(
            tuple
        ),
        is_mandatory=st.booleans(),
        shorter=st.just(()),
    ),
    max_size=25,
    unique_by=lambda item: item.value,
)
INHERITING = (
    Room("a", share=0.25),
    Room("b", share=0.375, inherits=True),
    Room("c", share=0.25, inherits=True),
    Room("d", share=0.125),
)
ROOMS = st.sampled_from([FLAT, TRIMMED, INHERITING])
BUDGETS = st.integers(0, 700)
LIMITS = st.none() | st.integers(1, 30)
Items = Sequence[Item[str]]


def cost(items: Items) -> int:
    """Returns the tokens that a prompt of these items takes: each line, and each heading once."""
    return sum(item.tokens for item in items) + sum(
        dict(h for i in items for h in i.opens).values()
    )


def item(value: str, tokens: int = 10, score: float = 0.5, section: str = "c") -> Item[str]:
    """An ordinary item."""
    return Item(value=value, section=section, tokens=tokens, score=score)


def values(packed: Packed[str]) -> set[str]:
    """Returns the values of the chosen items."""
    return {each.value for each in packed.items}


def mandatory(items: Items) -> list[Item[str]]:
    """Those that must go in."""
    return [each for each in items if each.is_mandatory]


@given(ITEMS, ROOMS, BUDGETS, LIMITS)
def test_the_tokens_of_the_rooms_add_up_to_what_the_items_take(
    items: Items, rooms: Sequence[Room], budget: int, limit: int | None
) -> None:
    result = pack(items, rooms=rooms, token_budget=budget, limit=limit)

    assert result.tokens_used == sum(result.tokens.values()) == cost(result.items)
    assert set(result.tokens) == {room.name for room in rooms}


@given(ITEMS, ROOMS, BUDGETS, LIMITS)
def test_it_is_over_budget_only_when_the_mandatory_items_are(
    items: Items, rooms: Sequence[Room], budget: int, limit: int | None
) -> None:
    result = pack(items, rooms=rooms, token_budget=budget, limit=limit)

    must = cost(mandatory(items))
    assert result.mandatory_tokens == must
    assert result.tokens_used <= max(budget, must)


@given(ITEMS, ROOMS, BUDGETS, LIMITS)
def test_mandatory_items_are_always_in(
    items: Items, rooms: Sequence[Room], budget: int, limit: int | None
) -> None:
    result = pack(
        items, rooms=rooms, token_budget=budget, limit=limit, saying=lambda value: value[0]
    )

    assert {each.value for each in mandatory(items)} <= values(result)


@given(ITEMS, ROOMS, BUDGETS, LIMITS)
def test_nothing_is_invented_or_told_twice(
    items: Items, rooms: Sequence[Room], budget: int, limit: int | None
) -> None:
    result = pack(items, rooms=rooms, token_budget=budget, limit=limit)

    chosen = [each.value for each in result.items]
    assert len(chosen) == len(set(chosen))
    assert set(chosen) <= {each.value for each in items}
    assert not values(result) & {each.value for each in result.cut}


@given(ITEMS, ROOMS, BUDGETS, st.integers(0, 25))
def test_what_comes_first_takes_room_before_all_sections(
    items: Items, rooms: Sequence[Room], budget: int, count: int
) -> None:
    first = items[:count]

    result = pack(items, rooms=rooms, token_budget=budget, first=first)

    must = mandatory(items)
    assert result.tokens_used == cost(result.items) <= max(budget, cost(must))
    assert len(values(result)) == len(result.items)
    if cost([*must, *first]) <= budget:
        assert {each.value for each in first} <= values(result)


@given(ITEMS, BUDGETS)
def test_nothing_that_would_still_fit_is_left_out(items: Items, budget: int) -> None:
    result = pack(items, rooms=FLAT, token_budget=budget)

    left = [each for each in items if each not in result.items]
    assert all(cost([*result.items, each]) > budget for each in left)


@given(ITEMS, BUDGETS)
def test_a_room_is_trimmed_only_when_all_that_are_trimmed_before_it_are_empty(
    items: Items, budget: int
) -> None:
    result = pack(items, rooms=TRIMMED, token_budget=budget)

    trim = {room.name: room.trim for room in TRIMMED}
    first_cut = min((trim[each.section] for each in result.cut), default=9)
    for each in result.items:
        assert each.is_mandatory or trim[each.section] <= first_cut


@given(ITEMS, BUDGETS)
def test_what_was_cut_is_what_the_rooms_would_hold_with_a_larger_budget(
    items: Items, budget: int
) -> None:
    rooms = [Room(name, reserve=100, trim=place) for place, name in enumerate("abcd")]

    small = pack(items, rooms=rooms, token_budget=budget)
    large = pack(items, rooms=rooms, token_budget=100_000)

    assert large.cut == ()
    assert {each.value for each in small.cut} <= values(large)


@given(ITEMS, ROOMS, BUDGETS, st.integers(1, 30))
def test_limit_bounds_all_but_the_mandatory(
    items: Items, rooms: Sequence[Room], budget: int, limit: int
) -> None:
    result = pack(items, rooms=rooms, token_budget=budget, limit=limit)

    uncounted = [each for each in items if not each.is_counted and not each.is_mandatory]
    assert len(result.items) <= limit + len(mandatory(items)) + len(uncounted)


@given(ITEMS, ROOMS, BUDGETS, st.integers(0, 99))
def test_the_order_given_does_not_matter_where_scores_differ(
    items: Items, rooms: Sequence[Room], budget: int, seed: int
) -> None:
    distinct = list({each.score: each for each in items}.values())
    shuffled = random.Random(seed).sample(distinct, len(distinct))

    assert pack(distinct, rooms=rooms, token_budget=budget) == pack(
        shuffled, rooms=rooms, token_budget=budget
    )


@given(ITEMS)
def test_a_budget_for_everything_takes_everything(items: Items) -> None:
    assert len(pack(items, rooms=FLAT, token_budget=100_000).items) == len(items)


@given(ITEMS, ROOMS, BUDGETS)
def test_of_those_that_say_the_same_one_is_told_and_the_rest_point_to_it(
    items: Items, rooms: Sequence[Room], budget: int
) -> None:
    result = pack(items, rooms=rooms, token_budget=budget, saying=lambda value: value[0])

    optional = [each.value[0] for each in result.items if not each.is_mandatory]
    assert len(optional) == len(set(optional))
    for one, other in result.duplicates:
        assert one.value[0] == other.value[0]
        assert one not in result.items
        assert other in result.items
        assert not one.is_mandatory


def test_nothing_packs_to_nothing() -> None:
    result: Packed[str] = pack([], rooms=FLAT, token_budget=MINIMUM_BUDGET)

    assert (result.items, result.tokens_used, result.cut) == ((), 0, ())


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    result = pack([item("big", 500, 0.9), item("small", score=0.1)], rooms=FLAT, token_budget=100)

    assert values(result) == {"small"}


def test_a_reserve_goes_before_better_items_of_the_rest() -> None:
    reserved = [item(f"a{n}", 30, 0.1, "a") for n in range(4)]
    better = [item(f"c{n}", 40, 0.9) for n in range(4)]

    result = pack([*better, *reserved], rooms=FLAT, token_budget=150)

    assert values(result) == {"a0", "a1", "c0", "c1"}


def test_reserved_room_that_its_section_leaves_goes_to_the_rest() -> None:
    result = pack([item(f"c{n}", 50) for n in range(4)], rooms=FLAT, token_budget=200)

    assert len(result.items) == 4


def test_a_section_beyond_its_reserve_competes_with_the_rest() -> None:
    items = [item("a0", 60, 0.9, "a"), item("a1", 60, 0.8, "a"), item("c0", 60, 0.5)]

    assert values(pack(items, rooms=FLAT, token_budget=120)) == {"a0", "a1"}


def test_the_best_of_a_trimmed_room_stay() -> None:
    items = [item(f"c{n}", 30, n / 10) for n in range(5)]

    result = pack(items, rooms=[Room("c", reserve=200)], token_budget=70)

    assert values(result) == {"c4", "c3"}
    assert {each.value for each in result.cut} == {"c0", "c1", "c2"}


def test_a_heading_is_paid_once() -> None:
    under = [Item(name, "c", 10, 0.5, opens=(("h", 60),)) for name in ("x", "y")]

    assert pack(under, rooms=FLAT, token_budget=200).tokens_used == 20 + 60


@given(ITEMS, st.integers(1, 12))
def test_within_a_limit_the_best_of_all_rooms_go_in(items: Items, limit: int) -> None:
    result = pack(items, rooms=FLAT, token_budget=100_000, limit=limit)

    bounded, chosen = (
        sorted(
            (each.score for each in some if each.is_counted and not each.is_mandatory), reverse=True
        )
        for some in (items, result.items)
    )
    assert chosen == bounded[:limit]
    uncounted = {each.value for each in items if not each.is_counted}
    assert uncounted <= {each.value for each in result.items}


def test_what_a_room_leaves_free_goes_to_the_next_one_first() -> None:
    first = [item("a", tokens=10, section="a")]
    second = [item(f"b{n}", section="b", score=0.1) for n in range(10)]
    third = [item(f"c{n}", section="c", score=0.9) for n in range(10)]

    packed = pack([*first, *second, *third], rooms=INHERITING, token_budget=100)

    # 25 + 37.5 of which the first leaves 15: five lines; without it three, and more of the third.
    assert (packed.tokens["a"], packed.tokens["b"]) == (10, 50)
    assert packed.tokens_used == 100


@given(ITEMS, ROOMS, BUDGETS, st.integers(1, 40))
def test_a_shorter_version_goes_in_only_where_the_whole_does_not_fit(
    items: Items, rooms: Sequence[Room], budget: int, size: int
) -> None:
    whole = {each.value: each for each in items}
    offered = [
        each._replace(shorter=((f"{each.value} shortly", min(size, each.tokens)),))
        for each in items
    ]

    result = pack(offered, rooms=rooms, token_budget=budget)

    names = [each.value.removesuffix(" shortly") for each in result.items]
    assert len(names) == len(set(names))
    assert all(not whole[each].is_mandatory for each in names if each not in values(result))
    assert cost(result.items) <= max(budget, cost(mandatory(items)))


def test_what_does_not_fit_whole_is_told_shorter() -> None:
    long = item("long", tokens=60, score=0.9)._replace(shorter=(("short", 20), ("shorter", 5)))

    packed = pack([long, item("other", tokens=30)], rooms=FLAT, token_budget=50)

    assert values(packed) == {"short", "other"}
