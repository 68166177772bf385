"""The web admin's pages of the log and of what was done."""

from .events import OperationalEventAdmin
from .log import EVENT_COLOURS, MemoryLogAdmin, event_title

__all__ = ["EVENT_COLOURS", "MemoryLogAdmin", "OperationalEventAdmin", "event_title"]
