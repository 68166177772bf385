"""Filters run in the database and mean there what they say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from operator import ge, gt, le, lt
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.domain.audience import Viewer
from memory.domain.filters import (
    All,
    AnyOf,
    Condition,
    Expression,
    Field,
    Not,
    Operator,
    parse_filters,
)
from memory.models import Memory
from memory.selectors.filters import matching
from teams.models import Message
from teams.services.conversations import start_conversation
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
USERS = ["sarah", "dmitri", "nobody-known"]
AGENTS = ["kyra", "luke", "nobody-known"]
PROJECTS = ["firmware", "nobody-known"]
TAGS = ["home", "release", "100%", "it's"]
SUBJECTS = ["", "user.city", "user.preference.language", "a_b", "a%b", "aXb"]
CATEGORIES = ["", "goals", "profile"]
TIMES = [NOON + timedelta(days=days) for days in range(-2, 3)]


@pytest.fixture
def rows(acme: Cast) -> list[Memory]:
    """Forty memories of every kind, by a fixed seed."""
    random = Random(4)
    project = factories.ProjectFactory.create(team=acme.team, slug="firmware")
    talks = [
        factories.ConversationFactory.create(team=acme.team, agent=acme.kyra, end_user=acme.sarah)
        for _ in range(2)
    ]
    messages = [
        factories.MessageFactory.create(team=acme.team, conversation=talks[0], role=role)
        for role in ("user", "assistant", "user")
    ]
    made = [
        factories.MemoryFactory.create(
            team=acme.team,
            end_user=random.choice([None, acme.sarah, acme.dmitri]),
            agent=random.choice([None, acme.kyra, acme.luke]),
            project=random.choice([None, project]),
            conversation=random.choice([None, *talks]),
            memory_type=random.choice(["semantic", "episodic"]),
            category=random.choice(CATEGORIES),
            subject=random.choice(SUBJECTS),
            tags=random.sample(TAGS, random.randrange(3)),
            is_pinned=random.random() < 0.3,
            importance=random.randint(1, 10),
            confidence=random.choice([0.25, 0.5, 1.0]),
            created_at=random.choice(TIMES),
            actor=random.choice(["agent:kyra", "key:1"]),
            source_message_ids=[each.pk for each in random.sample(messages, 1)]
            if random.random() < 0.6
            else [],
        )
        for _ in range(40)
    ]
    return list(
        Memory.objects.filter(pk__in=[each.pk for each in made]).select_related(
            "end_user", "agent", "project"
        )
    )


def value_of(row: Memory, field: Field) -> Any:
    """Returns the row's value of a field other than its tags and roles."""
    return {
        Field.USER: row.end_user and row.end_user.external_id,
        Field.AGENT: row.agent and row.agent.slug,
        Field.PROJECT: row.project and row.project.slug,
        Field.CONVERSATION: row.conversation_id,
        Field.CATEGORY: row.category,
        Field.MEMORY_TYPE: row.memory_type,
        Field.SUBJECT: row.subject,
        Field.PINNED: row.is_pinned,
        Field.IMPORTANCE: row.importance,
        Field.CONFIDENCE: row.confidence,
        Field.CREATED: row.created_at,
        Field.UPDATED: row.updated_at,
        Field.ACTOR: row.actor,
    }[field]


ORDERS = {Operator.GT: gt, Operator.GTE: ge, Operator.LT: lt, Operator.LTE: le}


def holds(expression: Expression, row: Memory, roles: dict[Any, str]) -> bool:
    """The filter in plain Python."""
    match expression:
        case All(parts=parts):
            return all(holds(part, row, roles) for part in parts)
        case AnyOf(parts=parts):
            return any(holds(part, row, roles) for part in parts)
        case Not(part=part):
            return not holds(part, row, roles)
        case Condition(field=Field.TAGS | Field.ROLE as field, operator=operator):
            has = (
                set(row.tags)
                if field is Field.TAGS
                else {roles[each] for each in row.source_message_ids}
            )
            wanted = set(expression.values)
            if operator is Operator.NE:
                return not wanted & has
            return wanted <= has if operator is Operator.CONTAINS else bool(wanted & has)
        case Condition(field=field, operator=Operator.EQ | Operator.IN):
            return value_of(row, field) in expression.values
        case Condition(field=field, operator=Operator.NE):
            return value_of(row, field) not in expression.values
        case Condition(field=field, operator=Operator.CONTAINS, value=value):
            return str(value) in value_of(row, field)
        case Condition(field=field, operator=operator):
            bound: Any = expression.value
            return bool(ORDERS[operator](value_of(row, field), bound))


def compared(values: list[Any], *, ordered: bool = False, text: bool = False) -> Any:
    """A value, a list or an operator with one of `values`."""
    one = st.sampled_from(values)
    operators = ["eq", "ne", *(["gt", "gte", "lt", "lte"] if ordered else [])]
    shapes = [
        one,
        st.lists(one, min_size=1, max_size=3),
        st.dictionaries(st.sampled_from(operators), one, min_size=1, max_size=2),
    ]
    if text:
        filled = st.sampled_from([value for value in values if value])
        shapes.append(filled.map(lambda value: {"contains": value}))
    return st.one_of(shapes)


