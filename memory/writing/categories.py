"""A team's categories: loaded from its file, and checked when memories name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.categories import CategoryFile, CategoryRule
from memory.models import Category
from teams.errors import ForbiddenError, InvalidError
from teams.models import Agent, Team
from teams.services.people import ensure_agent
from teams.tenancy import team_scope


def category_names(*, team_id: UUID) -> list[str]:
    """Returns the team's categories in order; call it in the team's scope."""
    rows = Category.objects.filter(team_id=team_id).order_by("name")
    return list(rows.values_list("name", flat=True))


def requested_categories(*, viewer: Viewer, names: Sequence[str]) -> list[Category]:
    """Returns the team's categories of those names, in the order asked for; call it in its scope.

    None for a team without a list, which takes any name. Raises InvalidError for a name that the
    list does not have.
    """
    rows = {row.name: row for row in Category.objects.filter(team_id=viewer.team_id)}
    unknown = [name for name in names if name not in rows]
    if rows and unknown:
        raise _unknown(unknown[0], sorted(rows), viewer=viewer, field="categories")
    return [rows[name] for name in dict.fromkeys(names) if name in rows]


def check_stated_categories(*, viewer: Viewer, names: Sequence[str]) -> dict[str, InvalidError]:
    """Returns an error for each name that is not on the team's list, if it has one; in scope."""
    wanted = {name for name in names if name}
    known = category_names(team_id=viewer.team_id) if wanted else []
    unknown = wanted.difference(known) if known else set[str]()
    return {name: _unknown(name, known, viewer=viewer, field="category") for name in unknown}


def check_allowlist(*, team_id: UUID, names: Sequence[str], agent: Agent | None) -> None:
    """Raises InvalidError for new names in an agent's allowlist that are not on the team's list.

    A name on the agent's list already may stay: a file of categories may have named it before the
    category exists. A team without a list takes any name. Call it in the team's scope.
    """
    kept = agent.allowed_categories if agent is not None else []
    new = [name for name in names if name not in (kept if isinstance(kept, list) else [])]
    known = category_names(team_id=team_id) if new else []
    unknown = [name for name in new if name not in known]
    if known and unknown:
        raise InvalidError(
            f"There is no category '{unknown[0]}'; known are: {', '.join(known)}.",
            field="memory_config.allowed_categories",
        )


def check_allowed(*, allowed: Sequence[str], names: Sequence[str], field: str) -> None:
    """Raises ForbiddenError for the first category that is not on an agent's allowlist.

    An empty allowlist holds all categories, also those that the team does not have.
    """
    for name in names if allowed else ():
        if name and name not in allowed:
            raise ForbiddenError(
                f"This agent may not use the category '{name}'; it may use: {', '.join(allowed)}.",
                field=field,
            )


def _unknown(name: str, known: Sequence[str], *, viewer: Viewer, field: str) -> InvalidError:
    allowed = viewer.allowed_categories
    shown = ", ".join(each for each in known if not allowed or each in allowed)
    return InvalidError(
        f"There is no category '{name}'; known are: {shown or 'none'}.", field=field
    )


# -- loading ---------------------------------------------------------------------------------


def load_categories(*, team_id: UUID, file: CategoryFile, actor: str) -> list[str]:
    """Makes the team's categories and its agents' allowlists those of the file; all or nothing.

    Agents that the file names are created when new, so that a restriction holds from their first
    message on; other agents keep their lists, and memories their categories. Returns a line for
    each change.
    """
    with team_scope(team_ids=[team_id], actor=actor, reason="load categories"):
        # Two loads at the same time take turns.
        Team.objects.select_for_update().get(pk=team_id)
        return [*_load_rules(team_id, file.categories), *_load_allowlists(team_id, file)]


def _load_rules(team_id: UUID, rules: Sequence[CategoryRule]) -> Iterator[str]:
    stored = {row.name: row for row in Category.objects.filter(team_id=team_id)}
    for rule in rules:
        row = stored.pop(rule.name, None)
        values: dict[str, Any] = {  # Any: texts and a number
            "description": rule.description,
            "context": rule.context.value,
            "length": rule.length,
        }
        after = _described(rule.context, rule.length)
        if row is None:
            Category.objects.create(team_id=team_id, name=rule.name, **values)
            yield f"added {rule.name}: {after}"
            continue
        before = _described(row.context, row.length)
        details = [f"{before} → {after}"] if before != after else []
        details += ["description"] if row.description != rule.description else []
        if details:
            Category.objects.filter(team_id=team_id, pk=row.pk).update(**values)
            yield f"changed {rule.name}: {', '.join(details)}"
    for row in stored.values():
        row.delete()
        yield f"removed {row.name}"


def _load_allowlists(team_id: UUID, file: CategoryFile) -> Iterator[str]:
    for slug, names in file.allowlists.items():
        agent = ensure_agent(team_id=team_id, slug=slug)
        if tuple(agent.allowed_categories) != names:
            Agent.objects.filter(team_id=team_id, pk=agent.pk).update(
                allowed_categories=list(names)
            )
            yield f"allowed {slug}: {', '.join(names) or 'everything'}"


def _described(context: str, length: int | None) -> str:
    return f"{context}, {f'at most {length}' if length else 'any number'}"
