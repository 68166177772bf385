"""The web admin's pages of the log and of operational events."""

from . import events, log

__all__ = ["events", "log"]