FIELDS: dict[str, Any] = {
    "user": compared([*USERS, None]),
    "agent": compared([*AGENTS, None]),
    "project": compared([*PROJECTS, None]),
    "conversation": st.none(),
    "category": compared(CATEGORIES, text=True),
    "memory_type": compared(["semantic", "episodic"]),
    "subject": compared([*SUBJECTS, "_", "%", "user."], text=True),
    "tags": compared(TAGS, text=True),
    "pinned": st.booleans(),
    "importance": compared([1, 4, 5, 10], ordered=True),
    "confidence": compared([0.25, 0.5, 1], ordered=True),
    "created": compared([each.isoformat() for each in TIMES], ordered=True),
    "created_before": st.sampled_from(["2026-05-01", "2026-05-02"]),
    "actor": compared(["agent:kyra", "key:1"], text=True),
    "role": compared(["user", "assistant", "tool"]),
}
ENTRIES = st.one_of([st.fixed_dictionaries({name: values}) for name, values in FIELDS.items()])
FILTERS = st.recursive(
    ENTRIES | st.just({}),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts})
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts})
        | inner.map(lambda part: {"not": part})
    ),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=FILTERS)
def test_the_database_finds_what_the_filter_says(
    rows: list[Memory], viewer: Viewer, written: Any
) -> None:
    expression = parse_filters(written)
    roles = {row.pk: row.role for row in Message.objects.all()}

    found = matching(viewer=viewer, rows=Memory.objects.all(), expression=expression)

    expected = {row.pk for row in rows if holds(expression, row, roles)}
    assert set(found.values_list("pk", flat=True)) == expected


def found_by(viewer: Viewer, filters: object) -> set[str]:
    """The texts that match."""
    rows = matching(viewer=viewer, rows=Memory.objects.all(), expression=parse_filters(filters))
    return set(rows.values_list("content", flat=True))


def test_updated_moves_with_the_memory(acme: Cast, viewer: Viewer) -> None:
    before = factories.MemoryFactory.create(team=acme.team, content="Old.", created_at=NOON)
    before.refresh_from_db()
    after = {"updated_after": (before.updated_at + timedelta(microseconds=1)).isoformat()}

    assert found_by(viewer, after) == set()
    assert found_by(viewer, {"updated": before.updated_at.isoformat()}) == {"Old."}


def test_no_filter_widens_what_a_viewer_sees(acme: Cast, globex: Cast) -> None:
    factories.MemoryFactory.create(
        team=acme.team, content="Kyra's.", agent=acme.kyra, memory_type="agent_private"
    )
    factories.MemoryFactory.create(team=acme.team, content="Salary.", category="salary")
    with team_scope(team_ids=[globex.team.id], actor="test"):
        factories.MemoryFactory.create(team=globex.team, content="Globex's.")
    luke = Viewer(
        team_id=acme.team.id,
        actor="test",
        agent_id=acme.luke.pk,
        allowed_categories=("goals",),
    )

    for filters in (
        {},
        {"agent": "kyra"},
        {"memory_type": "agent_private"},
        {"category": "salary"},
        {"not": {"category": "goals"}},
        {"or": [{"agent": "kyra"}, {"not": {"agent": "kyra"}}, {}]},
    ):
        assert found_by(luke, filters) == set()


def test_names_of_another_team_match_nothing(acme: Cast, globex: Cast, viewer: Viewer) -> None:
    with team_scope(team_ids=[globex.team.id], actor="test"):
        factories.EndUserFactory.create(team=globex.team, external_id="theirs")
    factories.MemoryFactory.create(team=acme.team, content="Ours.")

    assert found_by(viewer, {"user": "theirs"}) == set()
    assert found_by(viewer, {"user": {"ne": "theirs"}}) == {"Ours."}


def test_the_filter_is_one_question_to_the_database(acme: Cast, viewer: Viewer) -> None:
    expression = parse_filters({"pinned": False, "or": [{"tags": ["a"]}, {"role": "user"}]})

    with CaptureQueriesContext(
        connection,
    ) as queries:
        list(matching(viewer=viewer, rows=Memory.objects.all(), expression=expression))

    assert len(queries) == 1


def test_threads_texts_and_ids_can_be_asked_for(acme: Cast, viewer: Viewer) -> None:
    talks = [
        factories.ConversationFactory.create(
            team=acme.team, agent=acme.kyra, end_user=acme.sarah, thread_id="plan-1"
        ),
        start_conversation(team_id=acme.team.id, agent=acme.kyra, end_user=acme.sarah)[0],
    ]
    first, _, _ = (
        factories.MemoryFactory.create(team=acme.team, content=text, conversation=talk)
        for text, talk in zip(["Plan A is 100% new.", "plan B", "Tea"], [*talks, None], strict=True)
    )

    assert found_by(viewer, {"thread": "plan-1"}) == {first.content}
    assert found_by(viewer, {"thread": None}) == {"plan B", "Tea"}
    assert found_by(viewer, {"thread": {"ne": "plan-1"}}) == {"plan B", "Tea"}
    assert found_by(viewer, {"thread": ["plan-1", "plan-2"]}) == {first.content}
    assert found_by(viewer, {"text": {"contains": "plan"}}) == {"plan B"}
    assert found_by(viewer, {"text": {"icontains": "PLAN"}}) == {first.content, "plan B"}
    assert found_by(viewer, {"text": {"contains": "0%"}}) == {first.content}
    assert found_by(viewer, {"id": str(first.pk)}) == {first.content}
    assert found_by(viewer, {"id": {"ne": str(first.pk)}}) == {"plan B", "Tea"}
