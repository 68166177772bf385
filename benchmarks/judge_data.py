"""The labelled pairs that the judge is fitted on, and weak negatives made from them.

Weak negatives are pairs that nobody labelled and that nearly always stand side by side: a pair
with the name, number or noun of its subject exchanged on one side, and statements from one talk.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.contradictions import CONFLICTS, read_pairs
from benchmarks.contradictions import Pair as Example
from benchmarks.extraction import read_conversation
from memory.clients.embedders import WordLlamaEmbedder
from memory.domain.pair_selection import NEAR_ENOUGH, nearness
from memory.domain.types import Statement, Verdict
from memory.fallback.extraction.drafts import drafts_of
from memory.fallback.judgement.pairing import Pair, Sameness, lay_side_by_side
from memory.fallback.judgement.reading import SPEAKER, Reading, read
from memory.fallback.judgement.values import Kind
from memory.fallback.tokens import Token

LABELLED: Final = Path(__file__).parent / "labelled"
_COMPOSED = ("dev", "train", "work", "home", "work2", "home2", "frames")
FITTED_ON: Final = (*_COMPOSED, "pairs", "hard_pairs")
_TALK: Final = tuple(
    path
    for path in sorted((LABELLED / "extraction").glob("*.jsonl"))
    if not path.stem.startswith("blind")
)
_MOST_WITHIN, _MOST_BETWEEN, _COMPARED = 8, 5, 60
_SIBLINGS: Final = (0.12, 0.45)
_CHOICES: Final = 12
_NEAREST: Final = 6
# Of a nearness beyond these two statements may well be about one thing.
_ONE_THING: Final = 0.85
_ONE_TALK: Final = 1.0
_MIDNIGHT: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Reader:
    """Reads each statement once, with the embedder's vectors of words."""

    def __init__(self) -> None:
        self._vectors = WordLlamaEmbedder().word_vectors
        self._readings: dict[str, Reading] = {}

    def pair(self, example: Example) -> Pair:
        """The two statements side by side."""
        return lay_side_by_side(
            old=self.reading(example.existing.content),
            new=self.reading(example.new.content),
            old_path=example.existing.subject,
            new_path=example.new.subject,
            days=(example.new.at - example.existing.at).total_seconds() / 86_400,
        )

    def reading(self, text: str) -> Reading:
        """The statement as read."""
        if text not in self._readings:
            self._readings[text] = read(text, word_vectors=self._vectors)
        return self._readings[text]

    def unit_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of words."""
        found = self._vectors(words)
        unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


def labelled_examples() -> list[Example]:
    """All pairs that a fit may see."""
    folder = LABELLED / "contradictions"
    return [pair for name in FITTED_ON for pair in read_pairs(path=folder / f"{name}.jsonl")]


def neighbours_in_talk() -> list[Example]:
    """Statements of labelled talk with those that a judge would read beside them, as coexisting.

    Each with earlier ones of its conversation and of other conversations of its file; not so near
    that they could be about one thing. Talk is chattier than what people write as statements.
    """
    return [each for path in _TALK for each in _neighbours_in_file(path)]


def _neighbours_in_file(path: Path) -> Iterator[Example]:
    embedder = WordLlamaEmbedder()
    told: list[tuple[str, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        messages, participants = read_conversation(item=row)
        _, drafts = drafts_of(messages=messages, context=[], participants=participants)
        told += [(row["id"], text) for text in dict.fromkeys(draft.text for draft in drafts)]
    vectors = np.asarray(embedder.embed([text for _, text in told]))
    for place, (talk, text) in enumerate(told):
        new = Statement(text, _MIDNIGHT)
        cosines = vectors[:place] @ vectors[place]
        left = {True: _MOST_WITHIN, False: _MOST_BETWEEN}
        for other in np.argsort(-cosines, kind="stable")[:_COMPARED].tolist():
            other_talk, other_text = told[other]
            is_within = other_talk == talk
            existing = Statement(other_text, _MIDNIGHT)
            near = nearness(
                existing=existing,
                new=new,
                similarity=float(cosines[other]),
                anchor=embedder.opposition_similarity,
            )
            if left[is_within] and NEAR_ENOUGH <= near <= (_ONE_TALK if is_within else _ONE_THING):
                left[is_within] -= 1
                yield Example(
                    id=f"{talk}-{place}+{other}",
                    source="talk",
                    block=f"talk-{talk}",
                    existing=existing,
                    new=new,
                    label=Verdict.COEXIST,
                    is_weak=True,
                )


def neighbours_in_store(examples: Sequence[Example]) -> list[Example]:
    """Each new statement with the nearest existing one of another pair of its file, as coexisting.

    So near that a judge would read them, and not so near that they could be about one thing.
    """
    found = []
    embedder = WordLlamaEmbedder()
    for source in sorted({each.source for each in examples}):
        pairs = [each for each in examples if each.source == source]
        old = embedder.embed([each.existing.content for each in pairs])
        new = embedder.embed([each.new.content for each in pairs])
        for example, cosines in zip(pairs, np.asarray(new) @ np.asarray(old).T, strict=True):
            for place in np.argsort(-cosines, kind="stable")[:_NEAREST]:
                other = pairs[place]
                near = nearness(
                    existing=other.existing,
                    new=example.new,
                    similarity=float(cosines[place]),
                    anchor=embedder.opposition_similarity,
                )
                if other is not example and NEAR_ENOUGH <= near <= _ONE_THING:
                    made = replace(
                        example,
                        id=f"{example.id}+{other.id}",
                        existing=other.existing,
                        label=Verdict.COEXIST,
                        is_weak=True,
                        hard=False,
                    )
                    found.append(made)
                    break
    return found


def other_things(examples: Sequence[Example], reader: Reader) -> list[Example]:
    """Pairs in one sentence frame about different things: one of each pair that allows it."""
    swaps = _Swaps(examples, reader)
    found = []
    for example in examples:
        text = swaps.swapped(example)
        if text:
            new = replace(example.new, content=text)
            name = f"{example.id}~"
            found.append(
                replace(example, id=name, new=new, label=Verdict.COEXIST, is_weak=True, hard=False)
            )
    return found


class _Swaps:
    """Exchanges what a new statement is about: a number, a name or a noun of its subject."""

    def __init__(self, examples: Sequence[Example], reader: Reader) -> None:
        self._reader = reader
        self._random = random.Random(0)
        names: Counter[str] = Counter()
        nouns: Counter[str] = Counter()
        for example in examples:
            for statement in (example.existing, example.new):
                reading = reader.reading(statement.content)
                for place in reading.matter:
                    token = reading.tokens[place]
                    if reading.names[place]:
                        names[token.text] += token.text.istitle() and len(token.text) > 2
                    elif reading.subject[place] and reading.stems[place] != SPEAKER:
                        nouns[token.lower] += token.lower.isalpha() and len(token.lower) > 2
        self._names = sorted(name for name, count in names.items() if count > 1)
        self._nouns = sorted(noun for noun, count in nouns.items() if count > 2)
        self._vectors = reader.unit_vectors(self._nouns)

    def swapped(self, example: Example) -> str:
        """The new statement about another thing, or "" where nothing can be exchanged."""
        pair = self._reader.pair(example)
        ways: list[Callable[[], str]] = list(self._numbers(pair, example.new.content))
        if example.label in CONFLICTS:
            ways += self._words(pair, example.new.content)
        return self._random.choice(ways)() if ways else ""

    def _numbers(self, pair: Pair, text: str) -> Iterator[Callable[[], str]]:
        for value in pair.new.values:
            token = pair.new.tokens[value.start]
            is_shared = any(
                value.equals(other) and value.head == other.head for other in pair.old.values
            )
            if value.kind is Kind.IDENTIFIER and is_shared and token.text.isdigit():
                other = str(int(token.text) + self._random.choice((1, 2, 3, 5, 7)))
                yield partial(_exchanged, text, [token], other)

    def _words(self, pair: Pair, text: str) -> Iterator[Callable[[], str]]:
        for i, j in pair.old_to_new.items():
            both_open = pair.old.subject[i] and pair.new.subject[j]
            if pair.how[i] is not Sameness.EQUAL or not both_open:
                continue
            tokens = [
                t
                for t, s in zip(pair.new.tokens, pair.new.stems, strict=True)
                if s == pair.new.stems[j]
            ]
            if pair.old.names[i] and pair.new.names[j]:
                other = self._random.choice(self._names)
                yield partial(_exchanged, text, tokens, other)
            elif not (pair.old.names[i] or pair.new.names[j]) and _is_head(pair.new, j):
                other = self._sibling(pair.new, j)
                if other:
                    yield partial(_exchanged, text, [pair.new.tokens[j]], other)

    def _sibling(self, reading: Reading, place: int) -> str:
        """Another noun of the same field as the one at `place`, or ""."""
        likeness = self._vectors @ reading.unit[place]
        low, high = _SIBLINGS
        near = [k for k in np.argsort(-likeness, kind="stable") if low < likeness[k] < high]
        if not near or reading.stems[place] == SPEAKER:
            return ""
        noun: str = self._nouns[self._random.choice(near[:_CHOICES])]
        return noun.capitalize() if reading.tokens[place].is_capital else noun


def _is_head(reading: Reading, place: int) -> bool:
    """Whether the word is the last of its noun phrase in the subject."""
    behind = place + 1
    goes_on = behind < len(reading.tokens) and reading.content[behind] and reading.subject[behind]
    return reading.tokens[place].lower.isalpha() and not goes_on


def _exchanged(text: str, tokens: Sequence[Token], other: str) -> str:
    for token in sorted(tokens, key=lambda each: -each.start):
        text = text[: token.start] + other + text[token.end :]
    return text
