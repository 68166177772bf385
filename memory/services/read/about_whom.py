"""Whom an answer may tell about: profiles only of the person that whoever asks names."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer

PROFILE = MemoryType.USER_PROFILE.value


def is_untold_profile(*, memory_type: str, names_user: bool) -> bool:
    """Whether a memory is a profile and nobody said of whom one is asked for, pinned or not."""
    return not names_user and memory_type == PROFILE


def untold_profiles(count: int) -> tuple[str, ...]:
    """The warning that `count` profile memories were found and not told."""
    if not count:
        return ()
    memories = "memory was" if count == 1 else "memories were"
    return (
        f"no user is named, so {count} user_profile {memories} left out;"
        " name the user or the conversation",
    )


def mixed_users(
    *, viewer: Viewer, of: Iterable[UUID | None], told_in: str = "prompt"
) -> tuple[str, ...]:
    """The warning that a viewer who names no user is told about several of them.

    `of` are the end users whose memories are told, None for nobody's.
    """
    users = set(of) - {None}
    if viewer.end_user_id is not None or len(users) < 2:
        return ()
    return (
        f"no user is named, so the {told_in} holds memories about {len(users)} users;"
        " name the user or the conversation",
    )
