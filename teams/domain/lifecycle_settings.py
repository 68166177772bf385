"""When a team's memories are merged, shortened, ranked and forgotten (seeds 000, 002 and 004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .checking import Checked

# The steps of a run, then what has tasks of its own.
PARTS = (
    "deduplicate",
    "compress",
    "rank",
    "contradictions",
    "forget",
    "link",
    "expire",
    "team_facts",
)
MOST_DAYS = 3_650
MOST_PAIRS = 10_000
_WHOLE = {
    "pairs_per_person": (0, MOST_PAIRS),
    "summarise_after_days": (0, MOST_DAYS),
    "compress_after_days": (0, MOST_DAYS),
    "cold_after_days": (1, MOST_DAYS),
    "expire_after_days": (1, MOST_DAYS),
    "expire_below": (1, 8),
    "purge_after_days": (1, MOST_DAYS),
}
_FIELDS = ("off", *_WHOLE, "cost_usd", "purge_erases")


@dataclass(frozen=True, slots=True)
class LifecycleSettings:
    """What a team sets of its consolidation; `off` names the parts that it does without.

    A judge is asked about `pairs_per_person` pairs a person and day at most, and its model may
    cost `cost_usd` a run. Episodes are summarised and compressed after so many days. Unimportant
    memories that nobody asks for turn cold after `cold_after_days`; those whose importance is below
    `expire_below` are soft-deleted when nobody asked for them for `expire_after_days`, and purged
    after `purge_after_days` more. With `purge_erases` a purge erases their texts, from the log too.
    """

    off: tuple[str, ...] = ()
    pairs_per_person: int = 50
    summarise_after_days: int = 7
    compress_after_days: int = 30
    cold_after_days: int = 90
    expire_after_days: int = 60
    expire_below: int = 3
    purge_after_days: int = 30
    cost_usd: float = 1.0
    purge_erases: bool = False

    @classmethod
    def of(cls, stored: object) -> LifecycleSettings:
        """The settings under what a team stored; what cannot be used is passed over."""
        return _read(Checked(stored if isinstance(stored, Mapping) else None))

    def does(self, part: str) -> bool:
        """Whether the team lets this part run."""
        return part not in self.off


def check_lifecycle_settings(value: object) -> dict[str, object]:
    """What a team sets otherwise than the defaults; null takes one back.

    Raises DocumentError for unknown names and for values that cannot be used.
    """
    given = Checked(value)
    _read(given)
    given.raise_problems()
    return {name: each for name, each in given.mapping().items() if each is not None}


def _read(given: Checked) -> LifecycleSettings:
    parts = given.fields(_FIELDS)
    off = tuple(
        dict.fromkeys(
            name
            for each in parts["off"].items(most=len(PARTS))
            if (name := each.choice(PARTS, is_required=True))
        )
    )
    whole = {
        name: number
        for name, (least, most) in _WHOLE.items()
        if (number := parts[name].whole(least=least, most=most)) is not None
    }
    usual = LifecycleSettings()
    erases = parts["purge_erases"].flag()
    return LifecycleSettings(
        off=off,
        cost_usd=_cost(parts["cost_usd"], usual.cost_usd),
        purge_erases=usual.purge_erases if erases is None else erases,
        **whole,
    )


def _cost(given: Checked, usual: float) -> float:
    value = given.value
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000:
        given.problem("Must be a number of USD from 0 to 10,000.")
        return usual
    return float(value)
