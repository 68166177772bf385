"""Arguments that several commands take."""

from __future__ import annotations

from argparse import ArgumentTypeError
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug

from teams.services.people import ensure_team, slugs_like, team_id_of_slug

_MOST = 36_500


def check_team_slug(slug: str) -> str:
    """The slug; CommandError for anything that is not one."""
    try:
        validate_slug(slug)
    except ValidationError:
        raise CommandError(
            "--team must be a slug: letters, digits, hyphens and underscores."
        ) from None
    return slug


def existing_team(slug: str) -> UUID:
    """The team of that slug; CommandError where there is none."""
    team_id = team_id_of_slug(slug)
    if team_id is None:
        raise CommandError(f"There is no team '{slug}'.")
    return team_id


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


def positive_number(given: str) -> float:
    """A number above 0, of days or hours that a time can be counted with."""
    try:
        number = float(given)
    except ValueError:
        number = 0
    if not 0 < number <= _MOST:
        raise ArgumentTypeError(f"give a number above 0 and up to {_MOST:,}, not {given!r}")
    return number
