"""What is learned of signals: after which of them a memory was of use, with decay."""

from __future__ import annotations

import re
from datetime import datetime

from memory.domain.work import Signals

HALF_LIFE_DAYS = 30.0
MOST_KEY_CHARS = 200
# How much one useful memory at the very same signal says: half of what is certain.
_ENOUGH = 1.0
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"|`[^`]*`")
_CLASS = re.compile(r"^\s*([A-Za-z_][\w.]*)\s*:")


def keys_of(signals: Signals, *, collaborator: str = "") -> dict[str, float]:
    """What a use is counted under, each with how much it says (0-1): the narrower, the more.

    A file counts with its folder and its module's name, an error by its class and by the shape of
    its message (without numbers and quotations), a moment by the hour of the week.
    `collaborator` is the id of the person that the signals name.
    """
    keys: dict[str, float] = {}
    for path in signals.files:
        folder, _, name = path.rpartition("/")
        keys[f"file:{path}"] = 1.0
        keys[f"module:{name.partition('.')[0].lower()}"] = 0.4
        if folder:
            keys[f"folder:{folder}"] = 0.2
    if signals.branch:
        keys[f"branch:{signals.branch}"] = 1.0
    for error in signals.recent_errors:
        keys[f"error:{shape_of(error)}"] = 1.0
        if kind := _CLASS.match(error):
            keys[f"error class:{kind[1]}"] = 0.3
    if signals.time is not None:
        keys[f"hour:{signals.time:%w-%H}"] = 0.3
    if collaborator:
        keys[f"collaborator:{collaborator}"] = 0.5
    return {key[:MOST_KEY_CHARS]: weight for key, weight in keys.items()}


def shape_of(error: str) -> str:
    """The first line of an error without what varies from one time to the next."""
    return " ".join(_VARYING.sub("*", error.strip().partition("\n")[0]).split())


def decayed(weight: float, *, since: datetime, now: datetime) -> float:
    """What is left of a weight: half of it after 30 days."""
    days = max(0.0, (now - since).total_seconds() / 86_400)
    return weight * float(0.5 ** (days / HALF_LIFE_DAYS))


def confidence_of(weight: float) -> float:
    """The chance (0-1) that a use of that weight, added up over the signals, comes again."""
    return weight / (weight + _ENOUGH)
