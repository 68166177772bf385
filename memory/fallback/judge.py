"""The judge without a language model: a `Judge` that weighs what two statements share."""

from __future__ import annotations

import threading
from typing import Final

from cachetools import LRUCache

from memory.domain.text.normalise import normalise_text
from memory.domain.types import Judgement, Statement, Verdict

from .judgement.model import fitted_model
from .judgement.pairing import lay_side_by_side
from .judgement.reading import Reading, WordVectors, read
from .judgement.subjects import strangers
from .judgement.verdicts import change_told, decide

# About 15 KB each.
_READINGS_KEPT: Final = 1_024
_SECONDS_A_DAY: Final = 86_400


class RulesJudge:
    """A `Judge` by word tables and a small linear model; deterministic and thread-safe.

    `word_vectors` gives a vector for each word, unscaled, so that its length tells how much the
    word says. English; of other languages it knows only what is repeated word for word.
    """

    name = "rules"

    def __init__(self, *, word_vectors: WordVectors) -> None:
        self._word_vectors = word_vectors
        self._readings: LRUCache[str, Reading] = LRUCache(maxsize=_READINGS_KEPT)
        self._lock = threading.Lock()

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair with its reason; the confidence is the share of the evidence."""
        if normalise_text(existing.content) == normalise_text(new.content):
            return Judgement(Verdict.DUPLICATE, "the same words", 1.0)
        pair = lay_side_by_side(
            old=self._read(existing.content),
            new=self._read(new.content),
            old_path=existing.subject,
            new_path=new.subject,
            days=(new.at - existing.at).total_seconds() / _SECONDS_A_DAY,
        )
        if not (pair.old.is_one_sentence and pair.new.is_one_sentence):
            return Judgement(Verdict.COEXIST, "several sentences say several things", 0.95)
        apart = strangers(pair)
        if apart and not change_told(pair.new):
            return Judgement(Verdict.COEXIST, f"different subjects: {apart}", 0.95)
        return decide(pair=pair, shares=fitted_model().shares(pair))

    def tells_change(self, text: str) -> bool:
        """Whether an English statement says that something changed or was wrong."""
        return bool(change_told(self._read(text)))

    def _read(self, text: str) -> Reading:
        with self._lock:
            reading = self._readings.get(text)
        if reading is None:
            reading = read(text, word_vectors=self._word_vectors)
            with self._lock:
                self._readings[text] = reading
        return reading
