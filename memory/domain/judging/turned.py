"""The verdict on two statements of the same words in other places."""

from __future__ import annotations

from ..types import Judgement, Verdict
from .pairs.evidence import Evidence
from .pairs.replacements import displaced
from .pairs.roles import excludes_its_turn


def on_turned(turned: str, evidence: Evidence) -> Judgement:
    """The verdict on the same words in other places: never a repetition."""
    if evidence.signals.change and not evidence.signals.additive:
        return Judgement(
            Verdict.SUPERSEDE, f'an explicit change ("{evidence.signals.change}"): {turned}', 0.9
        )
    over = displaced(evidence)
    if over:
        return Judgement(Verdict.SUPERSEDE, f"another one in place of {over}", 0.9)
    if excludes_its_turn(evidence.existing, evidence.new, evidence.comparison):
        return Judgement(
            Verdict.DISPUTE, f"the other way round: {turned}, nothing says which holds", 0.85
        )
    return Judgement(Verdict.COEXIST, f"the same words in other places: {turned}", 0.85)
