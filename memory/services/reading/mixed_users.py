"""Whether an answer tells of several people because nobody was named."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memory.domain.viewer import Viewer


def mixed_users(
    *, viewer: Viewer, of: Iterable[UUID | None], told_in: str = "prompt"
) -> tuple[str, ...]:
    """The warning that what a viewer without a user is told holds what is known of several.

    `of` are the end users whose memories are told, None for nobody's.
    """
    if viewer.end_user_id is not None:
        return ()
    users = set(of) - {None}
    if len(users) < 2:
        return ()
    return (
        f"no user is named, so the {told_in} holds memories about {len(users)} users;"
        " name the user or the conversation",
    )
