"""Rules that are lifted: an obligation or a ban, and the news that it is no more."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import Comparison

_OBLIGING = words(
    "must mandatory required requires require compulsory obligatory need needs banned forbidden "
    "prohibited allowed permitted limited capped restricted may cannot closed has have only no not"
)
_NORMS = frozenset(
    stem(word)
    for word in words(
        "requirement obligation ban rule limit restriction duty mandate curfew cap policy embargo "
        "freeze quota condition prohibition ceiling moratorium regulation"
    )
)
_LIFTING = frozenset(
    stem(word)
    for word in words(
        "lift abolish drop waive scrap repeal remove suspend end expire rescind revoke withdraw "
        "discontinue cancel overturn relax fall lapse annul void ease"
    )
)


def norm_lifted(e: Reading, n: Reading, c: Comparison) -> str:
    """The words that say of a rule of the existing statement that it is over, or "".

    "Visitors must wear a badge", "the badge requirement was lifted".
    """
    if not any(not a.is_name for a, _ in c.shared) or _OBLIGING.isdisjoint(e.lowers):
        return ""
    rule = next((t for t in n.tokens if t.stem in _NORMS), None)
    if rule is None:
        return ""
    for i, token in enumerate(n.tokens):
        told = token.stem in _LIFTING and token.lower != token.stem and i not in n.denied
        if told and not (c.left_existing and _is_of_something_else(c)):
            return f"{rule.text} / {token.text}"
    return ""


def _is_of_something_else(c: Comparison) -> bool:
    """Whether the two name different things: "the mask rule", "the badge rule was lifted"."""
    return any(w.is_name for w in c.left_existing) and any(w.is_name for w in c.left_new)
