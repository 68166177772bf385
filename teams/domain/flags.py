"""Switches of whole parts (seed 000, FeatureFlags): the installation's, overridden by a team's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from .checking import Checked


@dataclass(frozen=True, slots=True)
class Flags:
    """Which parts are on."""

    memory: bool = True
    compaction_shield: bool = True
    contradiction_detection: bool = True
    model_routing: bool = True
    team_facts: bool = True
    episodes: bool = True
    insights: bool = True

    def overridden(self, overrides: object) -> Flags:
        """These flags with a team's own; what is no flag or no true or false is passed over."""
        if not isinstance(overrides, Mapping):
            return self
        own = {
            name: value
            for name, value in overrides.items()
            if name in FLAGS and isinstance(value, bool)
        }
        return replace(self, **own) if own else self

    def as_json(self) -> dict[str, bool]:
        """By name."""
        return asdict(self)


FLAGS = tuple(item.name for item in fields(Flags))


def check_overrides(value: object) -> dict[str, bool]:
    """A team's overrides, {"memory": false} and the like; null takes one back.

    Raises DocumentError for unknown flags and for what is not true, false or null.
    """
    given = Checked(value)
    own = {name: part.flag() for name, part in given.fields(FLAGS).items()}
    given.raise_problems()
    return {name: value for name, value in own.items() if value is not None}
