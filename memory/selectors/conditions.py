"""Conditions of the ORM as text for the statements that it cannot say, compiled once a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import Model, Q

from memory.domain.viewer import Viewer
from memory.models import SearchEntry

# In an index of words: what is of no end user, and of messages what is the team's.
_NOBODY = "nobody"


def stand_ins(*names: str) -> dict[str, UUID]:
    """An id for each parameter of a condition, to be put into the Q in its place."""
    return {name: uuid4() for name in names}


@dataclass(frozen=True, slots=True)
class Kind:
    """The parts of a viewer that are given, on which the text of a rule of visibility depends.

    `projects` counts those that its key is bound to.
    """

    of_agent: bool
    of_user: bool
    of_project: bool
    names_nobody: bool = False
    is_guest: bool = False
    has_allowlist: bool = False
    projects: int = 0

    @classmethod
    def of(cls, viewer: Viewer) -> Kind:
        """The kind of the viewer."""
        return cls(
            of_agent=viewer.agent_id is not None,
            of_user=viewer.end_user_id is not None,
            of_project=viewer.project_id is not None,
            names_nobody=viewer.names_nobody,
            is_guest=viewer.is_guest,
            has_allowlist=bool(viewer.allowed_categories),
            projects=0 if viewer.project_id is not None else len(viewer.project_ids),
        )


@cache
def viewer_sql(rule: Callable[[Viewer], Q], *, kind: Kind, model: type[Model] = SearchEntry) -> str:
    """A rule of visibility as SQL with the parameters that `viewer_parameters` gives."""
    bound = [f"project_{place}" for place in range(kind.projects)]
    stands = stand_ins("team", "agent", "end_user", "project", *bound)
    viewer = Viewer(
        team_id=stands["team"],
        actor="",
        agent_id=stands["agent"] if kind.of_agent else None,
        end_user_id=stands["end_user"] if kind.of_user else None,
        project_id=stands["project"] if kind.of_project else None,
        allowed_categories=("",) if kind.has_allowlist else (),
        project_ids=tuple(stands[each] for each in bound),
        sees_people=not kind.names_nobody,
        is_guest=kind.is_guest,
    )
    return as_sql(rule(viewer), parameters=stands, model=model)


def viewer_parameters(viewer: Viewer) -> dict[str, Any]:
    """What the parameters of `viewer_sql` stand for; those that the viewer lacks are left out."""
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
    """The owners under which the indexes of words have what the viewer may see; "" is anybody."""
    if viewer.end_user_id is not None:
        return [str(viewer.end_user_id), _NOBODY]
    return [_NOBODY] if viewer.names_nobody else [""]


def as_sql(
    condition: Q, *, parameters: Mapping[str, UUID], model: type[Model] = SearchEntry
) -> str:
    """The condition on search entries as SQL with named parameters in the place of stand-ins.

    Other values become literals, so they must be the program's own and never a caller's.
    """
    query = model._default_manager.filter(condition).query
    sql, values = query.where.as_sql(query.get_compiler(connection=connection), connection)
    names = {value: name for name, value in parameters.items()}
    return sql % tuple(_placeholder(value, names) for value in values)


def _placeholder(value: Any, names: Mapping[UUID, str]) -> str:  # Any: any column's type
    if isinstance(value, UUID):
        return f"%({names[value]})s"
    if isinstance(value, bool | int):
        return str(value)
    return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"
