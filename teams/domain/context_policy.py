"""How the budget of a task's package is shared out (seed 003, sections 5.2 and 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .checking import Checked

TIERS = ("task", "project", "global")
DEFAULT_SHARES = {"task": 0.4, "project": 0.4, "global": 0.2}
MOST_PRESERVED = 100
SUM = "The shares must not add up to more than 1."


@dataclass(frozen=True, slots=True)
class ContextPolicy:
    """The shares (0-1) of task, project and global, and how many items stay at either end."""

    shares: tuple[float, float, float] = (0.4, 0.4, 0.2)
    head_tail_preserve: int = 0

    @classmethod
    def read(cls, stored: object) -> ContextPolicy:
        """The policy of an agent's row, with defaults for what it does not say or cannot."""
        given = stored if isinstance(stored, dict) else {}
        checked = check_policy(Checked({n: v for n, v in given.items() if n in _FIELDS}))
        shares = checked.get("shares")
        ends = checked.get("head_tail_preserve")
        return cls(
            shares=shares_of(shares) if isinstance(shares, dict) else cls().shares,
            head_tail_preserve=ends if isinstance(ends, int) else 0,
        )


_FIELDS = ("shares", "head_tail_preserve")


def shares_of(given: Mapping[str, float]) -> tuple[float, float, float]:
    """The shares of task, project and global; a tier that is not named has none of its own."""
    task, project, everything = (float(given.get(tier) or 0) for tier in TIERS)
    return task, project, everything


def exceeds(shares: Mapping[str, float]) -> bool:
    """Whether they add up to more than the whole budget, rounding apart."""
    return sum(shares.values()) > 1 + 1e-9


def check_policy(given: Checked) -> dict[str, object]:
    """The policy as far as it can be read; what cannot is noted as a problem."""
    parts = given.fields(_FIELDS)
    policy: dict[str, object] = {}
    shares: dict[str, float] = {}
    for tier, part in parts["shares"].fields(TIERS).items():
        value = part.value
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            part.problem("Must be a number from 0 to 1.")
        else:
            shares[tier] = float(value)
    if exceeds(shares):
        parts["shares"].problem(SUM)
    elif shares:
        policy["shares"] = shares
    ends = parts["head_tail_preserve"].whole(least=0, most=MOST_PRESERVED)
    return policy | ({} if ends is None else {"head_tail_preserve": ends})
