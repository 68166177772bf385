"""Whether two statements speak of the same matter at all, before anybody asks how they stand.

A judge's verdict presumes that they do. In a store nearly all neighbours do not: judged without
this question, one new memory in six would conflict with something it has nothing to do with.
"""

from __future__ import annotations

import math

from ..types import Statement
from .evidence import weigh
from .features import features_of
from .patterns import strangers
from .related_weights import COSINE, SQUARE, WEIGHTS

# The similarity from which the fitted embedder's vectors say anything, see `related_weights`.
ANCHOR = 0.3


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


def is_specific(subject: str) -> bool:
    """Whether a subject path names a matter, and not just the kind of memory it is."""
    return "." in subject and not subject.startswith(("fact.", "event.", "activity."))
