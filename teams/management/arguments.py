"""Arguments that several commands take."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug


def check_team_slug(slug: str) -> str:
    """The slug; CommandError for anything that is not one."""
    try:
        validate_slug(slug)
    except ValidationError:
        raise CommandError(
            "--team must be a slug: letters, digits, hyphens and underscores."
        ) from None
    return slug
