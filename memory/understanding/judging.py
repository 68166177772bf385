"""Judges how a new statement stands to an existing one with the small model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from memory.domain.types import Judgement, Statement, Verdict
from memory.understanding.encoder import Encoder
from memory.understanding.reading import softmax
from memory.understanding.spoken_language import is_english

# The outputs of the head in their order.
VERDICTS: Final = (Verdict.SUPERSEDE, Verdict.DISPUTE, Verdict.COEXIST, Verdict.DUPLICATE)
MAX_TOKENS: Final = 128
# A conflict counts from this chance of supersede and dispute together, and retires the earlier
# statement from this chance of supersede alone; figures: docs/understanding.md.
CONFLICT_FROM: Final = 0.5
RETIRE_FROM: Final = 0.6
_CACHED_PAIRS: Final = 4_096
# Of a pair that is not English.
_UNREAD: Final = np.full(len(VERDICTS), np.nan, np.float32)


class SmallJudge:
    """The judging model, a `Judge`; deterministic and thread-safe. About 4 ms a pair on one core.

    A conflict is a dispute unless the chance of a supersession is above a bar of its own. The
    confidence of a conflict is the chance of any conflict, that of the others their own chance.
    A pair that is not English coexists, and may be in conflict for all this model can say. The last
    pairs of a process are cached.
    """

    name = "small-judge"

    def __init__(self) -> None:
        self._encoder = Encoder("judge.onnx", max_tokens=MAX_TOKENS)
        self._cached: LRUCache[tuple[str, str], NDArray[np.float32]] = LRUCache(_CACHED_PAIRS)
        self._lock = threading.Lock()

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        return self.judge_all([(existing, new)])[0]

    def judge_all(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Judgement]:
        return [_judgement(row) for row in self._chances(pairs)]

    def conflict_chances(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[float]:
        return [1.0 if _is_unread(row) else float(row[:2].sum()) for row in self._chances(pairs)]

    def _chances(self, pairs: Sequence[tuple[Statement, Statement]]) -> NDArray[np.float32]:
        if not pairs:
            return np.zeros((0, len(VERDICTS)), np.float32)
        texts = [(as_judged(existing), as_judged(new)) for existing, new in pairs]
        with self._lock:
            known = {each: self._cached[each] for each in texts if each in self._cached}
        missing = [each for each in dict.fromkeys(texts) if each not in known]
        if missing:
            known |= dict.fromkeys(missing, _UNREAD)
            english = [each for each in missing if is_english("\n".join(each))]
            if english:
                known |= zip(english, softmax(self._encoder.run(english)), strict=True)
            with self._lock:
                self._cached.update((each, known[each]) for each in missing)
        return np.stack([known[each] for each in texts])


@cache
def small_judge() -> SmallJudge:
    """The judge of this process."""
    return SmallJudge()


def as_judged(statement: Statement) -> str:
    """A statement as the model reads it: its subject's words before it."""
    subject = statement.subject.replace("_", " ").replace(".", " ")
    return f"{subject} : {statement.content}" if subject else statement.content


def _is_unread(chances: NDArray[np.float32]) -> bool:
    return bool(np.isnan(chances[0]))


def _judgement(chances: NDArray[np.float32]) -> Judgement:
    if _is_unread(chances):
        return Judgement(Verdict.COEXIST, "not English", 0.0)
    supersede, dispute, coexist, duplicate = (float(each) for each in chances)
    conflict = supersede + dispute
    if conflict >= CONFLICT_FROM:
        is_change = supersede >= max(RETIRE_FROM, dispute)
        verdict, sure = (Verdict.SUPERSEDE if is_change else Verdict.DISPUTE), conflict
    elif duplicate > coexist:
        verdict, sure = Verdict.DUPLICATE, duplicate
    else:
        verdict, sure = Verdict.COEXIST, coexist
    reason = f"conflict {conflict:.0%}, change {supersede:.0%}, duplicate {duplicate:.0%}"
    return Judgement(verdict, reason, round(sure, 4))
