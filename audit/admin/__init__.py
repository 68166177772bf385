"""The web admin's pages of the log and of operational events."""

from . import log

__all__ = ["log"]
