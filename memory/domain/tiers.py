"""Rules for hot, warm and cold memories and their expiry (seed 000, "Tier Manager"; seed 004, §7).

A run does what these rules say, one page of memories after the other. Whatever the use, it never
makes what is pinned, an identity or of an importance of 8 or more cold, nor deletes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memory.domain.types import MemoryType, Status, Tier

HOT_IMPORTANCE = 9
KEPT_IMPORTANCE = 8
# Hot by use is what was told more often than this in the last days.
HOT_ACCESSES = 10
HOT_DAYS = 7
# What is less important, and was of use less often in all its life, is unused.
UNUSED_BELOW = 3
UNUSED_ACCESSES = 2
# A cold memory is warm again when it was told so often in the last days.
BACK_ACCESSES = 2
# After its last day a memory is asked for a little longer.
OUTDATED_AFTER = timedelta(days=7)

_LIVE = (Status.ACTIVE, Status.DISPUTED)


@dataclass(frozen=True, slots=True)
class Standing:
    """The facts that decide a memory's tier; times are aware.

    `accesses` counts how often it was told, cited or said to help in all its life, `recent` how
    often it was told in the last HOT_DAYS days.
    """

    memory_type: str
    status: str
    tier: str
    importance: int
    is_pinned: bool
    created_at: datetime
    valid_to: datetime | None = None
    last_accessed_at: datetime | None = None
    accesses: int = 0
    recent: int = 0

    @property
    def is_live(self) -> bool:
        """Returns whether readers see the memory by default."""
        return self.status in _LIVE

    @property
    def is_kept(self) -> bool:
        """Returns whether the memory is never made cold or deleted by a run."""
        return (
            self.is_pinned
            or self.memory_type == MemoryType.IDENTITY
            or self.importance >= KEPT_IMPORTANCE
        )

    def is_outdated(self, now: datetime) -> bool:
        """Returns whether the memory stopped being valid more than OUTDATED_AFTER ago."""
        return self.valid_to is not None and self.valid_to + OUTDATED_AFTER < now


def recent_accesses(daily: Mapping[str, int], *, now: datetime) -> int:
    """Counts the accesses to a memory today and in the days before, HOT_DAYS in all.

    `daily` is that of its counters: days in UTC, such as {"2026-03-01": 4}.
    """
    oldest = (now.astimezone(UTC) - timedelta(days=HOT_DAYS - 1)).date().isoformat()
    return sum(count for day, count in daily.items() if day >= oldest)


def hot_because(standing: Standing, *, now: datetime) -> str:
    """Returns the reason for a live memory to be hot; "" where it is not."""
    if standing.is_pinned:
        return "it is pinned"
    if standing.importance >= HOT_IMPORTANCE:
        return f"its importance is {standing.importance}"
    if standing.recent > HOT_ACCESSES and not standing.is_outdated(now):
        return f"it was told {standing.recent} times in {HOT_DAYS} days"
    return ""


def ranked_tier(standing: Standing, *, now: datetime) -> tuple[Tier, str]:
    """The tier of a live memory by its use, and why; "" where it stays.

    Nothing turns cold here: see `cold_because`.
    """
    tier = Tier(standing.tier)
    if not standing.is_live:
        return tier, ""
    why = hot_because(standing, now=now)
    if why:
        return (Tier.HOT, why) if tier is not Tier.HOT else (tier, "")
    if tier is Tier.HOT:
        return Tier.WARM, f"it was told {standing.recent} times in {HOT_DAYS} days"
    if tier is Tier.COLD and standing.is_kept:
        return Tier.WARM, f"its importance is {standing.importance}"
    is_back = standing.recent >= BACK_ACCESSES and not standing.is_outdated(now)
    if tier is Tier.COLD and is_back:
        return Tier.WARM, f"it was told {standing.recent} times in {HOT_DAYS} days again"
    return tier, ""


def cold_because(standing: Standing, *, unused_days: int, now: datetime) -> str:
    """Returns the reason for a memory to turn cold; "" where it stays as it is.

    It is superseded, outdated, or unused: older than `unused_days`, of an importance below 3 and
    accessed less than twice in its life. What is in dispute waits for a person.
    """
    if standing.is_kept or standing.tier == Tier.COLD:
        return ""
    if standing.status == Status.SUPERSEDED:
        return "it is superseded"
    if standing.status != Status.ACTIVE:
        return ""
    if standing.is_outdated(now) and standing.valid_to is not None:
        return f"it held until {standing.valid_to:%Y-%m-%d}"
    is_unused = (
        standing.importance < UNUSED_BELOW
        and max(standing.accesses, standing.recent) < UNUSED_ACCESSES
    )
    if is_unused and standing.created_at < now - timedelta(days=unused_days):
        return f"importance {standing.importance}, {standing.accesses} accesses in all"
    return ""


def expires_because(standing: Standing, *, below: int, days: int, now: datetime) -> str:
    """Returns the reason for an active memory to expire; "" where it stays.

    Its importance is under `below`, and nobody was told it for `days` days: since it was made where
    that never happened.
    """
    if standing.is_kept or standing.status != Status.ACTIVE or standing.importance >= below:
        return ""
    last = standing.last_accessed_at
    since = last if last is not None and last > standing.created_at else standing.created_at
    if since >= now - timedelta(days=days):
        return ""
    told = f"last told on {since:%Y-%m-%d}" if last == since else f"never since {since:%Y-%m-%d}"
    return f"importance {standing.importance}, {told}"
