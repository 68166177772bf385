"""How a memory reads in lists and on its page: whose it is, what kind, how old, how much used."""

from __future__ import annotations

from datetime import datetime

from django.utils.timesince import timesince

from memory.models import Memory, MemoryUsage

STATUS_WORDS = {"soft_deleted": "deleted"}


def type_words(memory_type: str) -> str:
    """A memory's type as people say it."""
    return memory_type.replace("_", " ")


def status_words(status: str) -> str:
    """A memory's status as people say it."""
    return STATUS_WORDS.get(status, status.replace("_", " "))


def whose(memory: Memory) -> str:
    """Whom it belongs to: a person, an agent, a project, or everybody in the team."""
    owners = []
    if memory.end_user is not None:
        owners.append(str(memory.end_user))
    if memory.agent is not None:
        owners.append(f"{memory.agent.slug} (agent)")
    if memory.project is not None:
        owners.append(f"{memory.project} (project)")
    return ", ".join(owners) or "the team"


def age(moment: datetime, *, now: datetime) -> str:
    """How long ago, in its largest unit: "3 days"."""
    return timesince(moment, now, depth=1).replace("\xa0", " ")


def use_words(usage: MemoryUsage | None, *, now: datetime) -> str:
    """How often answers had it and when last: "12 times, 2 days ago"; "never"."""
    if usage is None or not usage.retrieved:
        return "never"
    times = "once" if usage.retrieved == 1 else f"{usage.retrieved:,} times"
    if usage.last_accessed_at is None:
        return times
    return f"{times}, {age(usage.last_accessed_at, now=now)} ago"


def usage_of(memory: Memory) -> MemoryUsage | None:
    """Its counters, None where no answer had it yet; no query where the row was read with them."""
    try:
        return memory.usage
    except MemoryUsage.DoesNotExist:
        return None
