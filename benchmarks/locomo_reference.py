"""What the product's search is measured against: plain cosine and BM25, both exact, in memory."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from memory.domain.ports import Embedder
from memory.domain.text.stop_words import STOP_WORDS

_WORD = re.compile(r"\w+")
_ENDINGS = ("ing", "ies", "ed", "es", "s", "ly")
_STEM_CHARS = 3


class CosineReference:
    """Ranks texts by the embedder alone."""

    name = "cosine alone"

    def __init__(self, *, texts: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = embedder.embed(texts)

    def rank(self, question: str, *, limit: int) -> list[int]:
        """The indexes of the `limit` nearest texts, nearest first."""
        scores = self._vectors @ self._embedder.embed([question])[0]
        return [int(index) for index in np.argsort(-scores, kind="stable")[:limit]]


class Bm25Reference:
    """Ranks texts by Okapi BM25 over lower-case words without stop words and common endings.

    k1 = 1.2 and b = 0.75 as in Robertson and Zaragoza 2009, idf = ln(1 + (N - n + ½)/(n + ½)).
    """

    name = "BM25 in memory"
    _k1 = 1.2
    _b = 0.75

    def __init__(self, *, texts: Sequence[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(texts))
        self._containing = Counter(word for counts in self._counts for word in counts)

    def rank(self, question: str, *, limit: int) -> list[int]:
        """The indexes of the `limit` best texts, best first."""
        words = set(_words(question)) & set(self._containing)
        scores = [self._score(words, index) for index in range(len(self._counts))]
        order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        return order[:limit]

    def _score(self, words: set[str], index: int) -> float:
        counts, total = self._counts[index], len(self._counts)
        norm = self._k1 * (1 - self._b + self._b * self._lengths[index] / self._mean)
        return sum(
            math.log(1 + (total - self._containing[word] + 0.5) / (self._containing[word] + 0.5))
            * counts[word]
            * (self._k1 + 1)
            / (counts[word] + norm)
            for word in words
            if word in counts
        )


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS:
            return word[: -len(ending)]
    return word
