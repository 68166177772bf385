"""Reads a statement once: its words, their vectors, what is denied, its values and phrases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.domain.text.sentences import split_sentences

from ..lexicon import Mark, marks, word_set
from ..naming import name_flags
from ..tokens import Token, tokenize
from .values import CALENDAR, Value, read_values

WordVectors = Callable[[Sequence[str]], NDArray[np.float32]]
"""Vectors of words, one row each; the longer a vector, the more the word says."""

# Statements are sentences; of a longer text only the beginning is compared.
MAX_CHARS: Final = 2_000
MAX_TOKENS: Final = 200
SPEAKER: Final = "user"
TABLES: Final = (
    "opposites",
    "kinds",
    "synonyms",
    "changes",
    "additions",
    "corrections",
    "from_now_on",
    "additive",
    "unreal",
    "past",
    "temporary",
    "universal",
    "partial",
    "exclusive",
    "conditional",
    "comparatives",
    "replacing",
)
_NEGATION_REACH = 6
_VERB_REACH = 16
_PUNCTUATION = frozenset(".,;:!?()")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a statement says, token by token; all tuples have one entry for each token.

    `stems` are those of the tokens, with one stem for all ways to name the speaker. `content`
    marks words that carry meaning, `names` names, `subject` what stands before the main verb,
    `denied` what stands under a negation, `valued` what belongs to a number or date. `unit` holds
    unit vectors (zero where a token has none), `weight` how much each word says. `is_whole` is
    false where the text was too long to be read to its end.
    """

    text: str
    tokens: tuple[Token, ...]
    stems: tuple[str, ...]
    content: tuple[bool, ...]
    names: tuple[bool, ...]
    subject: tuple[bool, ...]
    denied: tuple[bool, ...]
    valued: tuple[bool, ...]
    verb: int
    values: tuple[Value, ...]
    marks: dict[str, tuple[Mark, ...]]
    unit: NDArray[np.float32]
    weight: NDArray[np.float32]
    is_whole: bool
    is_one_sentence: bool

    @property
    def matter(self) -> list[int]:
        """The places of the words that carry meaning, values left aside."""
        return [i for i, holds in enumerate(self.content) if holds and not self.valued[i]]

    def mean(self, places: Sequence[int]) -> NDArray[np.float32]:
        """The sum of the word vectors at `places`, each as long as its word says much."""
        chosen = list(places)
        summed: NDArray[np.float32] = self.weight[chosen] @ self.unit[chosen]
        return summed


def read(text: str, *, word_vectors: WordVectors) -> Reading:
    """Read a statement; the work grows with its length up to MAX_TOKENS."""
    all_tokens = tokenize(text[:MAX_CHARS])
    tokens = all_tokens[:MAX_TOKENS]
    is_whole = len(text) <= MAX_CHARS and len(all_tokens) == len(tokens)
    speaker, idle = word_set("speaker"), word_set("function_words") | word_set("negators")
    stems = tuple(SPEAKER if token.lower in speaker else token.stem for token in tokens)
    plain = [token.is_word and token.lower not in idle for token in tokens]
    values = read_values(tokens, plain)
    valued = [False] * len(tokens)
    calendar = [False] * len(tokens)
    for value in values:
        for place in range(value.start, value.end):
            valued[place] = True
            calendar[place] = value.kind in CALENDAR
    names = tuple(
        is_name and not calendar[place] and stems[place] != SPEAKER
        for place, is_name in enumerate(name_flags(tokens))
    )
    unit, weight = _vectors(tokens, plain, names, word_vectors)
    verb = _main_verb(tokens, names)
    by_table: dict[str, list[Mark]] = {}
    for mark in marks(tokens, names=TABLES):
        by_table.setdefault(mark.table, []).append(mark)
    return Reading(
        text=text,
        tokens=tokens,
        stems=stems,
        content=tuple(holds or name for holds, name in zip(plain, names, strict=True)),
        names=names,
        subject=tuple(place < verb for place in range(len(tokens))),
        denied=_denied(tokens, plain),
        valued=tuple(valued),
        verb=verb,
        values=values,
        marks={table: tuple(found) for table, found in by_table.items()},
        unit=unit,
        weight=weight,
        is_whole=is_whole,
        is_one_sentence=len(split_sentences(text[:MAX_CHARS])) < 2,
    )


def _vectors(
    tokens: Sequence[Token],
    plain: Sequence[bool],
    names: Sequence[bool],
    word_vectors: WordVectors,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors and their former lengths; zero for all but words that carry meaning."""
    places = [place for place, holds in enumerate(plain) if holds]
    words = [tokens[place].text if names[place] else tokens[place].lower for place in places]
    found = word_vectors(words or ["-"])
    lengths = np.linalg.norm(found, axis=1)
    unit = np.zeros((len(tokens), found.shape[1]), dtype=np.float32)
    weight = np.zeros(len(tokens), dtype=np.float32)
    if places:
        unit[places] = found / np.maximum(lengths, 1e-6)[:, None]
        weight[places] = lengths
    return unit, weight


def _main_verb(tokens: Sequence[Token], names: Sequence[bool]) -> int:
    """The place of the main verb, roughly; 2 where none is found."""
    auxiliaries = word_set("auxiliaries")
    guess = min(2, len(tokens))
    for place in range(1, min(_VERB_REACH, len(tokens))):
        token, before = tokens[place], tokens[place - 1].lower
        if not token.is_word or names[place]:
            continue
        if token.lower in auxiliaries and before not in {"to", "who", "that", "which"}:
            return place
        is_clitic = token.text[0] in "'’"
        looks_finite = token.lower.endswith(("s", "ed")) or token.stem != token.lower
        if looks_finite and not is_clitic and before not in word_set("before_nouns"):
            is_last = place + 1 >= len(tokens)
            behind = "" if is_last else tokens[place + 1].lower
            if behind not in auxiliaries and not token.lower.endswith("ing"):
                return place
    return guess


def _denied(tokens: Sequence[Token], plain: Sequence[bool]) -> tuple[bool, ...]:
    """Which tokens stand under a negation: from its word to the end of the clause."""
    negators = word_set("negators")
    found, left = [], 0
    for token, holds in zip(tokens, plain, strict=True):
        if token.lower in negators:
            left = _NEGATION_REACH
            found.append(False)
            continue
        if token.text in _PUNCTUATION:
            left = 0
        found.append(left > 0)
        left -= holds and left > 0
    return tuple(found)
