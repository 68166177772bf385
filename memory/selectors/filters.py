"""Conditions of visibility and the filters of callers, as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from operator import and_, or_
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import BooleanField, Exists, F, Func, Model, OuterRef, Q, TextField
from django.db.models.functions import Cast

from memory.domain.audience import Viewer
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
from memory.models import MemoryArtifact, SearchEntry
from memory.models.querysets import MemoryQuerySet
from memory.selectors.names import names_of
from teams.models import Agent, EndUser, Message, Project
from teams.services.people import aliases_among

# In an index of words: what is of no end user, and of messages what is the team's.
_NOBODY = "nobody"


_names: dict[UUID, str] = {}


@cache
def stand_in(name: str) -> UUID:
    """Returns the id that stands in a Q for a parameter of this name."""
    made = uuid4()
    _names[made] = name
    return made


def pattern_of(viewer: Viewer) -> Viewer:
    """Returns the viewer with stand-ins for its ids: viewers of one pattern share their SQL."""
    projects = () if viewer.project_id is not None else viewer.project_ids
    return Viewer(
        team_id=stand_in("team"),
        actor="",
        agent_id=stand_in("agent") if viewer.agent_id else None,
        end_user_id=stand_in("end_user") if viewer.end_user_id else None,
        project_id=stand_in("project") if viewer.project_id else None,
        allowed_categories=("",) if viewer.allowed_categories else (),
        project_ids=tuple(stand_in(f"project_{place}") for place in range(len(projects))),
        sees_people=not viewer.names_nobody,
        is_guest=viewer.is_guest,
    )


@cache
def viewer_sql(
    rule: Callable[[Viewer], Q], *, pattern: Viewer, model: type[Model] = SearchEntry
) -> str:
    """Returns a rule of visibility as SQL with the parameters that `viewer_parameters` gives."""
    return as_sql(rule(pattern), model=model)


def viewer_parameters(viewer: Viewer) -> dict[str, Any]:
    """Returns the parameters of `viewer_sql`, without those that the viewer lacks."""
    given: dict[str, Any] = {
        "team": viewer.team_id,
        "agent": viewer.agent_id,
        "end_user": viewer.end_user_id,
        "project": viewer.project_id,
    }
    if viewer.project_id is None:
        given |= {f"project_{place}": pk for place, pk in enumerate(viewer.project_ids)}
    return {name: value for name, value in given.items() if value is not None}


def indexed_owners(viewer: Viewer) -> list[str]:
    """Returns the owners under which the indexes of words have what the viewer may see."""
    if viewer.end_user_id is not None:
        return [str(viewer.end_user_id), _NOBODY]
    return [_NOBODY] if viewer.names_nobody else [""]


def as_sql(condition: Q, *, model: type[Model] = SearchEntry) -> str:
    """Returns the condition as SQL with named parameters in the place of stand-ins.

    Other values become literals, so they must be the program's own and never a caller's.
    """
    query = model._default_manager.filter(condition).query
    sql, values = query.where.as_sql(query.get_compiler(connection=connection), connection)
    return sql % tuple(map(_placeholder, values))


def _placeholder(value: Any) -> str:  # Any: any column's type
    if isinstance(value, UUID):
        return f"%({_names[value]})s"
    if isinstance(value, bool | int):
        return str(value)
    return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"


def lookups(**conditions: Any) -> dict[str, Any]:  # Any: lookups
    """Returns the lookups that have a value; None and an empty list are none."""
    return {name: value for name, value in conditions.items() if value not in (None, (), [])}


def names_artifact_q(*, team_id: UUID, wanted: Sequence[ArtifactQuery]) -> Q:
    """Returns the condition of memories that name one of the artifacts, whoever sees them."""
    each = (Q(kind=one.kind.value) & _ref_q(one) for one in wanted)
    rows = MemoryArtifact.objects.filter(team_id=team_id, memory_id=OuterRef("id"))
    return Q(Exists(rows.filter(reduce(or_, each))))


def _ref_q(wanted: ArtifactQuery) -> Q:
    if wanted.is_folder:
        return Q(ref__startswith=wanted.ref)
    return Q(ref=wanted.ref) if wanted.ref else Q()


# A name that the team has never heard: nothing belongs to it.
NOBODY = UUID(int=0)

# Other fields are called as their columns are.
_COLUMNS: Mapping[Field, str] = {
    Field.USER: "end_user_id",
    Field.AGENT: "agent_id",
    Field.PROJECT: "project_id",
    Field.CONVERSATION: "conversation_id",
    Field.PINNED: "is_pinned",
    Field.CREATED: "created_at",
    Field.UPDATED: "updated_at",
    Field.TEXT: "content",
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
    """Returns the `rows` that the viewer may see and that match the filter; call it in scope.

    A viewer who names nobody sees people's rows only of the users that the filter names.
    """
    names = _names_in(viewer=viewer, conditions=conditions_of(expression))
    users = [names.get((Field.USER, each), NOBODY) for each in sorted({*_users_of(expression)})]
    if viewer.names_nobody and users:
        rows = rows.filter(Q(end_user_id__isnull=True) | Q(end_user_id__in=users))
        viewer = replace(viewer, sees_people=True)
    return rows.visible_to(viewer).filter(_Translator(viewer.team_id, names).q(expression))


def named_by(expression: Expression, *, viewer: Viewer) -> tuple[Viewer, Expression]:
    """Returns the viewer with the user whom a filter names, if the request names none.

    Call it in the team's scope or outside of any transaction.

    If it names several, the viewer sees people's rows, which the returned filter narrows to theirs;
    messages, which no filter narrows, are then not for this viewer. One guest among them makes it a
    guest's.
    """
    users = sorted({*_users_of(expression)})
    if not viewer.names_nobody or not users:
        return viewer, expression
    found = [names_of(team_id=viewer.team_id, agent=None, user=each) for each in users]
    viewer = replace(viewer, is_guest=any(each.is_guest for each in found))
    if len(users) == 1:
        return replace(viewer, end_user_id=found[0].end_user_id or NOBODY), expression
    named = Condition(Field.USER, Operator.IN, (None, *users))
    return replace(viewer, sees_people=True), All((expression, named))


def _users_of(expression: Expression) -> Iterator[str]:
    """The external ids of the users for whom a filter asks; what it excludes names nobody."""
    match expression:
        case All(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _users_of(part)
        case Condition(field=Field.USER, operator=Operator.EQ | Operator.IN, values=values):
            yield from (str(each) for each in values if each is not None)


@dataclass(frozen=True, slots=True)
class _Translator:
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
        column = _COLUMNS.get(condition.field, condition.field.value)
        values = [self._stored(condition.field, value) for value in condition.values]
        match condition.operator:
            case Operator.EQ | Operator.IN:
                return _one_of(column, values)
            case Operator.NE:
                return ~_one_of(column, values)
            case operator:
                return Q(**{f"{column}__{operator.value}": values[0]})

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
    """Returns the categories that a filter names."""
    return [
        str(value)
        for condition in conditions_of(filters)
        if condition.field is Field.CATEGORY and condition.operator is not Operator.CONTAINS
        for value in condition.values
    ]
