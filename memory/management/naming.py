"""Finds the team that a command names."""

from __future__ import annotations

from uuid import UUID

from django.core.management.base import CommandError

from teams.services.people import ensure_team, slugs_like, team_id_of_slug


def team_named(slug: str, *, create: bool, actor: str, not_done: str) -> UUID:
    """The team of that slug; one that was mistyped makes no team of its own without `create`.

    Raises CommandError, which names teams like it and says what was `not_done`.
    """
    team_id = ensure_team(slug=slug, actor=actor) if create else team_id_of_slug(slug)
    if team_id is not None:
        return team_id
    similar = ", ".join(f"'{each}'" for each in slugs_like(slug))
    raise CommandError(
        f"There is no team '{slug}', and {not_done}."
        + (f" Teams with a similar name: {similar}." if similar else "")
        + " Check --team, or run the same command with --create-team to create it."
    )
