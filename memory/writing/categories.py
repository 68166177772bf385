"""A team's categories: loaded from its file, and asked for when memories name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.categories import CategoryFile, CategoryRule
from memory.models import Category
from teams.errors import ForbiddenError, InvalidError
from teams.models import Agent, Team
from teams.services.people import ensure_agent
from teams.tenancy import team_scope


def load_categories(*, team_id: UUID, file: CategoryFile, actor: str) -> list[str]:
    """Make the team's categories those of the file, and its agents' allowlists too; all or nothing.

    Agents that the file names are created when new, so that a restriction holds from their first
    word on; agents that it does not name keep what they have. Memories keep the category they
    name. Returns lines that say what changed; loading the same file again changes nothing.
    """
    with team_scope(team_ids=[team_id], actor=actor, reason="load categories"):
        # Two loads at the same time take turns.
        Team.objects.select_for_update().get(pk=team_id)
        return [*_load_rules(team_id, file.categories), *_load_allowlists(team_id, file)]


def check_stated_categories(*, viewer: Viewer, names: Sequence[str]) -> dict[str, InvalidError]:
    """The refusal of each name that is no category of the team; empty for a team without a list.

    Call it in the team's scope.
    """
    wanted = {name for name in names if name}
    if not wanted:
        return {}
    known = category_names(team_id=viewer.team_id)
    if not known:
        return {}
    return {
        name: _unknown(name, known, viewer=viewer, field="category") for name in wanted - set(known)
    }


def check_allowlist(*, team_id: UUID, names: Sequence[str], agent: Agent | None) -> None:
    """Raise InvalidError for new names in an agent's allowlist that are no category of the team.

    What stands in the agent's list already may stay: a file of categories may have named it before
    the category exists. A team without a list takes any name. Call it in the team's scope.
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


def category_names(*, team_id: UUID) -> list[str]:
    """The team's categories in order; call it in the team's scope."""
    rows = Category.objects.filter(team_id=team_id).order_by("name")
    return list(rows.values_list("name", flat=True))


def check_allowed(*, allowed: Sequence[str], names: Sequence[str], field: str) -> None:
    """Raise ForbiddenError for the first category that an agent's allowlist does not hold.

    Whether the team has that category makes no difference. An empty allowlist holds all.
    """
    for name in names if allowed else ():
        if name and name not in allowed:
            raise ForbiddenError(
                f"This agent may not use the category '{name}'; it may use: {', '.join(allowed)}.",
                field=field,
            )


def _unknown(name: str, known: Sequence[str], *, viewer: Viewer, field: str) -> InvalidError:
    """The refusal of a name, with those of the known ones that the viewer may see."""
    allowed = viewer.allowed_categories
    shown = ", ".join(each for each in known if not allowed or each in allowed)
    return InvalidError(
        f"There is no category '{name}'; known are: {shown or 'none'}.", field=field
    )


def requested_categories(*, viewer: Viewer, names: Sequence[str]) -> list[Category]:
    """The team's categories of those names, in the order asked for; call it in its scope.

    A team without a list has none of them and takes any name. Raises InvalidError for a name that
    the list does not have.
    """
    rows = {row.name: row for row in Category.objects.filter(team_id=viewer.team_id)}
    unknown = [name for name in names if name not in rows]
    if rows and unknown:
        raise _unknown(unknown[0], sorted(rows), viewer=viewer, field="categories")
    return [rows[name] for name in dict.fromkeys(names) if name in rows]


def _load_rules(team_id: UUID, rules: Sequence[CategoryRule]) -> Iterator[str]:
    stored = {row.name: row for row in Category.objects.filter(team_id=team_id)}
    for rule in rules:
        row = stored.pop(rule.name, None)
        if row is None:
            Category.objects.create(
                team_id=team_id,
                name=rule.name,
                description=rule.description,
                context=rule.context.value,
                length=rule.length,
            )
            yield f"added {rule.name}: {_described(rule.context, rule.length)}"
            continue
        before = _described(row.context, row.length)
        after = _described(rule.context, rule.length)
        has_new_text = row.description != rule.description
        if before != after or has_new_text:
            row.description, row.context = rule.description, rule.context.value
            row.length = rule.length
            row.save(update_fields=["description", "context", "length"])
            details = [f"{before} → {after}"] if before != after else []
            details += ["description"] if has_new_text else []
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
