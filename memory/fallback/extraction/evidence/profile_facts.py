"""Which lasting fact of their own person somebody tells."""

from __future__ import annotations

from ..profile import attribute_of, tells_of_oneself
from .seen import Seen


def profile_facts(seen: Seen) -> set[str]:
    """Features of the profile fact that the clause tells."""
    if not seen.statement.is_persons:
        return set()
    attribute = attribute_of(seen.clause)
    if not attribute:
        return set()
    found = {f"profile {attribute}", "profile"}
    if tells_of_oneself(seen.clause):
        found.add("own profile")
        if seen.request is None and not seen.statement.is_question:
            found.add("own profile stated")
    return found
