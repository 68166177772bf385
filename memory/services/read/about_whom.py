"""Warns that nothing about people is told where a request names nobody."""

from __future__ import annotations

from memory.domain.viewer import Viewer

_WARNING = "no user is named, so nothing about people is told; name the user or the conversation"


def nobody_named(viewer: Viewer) -> tuple[str, ...]:
    """The warning of an answer for a viewer who names nobody, else none."""
    return (_WARNING,) if viewer.names_nobody else ()
