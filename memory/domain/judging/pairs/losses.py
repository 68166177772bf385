"""The words by which a statement tells that its subject died or is gone."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading

_DYING: tuple[tuple[str, ...], ...] = (
    ("died",), ("passed", "away"), ("has", "passed"), ("drowned",), ("perished",),
)  # fmt: skip
# What is not said of people.
_GOING: tuple[tuple[str, ...], ...] = (
    ("was", "put", "down"), ("been", "put", "down"), ("was", "put", "to", "sleep"),
    ("been", "put", "to", "sleep"), ("euthanised",), ("euthanized",), ("ran", "away"),
    ("run", "away"), ("rehomed",), ("given", "away"), ("was", "stolen"), ("was", "sold"),
    ("escaped",), ("flew", "away"), ("new", "home"),
)  # fmt: skip
_REACH = 4
_BEGINNINGS = frozenset(phrase[0] for phrase in (*_DYING, *_GOING))
DEATHS = frozenset(" ".join(phrase) for phrase in _DYING)


@kept_by_reading
def loss_of(reading: Reading) -> str:
    """The words by which a statement tells that its subject died or is gone, or ""."""
    if _BEGINNINGS.isdisjoint(reading.lowers):
        return ""
    lowers = [token.lower for token in reading.tokens]
    if reading.negative or reading.head >= len(lowers) or "almost" in lowers or "nearly" in lowers:
        return ""
    for i in range(reading.head, min(len(lowers), reading.head + _REACH)):
        for phrase in (*_DYING, *_GOING):
            if tuple(lowers[i : i + len(phrase)]) == phrase and not reading.tokens[i].separator:
                return " ".join(phrase)
    return ""
