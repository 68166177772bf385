"""Whether an answer tells of several people because nobody was named."""

from __future__ import annotations

from collections.abc import Iterable

from memory.domain.viewer import Viewer
from memory.services.reading.ranking import Ranked


def mixed_users(*, viewer: Viewer, told: Iterable[Ranked]) -> tuple[str, ...]:
    """The warning that a prompt for a viewer without a user holds what is known of several."""
    if viewer.end_user_id is not None:
        return ()
    users = {each.row.end_user_id for each in told} - {None}
    if len(users) < 2:
        return ()
    return (
        f"no user is named, so the prompt holds memories about {len(users)} users;"
        " name the user or the conversation",
    )
