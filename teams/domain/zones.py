"""A team's time zone: where its days and months begin."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=256)
def known_zone(name: str) -> ZoneInfo | None:
    """The zone of an IANA name such as "Europe/Oslo"; None where there is none of that name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Unknown names, what is no name, and folders of zones.
        return None


def zone_or_utc(name: str) -> tzinfo:
    """The zone of that name; UTC where this machine knows none of it."""
    return known_zone(name) or UTC
