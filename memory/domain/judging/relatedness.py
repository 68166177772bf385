"""Whether two statements speak of the same matter at all, before anybody asks how they stand.

A judge's verdict presumes that they do. In a store nearly all neighbours do not: judged without
this question, one new memory in six would conflict with something it has nothing to do with.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import IntEnum

from ..types import Statement
from .pairs.called import ends_called
from .pairs.change_words import may_concern, tells_change
from .pairs.clauses import clause_texts
from .pairs.evidence import weigh
from .pairs.features import features_of
from .pairs.left_what import ends_stay
from .pairs.own_things import changes_own
from .pairs.patterns import strangers
from .pairs.replacing import ends_by_name, may_take_place, takes_place
from .pairs.values_apart import figure_is_now
from .presenting import by_one_name
from .reading.frames import read
from .related_weights import COSINE, SQUARE, WEIGHTS

# The similarity from which the fitted embedder's vectors say anything, see `related_weights`.
ANCHOR = 0.3


class Change(IntEnum):
    """What a statement says of another one's matter: nothing, that it changed, that it is over.

    `ENDED` names the old value ("dropped DHL"); `OF_ASPECT` a new value of the same aspect only
    ("now uses Linear").
    """

    NONE = 0
    OF_ASPECT = 1
    ENDED = 2


def relatedness(
    *, existing: Statement, new: Statement, similarity: float, anchor: float = ANCHOR
) -> float:
    """The chance 0-1 that the two are about one matter, by their words and their cosine.

    `similarity` is the cosine of their vectors; `anchor` is the embedder's opposition similarity,
    so that another embedder's scale is read as the one the weights were fitted on. It is 0 for
    two statements about two things by name, which a judge would only let stand side by side.
    """
    if strangers(existing.content, new.content):
        return 0.0
    cosine = ANCHOR + (similarity - anchor) * (1 - ANCHOR) / max(1e-6, 1 - anchor)
    score = COSINE * cosine + SQUARE * cosine * abs(cosine)
    for feature, value in features_of(weigh(existing, new)).items():
        score += WEIGHTS.get(feature, 0.0) * value
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, score))))


def names_change(*, existing: Statement, new: Statement) -> Change:
    """What the new statement says in so many words of the existing one, whatever their vectors.

    Static vectors hardly tell that "switched to Linear" is about "uses Jira".
    """
    existing, new = by_one_name(existing, new)
    if not tells_change(new.content) or not may_concern(new=new.content, text=existing.content):
        return Change.NONE
    if strangers(existing.content, new.content):
        return Change.NONE
    told = _change_told(existing, new)
    if told is Change.NONE:
        clauses = clause_texts(read(existing.content))
        told = max(
            (_change_told(replace(existing, content=text), new) for text in clauses),
            default=Change.NONE,
        )
    return told


def _change_told(existing: Statement, new: Statement) -> Change:
    evidence = weigh(existing, new)
    if ends_by_name(evidence) or ends_called(evidence) or ends_stay(evidence):
        return Change.ENDED
    is_told = takes_place(evidence) or may_take_place(evidence) or figure_is_now(evidence)
    is_told = is_told or changes_own(existing.content, new.content)
    return Change.OF_ASPECT if is_told else Change.NONE
