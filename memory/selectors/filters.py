"""A filter's tree as a condition on memories, so that the database does the filtering."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_, or_
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, TextField
from django.db.models.functions import Cast

from memory.domain.filters import (
    All,
    AnyOf,
    Condition,
    Expression,
    Field,
    Not,
    Operator,
    Value,
    conditions_of,
)
from memory.domain.forms import ArtifactQuery
from memory.domain.viewer import Viewer
from memory.models.querysets import MemoryQuerySet
from memory.selectors.artifacts import names_artifact_q
from memory.selectors.names import names_of
from teams.models import Agent, EndUser, Message, Project
from teams.services.agent_names import aliases_among

# A name that the team has never heard: nothing belongs to it.
NOBODY = UUID(int=0)

_COLUMNS: Mapping[Field, str] = {
    Field.USER: "end_user_id",
    Field.AGENT: "agent_id",
    Field.PROJECT: "project_id",
    Field.CONVERSATION: "conversation_id",
    Field.CATEGORY: "category",
    Field.MEMORY_TYPE: "memory_type",
    Field.SUBJECT: "subject",
    Field.PINNED: "is_pinned",
    Field.IMPORTANCE: "importance",
    Field.CONFIDENCE: "confidence",
    Field.CREATED: "created_at",
    Field.UPDATED: "updated_at",
    Field.ACTOR: "actor",
    Field.FORM: "form",
    Field.TEXT: "content",
    Field.ID: "id",
}
_LOOKUPS: Mapping[Operator, str] = {
    Operator.GT: "gt",
    Operator.GTE: "gte",
    Operator.LT: "lt",
    Operator.LTE: "lte",
    Operator.CONTAINS: "contains",
    Operator.ICONTAINS: "icontains",
}
# A conversation that was begun without a thread is called by its own id.
_HAS_THREAD = Q(conversation__isnull=False) & ~Q(
    conversation__thread_id=Cast(F("conversation_id"), TextField())
)
_NAMED: Mapping[Field, tuple[Any, str]] = {  # Any: a model of names
    Field.USER: (EndUser, "external_id"),
    Field.AGENT: (Agent, "slug"),
    Field.PROJECT: (Project, "slug"),
}


def matching(*, viewer: Viewer, rows: MemoryQuerySet, expression: Expression) -> MemoryQuerySet:
    """Those of `rows` that the viewer may see and for which the filter holds; call it in scope.

    One who names nobody sees people's rows only of the users that the filter names.
    """
    names = _names_in(viewer=viewer, conditions=conditions_of(expression))
    users = [names.get((Field.USER, each), NOBODY) for each in _users_of(expression)]
    if viewer.names_nobody and users:
        rows = rows.filter(Q(end_user_id__isnull=True) | Q(end_user_id__in=users))
        viewer = replace(viewer, sees_people=True)
    return rows.visible_to(viewer).filter(_Translator(viewer.team_id, names).q(expression))


def named_by(expression: Expression, *, viewer: Viewer) -> tuple[Viewer, Expression]:
    """The viewer with the user whom a filter names, where the request names none; in scope.

    Where it names several, people's rows are seen, and the filter that is returned leaves those of
    the named ones; messages, which it does not narrow, are then not for this viewer. Among several
    one guest makes it a guest's.
    """
    users = _users_of(expression)
    if not viewer.names_nobody or not users:
        return viewer, expression
    found = [names_of(team_id=viewer.team_id, agent=None, user=each) for each in users]
    viewer = replace(viewer, is_guest=any(each.is_guest for each in found))
    if len(users) == 1:
        return replace(viewer, end_user_id=found[0].end_user_id or NOBODY), expression
    named = Condition(Field.USER, Operator.IN, (None, *users))
    return replace(viewer, sees_people=True), All((expression, named))


def _users_of(expression: Expression) -> list[str]:
    """The external ids of the users for whom a filter asks."""
    return sorted(set(_named_users(expression)))


def _named_users(expression: Expression) -> Iterator[str]:
    """Yields them; what a filter asks not to be names nobody."""
    match expression:
        case All(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _named_users(part)
        case Condition(field=Field.USER, operator=Operator.EQ | Operator.IN, values=values):
            yield from (str(each) for each in values if each is not None)


@dataclass(frozen=True, slots=True)
class _Translator:
    """Turns a tree into a Q; `ids` are what the names in it stand for."""

    team_id: UUID
    ids: Mapping[tuple[Field, Value], UUID] = field(default_factory=dict)

    def q(self, expression: Expression) -> Q:
        match expression:
            case All(parts=parts):
                return reduce(and_, map(self.q, parts), Q())
            case AnyOf(parts=parts):
                # An empty part holds for everything, and Q would leave it out of an OR.
                if any(_is_empty(part) for part in parts):
                    return Q()
                return reduce(or_, map(self.q, parts))
            case Not(part=part):
                return Q(pk__isnull=True) if _is_empty(part) else ~self.q(part)
            case Condition():
                return _CONDITIONS.get(expression.field, _Translator._column)(self, expression)

    def _column(self, condition: Condition) -> Q:
        column = _COLUMNS[condition.field]
        values = [self._stored(condition.field, value) for value in condition.values]
        match condition.operator:
            case Operator.EQ | Operator.IN:
                return _one_of(column, values)
            case Operator.NE:
                return ~_one_of(column, values)
            case operator:
                return Q(**{f"{column}__{_LOOKUPS[operator]}": values[0]})

    def _tags(self, condition: Condition) -> Q:
        tags = list(condition.values)
        match condition.operator:
            case Operator.IN:
                return Q(tags__overlap=tags)
            case Operator.NE:
                return ~Q(tags__contains=tags)
            case _:
                return Q(tags__contains=tags)

    def _thread(self, condition: Condition) -> Q:
        threads = [each for each in condition.values if each is not None]
        found = Q(conversation__thread_id__in=threads) & _HAS_THREAD if threads else Q()
        if None in condition.values:
            found |= ~_HAS_THREAD
        return ~found if condition.operator is Operator.NE else found

    def _role(self, condition: Condition) -> Q:
        said = Exists(
            Message.objects.filter(
                _AmongSources(F("id"), OuterRef("source_message_ids")),
                team_id=self.team_id,
                role__in=condition.values,
            )
        )
        return ~Q(said) if condition.operator is Operator.NE else Q(said)

    def _artifact(self, condition: Condition) -> Q:
        wanted = [each for each in condition.values if isinstance(each, ArtifactQuery)]
        names_one = names_artifact_q(team_id=self.team_id, wanted=wanted)
        return ~names_one if condition.operator is Operator.NE else names_one

    def _stored(self, of: Field, value: Value) -> Value:
        if of in _NAMED and value is not None:
            return self.ids.get((of, value), NOBODY)
        return value


class _AmongSources(Func):
    """Whether a message is one of those that a memory comes from."""

    template = "(%(expressions)s))"
    arg_joiner = " = ANY ("
    output_field = BooleanField()


_CONDITIONS: Mapping[Field, Callable[[_Translator, Condition], Q]] = {
    Field.TAGS: _Translator._tags,
    Field.ROLE: _Translator._role,
    Field.THREAD: _Translator._thread,
    Field.ARTIFACT: _Translator._artifact,
}


def _one_of(column: str, values: list[Value]) -> Q:
    some = [value for value in values if value is not None]
    found = Q(**{f"{column}__in": some}) if some else Q()
    if len(some) == len(values):
        return found
    nothing = Q(**{f"{column}__isnull": True})
    return found | nothing if some else nothing


def _is_empty(expression: Expression) -> bool:
    """Whether it holds for everything because it says nothing."""
    match expression:
        case All(parts=parts):
            return all(_is_empty(part) for part in parts)
        case AnyOf(parts=parts):
            return any(_is_empty(part) for part in parts)
        case _:
            return False


def _names_in(
    *, viewer: Viewer, conditions: Iterable[Condition]
) -> dict[tuple[Field, Value], UUID]:
    """The ids of the names that the conditions use, one question for each kind of name."""
    wanted: dict[Field, set[Value]] = {}
    for condition in conditions:
        if condition.field in _NAMED:
            wanted.setdefault(condition.field, set()).update(condition.values)
    found: dict[tuple[Field, Value], UUID] = {}
    for of, names in wanted.items():
        model, name = _NAMED[of]
        rows = model.objects.filter(team_id=viewer.team_id, **{f"{name}__in": names - {None}})
        found |= {(of, known): pk for known, pk in rows.values_list(name, "id")}
        if of is Field.AGENT:
            unknown = [str(each) for each in names if each and (of, each) not in found]
            aliases = aliases_among(team_id=viewer.team_id, names=unknown) if unknown else {}
            found |= {(of, known): pk for known, pk in aliases.items()}
    return found


def categories_named_in(filters: Expression) -> list[str]:
    """The categories that a filter names."""
    return [
        str(value)
        for condition in conditions_of(filters)
        if condition.field is Field.CATEGORY and condition.operator is not Operator.CONTAINS
        for value in condition.values
    ]
