"""Filters: what may be said, how it is read, and how a mistake is named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.filters import (
    MAX_DEPTH,
    MAX_PARTS,
    MAX_VALUES,
    All,
    AnyOf,
    Condition,
    Field,
    FilterError,
    Not,
    Operator,
    conditions_of,
    parse_filters,
)

SOMEWHERE = "01890a5d-ac96-774b-bcce-b302099a8057"


def is_eq(field: Field, value: Any) -> Condition:
    """The condition that a plain value says."""
    return Condition(field, Operator.EQ, value)


@pytest.mark.parametrize("nothing", [None, {}])
def test_no_filter_holds_for_everything(nothing: object) -> None:
    assert parse_filters(nothing) == All()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"user": "sarah"}, is_eq(Field.USER, "sarah")),
        ({"user_id": " sarah "}, is_eq(Field.USER, "sarah")),
        ({"agent": None}, is_eq(Field.AGENT, None)),
        ({"run_id": SOMEWHERE}, is_eq(Field.CONVERSATION, UUID(SOMEWHERE))),
        ({"pinned": False}, is_eq(Field.PINNED, False)),
        ({"user": ["a", None, "a"]}, Condition(Field.USER, Operator.IN, ("a", None))),
        ({"category": None}, is_eq(Field.CATEGORY, "")),
        ({"subject": {"ne": None}}, Condition(Field.SUBJECT, Operator.NE, "")),
        ({"category": [None, "tea"]}, Condition(Field.CATEGORY, Operator.IN, ("", "tea"))),
        ({"importance": {"gte": 5}}, Condition(Field.IMPORTANCE, Operator.GTE, 5)),
        ({"importance": {"lt": 8.0}}, Condition(Field.IMPORTANCE, Operator.LT, 8)),
        ({"importance": {"$gte": 0.7}}, Condition(Field.IMPORTANCE, Operator.GTE, 7)),
        ({"importance_min": 1}, Condition(Field.IMPORTANCE, Operator.GTE, 1)),
        ({"importance_max": 5}, Condition(Field.IMPORTANCE, Operator.LTE, 5)),
        ({"updated_before": None}, All()),
        ({"tags": {"contains": ["a", "b"]}}, Condition(Field.TAGS, Operator.CONTAINS, ("a", "b"))),
        ({"tags": {"contains": "a"}}, Condition(Field.TAGS, Operator.CONTAINS, "a")),
        ({"NOT": {"role": "user"}}, Not(is_eq(Field.ROLE, "user"))),
        (
            {"or": [{"pinned": True}, {"tags": "a"}]},
            AnyOf((is_eq(Field.PINNED, True), is_eq(Field.TAGS, "a"))),
        ),
        (
            {"importance": {"gt": 2, "lte": 9}},
            All(
                (
                    Condition(Field.IMPORTANCE, Operator.GT, 2),
                    Condition(Field.IMPORTANCE, Operator.LTE, 9),
                )
            ),
        ),
    ],
)
def test_what_is_written_is_what_is_read(written: object, read: object) -> None:
    assert parse_filters(written) == read


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2025-07-01", datetime(2025, 7, 1, tzinfo=UTC)),
        ("2025-07-01T10:00:00Z", datetime(2025, 7, 1, 10, tzinfo=UTC)),
        ("2025-07-01T10:00:00+02:00", datetime(2025, 7, 1, 8, tzinfo=UTC)),
    ],
)
def test_times_are_read_in_utc(written: str, moment: datetime) -> None:
    assert parse_filters({"updated_after": written}) == Condition(
        Field.UPDATED, Operator.GTE, moment
    )


def test_the_example_of_the_seed_is_taken() -> None:
    read = parse_filters(
        {
            "user_id": "ana",
            "agent_id": "planner",
            "run_id": SOMEWHERE,
            "actor_id": "agent:planner",
            "role": "assistant",
            "pinned": False,
            "importance_min": 1,
            "importance_max": 5,
            "updated_after": "2025-07-01",
            "updated_before": None,
        }
    )

    assert [condition.field for condition in conditions_of(read)] == [
        Field.USER,
        Field.AGENT,
        Field.CONVERSATION,
        Field.ACTOR,
        Field.ROLE,
        Field.PINNED,
        Field.IMPORTANCE,
        Field.IMPORTANCE,
        Field.UPDATED,
    ]


def deep(levels: int) -> Any:
    """A filter inside so many `not`."""
    filters: Any = {"pinned": True}
    for _ in range(levels - 1):
        filters = {"not": filters}
    return filters


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ([], "filters"),
        ("pinned", "filters"),
        (5, "filters"),
        ({"colour": "red"}, "filters.colour"),
        ({"team": "acme"}, "filters.team"),
        ({"content": "x"}, "filters.content"),
        ({"agent__slug": "x"}, "filters.agent__slug"),
        ({"": 1}, "filters."),
        ({"and": {}}, "filters.and"),
        ({"or": []}, "filters.or"),
        ({"or": [{"pinned": True}, 5]}, "filters.or[1]"),
        ({"not": [{"pinned": True}]}, "filters.not"),
        ({"and": [{"or": [{"importance": {"gte": "5"}}]}]}, "filters.and[0].or[0].importance.gte"),
        ({"importance": {}}, "filters.importance"),
        ({"importance": {"between": [1, 2]}}, "filters.importance.between"),
        ({"importance": {"$between": [1, 2]}}, "filters.importance.$between"),
        ({"importance": {"$$gte": 1}}, "filters.importance.$$gte"),
        ({"importance": {"$gte": 1.7}}, "filters.importance.$gte"),
        ({"$colour": {"$eq": "red"}}, "filters.$colour"),
        ({"importance": {"contains": 1}}, "filters.importance.contains"),
        ({"importance": True}, "filters.importance"),
        ({"importance": 2.5}, "filters.importance"),
        ({"importance": 12}, "filters.importance"),
        ({"importance": -1}, "filters.importance"),
        ({"importance": 10**400}, "filters.importance"),
        ({"importance": float("nan")}, "filters.importance"),
        ({"importance": None}, "filters.importance"),
        ({"importance_min": {"gte": 1}}, "filters.importance_min"),
        ({"confidence": {"gte": 1.5}}, "filters.confidence.gte"),
        ({"confidence": float("inf")}, "filters.confidence"),
        ({"pinned": "true"}, "filters.pinned"),
        ({"pinned": 1}, "filters.pinned"),
        ({"pinned": {"gt": False}}, "filters.pinned.gt"),
        ({"user": 5}, "filters.user"),
        ({"user": ""}, "filters.user"),
        ({"user": "a\x00b"}, "filters.user"),
        ({"user": "\ud800"}, "filters.user"),
        ({"user": "x" * 201}, "filters.user"),
        ({"user": {"contains": "sa"}}, "filters.user.contains"),
        ({"user": {"in": "sarah"}}, "filters.user.in"),
        ({"user": {"in": []}}, "filters.user.in"),
        ({"user": []}, "filters.user"),
        ({"user": ["a", 5]}, "filters.user[1]"),
        ({"user": ["a"] * (MAX_VALUES + 1)}, "filters.user"),
        ({"conversation": "x"}, "filters.conversation"),
        ({"conversation": 5}, "filters.conversation"),
        ({"memory_type": "gossip"}, "filters.memory_type"),
        ({"role": "boss"}, "filters.role"),
        ({"tags": {"contains": ""}}, "filters.tags.contains"),
        ({"subject": {"contains": ""}}, "filters.subject.contains"),
        ({"tags": {"gt": "a"}}, "filters.tags.gt"),
        ({"updated": "yesterday"}, "filters.updated"),
        ({"updated": "2025-07-01T10:00:00"}, "filters.updated"),
        ({"updated": "2025-13-01"}, "filters.updated"),
        ({"updated": 1700000000}, "filters.updated"),
        ({"updated": "0001-01-01T00:00:00+14:00"}, "filters.updated"),
        ({"updated_after": {"gte": "2025-07-01"}}, "filters.updated_after"),
        (deep(MAX_DEPTH + 1), "filters" + ".not" * MAX_DEPTH),
        ({"or": [{"pinned": True}] * MAX_PARTS}, f"filters.or[{MAX_PARTS // 2 - 1}].pinned"),
        ({"or": [{}] * MAX_PARTS}, f"filters.or[{MAX_PARTS - 1}]"),
    ],
)
def test_a_mistake_is_named_by_its_place(written: object, path: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filters(written)

    assert refused.value.path == path
    assert refused.value.message


def test_the_deepest_filter_is_taken() -> None:
    assert list(conditions_of(parse_filters(deep(MAX_DEPTH)))) == [is_eq(Field.PINNED, True)]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=12)
    | st.sampled_from(["sarah", "2025-07-01", SOMEWHERE, "user", "semantic"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*Field, *Operator, "and", "or", "not", "importance_min", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_anything_is_read_or_named(data: object) -> None:
    try:
        read = parse_filters(data)
    except FilterError:
        return
    for condition in conditions_of(read):
        assert 1 <= len(condition.values) <= MAX_VALUES
        if condition.operator is Operator.IN:
            assert isinstance(condition.value, tuple)


OPERANDS: dict[str, st.SearchStrategy[Any]] = {
    "importance": st.integers(0, 11),
    "confidence": st.floats(0, 1),
    "created": st.dates().map(str),
    "pinned": st.booleans(),
    "user": st.sampled_from(["sarah", "luke", None]),
}
EQUAL, ORDER = ("eq", "ne"), ("eq", "ne", "gt", "gte", "lt", "lte")
CONDITIONS = st.sampled_from(list(OPERANDS)).flatmap(
    lambda name: st.dictionaries(
        st.sampled_from(EQUAL if name in ("pinned", "user") else ORDER),
        OPERANDS[name],
        min_size=1,
    ).map(lambda operators: {name: operators})
)
WRITTEN = st.recursive(
    CONDITIONS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts})
        | inner.map(lambda part: {"not": part})
    ),
    max_leaves=6,
)


def with_dollars(written: Any) -> Any:
    """The same filter with the operators of seed 003."""
    if isinstance(written, list):
        return [with_dollars(each) for each in written]
    if not isinstance(written, dict):
        return written
    return {
        f"${name}" if name in ORDER else name: with_dollars(value)
        for name, value in written.items()
    }


@given(WRITTEN)
def test_operators_with_a_dollar_sign_are_read_as_those_without(written: Any) -> None:
    try:
        read = parse_filters(written)
    except FilterError:  # too deep, in either form
        return
    assert parse_filters(with_dollars(written)) == read
